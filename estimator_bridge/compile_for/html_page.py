"""Renders a report as a self-contained HTML page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from estimator_bridge.compile_for.batch_search import LargestBatch
from estimator_bridge.compile_for.html_parts import (
    bar,
    count_of,
    document,
    figures_row,
    share,
    table,
)
from estimator_bridge.compile_for.lowered import Finding
from estimator_bridge.compile_for.out_of_memory import Buffer
from estimator_bridge.compile_for.report import Report
from estimator_bridge.compile_for.step_report import Refusal, StepReport
from estimator_bridge.compile_for.units import as_bytes, as_seconds, as_si

__all__ = ["page_of"]

_LINE = re.compile(r"^(?P<place>.*?:\d+): (?P<code>.*)$")
_FOOT = (
    "This is the result of libtpu's compiler for one replica's step. It shows that the step "
    "compiles, its memory and its minimum cost; not the runtime, the input, the transfers or the "
    "numbers. Times assume the chip's peak rates: a real step takes longer."
)


def page_of(report: Report) -> str:
    """Returns the page's HTML."""
    steps = [_step(step) for step in report.compiled]
    body = [
        _head(report),
        *[_refusal(refusal) for refusal in report.refused],
        _batches(report.batches),
        *steps,
        f"<footer><p>{escape(_FOOT)}</p><p>{escape(_versions(report))}</p></footer>",
    ]
    return document(f"Compiled for {report.target}", body)


def _versions(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(report.versions.items()))
    return f"Compiled by {versions}." if versions else ""


def _head(report: Report) -> str:
    count, refusal_count = len(report.steps), len(report.refused)
    if not count:
        verdict = '<p class="bad">Nothing was compiled.</p>'
    elif refusal_count:
        verdict = f'<p class="bad">{refusal_count} of {count} step(s) were not compiled.</p>'
    else:
        verdict = f'<p class="good">{count_of(count, "step")} compiled.</p>'
    rows = []
    for step in report.steps:
        link = f'<a href="#{_anchor(step.name)}">{escape(step.name)}</a>'
        if isinstance(step, Refusal):
            rows.append([link, f'<span class="bad">{escape(step.why)}</span>', "", "", "", ""])
            continue
        memory, line = step.memory, step.roofline
        memory_bar = bar([("one", memory.share)])
        rows.append(
            [
                link,
                "compiled",
                "" if step.examples is None else f"{step.examples:,}",
                f"{share(memory.share)}{memory_bar}",
                as_seconds(line.seconds),
                line.bound,
            ]
        )
    names = ["step", "result", "#examples per step", "HBM of a core", "#least time", "bound by"]
    return (
        f"<h1>Compiled for {escape(report.target)}</h1>{verdict}"
        f"<section>{table(names, rows)}</section>"
    )


def _refusal(step: Refusal) -> str:
    body = f"<pre>{escape(step.message)}</pre>"
    if step.memory:
        memory = step.memory
        body = (
            f"<p>Out of memory by at least {as_bytes(memory.missing)}.</p>"
            + _lengths(
                [
                    ("the step needs", "two", memory.needed, as_bytes(memory.needed)),
                    ("a program may use", "one", memory.available, as_bytes(memory.available)),
                ]
            )
            + _buffers(memory.buffers)
        )
    return (
        f'<section id="{_anchor(step.name)}"><h2>{escape(_capital(step.name))}</h2>'
        f'<p class="bad">Not compiled: {escape(step.why)}.</p>{body}</section>'
    )


def _batches(batches: Sequence[LargestBatch]) -> str:
    if not batches:
        return ""
    rows = [
        [
            escape(one.name),
            f"{one.size:,}" if one.size else "none",
            "" if one.too_large is None else f"{one.too_large:,}",
            f"{as_bytes(one.bytes)} of {as_bytes(one.available)}" if one.size else "",
            f"{one.trials}",
            escape(one.why_ended),
        ]
        for one in batches
    ]
    names = ["step", "#largest that fits", "#too large", "#HBM of the largest", "#sizes compiled",
             "note"]  # fmt: skip
    return f"<section><h2>Largest batches</h2>{table(names, rows)}</section>"


def _step(step: StepReport) -> str:
    return (
        f'<section id="{_anchor(step.name)}"><h2>{escape(_capital(step.name))}</h2>'
        f'<p class="soft">{escape(_about(step))}</p>{_figures(step)}'
        f"<h3>Memory of a core (HBM)</h3>{_memory(step)}"
        f"<h3>Least time of a step (roofline)</h3>{_roofline(step)}"
        f"{_findings(step)}{_costs(step)}{_buffers(step.buffers)}{_padding(step)}</section>"
    )


def _about(step: StepReport) -> str:
    return (
        f"{count_of(step.replicas, 'replica')} on {step.device}, compiled in "
        f"{step.compile_seconds:.1f} s"
    )


def _figures(step: StepReport) -> str:
    figures = [(f"{as_si(step.flops)}FLOP", "per replica step")]
    if step.flops_per_example is not None:
        figures.append((f"{as_si(step.flops_per_example)}FLOP", "per example"))
    if step.examples is not None:
        meaning = (
            "per step, all on each replica" if step.sees_all else "per step, over all replicas"
        )
        figures.append((f"{count_of(step.examples, 'example')}", meaning))
    figures.append((as_bytes(step.bytes_moved), "moved per replica step"))
    figures.append((as_bytes(step.hbm_bytes_moved), "moved through HBM"))
    figures.append((f"{step.roofline.matrix_share:.1%}", "maximum share of the matrix units' peak"))
    return figures_row(figures)


def _memory(step: StepReport) -> str:
    memory = step.memory
    parts = [
        ("arguments", "one", memory.arguments),
        ("outputs not in place", "two", memory.outputs - memory.aliases),
        ("temporaries", "three", memory.temporaries),
        ("code", "four", memory.code),
    ]
    return (
        f"<p>{as_bytes(memory.total)} of {as_bytes(memory.available)} that a program may use "
        f"({share(memory.share)}).</p>{_memory_bar(parts, memory.available)}"
    )


def _memory_bar(parts: Sequence[tuple[str, str, int]], total: int) -> str:
    visible_parts = [part for part in parts if part[2] > 0]
    filled_bar = bar([(color, size / total) for _, color, size in visible_parts])
    key = "".join(
        f'<span><i class="{color}"></i>{escape(name)} {as_bytes(size)}</span>'
        for name, color, size in visible_parts
    )
    return f'{filled_bar}<div class="key">{key}</div>'


def _roofline(step: StepReport) -> str:
    line, sums = step.roofline, step.all_reduces
    parts = [("compute", "one", line.compute), ("memory", "three", line.memory)]
    if sums.count:
        parts.append(("all-reduce", "two", line.all_reduce))
    text = f"{as_seconds(line.seconds)} at least, bound by {line.bound}."
    if sums.count:
        text = (
            f"{as_seconds(line.seconds)} at least if the all-reduces overlap with the rest, "
            f"{as_seconds(line.seconds_in_turn)} if the rest waits for them; bound by "
            f"{line.bound}. {count_of(sums.asked, 'sum')} of the program became "
            f"{count_of(sums.count, 'all-reduce')} of {as_bytes(sums.bytes)}."
        )
    if line.compiler is not None:
        text += (
            " The compiler's own estimate, without all-reduces and with on-chip memory as slow as "
            f"HBM: {as_seconds(line.compiler)}."
        )
    return f"<p>{escape(text)}</p>" + _lengths(
        [(name, color, seconds, as_seconds(seconds)) for name, color, seconds in parts]
    )


def _lengths(rows: Sequence[tuple[str, str, float, str]]) -> str:
    """Renders bars to compare; each row is a name, a color, a length and a label."""
    longest = max(length for _, _, length, _ in rows) or 1.0
    cells = "".join(
        f"<span>{escape(name)}</span>{bar([(color, length / longest)])}"
        f'<span class="soft">{escape(label)}</span>'
        for name, color, length, label in rows
    )
    return f'<div class="times">{cells}</div>'


def _findings(step: StepReport) -> str:
    parts = []
    for description, findings in (
        ("with float64, which a TPU emulates slowly", step.float64),
        (
            "without a static shape: the TPU's compiler pads it; --check-tpu would refuse it",
            step.dynamic,
        ),
    ):
        if findings:
            parts.append(
                f'<p class="warn">{count_of(len(findings), "operation")} {description}.</p>'
            )
            parts.append(table(["operation", "what to do"], map(_finding, findings)))
    if step.host_transfers:
        count = count_of(step.host_transfers, "transfer")
        parts.append(f'<p class="warn">{count} from or to the host per step.</p>')
    if not parts:
        return ""
    return "<h3>Findings</h3>" + "".join(parts)


def _finding(finding: Finding) -> list[str]:
    return [_place(finding.op, finding.line), escape(finding.about)]


def _costs(step: StepReport) -> str:
    if not step.costs:
        return ""
    rows = [
        [
            f"{cost.share:.1%}{bar([('one', cost.share)])}",
            f"{cost.cycles:,}",
            _place(cost.op, cost.line),
        ]
        for cost in step.costs
    ]
    note = ""
    if step.loops_counted_once:
        count = count_of(step.loops_counted_once, "loop")
        note = f'<p class="soft">{count} of unknown length counted once.</p>'
    names = ["share of all cycles", "#cycles", "operation and source line"]
    return f"<h3>Costliest operations, by the compiler's estimate</h3>{note}{table(names, rows)}"


def _buffers(buffers: Sequence[Buffer]) -> str:
    if not buffers:
        return ""
    rows = [
        [as_bytes(one.bytes), f"<code>{escape(one.shape)}</code>", _place(one.op, one.line)]
        for one in buffers
    ]
    names = ["#in HBM", "shape", "made by"]
    return f"<h3>Largest arrays, not all at the same time</h3>{table(names, rows)}"


def _padding(step: StepReport) -> str:
    if not step.padding:
        return ""
    rows = [
        [
            f"<code>{escape(one.shape)}</code>",
            "x".join(map(str, one.padded)),
            as_bytes(one.wasted_bytes),
            f"{one.waste:.0%}",
            _place(one.op, one.line),
        ]
        for one in step.padding
    ]
    names = ["shape", "padded to", "#wasted", "#of the array", "operation or argument"]
    return (
        "<h3>Padded most</h3>"
        f'<p class="soft">The chip stores arrays in tiles, which it pads.</p>'
        f"{table(names, rows)}"
    )


def _place(op: str, line: str | None) -> str:
    label = f"<code>{escape(op)}</code>"
    if line is None:
        return label
    match = _LINE.match(line)
    if not match:
        return f'{label}<span class="place">{escape(line)}</span>'
    place, code = escape(match["place"]), escape(match["code"])
    return f'{label}<span class="place">{place}<br><code>{code}</code></span>'


def _anchor(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
