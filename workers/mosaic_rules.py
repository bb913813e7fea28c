"""What the lowering of Mosaic GPU in JAX 0.10.2 lacks, added to its tables in this process.

Importing this file is enough. Most rules apply an operation to each register of a vector; stock MLIR lowers the rest.
"""
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import arith, math
from jax.experimental.mosaic.gpu import dialect_lowering as lowering
from jax.experimental.mosaic.gpu import inference_utils, launch_context, utils
from jax.experimental.mosaic.gpu import layout_inference as inference

MATH = ("sqrt log2 log10 log1p expm1 floor ceil trunc erf erfc tan atan asin acos sinh cosh asinh acosh atanh cbrt powf atan2 "
        "fma fpowi ctpop cttz isnan")
ARITH = "negf maxnumf minnumf remf ceildivsi ceildivui"

arrays = lowering._fragmented_array_from_ir
values = lowering.fragmented_array_to_ir


def signedness(type_):
    return False if isinstance(type_.element_type, ir.IntegerType) else None


def pointwise(build):
    """All operands and results have one layout; each register goes through the operation itself."""
    def rule(_, op):
        [layout] = inference_utils.out_layouts(op)
        first, *rest = (arrays(operand, layout) for operand in op.operands)
        made = first._pointwise(lambda *regs: build(*regs), *rest, restrict_bitwidth=False,
                                output_is_signed=signedness(op.result.type))
        return [values(made, op.result.type)]
    return rule


def add_pointwise():
    for dialect, module, names in (("math", math, MATH), ("arith", arith, ARITH)):
        for name in names.split():
            lowering._lowerings[f"{dialect}.{name}"] = pointwise(getattr(module, name))
            inference._constraint_system_derivation_rules[f"{dialect}.{name}"] = inference._pointwise_op_constraint_system


def compare(_, op):
    """Every predicate; JAX has half of them."""
    left, right = (arrays(o, layout) for o, layout in zip(op.operands, inference_utils.in_layouts(op)))
    predicate = arith.CmpFPredicate(op.predicate.value)
    made = left._pointwise(lambda a, b: arith.cmpf(predicate, a, b), right, output_is_signed=False, restrict_bitwidth=False)
    return [values(made, op.result.type)]


def select(_, op):
    """8-bit elements too."""
    [layout] = inference_utils.out_layouts(op)
    condition, yes, no = (arrays(o, layout) for o in op.operands)
    made = condition._pointwise(lambda c, a, b: arith.select(c, a, b), yes, no,
                                output_is_signed=signedness(op.result.type), restrict_bitwidth=False)
    return [values(made, op.result.type)]


plain_copy = launch_context.LaunchContext.async_copy


def async_copy(self, *, src_ref, dst_ref, gmem_transform=(), swizzle=None, **rest):
    """A slice exactly one swizzle wide goes as a box of the array's own rank.

    JAX describes a tiled buffer to TMA as a view of rank 4, whose extents have to be multiples of the tile. A slice one
    swizzle wide has the same bytes as an untiled box with that swizzle, and that box is clipped at the array's true bounds.
    """
    loads = utils.is_smem_ref(dst_ref.type)
    smem, gmem = (dst_ref, src_ref) if loads else (src_ref, dst_ref)
    transforms = tuple(gmem_transform) if isinstance(gmem_transform, (tuple, list)) else (gmem_transform,)
    match transforms:
        case (launch_context.TileTransform(tiling=(8, width), rounding=None),) if swizzle and int(swizzle) > 16:
            across, *tile = smem.type.shape[-3:]
            if across == 1 and tuple(tile) == (8, width):
                smem = utils.memref_fold(smem, len(smem.type.shape) - 4, 3)
                gmem_transform = ()
    src_ref, dst_ref = (gmem, smem) if loads else (smem, gmem)
    return plain_copy(self, src_ref=src_ref, dst_ref=dst_ref, gmem_transform=gmem_transform, swizzle=swizzle, **rest)


add_pointwise()
lowering._lowerings["arith.cmpf"] = compare
lowering._lowerings["arith.select"] = select
launch_context.LaunchContext.async_copy = async_copy
