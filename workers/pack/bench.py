"""Times the work of this bundle's kernels in PyTorch, on the GPU of this machine: bench.py [RUNS]

Reads each kernel's inputs, so both sides do the same work. cuBLAS or hipBLASLt is what torch.matmul calls; torch.compile
is Triton. What is not installed is left out. Prints a table; our times are those of results.json, where run.sh has made it.
"""

import json
import statistics
import sys
from pathlib import Path

try:
    import numpy
    import torch
    import torch.nn.functional as functional
except ImportError as error:
    sys.exit(f"bench.py needs NumPy and PyTorch: {error}")


def rows(x):
    return x.reshape(-1, x.shape[-1])


# The same work by the names of the kernels' arguments; what is not here has no peer.
PEERS = {
    "vector_add": lambda a: a["x"] + a["y"],
    "softmax": lambda a: torch.softmax(rows(a["x"]), -1),
    "layer_norm": lambda a: functional.layer_norm(a["x"], a["w"].shape, a["w"], a["b"], a["eps"]),
    "matmul": lambda a: a["a"] @ a["b"],
    "flash_attention": lambda a: functional.scaled_dot_product_attention(
        a["q"][None], a["k"][None], a["v"][None], scale=a["scale"]
    ),
    "histogram": lambda a: torch.histc(a["x"].float(), 64, 0, 1),
    "transpose": lambda a: a["x"].T.contiguous(),
    "matvec": lambda a: a["a"] @ a["x"],
}


def arguments(folder: Path) -> dict:
    """The inputs of a kernel, on the device; bf16 lies in files as its bits."""
    case = json.loads((folder / "case.json").read_text())
    values = dict(case["scalars"])
    for name, dtype in case["inputs"].items():
        array = numpy.load(folder / f"{name}.npy")
        tensor = torch.from_numpy(array.view(numpy.int16) if dtype == "bf16" else array)
        values[name] = (tensor.view(torch.bfloat16) if dtype == "bf16" else tensor).cuda()
    return values


def median_ms(work, runs: int) -> float:
    for _ in range(5):
        work()
    times = []
    for _ in range(runs):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    if not torch.cuda.is_available():
        print("no GPU that PyTorch can use")
        return 3
    here = Path(__file__).resolve().parent
    ours = {}
    if (here / "results.json").exists():
        ours = {r["kernel"]: r.get("nanoseconds", 0) / 1e6 for r in json.loads((here / "results.json").read_text())["rows"]}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, median of {runs} runs in ms")
    print(f"{'kernel':24} {'tilewright':>12} {'torch':>12} {'torch.compile':>14}")
    for folder in sorted(p.parent for p in here.glob("*/case.json")):
        peer = PEERS.get(json.loads((folder / "case.json").read_text())["kernel"])
        if peer is None:
            continue
        values = arguments(folder)
        eager = median_ms(lambda: peer(values), runs)
        try:
            compiled = torch.compile(peer)
            fused = f"{median_ms(lambda: compiled(values), runs):14.4f}"
        except Exception:
            fused = f"{'-':>14}"
        mine = ours.get(folder.name) or 0
        print(f"{folder.name:24} {f'{mine:12.4f}' if mine else '           -'} {eager:12.4f} {fused}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
