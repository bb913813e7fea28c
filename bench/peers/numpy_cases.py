"""The cases in NumPy (and SciPy's erf): a function of the inputs that returns what is timed."""

import numpy as np
from inputs import FILL_SHAPE, PHILOX_MULTIPLIERS, PHILOX_WEYL, SCALE

f32 = np.float32


def add(x, y):
    out = np.zeros_like(x)
    return lambda: np.add(x, y, out=out)


def softmax_of(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def fill_iota(value):
    fill, iota = np.zeros(FILL_SHAPE, f32), np.zeros(FILL_SHAPE, np.int32)
    rows = (np.arange(FILL_SHAPE[0], dtype=np.int32) * np.int32(FILL_SHAPE[1]))[:, None]
    columns = np.arange(FILL_SHAPE[1], dtype=np.int32)

    def run():
        fill.fill(value)
        np.add(rows, columns, out=iota)

    return run


def gated_activations(x, g):
    from scipy.special import erf

    def run():
        half = x * f32(0.5)
        gelu = half * (1 + np.tanh(f32(np.sqrt(2 / np.pi)) * (x + f32(0.044715) * x * x * x)))
        silu = x / (1 + np.exp(-x))
        return gelu, half * (1 + erf(x * f32(np.sqrt(0.5)))), silu, gelu * g, silu * g

    return run


def philox(counter, seed):
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    m0, m1 = (np.uint64(m) for m in PHILOX_MULTIPLIERS)
    a, b, c, d = counter, np.uint64(0), np.uint64(0), np.uint64(0)
    keys = [int(seed) & 0xFFFFFFFF, int(seed) >> 32]
    for _ in range(10):
        p, q = a * m0, c * m1
        a, b, c, d = (q >> shift) ^ b ^ np.uint64(keys[0]), q & low, (p >> shift) ^ d ^ np.uint64(keys[1]), p & low
        keys = [(k + w) & 0xFFFFFFFF for k, w in zip(keys, PHILOX_WEYL)]
    return a.astype(np.uint32)


def philox_dropout(x, p, seed):
    counter = np.arange(x.size, dtype=np.uint64)

    def run():
        bits = philox(counter, seed)
        signed = bits.view(np.int32)
        u = (signed ^ (signed >> 31)).astype(f32) * f32(4.6566127342e-10)
        return bits, u, np.where(u > p, x / (1 - p), f32(0))

    return run


def asin(x):
    out = np.zeros_like(x)
    return lambda: np.arcsin(x, out=out)


def transpose(x):
    out = np.zeros(x.shape[::-1], x.dtype)
    return lambda: np.copyto(out, x.T)


def row_reductions(x):
    def run():
        row_sum = x.sum(1)
        return row_sum, (row_sum / f32(x.shape[1]))[:, None], x.max(1), x.argmax(1).astype(np.int32), x.sum(0)

    return run


def matvec(a, x):
    out = np.zeros(a.shape[0], a.dtype)
    return lambda: np.matmul(a, x, out=out)


def cumsum_segmented(x, start):
    """The segmented sum is the running sum less what it was before the segment began: the usual way in NumPy."""
    sums, tops = np.zeros_like(x), np.zeros_like(x)
    columns = np.arange(x.shape[1], dtype=np.int64)

    def run():
        np.cumsum(x, 1, out=sums)
        np.maximum.accumulate(x, 1, out=tops)
        before = sums - x
        first = np.maximum.accumulate(np.where(start, columns, 0), 1)
        return sums, sums - np.take_along_axis(before, first, 1), tops

    return run


def matmul_epilogue(a, b, bias, slope):
    def run():
        r = a @ b
        r += bias
        return np.where(r >= 0, r, slope * r)

    return run


def attention(q, k, v):
    return lambda: softmax_of((q @ k.swapaxes(-1, -2)) * f32(SCALE)) @ v


def flash_attention_fwd(q, k, v):
    """Heads that share k and v side by side: no copy of either."""
    b, hq, s, d = q.shape
    grouped = (b, k.shape[1], hq // k.shape[1], s, d)
    visible = np.tri(s, dtype=bool)

    def attend(causal):
        scores = (q.reshape(grouped) @ k[:, :, None].swapaxes(-1, -2)) * f32(SCALE)
        if causal:
            scores = np.where(visible, scores, f32(-np.inf))
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - top)
        total = e.sum(-1, keepdims=True)
        return (e @ v[:, :, None]) / total, top + np.log(total)

    return lambda: (attend(True), attend(False))


CASES = {
    "add": add,
    "softmax": lambda x: lambda: softmax_of(x),
    "fill_iota": fill_iota,
    "gated_activations": gated_activations,
    "philox_dropout": philox_dropout,
    "asin": asin,
    "transpose": transpose,
    "row_reductions": row_reductions,
    "matvec": matvec,
    "cumsum_segmented": cumsum_segmented,
    "matmul": lambda a, b: lambda: np.matmul(a, b),
    "matmul_epilogue": matmul_epilogue,
    "attention": attention,
    "flash_attention_fwd": flash_attention_fwd,
}
