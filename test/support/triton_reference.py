"""Compiles kernels that are written with Triton's own front end, as what the simulators are held to.

    triton_reference.py OUT TARGET:KERNEL[:VARIANT] ...   e.g. /tmp/out gfx942:matmul:f16 sm_90:softmax

Writes OUT/TARGET-KERNEL-VARIANT.amdgcn or .ptx, and prints one line of JSON for each: its name, threads of a program,
bytes of shared memory, and bytes of scratch of a program.
"""

import json
import os
import sys

os.environ["TRITON_CACHE_DIR"] = sys.argv[1]

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
def layer_norm(x, w, y, n, eps, B: tl.constexpr):
    row = tl.program_id(0) * n
    total = tl.zeros((B,), dtype=tl.float32)
    squares = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        v = tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total, axis=0) / n
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / n - mean * mean + eps)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        v = tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32)
        weight = tl.load(w + i, mask=i < n).to(tl.float32)
        tl.store(y + row + i, ((v - mean) * scale * weight).to(tl.float16), mask=i < n)


@triton.jit
def histogram(x, each, together, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(each + v, 1, mask=i < n, sem="relaxed")
    tl.atomic_add(together + tl.arange(0, BINS), tl.histogram(v, BINS, mask=i < n), sem="relaxed")


@triton.jit
def scan(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(y + i, tl.cumsum(v, axis=0), mask=i < n)


@triton.jit
def polynomial(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=1.0)
    b = tl.load(y + i, mask=i < n, other=1.0)
    tl.store(z + i, a * b + a / b - tl.sqrt(b) + tl.floor(a), mask=i < n)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, P: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a + rows[:, None] * k + depth[None, :]
    right = b + depth[:, None] * n + cols[None, :]
    total = tl.zeros((BM, BN), dtype=c.dtype.element_ty)
    for i in range(0, tl.cdiv(k, BK)):
        rest = k - i * BK
        u = tl.load(left, mask=(rows[:, None] < m) & (depth[None, :] < rest), other=0.0)
        v = tl.load(right, mask=(depth[:, None] < rest) & (cols[None, :] < n), other=0.0)
        total = tl.dot(u, v, total, input_precision=P, out_dtype=c.dtype.element_ty)
        left += BK
        right += BK * n
    place = c + rows[:, None] * n + cols[None, :]
    tl.store(place, total, mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def attention(q, k, v, o, s, scale, BQ: tl.constexpr, BK: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    keys = tl.arange(0, BK)
    d = tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + d[None, :])
    peak = tl.full((BQ,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BQ,), dtype=tl.float32)
    acc = tl.zeros((BQ, D), dtype=tl.float32)
    for j in range(0, s, BK):
        kt = tl.load(k + (j + keys)[None, :] * D + d[:, None])
        score = tl.dot(queries, kt) * (scale * 1.4426950408889634)
        above = tl.maximum(peak, tl.max(score, 1))
        p = tl.exp2(score - above[:, None])
        alpha = tl.exp2(peak - above)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + (j + keys)[:, None] * D + d[None, :]), acc)
        peak = above
    tl.store(o + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


HALF, FULL, DOUBLE, INTS, SIZE = "*fp16", "*fp32", "*fp64", "*i32", "i32"
# Function, types of its arguments, its constants.
KERNELS = {
    "vector_add": (vector_add, dict(x=FULL, y=FULL, z=FULL, n=SIZE), dict(B=256)),
    "softmax": (softmax, dict(x=FULL, y=FULL, n=SIZE), dict(B=1024)),
    "layer_norm": (layer_norm, dict(x=HALF, w=HALF, y=HALF, n=SIZE, eps="fp32"), dict(B=256)),
    "histogram": (histogram, dict(x=INTS, each=INTS, together=INTS, n=SIZE), dict(B=512, BINS=64)),
    "scan": (scan, dict(x=INTS, y=INTS, n=SIZE), dict(B=512)),
    "polynomial": (polynomial, dict(x=DOUBLE, y=DOUBLE, z=DOUBLE, n=SIZE), dict(B=256)),
    "attention": (attention, dict(q=HALF, k=HALF, v=HALF, o=HALF, s=SIZE, scale="fp32"), dict(BQ=64, BK=32, D=32)),
    "matmul": (matmul, dict(a=HALF, b=HALF, c=FULL, m=SIZE, n=SIZE, k=SIZE), dict(BM=64, BN=64, BK=32, P="ieee")),
}
# Element types of the operands and of the result of `matmul`.
VARIANTS = {
    "f16": ("*fp16", "*fp32", "ieee"),
    "bf16": ("*bf16", "*fp32", "ieee"),
    "f32": ("*fp32", "*fp32", "ieee"),
    "tf32": ("*fp32", "*fp32", "tf32"),
    "f64": ("*fp64", "*fp64", "ieee"),
    "i8": ("*i8", "*i32", "ieee"),
    "e4m3": ("*fp8e4nv", "*fp32", "ieee"),
    "e5m2": ("*fp8e5", "*fp32", "ieee"),
    "e4m3fnuz": ("*fp8e4b8", "*fp32", "ieee"),
}


def compile_one(out, what):
    target, name, *rest = what.split(":")
    variant = rest[0] if rest else "plain"
    function, types, constants = KERNELS[name]
    if name == "matmul":
        element, result, precision = VARIANTS[variant]
        types = {**types, "a": element, "b": element, "c": result}
        constants = {**constants, "P": precision}
    amd = target.startswith("gfx")
    promises = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(types.values()) if kind.startswith("*")}
    if amd and variant != "wide":
        promises = {key: [*value, ["tt.pointer_range", 32]] for key, value in promises.items()}
    options = {"num_warps": 4, "num_stages": 2 if amd else 3}
    if amd and variant == "f16":
        options["matrix_instr_nonkdim"] = 16
    signature = {**types, **{c: "constexpr" for c in constants}}
    code = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=promises)
    lanes = 64 if target.startswith("gfx9") else 32
    where = GPUTarget("hip", target, lanes) if amd else GPUTarget("cuda", int(target[3:]), 32)
    kernel = triton.compile(code, target=where, options=options)
    stage = "amdgcn" if amd else "ptx"
    file = f"{target}-{name}-{variant}.{stage}"
    with open(os.path.join(out, file), "w") as text:
        text.write(kernel.asm[stage])
    found = kernel.metadata
    scratch = [getattr(found, "global_scratch_size", 0) or 0, getattr(found, "profile_scratch_size", 0) or 0]
    said = {"what": what, "file": file, "threads": found.num_warps * lanes, "shared": found.shared, "scratch": scratch}
    print(json.dumps(said), flush=True)


def main():
    for what in sys.argv[2:]:
        compile_one(sys.argv[1], what)


main()
