"""Lowers Mosaic GPU text to text of MLIR's own dialects, by the Python lowering of JAX. No tracing, no GPU.

    mosaic-worker.py JOBS            serves requests, at most JOBS at once
    mosaic-worker.py --job REQUEST   runs one, in this process

request  {"id", "timeoutMs", "folder", "arch": [9, 0], "check": false}
         reads kernel.mgpu.mlir in `folder`, writes kernel.nvvm.mlir; with "check" parses and verifies only
reply    {"ok": true, "metadata": {...}, "stagesMs": {...}}, or as fork_server says

metadata: {"symbol", "threads", "sharedBytes", "cluster": [x, y, z] or null,
           "params": [{"kind": "pointer", "slot"} | {"kind": "scalar", "slot", "type"} | {"kind": "tensorMaps", "bytes"}],
           "tensorMaps": [{"slot", "offset", "elementType", "swizzle", "box"}]}
A slot is a place in the host function's block of arguments. Parameters are those of the kernel, in order.
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# Nothing is written beside this file; the compiled form of JAX's own may lie beside it.
sys.dont_write_bytecode = True
import fork_server

os.environ["JAX_PLATFORMS"] = "cpu"
sys.dont_write_bytecode = False
_started = time.perf_counter()
import jax
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import mosaic_gpu_dialect
from jax.experimental.mosaic.gpu import core, dialect_lowering, launch_context, layout_inference
from jaxlib.mlir import ir, passmanager

sys.dont_write_bytecode = True
import mosaic_rules  # noqa: F401

IMPORT_MS = round((time.perf_counter() - _started) * 1000, 1)

# Layout inference searches; what it can solve takes less than 30 steps, and the default lets it run for minutes.
FUEL = 1000

# Producers that may be repeated inside the kernel. Loads from the block of arguments stay outside: they become parameters.
REPEATABLE = {"arith.constant", "llvm.mlir.constant", "llvm.mlir.zero", "llvm.mlir.undef", "llvm.mlir.poison",
              "llvm.insertvalue", "builtin.unrealized_conversion_cast"}


class Refused(Exception):
    """A failure with the place of the operation that it is about."""


def producer(value):
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def operations(op):
    for region in op.regions:
        for block in region.blocks:
            for child in block.operations:
                yield child.operation
                yield from operations(child.operation)


def nested_in(op, ancestor):
    while op is not None and op.name != "builtin.module":
        if op == ancestor:
            return True
        op = op.parent
    return False


def constant(value):
    return ir.IntegerAttr(producer(value).attributes["value"]).value


class Launch:
    """The one gpu.launch of a module, and the host function round it."""

    def __init__(self, module):
        self.module = module
        [(self.host, self.op)] = [(f.operation, o) for f in module.body for o in operations(f.operation) if o.name == "gpu.launch"]
        entry = self.host.regions[0].blocks[0]
        self.view = next(o for o in entry.operations if o.operation == self.op)
        self.body = self.op.regions[0].blocks[0]
        self.buffers = entry.arguments[1]
        groups, at = [], 0
        for size in ir.DenseI32ArrayAttr(self.op.attributes["operandSegmentSizes"]):
            groups.append(list(self.op.operands)[at:at + size])
            at += size
        # Tokens, then three groups each of the grid, the block and the cluster, then the bytes of shared memory.
        self.block = [constant(v) for group in groups[4:7] for v in group]
        self.cluster = [constant(v) for group in groups[7:10] for v in group] or None
        self.shared = constant(groups[10][0]) if groups[10] else 0

    def foreign(self):
        """(user, operand, value) of what the body uses and is computed outside of it."""
        return [(op, i, value) for op in operations(self.op) for i, value in enumerate(op.operands)
                if (p := producer(value)) is not None and not nested_in(p, self.op)]


def sink(launch):
    """Repeats constants and descriptors inside the body, so that only pointers, scalars and tensor maps are passed."""
    start = ir.InsertionPoint(launch.body.operations[0])
    copies = {}

    def inside(value):
        op = producer(value)
        if op is None or op.name not in REPEATABLE:
            return value
        if op not in copies:
            operands = [inside(v) for v in op.operands]
            with start:
                copies[op] = op.clone()
            for i, operand in enumerate(operands):
                copies[op].operands[i] = operand
        return copies[op].results[list(op.results).index(value)]

    for user, i, value in launch.foreign():
        user.operands[i] = inside(value)


class Host:
    """Runs the host function as far as the launch, to learn what the kernel is passed."""

    def __init__(self, launch):
        self.launch, self.memory, self.maps = launch, {}, []
        self.known = {launch.buffers: ("slots", 0)}
        for view in launch.host.regions[0].blocks[0].operations:
            op = view.operation
            if op == launch.op:
                break
            value = self.step(op, [self.known.get(v) for v in op.operands])
            for result in op.results:
                self.known[result] = value

    def step(self, op, args):
        match op.name:
            case "arith.constant" | "llvm.mlir.constant":
                value = op.attributes["value"]
                return ir.IntegerAttr(value).value if isinstance(value, ir.IntegerAttr) else None
            case "llvm.alloca":
                self.memory[op] = {}
                return ("memory", op, 0)
            case "llvm.getelementptr":
                [index] = ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"])
                return (*args[0][:-1], args[0][-1] + index) if args[0] else None
            case "llvm.store":
                _, block, offset = args[1]
                self.memory[block][offset] = args[0]
            case "llvm.load":
                type_ = str(op.results[0].type)
                if args[0][0] != "slots":
                    return ("maps", int(type_.removeprefix("!llvm.array<").split(" ")[0]))
                return ("pointer", args[0][1]) if type_ == "!llvm.ptr" else ("scalar", args[0][1], type_)
            case "func.call":
                map_, base, code, rank, _, _, swizzle, box = args
                if not base or base[0] != "pointer":
                    raise Refused("a tensor map that does not begin with its array")
                extents = [self.memory[box[1]][box[2] + i] for i in range(rank)]
                self.maps.append({"slot": base[1], "offset": map_[2], "elementType": code, "swizzle": swizzle, "box": extents})
            case "llvm.insertvalue":
                return args[1] if isinstance(args[1], tuple) else args[0]
            case _:
                return args[0] if args else None

    def params(self):
        """Outlining passes what is computed outside in the order of its first use."""
        order = list(dict.fromkeys(value for _, _, value in self.launch.foreign()))
        return [self.param(value) for value in order]

    def param(self, value):
        match self.known.get(value):
            case ("pointer", slot):
                return {"kind": "pointer", "slot": slot}
            case ("scalar", slot, type_):
                return {"kind": "scalar", "slot": slot, "type": type_}
            case ("maps", size):
                return {"kind": "tensorMaps", "bytes": size}
        raise Refused(f"the kernel is passed what {producer(value).name} makes")


def metadata(module):
    launch = Launch(module)
    host = Host(launch)
    name = ir.StringAttr(launch.host.attributes["sym_name"]).value
    return {"symbol": f"{name}_kernel", "threads": launch.block[0] * launch.block[1] * launch.block[2],
            "sharedBytes": launch.shared, "cluster": launch.cluster, "params": host.params(), "tensorMaps": host.maps}


def place(location):
    """A location as text. An operation without one of its own is placed in the text that it was read from."""
    return str(location).replace('"-"', '"kernel.mgpu.mlir"')


def placed(work):
    """Runs work(op) of JAX; what it raises carries the place of the innermost operation."""
    def rule(self, op, *rest):
        try:
            return work(self, op, *rest)
        except Refused:
            raise
        except Exception as e:
            raise Refused(f"{place(op.operation.location)}: error: {type(e).__name__}: {str(e)[:600]}") from e
    return rule


dialect_lowering.LoweringContext.lower_op = placed(dialect_lowering.LoweringContext.lower_op)


def without_rule(op):
    """Refuses the first operation on vectors that layout inference does not know."""
    for view in (o for region in op.regions for block in region.blocks for o in block.operations):
        op = view.operation
        if op.name not in ("mosaic_gpu.custom_primitive", "mosaic_gpu.warp_map"):
            without_rule(op)
        if op.name in ("scf.yield", "scf.condition"):
            continue
        vectors = any(isinstance(v.type, ir.VectorType) for v in [*op.operands, *op.results])
        if vectors and op.name not in layout_inference._constraint_system_derivation_rules:
            raise Refused(f"{place(op.location)}: error: Mosaic GPU has no layout rule for {op.name}")


def tidy(module):
    passmanager.PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)


def lower(job, announce):
    os.chdir(job["folder"])
    times, started = {}, time.perf_counter()

    def tick(stage):
        nonlocal started
        times[stage] = round((time.perf_counter() - started) * 1000, 1)
        started = time.perf_counter()

    with open("kernel.mgpu.mlir", encoding="utf-8") as file:
        text = file.read()
    context = jax_mlir.make_ir_context()
    mosaic_gpu_dialect.register_dialect(context)
    with context, ir.Location.unknown():
        announce("parse")
        try:
            module = ir.Module.parse(text)
            module.operation.verify()
        except ir.MLIRError as e:
            for d in e.error_diagnostics:
                print(f"{place(d.location)}: error: {d.message}")
            raise
        tick("parse")
        if job.get("check"):
            return {"metadata": None, "stagesMs": times}
        arch = tuple(job["arch"])
        core._infer_arch = lambda: arch  # JAX would ask a device.
        try:
            tidy(module)
            without_rule(module.operation)
            announce("layouts")
            layout_inference.infer_layout(module, arch=arch, fuel=FUEL)
            tick("layouts")
            announce("lowering")
            launch = Launch(module)
            context_ = launch_context.LaunchContext(module, launch_context.Scratch(launch.view), tuple(launch.cluster or (1, 1, 1)), launch.buffers)
            dialect_lowering.lower_mgpu_dialect(module, context_)
            context_.scratch.finalize_size()
            module.operation.verify()
            # Dead casts that mention types of Mosaic GPU go; this must not come after the sinking.
            tidy(module)
            sink(Launch(module))
            module.operation.verify()
        except Refused as e:
            print(e)
            raise
        tick("lowering")
        found = metadata(module)
        with open("kernel.nvvm.mlir", "w", encoding="utf-8") as file:
            file.write(module.operation.get_asm())
        tick("print")
    return {"metadata": found, "stagesMs": times}


def main():
    if sys.argv[1] == "--job":
        fork_server.send(lower(json.loads(sys.argv[2]), lambda stage: None))
        return
    fork_server.serve({"version": jax.__version__, "importMs": IMPORT_MS}, lower, jobs=int(sys.argv[1]))


if __name__ == "__main__":
    main()
