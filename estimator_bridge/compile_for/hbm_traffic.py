"""Bytes that a compiled step moves through HBM, counted from the module's text.

The compiler's own figure counts the operands and results of each operation wherever they are. On
the newer chips, most of a step's arrays never leave the on-chip memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from estimator_bridge.compile_for.hlo import Instruction, Module, Shape

__all__ = ["hbm_bytes_moved"]

_MOVES_NOTHING = frozenset(
    {
        "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "call",
        "conditional", "async-start", "iota", "after-all", "partition-id", "replica-id",
    }
)  # fmt: skip
_READS_A_PART = frozenset({"slice", "dynamic-slice", "gather"})
_CALLS = re.compile(r"\bcalls=%?([\w.-]+)")
_HBM = 0


def hbm_bytes_moved(module: Module) -> int:
    """Returns the bytes that a step reads from HBM and writes there.

    An operation reads its operands once and writes its results once. Of an operand that it only
    slices or gathers from, it reads what it takes; an update in place moves the update.
    """
    instructions = {one.name: one for body in module.computations.values() for one in body}
    total = 0
    for instruction, times in module.executions():
        total += times * sum(_bytes_moved(instruction, instructions, module))
    return total


def _bytes_moved(
    instruction: Instruction, instructions: dict[str, Instruction], module: Module
) -> Iterator[int]:
    opcode = instruction.opcode
    if opcode in _MOVES_NOTHING or opcode.endswith(("-done", "-update")):
        return
    if opcode in ("copy-start", "slice-start"):
        yield from _transfer_sizes(instruction)
        return
    updated_bytes = _updated_in_place(instruction, module)
    for shape in instruction.shapes:
        if shape.space == _HBM:
            yield min(shape.bytes, updated_bytes) if updated_bytes is not None else shape.bytes
    for index, name in enumerate(instruction.operands):
        operand = instructions.get(name)
        if operand is None:
            continue
        in_hbm = sum(shape.bytes for shape in operand.shapes if shape.space == _HBM)
        if in_hbm:
            part = _part_read(instruction, index, module)
            yield in_hbm if part is None else min(part, in_hbm)


def _transfer_sizes(instruction: Instruction) -> Iterator[int]:
    """Yields the bytes of an asynchronous copy, at each of its ends that is in HBM."""
    arrays = [shape for shape in instruction.shapes if shape.dims]
    if len(arrays) >= 2:
        smaller = min(arrays[0].bytes, arrays[1].bytes)
        yield from (smaller for shape in arrays[:2] if shape.space == _HBM)


def _part_read(instruction: Instruction, index: int, module: Module) -> int | None:
    """Returns how many bytes of an operand are read if only parts are; None if all of it is."""
    if instruction.opcode in _READS_A_PART:
        return _size(instruction.shapes) if index == 0 else None
    if instruction.opcode == "dynamic-update-slice":
        return 0 if index == 0 else None
    body = _fused_body(instruction, module)
    inner = next((p for p in body if p.opcode == "parameter" and p.parameter == index), None)
    if inner is None:
        return None
    total = 0
    for user in body:
        for place, name in enumerate(user.operands):
            if name == inner.name:
                part = _part_read(user, place, module)
                if part is None:
                    return None
                total += part
    return total


def _updated_in_place(instruction: Instruction, module: Module) -> int | None:
    """Returns the bytes of an update in place; None if the result is written as a whole."""
    body = _fused_body(instruction, module) or (instruction,)
    last = body[-1]
    if last.opcode != "dynamic-update-slice" or len(last.operands) < 2:
        return None
    everywhere = {one.name: one for inner in module.computations.values() for one in inner}
    update = everywhere.get(last.operands[1])
    return _size(update.shapes) if update else None


def _fused_body(instruction: Instruction, module: Module) -> tuple[Instruction, ...]:
    """Returns the instructions of a fusion; none for other instructions."""
    match = _CALLS.search(instruction.text) if instruction.opcode == "fusion" else None
    return module.computations.get(match[1], ()) if match else ()


def _size(shapes: tuple[Shape, ...]) -> int:
    return sum(shape.bytes for shape in shapes)
