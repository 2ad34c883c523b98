"""The outcomes of tests, as data."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

__all__ = ["FAILED", "PASSED", "SKIPPED", "WHOLE_FILE", "FileResult", "Outcome"]

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# The message of the harness for Estimator's names, and this library's errors for tf.contrib's.
_MISSING = re.compile(
    r"missing name (\S+), for |"
    r"^\S*Missing(?:Name|Import)Error: .*?(tf\.\S+|tensorflow\.\S+|needs the package \S+)",
    re.MULTILINE,
)
WHOLE_FILE = "(the file)"  # used as the test's name if a file cannot be loaded


@dataclasses.dataclass
class Outcome:
    """The outcome of one test.

    Attributes:
      test: ``Class.method``.
      result: passed, failed or skipped.
      seconds: its duration.
      detail: for a failure, its traceback, or the reason for its absence.
      privates: private names of the original that the test uses and for which the harness has no
        stand-in.
    """

    test: str
    result: str
    seconds: float = 0.0
    detail: str = ""
    privates: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """``private`` if the test uses private names of the original, else ``public``."""
        return "private" if self.privates else "public"

    @property
    def missing(self) -> str:
        """The public name that the test needs and this library lacks, or ''."""
        # A traceback also shows the line that raises; the message itself comes last.
        matches = _MISSING.findall(self.detail)
        return next(filter(None, matches[-1])).rstrip(".:,") if matches else ""

    def why(self) -> dict[str, Any]:
        """Returns the description of a failure, without the test's own text and messages."""
        details = {"privates": list(self.privates), "missing": self.missing}
        return {key: value for key, value in details.items() if value}


@dataclasses.dataclass
class FileResult:
    """The outcomes of a file's tests in one mode."""

    file: str
    mode: str
    outcomes: list[Outcome]

    def count(self, result: str, kind: str | None = None) -> int:
        """Returns the number of tests with this result, and of this kind if given."""
        return Counter((o.result, o.kind if kind else None) for o in self.outcomes)[(result, kind)]

    def outcomes_with(self, result: str) -> Iterable[Outcome]:
        """Returns the outcomes with this result."""
        return (o for o in self.outcomes if o.result == result)

    def as_json(self) -> dict[str, Any]:
        """Returns counts and the names of failing tests, without a test's text or messages."""
        failures = {o.test: o.why() for o in self.outcomes_with(FAILED)}
        return {
            "passed": self.count(PASSED),
            "passed_private": self.count(PASSED, "private"),
            "failed": dict(sorted(failures.items())),
            "skipped": self.count(SKIPPED),
        }
