"""Says of each case whether it agrees with the originals, and if not, whether a page says why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from parity.differential.catalogue import Case
from parity.differential.comparison import differences
from parity.differential.recorded import TF1, References
from parity.differential.side import Outcomes

__all__ = ["AGREES", "DIFFERS", "DOCUMENTED", "STALE", "Expected", "Verdict", "expected", "judge"]

_TABLE = Path(__file__).parent / "differences.json"
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "differences.md"

AGREES = "agrees"
AGREES_WITH_TF1 = "agrees with TF 1.15"  # where TF 2.15 with v2 behavior off does something else
DOCUMENTED = "documented"
DIFFERS = "DIFFERS"
STALE = "NO LONGER DIFFERS"
BAD = (DIFFERS, STALE)


class Expected(NamedTuple):
    """A difference that docs/differences.md describes.

    Attributes:
      modes: where it is.
      section: the heading of that page under which it stands.
      why: the difference in a sentence.
    """

    modes: list[str]
    section: str
    why: str


class Verdict(NamedTuple):
    """The result of a case in a mode.

    Attributes:
      case: its name.
      mode: 'v2on', 'v2off' or 'cores'.
      kind: one of this module's kinds.
      lines: the differences, of which there are none where it agrees.
      with_tf1: whether it gives what TF 1.15 gives; None where that has no such case.
    """

    case: str
    mode: str
    kind: str
    lines: list[str]
    with_tf1: bool | None = None


def expected() -> dict[str, Expected]:
    """Returns the table of expected differences by case.

    Raises:
      ValueError: an entry names a section that docs/differences.md does not have.
    """
    headings = set(re.findall(r"^##+ (.+)$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    entries = {name: Expected(**entry) for name, entry in table.items()}
    unknown = {
        name: entry.section for name, entry in entries.items() if entry.section not in headings
    }
    if unknown:
        raise ValueError(
            f"{_TABLE.name} names sections that {_PAGE.name} does not have: {unknown}. "
            f"Write them there, or take one of {sorted(headings)}"
        )
    return entries


def judge(
    case: Case,
    mode: str,
    here: Outcomes,
    references: References,
    table: Mapping[str, Expected],
) -> Verdict:
    """Compares a case's outcomes with the originals'.

    Args:
      case: the case.
      mode: 'v2on', 'v2off' or 'cores'; cores are compared with the original's 'v2on'.
      here: this side's outcomes.
      references: the originals'.
      table: the expected differences.
    """
    original_outcomes = references.get("v2on" if mode == "cores" else mode, {}).get(case.name)
    if original_outcomes is None:
        lines = ["there is no outcome of the original; record it with --original PYTHON --record"]
        return Verdict(case.name, mode, DIFFERS, lines)
    lines = _lines(original_outcomes, here)
    older = references.get(TF1, {}).get(case.name) if mode == "v2off" else None
    if older is not None and all(_is_lacking(outcome) for _, outcome in older):
        older = None
    with_tf1 = None if older is None else not _lines(older, here)
    kind = DIFFERS if lines else AGREES
    if lines and with_tf1:
        kind = AGREES_WITH_TF1
    entry = table.get(case.name)
    if entry and mode in entry.modes:
        kind = DOCUMENTED if kind == DIFFERS else STALE
    return Verdict(case.name, mode, kind, lines, with_tf1)


def _lines(original_outcomes: Outcomes, here: Outcomes) -> list[str]:
    """Returns an outcome's differences from the nearest of the original's; [] if each is one."""
    for _, outcome in here:
        difference_lists = [
            differences(of_original, outcome) for _, of_original in original_outcomes
        ]
        if all(difference_lists):
            return min(difference_lists, key=len)
    return []


def _is_lacking(outcome: Any) -> bool:
    """Returns whether a case cannot run there, because TF 1.15 lacks some of what it uses."""
    if not isinstance(outcome, dict) or "raised" not in outcome:
        return False
    first = outcome["raised"].split(" ")[1]
    return first in ("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError")
