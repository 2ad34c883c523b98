"""The generated parts of docs/conformance.md: the scores, and what does not pass and why."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parity.harness import records
from parity.harness.outcomes import WHOLE_FILE
from parity.harness.test_files import FILES, MODES

__all__ = ["PAGE", "UNEXPLAINED", "generated_parts", "page_with", "write_docs"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
UNEXPLAINED = "not explained yet"
_HEADINGS = ("file", "mode", "original", "here", "failed, public", "failed, private", "skipped")


def write_docs() -> None:
    """Puts the kept scores and reasons into the page."""
    PAGE.write_text(page_with(generated_parts()), encoding="utf-8")


def page_with(parts: dict[str, str]) -> str:
    """The page with its generated parts replaced: each stands between two comments."""
    text = PAGE.read_text(encoding="utf-8")
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE.name} lacks the lines {begin} and {end}.")
        text = f"{before}{begin}\n{content}\n{end}{after}"
    return text


def generated_parts() -> dict[str, str]:
    """By name, what the committed files say."""
    here, original = records.load(records.HERE), records.load(records.ORIGINAL)
    reasons = json.loads(records.REASONS.read_text(encoding="utf-8"))
    return {
        "scores": "\n".join(_scores(here, original)),
        "misses": "\n".join(_misses(here, original, reasons)),
    }


def _runs(scores: records.Scores) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file in sorted(scores, key=lambda f: (FILES.index(f) if f in FILES else len(FILES), f)):
        for mode in MODES:
            if mode in scores[file]:
                yield file, mode, scores[file][mode]


def _scores(here: records.Scores, original: records.Scores) -> Iterator[str]:
    judged = missed = 0
    rows: list[tuple[str, str, list[int]]] = []
    for file, mode, score in _runs(here):
        theirs = original.get(file, {}).get(mode, {"passed": 0, "passed_private": 0, "failed": {}})
        public = [test for test, why in score["failed"].items() if "privates" not in why]
        private = len(score["failed"]) - len(public)
        new = [test for test in public if test not in theirs["failed"]]
        cannot = sum("privates" not in why for why in theirs["failed"].values())
        if WHOLE_FILE in score["failed"]:  # it stands for all tests of the file
            lost = theirs["passed"] - theirs["passed_private"]
            judged, missed = judged + lost - 1, missed + lost - 1
        judged += score["passed"] - score["passed_private"] + len(public) - cannot
        missed += len(new)
        passed = [theirs["passed"], score["passed"]]
        rows.append((file, mode, [*passed, len(public), private, score["skipped"]]))
    share = 100 * (judged - missed) / judged if judged else 0.0
    yield (
        f"Of the {judged} tests that use public names only and that pass under the original, "
        f"{judged - missed} pass here: {share:.1f} %. A test counts once a mode."
    )
    yield ""
    yield f"| {' | '.join(_HEADINGS)} |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for file, mode, counts in rows:
        yield f"| {file} | {mode} | {' | '.join(map(str, counts))} |"
    sums = [sum(column) for column in zip(*(counts for _, _, counts in rows))]
    yield f"| all | | {' | '.join(map(str, sums))} |"


def _misses(
    here: records.Scores, original: records.Scores, reasons: dict[str, dict[str, str]]
) -> Iterator[str]:
    files = list(dict.fromkeys(file for file, _, _ in _runs(here)))
    for file in files:
        tests: dict[str, dict[str, list[str]]] = {}  # by reason and test: in which modes
        for mode, score in here[file].items():
            theirs = original.get(file, {}).get(mode, {}).get("failed", {})
            for test, known in score["failed"].items():
                why = _reason(test, known, test in theirs, reasons.get(file, {}))
                tests.setdefault(why, {}).setdefault(test, []).append(mode)
        if not tests:
            continue
        yield f"### {file}"
        yield ""
        both = set(here[file])
        for why in sorted(tests):
            listed = [
                f"`{_short(test)}`" + ("" if set(modes) == both else f" ({', '.join(modes)})")
                for test, modes in sorted(tests[why].items())
            ]
            yield f"- {why}: {', '.join(listed)}"
        yield ""


def _reason(test: str, known: dict[str, Any], fails_there: bool, reasons: dict[str, str]) -> str:
    given = (why for pattern, why in reasons.items() if fnmatch.fnmatchcase(test, pattern))
    why = next(given, UNEXPLAINED)
    if why is UNEXPLAINED and "privates" in known:
        why = f"private: {', '.join(f'`{name}`' for name in known['privates'])}"
    elif why is UNEXPLAINED and "missing" in known:
        why = f"`{known['missing'].partition('|')[0]}` is not there yet"
    return f"{why} (it fails under the original too)" if fails_there else why


def _short(test: str) -> str:
    """A parameterized test's name without the values that it is given."""
    return re.sub(r"\(.*|0x[0-9a-f]+", "", test)
