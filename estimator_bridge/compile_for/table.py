"""A step's report as lines of text for a screen."""

from __future__ import annotations

from collections.abc import Sequence

from estimator_bridge.compile_for.report import Refusal, StepReport

__all__ = ["table_of"]

_MOST_PADDED = 5
_MOST_FOUND = 5
_LINE = 60  # letters of a user's line


def table_of(step: StepReport | Refusal) -> str:
    """All that a person wants to know of a step, a screen at most."""
    if isinstance(step, Refusal):
        return "\n".join(
            [
                f"== {step.name} for {step.target}: not compiled: {step.why}",
                *_indented(step.message),
            ]
        )
    return "\n".join([*_head(step), *_figures(step), *_costs(step), *_warnings(step)])


def _head(step: StepReport) -> list[str]:
    examples = "" if step.examples is None else f", {step.examples:,} examples a step"
    return [
        f"== {step.name} for {step.target}: compiled in {step.compile_seconds:.1f} s "
        f"({step.replicas} replica{'s' if step.replicas > 1 else ''} on {step.device}{examples})"
    ]


def _figures(step: StepReport) -> list[str]:
    memory, line, sums = step.memory, step.roofline, step.all_reduces
    flops = f"{_si(step.flops)}FLOP a replica's step"
    if step.flops_per_example is not None:
        flops += f", {_si(step.flops_per_example)}FLOP an example"
    rows = [
        ("compute", flops),
        ("moved", f"{_bytes(step.bytes_moved)} a replica's step"),
        (
            "HBM",
            f"{_bytes(memory.total)} of {_bytes(memory.available)} ({memory.share:.1%}): arguments "
            f"{_bytes(memory.arguments)}, outputs {_bytes(memory.outputs)} of which "
            f"{_bytes(memory.aliases)} in place, temporaries {_bytes(memory.temporaries)}, code "
            f"{_bytes(memory.code)}",
        ),
        (
            "roofline",
            f"{_seconds(line.seconds)} a step at least, bound by {line.bound}; the matrix units "
            f"at {line.matrix_share:.1%} of their peak at most",
        ),
    ]
    if sums.asked or sums.count:
        rows.append(
            (
                "all-reduce",
                f"{sums.asked} sum(s) in {sums.count} all-reduce(s), {_bytes(sums.bytes)}, "
                f"{_seconds(sums.seconds)} at least",
            )
        )
    return [f"  {name:<10} {text}" for name, text in rows]


def _costs(step: StepReport) -> list[str]:
    if not step.costs:
        return []
    rows = [
        [f"{cost.share:.1%}", f"{cost.cycles:,}", cost.op, _shown(cost.line)] for cost in step.costs
    ]
    lines = ["  costliest operations, by the compiler's estimate"]
    lines += _columns([["share", "cycles", "operation", "line"], *rows])
    if step.loops_counted_once:
        lines.append(
            f"    {step.loops_counted_once} loop(s) of unknown length are counted as if they ran "
            "once"
        )
    return lines


def _warnings(step: StepReport) -> list[str]:
    lines = []
    if step.padding:
        lines.append("  padded most (the chip keeps arrays in tiles)")
        rows = [
            [
                one.shape,
                "x".join(map(str, one.padded)),
                _bytes(one.wasted_bytes),
                f"{one.waste:.0%}",
                one.op,
                _shown(one.line),
            ]
            for one in step.padding[:_MOST_PADDED]
        ]
        lines += _columns([["shape", "kept as", "wasted", "share", "operation", "line"], *rows])
    for what, found in (
        ("float64, which a TPU emulates slowly", step.float64),
        ("no static shape, which a TPU pads", step.dynamic),
    ):
        if found:
            lines.append(f"  warning: {len(found)} operation(s) have {what}")
            lines += [
                f"    {one.op}: {_shown(one.line) or one.about}" for one in found[:_MOST_FOUND]
            ]
    if step.host_transfers:
        lines.append(f"  warning: {step.host_transfers} transfer(s) from or to the host in a step")
    return lines


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows
    ]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _shown(line: str | None) -> str:
    if line is None:
        return ""
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."


def _si(value: float) -> str:
    for unit, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} "


def _bytes(value: float) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"
