"""Layer norm by the kernel of ../layer-norm.kernel.ts, through ctypes: needs nothing but Python on the CPU.

main.py LIBRARY cpu|cuda|hip: on a GPU the tensors are PyTorch's, and the kernel runs in its current stream.
"""

import ctypes
import math
import sys
from array import array

M, N, EPS = 19, 389, 1e-5
DEVICES = {"cpu": 1, "cuda": 2, "hip": 3}


class Kernel:
    """The C function of layer_norm.h."""

    def __init__(self, path: str, device: str) -> None:
        library = ctypes.CDLL(path)
        library.tw_last_error.restype = ctypes.c_char_p
        pointer = ctypes.c_void_p
        library.layer_norm.argtypes = [pointer] * 5 + [ctypes.c_float, ctypes.c_int64, ctypes.c_int64]
        self.library = library
        self.check(library.tw_select_layer_norm(DEVICES[device]))

    def check(self, status: int) -> None:
        if status != 0:
            raise RuntimeError(self.library.tw_last_error().decode())

    def __call__(self, x: int, w: int, b: int, y: int, eps: float, m: int, n: int, stream: int = 0) -> None:
        """Addresses of x, w, b and y; eps; rows and columns. The stream comes first in C."""
        # C takes inputs, outputs, scalars, sizes.
        self.check(self.library.layer_norm(stream or None, x, w, b, y, eps, m, n))


def inputs() -> tuple[array, array, array]:
    x = array("f", (math.sin(i) for i in range(M * N)))
    return x, array("f", (1 + i / N for i in range(N))), array("f", (i / N for i in range(N)))


def expected(x: array, w: array, b: array) -> list[float]:
    out: list[float] = []
    for row in range(M):
        values = x[row * N : (row + 1) * N]
        mean = sum(values) / N
        variance = sum((v - mean) ** 2 for v in values) / N
        out += [(v - mean) / math.sqrt(variance + EPS) * w[i] + b[i] for i, v in enumerate(values)]
    return out


def on_cpu(kernel: Kernel) -> list[float]:
    x, w, b = inputs()
    y = array("f", bytes(4 * M * N))
    addresses = [a.buffer_info()[0] for a in (x, w, b, y)]
    kernel(*addresses, EPS, M, N)
    return list(y)


def on_gpu(kernel: Kernel) -> list[float]:
    import torch

    x, w, b = (torch.tensor(list(a), dtype=torch.float32, device="cuda") for a in inputs())
    y = torch.empty(M * N, dtype=torch.float32, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    kernel(x.data_ptr(), w.data_ptr(), b.data_ptr(), y.data_ptr(), EPS, M, N, stream)
    return y.cpu().tolist()


def main() -> int:
    path, device = sys.argv[1:]
    kernel = Kernel(path, device)
    got = on_cpu(kernel) if device == "cpu" else on_gpu(kernel)
    error = max(abs(a - e) for a, e in zip(got, expected(*inputs())))
    print(f"layer_norm: {M} x {N}, largest error {error:.1e}")
    return 0 if error < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
