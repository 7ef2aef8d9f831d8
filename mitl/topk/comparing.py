"""Compare many keys at once with thresholds, as vector instructions that the compiler's own loops do not become."""

# numba infers the types of what it compiles.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

STEP = 32  # keys compared at once: their results fill the bits of one number


@intrinsic
def reaching(typing_context, keys, start, threshold):
    """Which of STEP contiguous keys reach a threshold, as bits."""

    def build(context, builder, signature, arguments):
        vector = _load(context, builder, signature.args[0], *arguments[:2])
        one = builder.insert_element(ir.Constant(vector.type, ir.Undefined), arguments[2], ir.IntType(32)(0))
        all_lanes = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), STEP), [0] * STEP))
        return builder.bitcast(builder.icmp_signed(">=", vector, all_lanes), ir.IntType(32))

    return types.uint32(keys, types.intp, keys.dtype) if keys.layout == "C" else None, build


@intrinsic
def reaching_each(typing_context, keys, start, thresholds):
    """As ``reaching``, every key with a threshold of its own."""

    def build(context, builder, signature, arguments):
        vectors = [_load(context, builder, signature.args[0], a, arguments[1]) for a in (arguments[0], arguments[2])]
        return builder.bitcast(builder.icmp_signed(">=", *vectors), ir.IntType(32))

    contiguous = keys.layout == thresholds.layout == "C"
    return types.uint32(keys, types.intp, thresholds) if contiguous else None, build


def _load(context, builder, array_type, array, start):
    """Load STEP entries of a contiguous array."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), STEP)
    first = builder.bitcast(builder.gep(data, [start]), vector.as_pointer())
    return builder.load(first, align=array_type.dtype.bitwidth // 8)


@intrinsic
def trailing_zeros(typing_context, bits):
    """The place of the lowest bit that is set, of a number that is not zero: one instruction."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint32(types.uint32), build
