"""Inputs of the cases: the shapes of `bench/cpu-cases.js`."""

import numpy as np


def inputs(case):
    rng = np.random.default_rng(0)
    normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)
    square = lambda: (normal(1024, 1024), normal(1024, 1024))
    return {
        "add": lambda: (normal(1 << 24), normal(1 << 24)),
        "softmax": lambda: (normal(4096, 1024),),
        "fill_iota": lambda: (np.float32(3.25),),
        "gated_activations": lambda: (normal(1024, 2048), normal(1024, 2048)),
        "philox_dropout": lambda: (normal(1 << 20), np.float32(0.25), np.int64(123456789)),
        "asin": lambda: (rng.random(1 << 22, dtype=np.float32) * np.float32(2) - np.float32(1),),
        "transpose": lambda: (normal(2048, 2048),),
        "row_reductions": lambda: (normal(8192, 1024),),
        "matvec": lambda: (normal(4096, 4096), normal(4096)),
        "cumsum_segmented": lambda: (normal(1024, 1024), rng.random((1024, 1024)) < 0.02),
        "matmul": square,
        "matmul_epilogue": lambda: (*square(), normal(1024), np.float32(0.01)),
        "attention": lambda: tuple(normal(1, 1, 1024, 64) for _ in range(3)),
        "flash_attention_fwd": lambda: (normal(1, 4, 1024, 64), normal(1, 2, 1024, 64), normal(1, 2, 1024, 64)),
    }[case]()


FILL_SHAPE = (2048, 2048)
SCALE = 0.125

# Philox-4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3)
PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
PHILOX_WEYL = (0x9E3779B9, 0xBB67AE85)
