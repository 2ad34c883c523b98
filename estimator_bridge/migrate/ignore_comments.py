"""Comments that suppress findings: ``# eb: ignore[EB012]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from estimator_bridge.migrate.findings import Finding

__all__ = ["IgnoreComments"]

_COMMENT = re.compile(r"#.*?\beb:\s*(?P<what>ignore-file|ignore)\s*(?:\[(?P<codes>[^\]]*)\])?")
_ALL = "EB"


class IgnoreComments:
    """The findings that a source suppresses.

    ``# eb: ignore`` at the end of a line suppresses all rules, ``# eb: ignore[EB012, EB03]`` those
    with these prefixes; ``# eb: ignore-file`` and ``# eb: ignore-file[EB012]`` apply to the whole
    file.

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
        """Returns the findings that are not suppressed."""
        return [finding for finding in findings if not self._has(finding)]

    def _has(self, finding: Finding) -> bool:
        return finding.rule.startswith((*self._file, *self._lines.get(finding.line, ()), "-"))


def _comments(text: str) -> list[tuple[int, str]]:
    if "eb:" not in text:
        return []
    comments = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments.append((token.start[0], token.string))
    except (tokenize.TokenError, SyntaxError):  # the comments before the error count
        pass
    return comments
