"""Counts verdicts, and writes ``REPORT.md``: the counts, the documented differences, the races."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from parity.differential.catalogue import Case
from parity.differential.recorded import References
from parity.differential.verdicts import AGREES, AGREES_WITH_TF1, DOCUMENTED, Verdict, expected

__all__ = ["REPORT", "summary", "write"]

REPORT = Path(__file__).parent / "REPORT.md"
_MODES = {
    "v2on": "v2 behavior on",
    "v2off": "v2 behavior off",
    "cores": "on emulated cores",
}

_HEAD = """\
# Cases beside TensorFlow's own Estimator

Written by `make differential`;
[docs/evidence/differential.md](../../docs/evidence/differential.md) describes it.

| mode | cases | agree | documented | differ |
|---|---|---|---|---|
"""


def _counts(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, int, int, int, int]]:
    for mode, title in _MODES.items():
        kinds = Counter(verdict.kind for verdict in verdicts if verdict.mode == mode)
        total = sum(kinds.values())
        if total:
            agree = kinds[AGREES] + kinds[AGREES_WITH_TF1]
            yield title, total, agree, kinds[DOCUMENTED], total - agree - kinds[DOCUMENTED]


def summary(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yields a line for each mode, and one for TensorFlow 1.15."""
    for title, total, agree, documented_count, bad in _counts(verdicts):
        yield f"{title}: {agree} of {total} agree, {documented_count} documented, {bad} differ"
    older = [verdict.with_tf1 for verdict in verdicts if verdict.with_tf1 is not None]
    if older:
        yield f"TensorFlow 1.15: {sum(older)} of the {len(older)} cases that run there agree"


def write(verdicts: Sequence[Verdict], cases: Iterable[Case], references: References) -> None:
    """Writes the report.

    Args:
      verdicts: of all cases.
      cases: the cases.
      references: the originals' outcomes, for the counts of those that race.
    """
    parts = [_HEAD]
    for title, *numbers in _counts(verdicts):
        parts.append(f"| {title} | " + " | ".join(map(str, numbers)) + " |\n")
    parts += [f"\n{line}.\n" for line in summary(verdicts) if line.startswith("TensorFlow 1.15")]
    parts.append("\n## Documented differences\n\n| case | modes | section | difference |\n")
    parts.append("|---|---|---|---|\n")
    for name, entry in sorted(expected().items()):
        cells = [f"`{name}`", ", ".join(entry.modes), entry.section, entry.why]
        parts.append("| " + " | ".join(cells) + " |\n")
    parts.append(
        "\n## Races in the original\n\nOf how many runs each outcome came, most frequent first.\n"
        "An outcome here has to be one of them.\n\n| case | reference | runs | why |\n"
        "|---|---|---|---|\n"
    )
    for case in cases:
        for reference, of_reference in sorted(references.items()):
            if case.races and case.name in of_reference:
                counts = sorted((count for count, _ in of_reference[case.name]), reverse=True)
                run_counts = " + ".join(map(str, counts))
                parts.append(f"| `{case.name}` | {reference} | {run_counts} | {case.races} |\n")
    REPORT.write_text("".join(parts), encoding="utf-8")
