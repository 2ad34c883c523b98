"""Generates parts of docs/evidence/conformance.md: scores, and failing tests with their reasons."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import re
from collections.abc import Iterator
from typing import Any

from parity.harness import records
from parity.harness.names import LATER
from parity.harness.outcomes import WHOLE_FILE
from parity.harness.page import PAGE, UNEXPLAINED, page_with, table_head
from parity.harness.test_files import FILES, HEADLINE, LEFT_OUT, MODES, ON_CORES

__all__ = [
    "PAGE",
    "UNEXPLAINED",
    "generated_parts",
    "page_with",
    "reasons_of_nothing",
    "write_docs",
]

_HEADINGS = ("file", "mode", "original", "here", "failed, public", "failed, private", "skipped")


def write_docs() -> None:
    """Writes the kept scores and reasons into the page."""
    PAGE.write_text(page_with(generated_parts()), encoding="utf-8")


def reasons_of_nothing() -> list[str]:
    """Returns the reasons that match no failing test, as ``file: pattern``."""
    here = records.load(records.HERE)
    reasons = json.loads(records.REASONS.read_text(encoding="utf-8"))
    return [
        f"{file}: {pattern}"
        for file, patterns in reasons.items()
        for pattern in patterns
        if not any(
            fnmatch.fnmatchcase(test, pattern)
            for score in here.get(file, {}).values()
            for test in score["failed"]
        )
    ]


def generated_parts() -> dict[str, str]:
    """Returns the generated parts by name, from the committed files."""
    here, original = records.load(records.HERE), records.load(records.ORIGINAL)
    on_two, on_jax = records.load(records.HERE_2_CORES), records.load(records.HERE_2_ON_JAX)
    reasons = json.loads(records.REASONS.read_text(encoding="utf-8"))
    return {
        "headline": "\n".join(_headline(here, original)),
        "scores": "\n".join(_scores(here, original, on_two)),
        "left out": "\n".join(f"- `{path}*`: {why}." for path, why in LEFT_OUT.items()),
        "cores": "\n".join(_beside(here, on_two, "8 cores", "2 cores")),
        "jax": "\n".join(_beside(on_two, on_jax, "2 cores", "2 devices of JAX")),
        "misses": "\n".join(_misses(here, original, reasons)),
    }


@dataclasses.dataclass(frozen=True)
class _Public:
    """Counts of tests that use only public names and pass under the original."""

    total: int = 0
    miss_count: int = 0  # here
    later: int = 0  # of these, tests that need a name that is not supported yet

    def __add__(self, other: _Public) -> _Public:
        return _Public(
            self.total + other.total, self.miss_count + other.miss_count, self.later + other.later
        )

    @property
    def passes(self) -> int:
        return self.total - self.miss_count

    @property
    def share(self) -> str:
        return f"{100 * self.passes / self.total:.1f} %" if self.total else ""


def _public(score: dict[str, Any], theirs: dict[str, Any]) -> _Public:
    """Compares one file in one mode."""
    if WHOLE_FILE in theirs["failed"]:  # the original passes none of its tests
        return _Public()
    public = _public_failures(score)
    new = [test for test in public if test not in theirs["failed"]]
    later = sum(score["failed"][test].get("missing") in LATER for test in new)
    cannot = len(_public_failures(theirs))
    total = score["passed"] - score["passed_private"] + len(public) - cannot
    if WHOLE_FILE in score["failed"]:  # counts for all tests of the file
        misses = theirs["passed"] - theirs["passed_private"] - 1
        return _Public(total + misses, len(new) + misses, later)
    return _Public(total, len(new), later)


def _on_cores(score: dict[str, Any], public_count: _Public, two: dict[str, Any] | None) -> _Public:
    """Returns the public tests of a TPU's file that the original passes on a TPU only.

    Args:
      score: the file's score in one mode, on eight cores.
      public_count: the tests of it that the original passes.
      two: the score on two cores; None if the file was not run on them.
    """
    failures = _public_failures(score)
    public = score["passed"] - score["passed_private"] + len(failures)
    failure_count = sum(two is None or test in two["failed"] for test in failures)
    return _Public(public - public_count.total, failure_count - public_count.miss_count)


def _public_failures(score: dict[str, Any]) -> list[str]:
    return [test for test, why in score["failed"].items() if "privates" not in why]


def _runs(scores: records.Scores) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file in sorted(scores, key=lambda f: (FILES.index(f) if f in FILES else len(FILES), f)):
        for mode in MODES:
            if mode in scores[file]:
                yield file, mode, scores[file][mode]


def _theirs(original: records.Scores, file: str, mode: str) -> dict[str, Any]:
    unknown = {"passed": 0, "passed_private": 0, "failed": {}, "skipped": 0}
    return original.get(file, {}).get(mode, unknown)


def _headline(here: records.Scores, original: records.Scores) -> Iterator[str]:
    yield from table_head(["file", "original", "here", "public", "public, here", "share"], 1)
    total = _Public()
    for file in (f for f in HEADLINE if f in here):
        public = _Public()
        pass_counts: dict[str, list[int]] = {"original": [], "here": []}
        for mode in (m for m in MODES if m in here[file]):
            theirs = _theirs(original, file, mode)
            public += _public(here[file][mode], theirs)
            pass_counts["original"].append(theirs["passed"])
            pass_counts["here"].append(here[file][mode]["passed"])
        both = (" + ".join(map(str, counts)) for counts in pass_counts.values())
        yield f"| {file} | {' | '.join(both)} | {_cells(public)} |"
        total += public
    yield f"| all of these | | | {_cells(total)} |"
    if total.later:
        yield ""
        yield _later(total).strip()


def _later(public: _Public) -> str:
    if not public.later:
        return ""
    misses = f"{public.later} of the {public.miss_count} that do not pass"
    return f" {misses} need a name that is not supported yet."


def _cells(public: _Public) -> str:
    return f"{public.total} | {public.passes} | {public.share}"


def _scores(here: records.Scores, original: records.Scores, two: records.Scores) -> Iterator[str]:
    public, on_cores = _Public(), _Public()
    rows: list[tuple[str, str, list[int]]] = []
    most: dict[str, int] = {}  # by file: the tests that count in the mode with more of them
    for file, mode, score in _runs(here):
        theirs = _theirs(original, file, mode)
        failure_count = len(_public_failures(score))
        private = len(score["failed"]) - failure_count
        of_mode = _public(score, theirs)
        public += of_mode
        if file in ON_CORES:
            on_cores += _on_cores(score, of_mode, two.get(file, {}).get(mode))
        most[file] = max(most.get(file, 0), of_mode.total)
        pass_counts = [theirs["passed"], score["passed"]]
        rows.append((file, mode, [*pass_counts, failure_count, private, score["skipped"]]))
    yield (
        f"Of the {public.total} tests that use only public names and pass under the "
        f"original, {public.passes} pass here: {public.share or 'none'}. A test counts once per "
        f"mode; these are {sum(most.values())} tests, most in two modes.{_later(public)}"
    )
    yield ""
    if on_cores.total:
        both = public + on_cores
        yield (
            f"Another {on_cores.total} such tests need a TPU under the original. On eight "
            f"emulated cores, or on two if they are written for fewer, {on_cores.passes} of them "
            f"pass: {on_cores.share}. Together, {both.passes} of {both.total} pass: {both.share}."
        )
        yield ""
    yield from table_head(_HEADINGS, 2)
    for file, mode, counts in rows:
        yield f"| {file} | {mode} | {' | '.join(map(str, counts))} |"
    sums = [sum(column) for column in zip(*(counts for _, _, counts in rows))]
    yield f"| all | | {' | '.join(map(str, sums))} |"


def _beside(
    scores: records.Scores, others: records.Scores, name: str, other_name: str
) -> Iterator[str]:
    """Yields the scores of the TPU's files in two places, and their differences."""
    headings = ("passed", "failed, public", "failed, private")
    yield from table_head(
        ["file", "mode", *(f"{h}, {n}" for n in (name, other_name) for h in headings)], 2
    )
    sums = [0] * 6
    differences: dict[str, list[str]] = {name: [], other_name: []}
    for file, mode, score in _runs(others):
        there = scores.get(file, {}).get(mode)
        if there is None:
            continue
        counts: list[int] = []
        for each in (there, score):
            public = len(_public_failures(each))
            counts += [each["passed"], public, len(each["failed"]) - public]
        yield f"| {file} | {mode} | {' | '.join(map(str, counts))} |"
        sums = [a + b for a, b in zip(sums, counts)]
        for where, more, fewer in (
            (name, score, there),
            (other_name, there, score),
        ):
            differences[where] += sorted(set(more["failed"]) - set(fewer["failed"]))
    yield f"| all | | {' | '.join(map(str, sums))} |"
    for where, tests in differences.items():
        if tests:
            yield ""
            yield f"Pass only on {where}: {', '.join(f'`{_short(test)}`' for test in tests)}."


def _misses(
    here: records.Scores, original: records.Scores, reasons: dict[str, dict[str, str]]
) -> Iterator[str]:
    files = list(dict.fromkeys(file for file, _, _ in _runs(here)))
    for file in files:
        tests: dict[str, dict[str, list[str]]] = {}  # by reason and test: the modes
        for mode, score in here[file].items():
            theirs = original.get(file, {}).get(mode, {}).get("failed", {})
            for test, failure in score["failed"].items():
                why = _reason(test, failure, test in theirs, reasons.get(file, {}))
                tests.setdefault(why, {}).setdefault(test, []).append(mode)
        if not tests:
            continue
        yield f"### {file}"
        yield ""
        both = set(here[file])
        for why in sorted(tests):
            entries = [
                f"`{_short(test)}`" + ("" if set(modes) == both else f" ({', '.join(modes)})")
                for test, modes in sorted(tests[why].items())
            ]
            yield f"- {why}: {', '.join(entries)}"
        yield ""


def _reason(test: str, failure: dict[str, Any], fails_there: bool, reasons: dict[str, str]) -> str:
    matches = (why for pattern, why in reasons.items() if fnmatch.fnmatchcase(test, pattern))
    why = next(matches, UNEXPLAINED)
    if why is UNEXPLAINED and "privates" in failure:
        why = f"private: {', '.join(f'`{name}`' for name in failure['privates'])}"
    elif why is UNEXPLAINED and failure.get("missing") in LATER:
        why = f"not supported yet: `{failure['missing'].rpartition('.')[2]}`"
    return f"{why} (it fails under the original too)" if fails_there else why


def _short(test: str) -> str:
    """Returns a parameterized test's name without its values."""
    return re.sub(r"\(.*|0x[0-9a-f]+", "", test)
