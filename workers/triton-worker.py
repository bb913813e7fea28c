"""Compiles Triton IR for NVIDIA and AMD GPUs, without either.

    triton-worker.py JOBS            serves requests, at most JOBS at once
    triton-worker.py --job REQUEST   runs one, in this process

request  {"id", "timeoutMs", "folder", "from": "ttir", "until": "ptx", "backend": "cuda", "arch": 90, "warpSize": 32,
          "options": {"num_warps": 4, ...}, "lineInfo": true}
         reads kernel.STAGE of stage `from` in `folder`, writes kernel.STAGE of every later stage up to `until`
reply    {"ok": true, "metadata": {...}, "stagesMs": {...}}, or as fork_server says

Stages: ttir, ttgir, llir, then ptx (NVIDIA; its assembler is not run here) or amdgcn and hsaco (AMD). They are the
stages that Triton's back ends register, called one by one: nothing is looked up in or written to Triton's own cache.
"""
import gc
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# Nothing is written beside this file; the compiled form of Triton's own may lie beside it.
sys.dont_write_bytecode = True
import fork_server

sys.dont_write_bytecode = False

_started = time.perf_counter()
# Importing makes nothing but what stays.
gc.disable()
import triton
from triton import knobs
from triton._C.libtriton import ir, llvm
from triton.backends.amd import compiler as amd
from triton.backends.compiler import GPUTarget, Language
from triton.compiler.compiler import make_backend

gc.freeze()
gc.enable()
IMPORT_MS = round((time.perf_counter() - _started) * 1000, 1)

# What a launch needs to know, as far as the stages that ran have found it out.
METADATA = ("name", "shared", "num_warps", "num_ctas", "global_scratch_size", "global_scratch_align",
            "profile_scratch_size", "profile_scratch_align", "tmem_size", "tensordesc_meta")


def load_amd_code_generator():
    """A library of 100 MB, of which every child then has the pages."""
    try:
        amd._load_amd_codegen(amd.get_amd_codegen_path())
    except (AttributeError, OSError) as e:
        print(f"the code generator for AMD is loaded later: {e}", file=sys.stderr)


def parse(path, context):
    module = ir.parse_mlir_module(path, context)
    module.context = context
    if not module.verify():
        raise RuntimeError("the module does not verify")
    return module


def read_stage(stage, context):
    # By its relative name: an absolute one would end up in debug information.
    path = f"kernel.{stage}"
    if stage in ("ttir", "ttgir"):
        return parse(path, context)
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_stage(stage, made):
    data = made if isinstance(made, bytes) else str(made).encode()
    with open(f"kernel.{stage}", "wb") as file:
        file.write(data)


def compile_job(job, announce):
    os.chdir(job["folder"])
    # Triton's own temporary files go where they are removed with the rest.
    tempfile.tempdir = job["folder"]
    knobs.compilation.disable_line_info = not job["lineInfo"]
    target = GPUTarget(job["backend"], job["arch"], job["warpSize"])
    backend = make_backend(target)
    announce("options")
    options = backend.parse_options(dict(job["options"]))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    metadata = {"target": target, **vars(options)}
    # Stages after the one that does this may be the first.
    llvm.init_targets()
    stages = {}
    backend.add_stages(stages, options, Language.TRITON)
    announce(job["from"])
    made = read_stage(job["from"], context)
    if job["from"] == "ttgir":
        metadata["tensordesc_meta"] = made.get_tensordesc_metadata()
    times = {}
    names = list(stages)
    # `ttir` both reads and leaves Triton IR: a file of that stage still goes through its passes.
    start = names.index(job["from"]) + (0 if job["from"] == "ttir" else 1)
    for name in names[start:names.index(job["until"]) + 1]:
        announce(name)
        started = time.perf_counter()
        made = stages[name](made, metadata)
        if name != "ttir":
            write_stage(name, made)
        times[name] = round((time.perf_counter() - started) * 1000, 1)
    found = {key: metadata[key] for key in METADATA if metadata.get(key) is not None}
    return {"metadata": found, "stagesMs": times}


def main():
    if sys.argv[1] == "--job":
        fork_server.send(compile_job(json.loads(sys.argv[2]), lambda stage: None))
        return
    load_amd_code_generator()
    hello = {"version": triton.__version__, "importMs": IMPORT_MS}
    fork_server.serve(hello, compile_job, jobs=int(sys.argv[1]))


if __name__ == "__main__":
    main()
