"""Times NumPy and JAX on the CPU for `npm run bench:cpu`, one request at a time, so that the caller can interleave sides.

Reads lines `SIDE CASE REPEAT` (`numpy softmax 4`) on standard input and answers each with the nanoseconds of every
repetition, separated by spaces. Inputs are seeded; results are not checked here (the tests do that).
"""

import sys
import time

import numpy as np

SIZES = {"add": 1 << 24, "softmax": (4096, 1024), "matmul": 1024, "attention": (1024, 64)}


def inputs():
    rng = np.random.default_rng(0)
    normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)
    n, rows, mm, qkv = SIZES["add"], SIZES["softmax"], SIZES["matmul"], SIZES["attention"]
    return {
        "add": (normal(n), normal(n)),
        "softmax": (normal(*rows),),
        "matmul": (normal(mm, mm), normal(mm, mm)),
        "attention": tuple(normal(*qkv) for _ in range(3)),
    }


def numpy_cases(data):
    def softmax(x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    out = np.zeros_like(data["add"][0])
    scale = np.float32(0.125)
    return {
        "add": lambda: np.add(*data["add"], out=out),
        "softmax": lambda: softmax(*data["softmax"]),
        "matmul": lambda: np.matmul(*data["matmul"]),
        "attention": lambda: softmax((data["attention"][0] @ data["attention"][1].T) * scale) @ data["attention"][2],
    }


def jax_cases(data):
    import jax
    import jax.numpy as jnp

    functions = {
        "add": lambda a, b: a + b,
        "softmax": lambda x: jax.nn.softmax(x, axis=1),
        "matmul": lambda a, b: jnp.dot(a, b, precision="highest"),
        "attention": lambda q, k, v: jax.nn.softmax((q @ k.T) * 0.125, axis=1) @ v,
    }
    arrays = {name: tuple(map(jnp.asarray, args)) for name, args in data.items()}
    compiled = {name: jax.jit(f) for name, f in functions.items()}
    return {name: (lambda f=compiled[name], args=arrays[name]: f(*args).block_until_ready()) for name in functions}


def main():
    data = inputs()
    sides = {"numpy": numpy_cases(data), "jax": jax_cases(data)}
    for cases in sides.values():
        for run in cases.values():
            run()
    print("ready", flush=True)
    for line in sys.stdin:
        side, case, repeat = line.split()
        run = sides[side][case]
        times = []
        for _ in range(int(repeat)):
            start = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - start)
        print(*times, flush=True)


main()
