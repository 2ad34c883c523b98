"""Lowers the program of several steps for a TPU's compiler, without a TPU."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from estimator_bridge.compile_for import Argument
from estimator_bridge.runtime.on_jax.program import StepsProgram, with_x64

__all__ = ["lower_program"]


def lower_program(program: StepsProgram, rows: int) -> tuple[str, tuple[Argument, ...]]:
    """Lowers a program that was made for a TPU.

    Args:
      program: the program.
      rows: the number of steps whose batches a call has.

    Returns:
      The program of all replicas as the text of StableHLO, and the arguments of one of them in
      their order.
    """
    last = [program.step.outputs[index] for index in program.shape.last]
    with with_x64():
        scalars = [
            _own("steps", (), np.int64),
            _own("rows", (rows,), np.bool_),
            _own("position", (), np.int64),
            _own("loss", (), np.float32),
        ]
        results = [_own("result", (1, *shape), dtype, program.mesh.size) for shape, dtype in last]
        inputs = list(_inputs(program, rows))
        batch_size = len(program.shape.axes)
        batch, fed = inputs[:batch_size], inputs[batch_size:]
        variables = dict(_variables(program))
        fixed, updated = (
            [variables[name] for name in names] for names in (program.fixed, program.updated)
        )
        groups = [results, batch, fed, fixed, updated]
        traced = program.jitted.trace(
            *(value for _, value in scalars), *([value for _, value in group] for group in groups)
        )
        module = traced.lower(lowering_platforms=("tpu",)).compiler_ir("stablehlo")
        text = module.operation.get_asm(enable_debug_info=True)
    arguments = [one for group in (scalars, *groups) for one, _ in group]
    return text, tuple(arguments)


def _own(
    name: str, shape: tuple[int, ...], dtype: Any, replicas: int | None = None
) -> tuple[Argument, Any]:
    """Returns an argument of the program's own, of which each replica has a row if they count."""
    import jax

    dtype = np.dtype(dtype)
    whole = shape if replicas is None else (replicas, *shape[1:])
    argument = Argument("program", name, shape, dtype.name, dtype.itemsize)
    return argument, jax.ShapeDtypeStruct(whole, dtype)


def _inputs(program: StepsProgram, rows: int) -> Iterator[tuple[Argument, Any]]:
    """Yields the components of a block of batches, then the fed values."""
    import jax

    axes, place = program.shape.axes, 0
    for argument, (shape, dtype) in zip(program.arguments, program.step.parameters):
        if argument.kind != "input":
            continue
        if place < len(axes):
            whole, axis = [rows, *shape], axes[place]
            if axis is not None:
                whole[axis + 1] *= program.mesh.size
            value = jax.ShapeDtypeStruct(whole, dtype, sharding=program.parts[place])
            yield dataclasses.replace(argument, shape=(rows, *shape)), value
        else:
            yield argument, jax.ShapeDtypeStruct(shape, dtype)
        place += 1


def _variables(program: StepsProgram) -> Iterator[tuple[str, tuple[Argument, Any]]]:
    import jax

    for argument, (shape, dtype) in zip(program.arguments, program.step.parameters):
        if argument.kind == "variable":
            yield argument.name, (argument, jax.ShapeDtypeStruct(shape, dtype))
