"""Rewrites sources: what rules find is written as they say, until they find no more."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from estimator_bridge.migrate.check import Examined, examine, examine_all
from estimator_bridge.migrate.edits import applied, compatible
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.reading import Source
from estimator_bridge.migrate.registry import Rule
from estimator_bridge.migrate.values import Finding, Severity

__all__ = ["RewriteError", "Rewritten", "rewrite", "rewritten_text"]

# What one round writes may show the next one more; rules that never end are a bug.
_MOST_ROUNDS = 8


class RewriteError(Exception):
    """A rewritten source would not be Python any more: a bug of a rule's, so nothing is written."""


@dataclass(frozen=True)
class Rewritten:
    """A file, and what became of it.

    Attributes:
      examined: what was found in it, as it stood.
      source: as it stood; None where it was not read.
      text: what it is to hold.
      left: what rules find in that text: what a person has to look at.
    """

    examined: Examined
    source: Source | None = None
    text: str = ""
    left: tuple[Finding, ...] = ()

    @property
    def by_hand(self) -> list[Finding]:
        """What is left for a person, of a file that could not be read, too."""
        found = self.left if self.source is not None else self.examined.findings
        return [f for f in found if f.severity in (Severity.BY_HAND, Severity.UNAVAILABLE)]

    @property
    def changed(self) -> bool:
        """Whether there is something to write."""
        return self.source is not None and self.text != self.source.text

    def diff(self) -> str:
        """The change as a unified diff."""
        if self.source is None:
            return ""
        path = self.examined.path.lstrip("/")
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(
                self.source.shown(self.source.text).splitlines(keepends=True),
                self.source.shown(self.text).splitlines(keepends=True),
                f"a/{path}",
                f"b/{path}",
            )
        )


def rewrite(paths: Iterable[str], options: Options) -> list[Rewritten]:
    """Rewrites files and folders, in memory.

    Args:
      paths: what to rewrite.
      options: which rules, and what is left out.

    Returns:
      What became of each file. Nothing is written.

    Raises:
      NothingFoundError: a path is not there, or holds no Python.
      ValueError: an option names a rule that is not there.
      RewriteError: what a file is to hold is no Python.
    """
    rules = options.rules()
    return [
        Rewritten(examined)
        if read is None
        else Rewritten(examined, read[0], *rewritten_text(read[1], rules, examined.findings))
        for examined, read in examine_all(paths, options)
    ]


def rewritten_text(
    module: Module, rules: Sequence[Rule], findings: Sequence[Finding]
) -> tuple[str, tuple[Finding, ...]]:
    """Rewrites a module's source.

    Args:
      module: the module as it stands.
      rules: those to follow.
      findings: what they found in it.

    Returns:
      The new source, and what rules still find in it.

    Raises:
      RewriteError: the result is no Python, or the rules find no end.
    """
    for _ in range(_MOST_ROUNDS):
        text = applied(module, findings)
        if text == module.text:
            return text, tuple(findings)
        try:
            # What was TensorFlow 1 stays so for the next round, whatever is imported by then.
            module = Module(module.file, text, module.dialect)
        except SyntaxError as error:
            line = text.split("\n")[(error.lineno or 1) - 1]
            codes = sorted({found.rule for found in compatible(findings)})
            raise RewriteError(
                f"{module.file}: {', '.join(codes)} would have made line {error.lineno} "
                f"{line.strip()!r}, which is not Python ({error.msg}). Nothing was written. Leave "
                "the rule out with --ignore, and report this."
            ) from None
        findings = examine(module, rules).findings
    raise RewriteError(
        f"{module.file}: the rules {sorted({found.rule for found in compatible(findings)})} find "
        "something in what they have written. Nothing was written. Leave one out with --ignore."
    )
