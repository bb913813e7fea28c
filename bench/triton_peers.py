"""Compiles the kernels of `bench/triton.kernel.ts` as `@triton.jit` functions, for `npm run bench:triton`.

    triton_peers.py NAME TARGET OUT   e.g. matmul sm_90 /tmp/out: writes OUT/NAME.cubin or OUT/NAME.amdgcn

By Triton's public `compile`, with the promises that its run time would find for aligned arrays and sizes that are
multiples of 16. Prints the milliseconds of the call.
"""

import os
import sys
import time

os.environ["TRITON_CACHE_DIR"] = sys.argv[3]
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, B)
    v = tl.load(x + row + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, w, b, y, n, eps, B: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, B)
    v = tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32)
    centred = tl.where(i < n, v - tl.sum(v, axis=0) / n, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n
    normal = centred * tl.rsqrt(variance + eps)
    weight = tl.load(w + i, mask=i < n).to(tl.float32)
    bias = tl.load(b + i, mask=i < n).to(tl.float32)
    tl.store(y + row + i, (normal * weight + bias).to(tl.float16), mask=i < n)


@triton.jit
def histogram(x, counts, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + v, 1, mask=i < n, sem="relaxed")


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a + rows[:, None] * k + depth[None, :]
    right = b + depth[:, None] * n + cols[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BK)):
        rest = k - i * BK
        u = tl.load(left, mask=(rows[:, None] < m) & (depth[None, :] < rest), other=0.0)
        v = tl.load(right, mask=(depth[:, None] < rest) & (cols[None, :] < n), other=0.0)
        total = tl.dot(u, v, total)
        left += BK
        right += BK * n
    place = c + rows[:, None] * n + cols[None, :]
    tl.store(place, total, mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def attention(q, k, v, o, s, scale, BQ: tl.constexpr, BK: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0) * s * D
    rows = tl.program_id(1) * BQ + tl.arange(0, BQ)
    keys = tl.arange(0, BK)
    d = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + d[None, :])
    peak = tl.full((BQ,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BQ,), dtype=tl.float32)
    acc = tl.zeros((BQ, D), dtype=tl.float32)
    for j in range(0, s, BK):
        kt = tl.load(k + head + (j + keys)[None, :] * D + d[:, None])
        score = tl.dot(queries, kt) * (scale * 1.4426950408889634)
        above = tl.maximum(peak, tl.max(score, 1))
        p = tl.exp2(score - above[:, None])
        alpha = tl.exp2(peak - above)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + head + (j + keys)[:, None] * D + d[None, :]), acc)
        peak = above
    tl.store(o + head + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


HALF, FULL, INTS, SIZE = "*fp16", "*fp32", "*i32", "i32"
# Function, types of its arguments, its constants, options.
KERNELS = {
    "vector_add": (vector_add, dict(x=FULL, y=FULL, z=FULL, n=SIZE), dict(B=1024), dict(num_warps=4)),
    "softmax": (softmax, dict(x=FULL, y=FULL, n=SIZE), dict(B=2048), dict(num_warps=8)),
    "layer_norm": (layer_norm, dict(x=HALF, w=HALF, b=HALF, y=HALF, n=SIZE, eps="fp32"), dict(B=1024), dict(num_warps=4)),
    "histogram": (histogram, dict(x=INTS, counts=INTS, n=SIZE), dict(B=1024), dict(num_warps=4)),
    "matmul": (matmul, dict(a=HALF, b=HALF, c=FULL, m=SIZE, n=SIZE, k=SIZE), dict(BM=128, BN=128, BK=64), dict(num_warps=8)),
    "attention": (attention, dict(q=HALF, k=HALF, v=HALF, o=HALF, s=SIZE, scale="fp32"), dict(BQ=128, BK=64, D=64), dict(num_warps=4)),
}


def source(name, amd):
    function, types, constants, options = KERNELS[name]
    promises = {}
    for i, kind in enumerate(types.values()):
        if kind == SIZE or kind.startswith("*"):
            promises[(i,)] = [["tt.divisibility", 16]]
        if amd and kind.startswith("*"):
            promises[(i,)].append(["tt.pointer_range", 32])
    signature = {**types, **{c: "constexpr" for c in constants}}
    return ASTSource(fn=function, signature=signature, constexprs=constants, attrs=promises), {**options, "num_stages": 3}


def main():
    name, target, out = sys.argv[1:]
    amd = target.startswith("gfx")
    code, options = source(name, amd)
    started = time.perf_counter()
    where = GPUTarget("hip", target, 64) if amd else GPUTarget("cuda", int(target[3:]), 32)
    kernel = triton.compile(code, target=where, options=options)
    milliseconds = (time.perf_counter() - started) * 1000
    stage = "amdgcn" if amd else "cubin"
    made = kernel.asm[stage]
    with open(os.path.join(out, f"{name}.{stage}"), "wb") as file:
        file.write(made if isinstance(made, bytes) else made.encode())
    print(round(milliseconds, 1))


main()
