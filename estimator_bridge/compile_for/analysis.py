"""Builds a report from the compiler's figures and the compiled module's text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from estimator_bridge.compile_for.compiler import Compiled
from estimator_bridge.compile_for.hbm_traffic import hbm_bytes_moved
from estimator_bridge.compile_for.hlo import Instruction, Module, Shape, parse_module
from estimator_bridge.compile_for.lowered import LoweredStep
from estimator_bridge.compile_for.out_of_memory import Buffer, OutOfMemory, read_sizes
from estimator_bridge.compile_for.slices import Slice
from estimator_bridge.compile_for.step_report import (
    AllReduces,
    Memory,
    Padding,
    Roofline,
    StepCost,
    StepReport,
)

__all__ = ["analyse", "analyse_refused"]

_MOST = 10  # costs, padded arrays and large arrays
_SUMS = ("all-reduce", "all-reduce-start", "reduce-scatter", "all-gather", "all-to-all")
_HOST = ("infeed", "outfeed", "send", "recv")
_NO_ARRAYS = ("tuple", "get-tuple-element", "bitcast", "constant", "copy-start", "slice-start")
_XLA_ARGS = "XLA_Args"

LineOf = Callable[[str], "str | None"]


def analyse(
    name: str,
    step: LoweredStep,
    compiled: Compiled,
    target: Slice,
    examples: int | None,
    line_of: LineOf,
) -> StepReport:
    """Returns the report of one step.

    Args:
      name: the step's name.
      step: the step as given to the compiler.
      compiled: the compiler's result.
      target: the slice.
      examples: the global batch size.
      line_of: maps an operation's name to the user's line.
    """
    module = parse_module(compiled.text)
    instructions = list(module.executions())
    flops = max(compiled.costs.get("flops", 0.0), 0.0)
    moved_bytes = max(compiled.costs.get("bytes accessed", 0.0), 0.0)
    in_hbm = min(float(hbm_bytes_moved(module)), moved_bytes)
    sums = _all_reduces(instructions, step, target)
    roofline = Roofline(
        flops / target.chip.core_flops,
        in_hbm / target.chip.core_hbm_bytes_per_second,
        sums.seconds,
        _compilers_time(module, compiled),
    )
    memory = compiled.memory
    return StepReport(
        name,
        target.name,
        compiled.device,
        step.replicas,
        examples,
        compiled.seconds,
        flops,
        moved_bytes,
        in_hbm,
        Memory(
            memory["argument"],
            sum(argument.bytes for argument in step.arguments),
            memory["output"],
            memory["alias"],
            memory["temp"],
            memory["generated_code"],
            target.chip.hbm_bytes,
        ),
        roofline,
        sums,
        _costs(instructions, line_of),
        _padding(module, instructions, step, line_of),
        _largest(module, instructions, step, line_of),
        step.float64,
        step.dynamic,
        sum(_is_of_host(instruction) for instruction, _ in instructions),
        sum(one.opcode == "while" and one.trips is None for one, _ in instructions),
        compiled.peak_bytes,
        step.sees_all,
        step.block_steps,
    )


def analyse_refused(
    message: str, text: str | None, step: LoweredStep, line_of: LineOf
) -> OutOfMemory | None:
    """Returns the largest arrays of a step that needs too much memory; None if unknown.

    Args:
      message: the compiler's message.
      text: the text of the partly compiled module, or None.
      step: the step as given to the compiler.
      line_of: maps an operation's name to the user's line.
    """
    sizes = read_sizes(message)
    if sizes is None:
        return None
    need, available = sizes
    if text is None:
        return OutOfMemory(need, available)
    module = parse_module(text)
    if "for HLO temporaries" in message:
        need += sum(one.shapes[0].padded_bytes for one in module.parameters())
    return OutOfMemory(need, available, _largest(module, list(module.executions()), step, line_of))


def _compilers_time(module: Module, compiled: Compiled) -> float | None:
    """The compiler's time at the roofline, in seconds.

    Its figure subtracts one second for each custom call in the entry computation, which it cannot
    estimate.
    """
    estimate = compiled.costs.get("optimal_seconds")
    if estimate is None:
        return None
    unknown = sum(one.opcode == "custom-call" for one in module.computations[module.entry])
    seconds = estimate + unknown
    return seconds if seconds > 0 else None


def _all_reduces(
    instructions: Sequence[tuple[Instruction, int]], step: LoweredStep, target: Slice
) -> AllReduces:
    count, total, seconds = 0, 0, 0.0
    for instruction, times in instructions:
        if instruction.opcode not in _SUMS:
            continue
        reduced_bytes = sum(shape.bytes for shape in instruction.shapes)
        chips = max(_group_size(instruction, step.replicas) // target.chip.cores, 1)
        count += times
        total += times * reduced_bytes
        sent_bytes = 2 * (chips - 1) / chips * reduced_bytes
        seconds += times * sent_bytes / target.chip.ici_bytes_per_second
    return AllReduces(step.sums, count, total, seconds)


def _group_size(instruction: Instruction, replicas: int) -> int:
    """Returns the number of replicas that an all-reduce sums over."""
    match = re.search(r"replica_groups=\{\{([\d,]+)\}", instruction.text)
    if match:
        return match[1].count(",") + 1
    iota = re.search(r"replica_groups=\[\d+,(\d+)\]", instruction.text)
    return int(iota[1]) if iota else replicas


def _costs(
    instructions: Sequence[tuple[Instruction, int]], line_of: LineOf
) -> tuple[StepCost, ...]:
    cycles: Counter[str] = Counter()
    for instruction, times in instructions:
        if instruction.cycles:
            cycles[instruction.op_name or instruction.opcode] += times * instruction.cycles
    total = sum(cycles.values())
    return tuple(
        StepCost(op, line_of(op), count, count / total) for op, count in cycles.most_common(_MOST)
    )


def _arrays(
    module: Module, instructions: Sequence[tuple[Instruction, int]], step: LoweredStep
) -> Iterator[tuple[str, Shape]]:
    """Yields the arrays that instructions create, each with its operation's or argument's name."""
    arguments = [argument.name for argument in step.arguments]
    names_by_parameter = dict(zip((one.name for one in module.parameters()), arguments))
    for instruction, _ in instructions:
        if instruction.opcode in _NO_ARRAYS or instruction.opcode.endswith("-done"):
            continue
        op = names_by_parameter.get(instruction.name) or instruction.op_name
        if op and op != _XLA_ARGS:
            for shape in instruction.shapes:
                yield op, shape


def _largest(
    module: Module,
    instructions: Sequence[tuple[Instruction, int]],
    step: LoweredStep,
    line_of: LineOf,
) -> tuple[Buffer, ...]:
    """The largest arrays in HBM, each shape of an operation once."""
    sizes = {
        (op, str(shape)): shape.padded_bytes
        for op, shape in _arrays(module, instructions, step)
        if shape.space == 0 and shape.dims
    }
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:_MOST]
    return tuple(Buffer(op, line_of(op), shape, size) for (op, shape), size in largest)


def _padding(
    module: Module,
    instructions: Sequence[tuple[Instruction, int]],
    step: LoweredStep,
    line_of: LineOf,
) -> tuple[Padding, ...]:
    """The arrays with the most padding, each shape of an operation once."""
    paddings: dict[tuple[str, str], tuple[Shape, int]] = {}
    for op, shape in _arrays(module, instructions, step):
        waste = shape.padded_bytes - shape.bytes
        if waste > 0:
            paddings.setdefault((op, str(shape)), (shape, waste))
    largest = sorted(paddings.items(), key=lambda item: -item[1][1])[:_MOST]
    return tuple(
        Padding(
            op,
            line_of(op),
            str(shape),
            shape.padded_dims,
            shape.tile,
            waste,
            waste / shape.padded_bytes,
        )
        for (op, _), (shape, waste) in largest
    )


def _is_of_host(instruction: Instruction) -> bool:
    return instruction.opcode in _HOST or "is_host_transfer=true" in instruction.text
