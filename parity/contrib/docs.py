"""Generates the parts of docs/contrib/conformance.md: scores, and failing tests with reasons."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from parity.contrib.files import LEFT_OUT
from parity.harness.outcomes import FAILED, PASSED, SKIPPED, WHOLE_FILE, FileResult
from parity.harness.page import UNEXPLAINED, page_with, table_head
from parity.harness.records import load_json, write_lines

__all__ = ["HERE", "ORIGINAL", "PAGE", "REASONS", "contrib_parts", "missed", "record", "write_docs"]

_FOLDER = Path(__file__).resolve().parent
ORIGINAL = _FOLDER / "original.json"
HERE = _FOLDER / "here.json"
REASONS = _FOLDER / "reasons.json"
PAGE = _FOLDER.parents[1] / "docs" / "contrib" / "conformance.md"

# A file's score: the number of public tests that pass, of private ones, and of each test that does
# not pass why: {"skipped": true}, {"missing": NAME} and {"private": true} are possible.
Score = dict[str, Any]


def record(path: Path, results: Iterable[FileResult]) -> None:
    """Writes scores to a file, replacing those of the same test file."""
    scores = load_json(path)
    scores.update({result.file: _score(result) for result in results})
    write_lines(path, scores)


def write_docs() -> None:
    """Writes the kept scores and reasons into the page."""
    PAGE.write_text(page_with(contrib_parts(), PAGE), encoding="utf-8")


def _score(result: FileResult) -> Score:
    others: dict[str, dict[str, Any]] = {}
    for outcome in result.outcomes:
        if outcome.result == PASSED:
            continue
        why: dict[str, Any] = {"skipped": True} if outcome.result == SKIPPED else {}
        if outcome.privates:
            why["private"] = True
        if outcome.result == FAILED and outcome.missing:
            why["missing"] = outcome.missing
        others[outcome.test] = why
    return {
        "public": result.count(PASSED, "public"),
        "private": result.count(PASSED, "private"),
        "others": others,
    }


@dataclasses.dataclass(frozen=True)
class _Count:
    """Counts of public tests that pass under TensorFlow 1.15.5.

    Attributes:
      judged: the tests.
      missed: those that do not pass here.
      unnamed: of these, those that need a name that is missing here.
      private: tests of private names that pass under 1.15.5.
      private_here: those that pass here.
    """

    judged: int = 0
    missed: int = 0
    unnamed: int = 0
    private: int = 0
    private_here: int = 0

    def __add__(self, other: _Count) -> _Count:
        return _Count(
            *(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other)))
        )

    def cells(self) -> str:
        """Returns a row's numbers."""
        passed_count = self.judged - self.missed
        named_count = self.judged - self.unnamed
        shares = (
            f"{100 * passed_count / total:.1f} %" if total else ""
            for total in (self.judged, named_count)
        )
        private = f"{self.private_here} of {self.private}"
        return " | ".join([*map(str, (self.judged, passed_count, self.unnamed)), *shares, private])


def missed(here: Score, there: Score) -> dict[str, dict[str, Any]]:
    """Returns the public tests that pass under 1.15.5 and not here, each with what is known."""
    return {
        test: why
        for test, why in here["others"].items()
        if test not in there["others"] and not why.get("private")
    }


def _count(here: Score, there: Score) -> _Count:
    if WHOLE_FILE in here["others"]:
        unnamed = there["public"] if "missing" in here["others"][WHOLE_FILE] else 0
        return _Count(there["public"], there["public"], unnamed, there["private"], 0)
    misses = missed(here, there)
    unnamed = sum("missing" in why for why in misses.values())
    return _Count(there["public"], len(misses), unnamed, there["private"], here["private"])


def contrib_parts() -> dict[str, str]:
    """Returns the generated parts by name, from the committed files."""
    here, there, reasons = load_json(HERE), load_json(ORIGINAL), load_json(REASONS)
    return {
        "contrib scores": "\n".join(_scores(here, there)),
        "contrib misses": "\n".join(_misses(here, there, reasons)),
        "contrib left out": "\n".join(f"- `{path}`: {why}." for path, why in LEFT_OUT.items()),
    }


def _scores(here: dict[str, Score], there: dict[str, Score]) -> Iterator[str]:
    counts = {file: _count(here[file], there[file]) for file in sorted(here.keys() & there.keys())}
    total = sum(counts.values(), _Count())
    passed_count = total.judged - total.missed
    named_count = total.judged - total.unnamed
    yield (
        f"Of the {total.judged} tests that use only public names and pass under TensorFlow "
        f"1.15.5, {passed_count} pass here: {100 * passed_count / total.judged:.1f} %. "
        f"{total.unnamed} need a name that is missing here. Of the other {named_count}, "
        f"{100 * passed_count / named_count:.1f} % pass."
    )
    yield ""
    headings = [
        *("file", "public, 1.15.5", "public, here", "name missing"),
        *("share", "share of those with names", "private"),
    ]
    yield from table_head(headings, 1)
    for file, count in counts.items():
        if count.judged or count.private:
            yield f"| {_short(file)} | {count.cells()} |"
    yield f"| all | {total.cells()} |"


def _short(file: str) -> str:
    return file.replace("/python/", "/").replace("/kernel_tests/", "/")


def _misses(
    here: dict[str, Score], there: dict[str, Score], reasons: dict[str, dict[str, str]]
) -> Iterator[str]:
    for file in sorted(here.keys() & there.keys()):
        tests: dict[str, list[str]] = {}
        for test, failure in missed(here[file], there[file]).items():
            tests.setdefault(_reason(test, failure, reasons.get(file, {})), []).append(test)
        if not tests:
            continue
        yield f"### {_short(file)}"
        yield ""
        for why in sorted(tests):
            yield f"- {why}: {', '.join(f'`{test}`' for test in sorted(tests[why]))}"
        yield ""


def _reason(test: str, failure: dict[str, Any], reasons: dict[str, str]) -> str:
    for pattern, why in reasons.items():
        if fnmatch.fnmatchcase(test, pattern):
            return why
    return f"missing: `{failure['missing']}`" if "missing" in failure else UNEXPLAINED
