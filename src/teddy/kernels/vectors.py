"""Vectors held in registers, for sums in compiled kernels.

``load(array, row, column, lanes)`` reads ``lanes`` adjacent numbers of a matrix,
``store(array, row, column, vector)`` writes them, ``zeros(array, lanes)`` is a vector of its type,
``added(sum, factor, vector)`` is ``sum + factor * vector``, and ``gated(vector, factor, gate)`` is
``factor * vector`` where the gate is positive, else 0. ``prefetch(array, row, column)`` starts to
load the line of the cache that holds a number. ``constant(lanes)`` compiles a kernel for each value
of an argument. They are defined within kernels only, where numba is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from teddy.kernels import jit

#: Numbers in a vector. In single precision: four registers of 512 bits or eight of 256, or one.
WIDE, NARROW = 64, 8

constant: Any = None
load: Any = None
store: Any = None
zeros: Any = None
added: Any = None
gated: Any = None
prefetch: Any = None


def spread(builder: Any, value: Any, lanes: int) -> Any:
    """Build LLVM code that copies a number to all lanes of a vector; return a vector unchanged."""
    ir: Any = import_module("llvmlite.ir")
    if isinstance(value.type, ir.VectorType):
        return value
    index, nothing = ir.IntType(32), ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(index, 0))
    everywhere = ir.Constant(ir.VectorType(index, lanes), [0] * lanes)
    return builder.shuffle_vector(first, nothing, everywhere)


def _define() -> tuple[Any, ...]:
    ir: Any = import_module("llvmlite.ir")
    cgutils: Any = import_module("numba.core.cgutils")
    extending: Any = import_module("numba.extending")
    types: Any = jit.installed.types

    class Vector(types.Type):
        """Type of a vector in numba."""

        def __init__(self, dtype: Any, lanes: int) -> None:
            self.dtype, self.lanes = dtype, lanes
            super().__init__(f"Vector({dtype}, {lanes})")

    @extending.register_model(Vector)
    class Model(extending.models.PrimitiveModel):
        """Type of a vector in LLVM."""

        def __init__(self, manager: Any, vector: Any) -> None:
            element = manager.lookup(vector.dtype).get_value_type()
            super().__init__(manager, vector, ir.VectorType(element, vector.lanes))

    def pointer_to(context: Any, builder: Any, array_type: Any, vector: Any, args: Any) -> Any:
        assert array_type.layout != "F", "neighbours in a row must be neighbours in memory"
        array = context.make_array(array_type)(context, builder, args[0])
        item = cgutils.get_item_pointer(
            context, builder, array_type, array, args[1:3], wraparound=False
        )
        return builder.bitcast(item, context.get_value_type(vector).as_pointer())

    @extending.intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def load(typing: Any, array: Any, row: Any, column: Any, lanes: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array_type = signature.args[0]
            pointer = pointer_to(context, builder, array_type, signature.return_type, args)
            return builder.load(pointer, align=array_type.dtype.bitwidth // 8)

        vector = Vector(array.dtype, lanes.literal_value)
        return vector(array, types.intp, types.intp, lanes), code

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def store(typing: Any, array: Any, row: Any, column: Any, vector: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array_type = signature.args[0]
            pointer = pointer_to(context, builder, array_type, signature.args[3], args)
            builder.store(args[3], pointer, align=array_type.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(array, types.intp, types.intp, vector), code

    @extending.intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def zeros(typing: Any, array: Any, lanes: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return ir.Constant(context.get_value_type(signature.return_type), [0.0] * count)

        count = lanes.literal_value
        return Vector(array.dtype, count)(array, lanes), code

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def added(typing: Any, total: Any, factor: Any, vector: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            factors = spread(builder, args[1], total.lanes)
            product = builder.fmul(factors, args[2], flags=("contract",))
            return builder.fadd(args[0], product, flags=("contract",))

        return total(total, total.dtype, total), code

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def gated(typing: Any, vector: Any, factor: Any, gate: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            zeros = ir.Constant(args[0].type, [0.0] * vector.lanes)
            product = builder.fmul(spread(builder, args[1], vector.lanes), args[0])
            is_open = builder.fcmp_ordered(">", args[2], zeros)
            return builder.select(is_open, product, zeros)

        return vector(vector, vector.dtype, vector), code

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def prefetch(typing: Any, array: Any, row: Any, column: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array_type, byte, word = signature.args[0], ir.IntType(8).as_pointer(), ir.IntType(32)
            matrix = context.make_array(array_type)(context, builder, args[0])
            item = cgutils.get_item_pointer(
                context, builder, array_type, matrix, args[1:3], wraparound=False
            )
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            read, keep, data = (ir.Constant(word, number) for number in (0, 3, 1))
            builder.call(function, [builder.bitcast(item, byte), read, keep, data])
            return context.get_dummy_value()

        return types.void(array, types.intp, types.intp), code

    return load, store, zeros, added, gated, prefetch


if jit.installed is not None:
    constant = jit.installed.literally
    load, store, zeros, added, gated, prefetch = _define()
