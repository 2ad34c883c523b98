"""Outcomes of the originals, kept in ``goldens/``: a file a theme, a line an outcome.

``{"case": {"v2on v2off": [[1, OUTCOME]], "tf115": [[3, OUTCOME], [2, ANOTHER]]}}``: references that
gave the same share an entry, and each outcome stands behind the number of runs that gave it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parity.differential.outcome import REMARK
from parity.differential.side import Outcomes

__all__ = ["GOLDENS", "TF1", "load", "merged", "save", "write_whole"]

GOLDENS = Path(__file__).parent / "goldens"
TF1 = "tf115"  # the reference beside the modes of TensorFlow 2.15
_DIGITS = 7

# Each reference's outcomes: mode or TF1 to case to outcomes.
References = dict[str, dict[str, Outcomes]]


def load() -> References:
    """Returns all recorded outcomes."""
    by_reference: References = {}
    for path in sorted(GOLDENS.glob("*.json")):
        for name, of_case in json.loads(path.read_text(encoding="utf-8")).items():
            for references, outcomes in of_case.items():
                for reference in references.split():
                    pairs = [(count, outcome) for count, outcome in outcomes]
                    by_reference.setdefault(reference, {})[name] = pairs
    return by_reference


def save(references: References, themes: Mapping[str, Iterable[str]]) -> None:
    """Writes outcomes, of whole themes.

    Args:
      references: reference to case to outcomes.
      themes: theme to the names of its cases; files of other themes stay.
    """
    GOLDENS.mkdir(exist_ok=True)
    for theme, names in themes.items():
        lines = []
        for name in names:
            groups: dict[str, list[str]] = {}
            for reference, of_reference in sorted(references.items()):
                if name in of_reference:
                    pairs = [(count, _short(outcome)) for count, outcome in of_reference[name]]
                    text = json.dumps(pairs, sort_keys=True, separators=(",", ":"))
                    groups.setdefault(text, []).append(reference)
            entries = [f"  {json.dumps(' '.join(who))}: {text}" for text, who in groups.items()]
            if entries:
                lines.append(f"{json.dumps(name)}: {{\n" + ",\n".join(entries) + "\n}")
        write_whole(GOLDENS / f"{theme}.json", "{\n" + ",\n".join(lines) + "\n}\n")


def write_whole(path: Path, text: str) -> None:
    """Writes a file atomically: a concurrent reader sees all of the old text or of the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def merged(old: Outcomes, new: Outcomes) -> Outcomes:
    """Returns the outcomes of two batches of runs of a racing case, with their counts added up."""
    counts: dict[str, int] = {}
    for count, outcome in [*old, *new]:
        text = json.dumps(_short(outcome), sort_keys=True)
        counts[text] = counts.get(text, 0) + count
    return [(count, json.loads(text)) for text, count in counts.items()]


def _short(value: Any) -> Any:
    """The outcome without remarks, and with the digits that a float32 has."""
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, str):
        before, mark, _ = value.partition(REMARK)
        return before + mark
    return value
