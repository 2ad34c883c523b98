"""Formats a step's report as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from estimator_bridge.compile_for.step_report import Refusal, StepReport
from estimator_bridge.compile_for.units import as_bytes, as_seconds, as_si

__all__ = ["table_of"]

_MOST_PADDED = 5
_MOST_FOUND = 5
_LINE = 60  # characters of a user's line


def table_of(step: StepReport | Refusal) -> str:
    """Returns a step's report, at most one screen."""
    if isinstance(step, Refusal):
        return "\n".join(
            [
                f"== {step.name} for {step.target}: not compiled: {step.why}",
                *_indent(step.message),
            ]
        )
    return "\n".join([*_head(step), *_figures(step), *_costs(step), *_warnings(step)])


def _head(step: StepReport) -> list[str]:
    examples = "" if step.examples is None else f", {step.examples:,} examples per step"
    return [
        f"== {step.name} for {step.target}: compiled in {step.compile_seconds:.1f} s "
        f"({step.replicas} replica{'s' if step.replicas > 1 else ''} on {step.device}{examples})"
    ]


def _figures(step: StepReport) -> list[str]:
    memory, line, sums = step.memory, step.roofline, step.all_reduces
    flops = f"{as_si(step.flops)}FLOP per replica step"
    if step.flops_per_example is not None:
        flops += f", {as_si(step.flops_per_example)}FLOP per example"
    if step.sees_all and step.replicas > 1:
        flops += " (each replica computes the whole batch; one counts)"
    rows = [
        ("compute", flops),
        (
            "moved",
            f"{as_bytes(step.bytes_moved)} per replica step, {as_bytes(step.hbm_bytes_moved)} of "
            "them through HBM",
        ),
        (
            "HBM",
            f"{as_bytes(memory.total)} of {as_bytes(memory.available)} ({memory.share:.1%}): "
            f"arguments {as_bytes(memory.arguments)}, outputs {as_bytes(memory.outputs)} of which "
            f"{as_bytes(memory.aliases)} in place, temporaries {as_bytes(memory.temporaries)}, "
            f"code {as_bytes(memory.code)}",
        ),
        (
            "roofline",
            f"{as_seconds(line.seconds)} per step at least, bound by {line.bound}; the matrix "
            f"units at {line.matrix_share:.1%} of their peak at most",
        ),
    ]
    if step.block_steps:
        rows.append(("program", f"JAX's, with the batches of {step.block_steps} step(s) a call"))
    if step.replicas > 1 and (sums.asked or sums.count):
        rows.append(
            (
                "all-reduce",
                f"{sums.asked} sum(s) in {sums.count} all-reduce(s), {as_bytes(sums.bytes)}, "
                f"{as_seconds(sums.seconds)} at least; a step takes {as_seconds(line.seconds)} "
                f"at least if they overlap with the rest, {as_seconds(line.seconds_in_turn)} if "
                "the rest waits for them",
            )
        )
    return [f"  {name:<10} {text}" for name, text in rows]


def _costs(step: StepReport) -> list[str]:
    if not step.costs:
        return []
    rows = [
        [f"{cost.share:.1%}", f"{cost.cycles:,}", cost.op, _text_of(cost.line)]
        for cost in step.costs
    ]
    lines = ["  costliest operations, by the compiler's estimate"]
    lines += _columns([["share", "cycles", "operation", "line"], *rows])
    if step.loops_counted_once:
        lines.append(f"    {step.loops_counted_once} loop(s) of unknown length are counted once")
    return lines


def _warnings(step: StepReport) -> list[str]:
    lines = []
    if step.padding:
        lines.append("  padded most (the chip stores arrays in tiles)")
        rows = [
            [
                one.shape,
                "x".join(map(str, one.padded)),
                as_bytes(one.wasted_bytes),
                f"{one.waste:.0%}",
                one.op,
                _text_of(one.line),
            ]
            for one in step.padding[:_MOST_PADDED]
        ]
        lines += _columns([["shape", "padded to", "wasted", "share", "operation", "line"], *rows])
    for description, findings in (
        ("float64, which a TPU emulates slowly", step.float64),
        (
            "no static shape: the TPU's compiler pads them; --check-tpu would refuse them",
            step.dynamic,
        ),
    ):
        if findings:
            lines.append(f"  warning: {len(findings)} operation(s) have {description}")
            lines += [
                f"    {one.op}: {_text_of(one.line) or one.about}" for one in findings[:_MOST_FOUND]
            ]
    if step.host_transfers:
        lines.append(f"  warning: {step.host_transfers} transfer(s) from or to the host per step")
    return lines


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows
    ]


def _indent(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _text_of(line: str | None) -> str:
    if line is None:
        return ""
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."
