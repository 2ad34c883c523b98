"""Comments by which a source says what is not to be reported: ``# eb: ignore[EB012]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from estimator_bridge.migrate.values import Finding

__all__ = ["Ignored"]

_COMMENT = re.compile(r"#.*?\beb:\s*(?P<what>ignore-file|ignore)\s*(?:\[(?P<codes>[^\]]*)\])?")
_ALL = "EB"


class Ignored:
    """What a source wants ignored.

    ``# eb: ignore`` at the end of a line is of all rules, ``# eb: ignore[EB012, EB03]`` of those
    that begin so; ``# eb: ignore-file`` and ``# eb: ignore-file[EB012]`` count for the whole file.

    Args:
      text: the source.
    """

    def __init__(self, text: str):
        self._lines: dict[int, tuple[str, ...]] = {}
        self._file: tuple[str, ...] = ()
        for line, comment in _comments(text):
            match = _COMMENT.match(comment)
            if match is None:
                continue
            codes = tuple(filter(None, re.split(r"[\s,]+", match["codes"] or _ALL)))
            if match["what"] == "ignore-file":
                self._file += codes
            else:
                self._lines[line] = self._lines.get(line, ()) + codes

    def without(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are not ignored."""
        return [found for found in findings if not self._has(found)]

    def _has(self, found: Finding) -> bool:
        return found.rule.startswith((*self._file, *self._lines.get(found.line, ()), "-"))


def _comments(text: str) -> list[tuple[int, str]]:
    if "eb:" not in text:
        return []
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append((token.start[0], token.string))
    except (tokenize.TokenError, SyntaxError):  # what stood before it counts
        pass
    return found
