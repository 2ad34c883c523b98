"""The matrix of what was compiled, as a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parity.compiled.counted import BY_HAND
from parity.compiled.explained import EXPLAINED
from parity.compiled.results import ON_JAX, Results
from parity.page_tables import with_table

__all__ = ["figures_table", "in_docs", "matrix", "page", "unexplained"]

_BEGIN, _END = "<!-- compiled programs: begin -->", "<!-- compiled programs: end -->"

_HEAD = """\
# Programs compiled by the TPU's own compiler

Written by `python -m parity.compile_for_tpu`, which says how to run it again. No step ran: libtpu
compiled each for the slice, on a machine without a TPU. {releases}
[docs/tpu.md](../docs/tpu.md#compiled-by-a-tpus-own-compiler) says what this shows, and what not.

"3 of 4" means that four steps were tried and three of them compiled. The steps are training,
evaluation, evaluation's short last batch, and prediction. An empty cell was not tried.
"""


def page(results: Results) -> str:
    """The page, in Markdown."""
    parts = [_HEAD.format(releases=_releases(results)), *matrix(results)]
    parts += ["", "## Figures of the training step", "", *_figures(results)]
    parts += ["", "## FLOPs counted by hand", "", *_by_hand(results)]
    reasons = list(_reasons(results))
    if reasons:
        parts += ["", "## What was not compiled", "", *reasons]
    return "\n".join(parts) + "\n"


def _releases(results: Results) -> str:
    """Returns the releases that compiled, with what each compiled if there are several."""
    programs_by_release: dict[str, dict[str, list[str]]] = {}
    for program, of_slices in sorted(results.versions.items()):
        for target, versions in of_slices.items():
            if versions:
                release = f"libtpu {versions['libtpu']}, by jax {versions['jax']}"
                programs_by_release.setdefault(release, {}).setdefault(program, []).append(target)
    if len(programs_by_release) < 2:
        return "".join(f"It was {release}." for release in programs_by_release)
    parts = []
    for release, programs in sorted(programs_by_release.items()):
        text = "; ".join(f"{name} ({', '.join(targets)})" for name, targets in programs.items())
        parts.append(f"{release}: {text}.")
    return "\n".join(parts)


def in_docs(text: str, results: Results) -> str:
    """A page of docs/ with the matrix and the figures of one chip between its two comments.

    Raises:
      ValueError: the comments are not there.
    """
    tables = [*matrix(results), "", *figures_table(results)]
    return with_table(text, _BEGIN, _END, tables)


def figures_table(results: Results) -> Iterator[str]:
    """A training step's FLOPs and HBM on one chip, of each program."""
    yield (
        "| training on v5e-1 | examples | FLOP | moved | through HBM | HBM | least time "
        "| bound by |"
    )
    yield "|---" * 8 + "|"
    for program, steps_by_slice in results.programs.items():
        for step in steps_by_slice.get("v5e-1", []):
            if step["compiled"] and step["name"] == "training":
                memory = step["memory"]
                cells = [
                    f"{step['examples']}",
                    f"{step['flops']:.3g}",
                    _bytes(step["bytes_moved"]),
                    _in_hbm(step),
                    _bytes(memory["total"]),
                    *_least_time(step),
                ]
                yield f"| {program} | " + " | ".join(cells) + " |"


def matrix(results: Results) -> Iterator[str]:
    """Programs by slices, as the lines of a table."""
    slices = _slices(results)
    yield "| program | " + " | ".join(slices) + " |"
    yield "|---" * (len(slices) + 1) + "|"
    compiled = dict.fromkeys(slices, 0)
    totals = dict.fromkeys(slices, 0)
    for program, steps_by_slice in results.programs.items():
        cells = []
        for name in slices:
            steps = steps_by_slice.get(name, [])
            compiled_count = sum(step["compiled"] for step in steps)
            compiled[name] += compiled_count
            totals[name] += len(steps)
            cells.append(f"{compiled_count} of {len(steps)}" if steps else "")
        yield f"| {program} | " + " | ".join(cells) + " |"
    cells = [f"{compiled[name]} of {totals[name]}" for name in slices]
    yield "| all | " + " | ".join(cells) + " |"


def unexplained(results: Results) -> list[str]:
    """The steps that were not compiled, and of which nobody has said why."""
    return [
        f"{program}, {step['name']} for {target}: {step['why']}: {step['message']}"
        for program, steps_by_slice in results.programs.items()
        for target, steps in steps_by_slice.items()
        for step in steps
        if not step["compiled"] and _reason(program, step) is None
    ]


def _slices(results: Results) -> list[str]:
    names = {name for steps_by_slice in results.programs.values() for name in steps_by_slice}

    def place(name: str) -> tuple[bool, str, int]:
        kind, _, number = name.removesuffix(ON_JAX).partition("-")
        return name.endswith(ON_JAX), kind, int(number)

    return sorted(names, key=place)


def _reason(program: str, step: dict[str, Any]) -> str | None:
    """Returns the reason why a step is not compiled; None if nobody has stated it."""
    for part, text in EXPLAINED.get(program, {}).items():
        if part in step["message"]:
            return text
    return None


def _figures(results: Results) -> Iterator[str]:
    """Of each program's training step, for the slice of one chip and one of eight replicas."""
    yield (
        "| program | slice | batch | FLOP a replica's step | moved | through HBM | HBM "
        "| arguments | arguments by their shapes | sums, all-reduces | roofline | bound by "
        "| to compile |"
    )
    yield "|---" * 13 + "|"
    for program, steps_by_slice in results.programs.items():
        for target in _slices(results):
            for step in steps_by_slice.get(target, []):
                if step["compiled"] and step["name"] == "training":
                    yield f"| {program} | {target} | " + " | ".join(_cells(step)) + " |"


def _by_hand(results: Results) -> Iterator[str]:
    """The compiler's FLOPs beside those of ``parity.compiled.counted``."""
    yield "| program | slice | by the compiler | by hand | ratio |"
    yield "|---" * 5 + "|"
    for program, expected_flops in BY_HAND.items():
        for target, steps in results.programs.get(program, {}).items():
            for step in steps:
                if step["compiled"] and step["name"] == "training":
                    flops = step["flops"]
                    cells = f"{flops:.4g} | {expected_flops:.4g} | {flops / expected_flops:.3f}"
                    yield f"| {program} | {target} | {cells} |"


def _cells(step: dict[str, Any]) -> list[str]:
    memory = step["memory"]
    return [
        f"{step['examples']:,}",
        f"{step['flops']:.4g}",
        _bytes(step["bytes_moved"]),
        _in_hbm(step),
        f"{_bytes(memory['total'])} of {_bytes(memory['available'])}",
        _bytes(memory["arguments"]),
        f"{memory['arguments_unpadded']:,} B",
        f"{step['sums']}, {step['all_reduces']}",
        *_least_time(step),
        f"{step['compile_seconds']:.1f} s",
    ]


def _in_hbm(step: dict[str, Any]) -> str:
    """The bytes through HBM; '' of a result that was recorded before they were counted."""
    return _bytes(step["hbm_bytes_moved"]) if "hbm_bytes_moved" in step else ""


def _least_time(step: dict[str, Any]) -> tuple[str, str]:
    """The roofline and its bound, which need the bytes through HBM."""
    if "hbm_bytes_moved" not in step:
        return "", ""
    return f"{step['seconds'] * 1e6:,.3g} us", step["bound"]


def _reasons(results: Results) -> Iterator[str]:
    targets_by_reason: dict[tuple[str, str, str], list[str]] = {}
    for program, steps_by_slice in results.programs.items():
        for target, steps in steps_by_slice.items():
            for step in steps:
                if not step["compiled"]:
                    why = _reason(program, step) or f"NOT EXPLAINED: {step['message'][:600]}"
                    targets_by_reason.setdefault((program, step["name"], why), []).append(target)
    for (program, name, why), targets in targets_by_reason.items():
        yield f"- **{program}**, {name} ({', '.join(targets)}): {why}"


def _bytes(count: float) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"
