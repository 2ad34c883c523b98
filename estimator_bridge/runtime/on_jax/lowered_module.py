"""A lowered step as a JAX primitive, whose lowering inlines the step's StableHLO.

So the step is part of any JAX program, with JAX's cache of compiled programs, its profiler and its
compilation ahead of time. One name of JAX is private: the conversion of an HloModuleProto.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from estimator_bridge.compile_for.compiler_main import remove_copies, use_own_generator
from estimator_bridge.compile_for.lowered import STEP_IN_PROGRAM
from estimator_bridge.errors import INSTEAD_OF_JAX, NotOnJaxError

__all__ = ["LiftedPrimitive"]

_GROUPS = re.compile(r"<\{(replica_groups = dense<[^>]*> : tensor<[^>]*>)\}>")
_FIRST_CHANNEL = 1_000_000  # far from the channels that JAX numbers itself


class LiftedPrimitive:
    """A step of one replica, to be called inside ``shard_map``.

    Args:
      hlo: a serialized HloModuleProto.
      random_ops: the operations that the device's own generator draws.

    Attributes:
      outputs: the shape and the dtype of each output.
      parameters: the shape and the dtype of each parameter.
      has_convolutions: whether the step has any.
    """

    def __init__(self, hlo: bytes, random_ops: Sequence[str]):
        from jax.core import ShapedArray
        from jax.extend.core import Primitive
        from jax.interpreters import mlir

        text = _stablehlo(hlo, random_ops)
        self.has_convolutions = "stablehlo.convolution" in text
        with mlir.make_ir_context():
            main = _main(mlir.ir.Module.parse(text), mlir.ir)
            self.parameters = [_shape_and_dtype(t, mlir.ir) for t in main.inputs]
            self.outputs = [_shape_and_dtype(t, mlir.ir) for t in main.results]
        primitive = Primitive(STEP_IN_PROGRAM)
        primitive.multiple_results = True
        primitive.def_abstract_eval(lambda *_: [ShapedArray(*one) for one in self.outputs])
        mlir.register_lowering(primitive, _inlining(text))
        self._primitive = primitive

    def __call__(self, *arguments: Any) -> list[Any]:
        """Returns the step's outputs."""
        return self._primitive.bind(*arguments)


def _inlining(text: str) -> Any:
    from jax.interpreters import mlir

    ir = mlir.ir

    def lower(context: Any, *arguments: Any) -> Sequence[Any]:
        program, step = context.module_context, ir.Module.parse(text)
        results = list(_main(step, ir).results)
        name = mlir.merge_mlir_modules(
            program.module, STEP_IN_PROGRAM, step, dst_symtab=program.symbol_table
        )
        callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
        return ir.Operation.create("func.call", results, list(arguments), callee).results

    return lower


def _stablehlo(hlo: bytes, random_ops: Sequence[str]) -> str:
    """Returns the module as text, in which the devices of a mesh are the replicas."""
    from jax._src.lib import _jax
    from jax.interpreters import mlir

    with mlir.make_ir_context():
        module = mlir.ir.Module.parse(_jax.mlir.hlo_to_stablehlo(hlo))
        remove_copies(module, mlir.ir)
        use_own_generator(module, mlir.ir, frozenset(random_ops))
        text = module.operation.get_asm(enable_debug_info=True)
    # A sum over replicas has no channel, and a sum over a mesh's devices has one of its own. Their
    # numbers are the same for each step, as JAX's cache on disk compares the whole program.
    channels = itertools.count(_FIRST_CHANNEL)
    text = _GROUPS.sub(
        lambda groups: (
            f"<{{channel_handle = #stablehlo.channel_handle<handle = {next(channels)}, type = 1>, "
            f"use_global_device_ids, {groups[1]}}}>"
        ),
        text,
    )
    return text.replace("stablehlo.replica_id", "stablehlo.partition_id")


def _main(module: Any, ir: Any) -> Any:
    functions = (f for f in module.body.operations if "sym_name" in f.attributes)
    (main,) = (f for f in functions if ir.StringAttr(f.attributes["sym_name"]).value == "main")
    return ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)


def _shape_and_dtype(kind: Any, ir: Any) -> tuple[tuple[int, ...], np.dtype]:
    tensor_type = ir.RankedTensorType(kind)
    return tuple(tensor_type.shape), _dtype(str(tensor_type.element_type))


def _dtype(name: str) -> np.dtype:
    """Returns the dtype of MLIR's name: f32, bf16, i64, ui8, i1, complex<f32>."""
    import jax.numpy as jnp

    if name == "i1":
        return np.dtype(bool)
    if name == "bf16":
        return np.dtype(jnp.bfloat16)
    if name.startswith("complex"):
        return np.dtype(f"complex{2 * int(name[len('complex<f') : -1])}")
    match = re.fullmatch(r"(f|i|ui)(16|8|32|64)", name)
    if match is None:
        raise NotOnJaxError(f"Steps on JAX have no values of the type {name}. {INSTEAD_OF_JAX}")
    kinds = {"f": "float", "i": "int", "ui": "uint"}
    return np.dtype(f"{kinds[match[1]]}{match[2]}")
