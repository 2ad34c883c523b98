"""Rewrites sources: applies the rules' edits until they find nothing more to rewrite."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from estimator_bridge.migrate.check import FileReport, examine, examine_all
from estimator_bridge.migrate.edits import apply_edits, select_compatible
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.registry import Rule
from estimator_bridge.migrate.source_reading import Source

__all__ = ["RewriteError", "Rewritten", "rewrite", "rewrite_text"]

# One round's edits may lead to findings in the next; rules that never end are a bug.
_MOST_ROUNDS = 8


class RewriteError(Exception):
    """A rewritten source would not be valid Python: a bug in a rule, so nothing is written."""


@dataclass(frozen=True)
class Rewritten:
    """A file and its new text.

    Attributes:
      report: the findings in the original file.
      source: the original file; None if it was not read.
      text: the new text.
      remaining: the findings in the new text, left for a person.
    """

    report: FileReport
    source: Source | None = None
    text: str = ""
    remaining: tuple[Finding, ...] = ()

    @property
    def by_hand(self) -> list[Finding]:
        """The findings left for a person, including those of an unreadable file."""
        findings = self.remaining if self.source is not None else self.report.findings
        return [f for f in findings if f.severity in (Severity.BY_HAND, Severity.UNAVAILABLE)]

    @property
    def is_changed(self) -> bool:
        """Whether the file changes."""
        return self.source is not None and self.text != self.source.text

    def diff(self) -> str:
        """Returns the change as a unified diff."""
        if self.source is None:
            return ""
        path = self.report.path.lstrip("/")
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(
                self.source.display(self.source.text).splitlines(keepends=True),
                self.source.display(self.text).splitlines(keepends=True),
                f"a/{path}",
                f"b/{path}",
            )
        )


def rewrite(paths: Iterable[str], options: Options) -> list[Rewritten]:
    """Rewrites files and folders, in memory.

    Args:
      paths: the files and folders.
      options: the rules, and the excluded files.

    Returns:
      The new text of each file. Nothing is written.

    Raises:
      NothingFoundError: a path does not exist, or contains no Python.
      ValueError: an option names an unknown rule.
      RewriteError: a new text is not valid Python.
    """
    rules = options.rules()
    return [
        Rewritten(report)
        if read is None
        else Rewritten(report, read[0], *rewrite_text(read[1], rules, report.findings))
        for report, read in examine_all(paths, options)
    ]


def rewrite_text(
    module: Module, rules: Sequence[Rule], findings: Sequence[Finding]
) -> tuple[str, tuple[Finding, ...]]:
    """Rewrites a module's source.

    Args:
      module: the original module.
      rules: the rules to apply.
      findings: their findings in it.

    Returns:
      The new source, and the remaining findings in it.

    Raises:
      RewriteError: the result is not valid Python, or the rules do not end.
    """
    for _ in range(_MOST_ROUNDS):
        text = apply_edits(module, findings)
        if text == module.text:
            return text, tuple(findings)
        try:
            # The dialect stays the same in the next round, whatever the new text imports.
            module = Module(module.file, text, module.dialect)
        except SyntaxError as error:
            line = text.split("\n")[(error.lineno or 1) - 1]
            codes = sorted({finding.rule for finding in select_compatible(findings)})
            raise RewriteError(
                f"{module.file}: {', '.join(codes)} would have made line {error.lineno} "
                f"{line.strip()!r}, which is not Python ({error.msg}). Nothing was written. Leave "
                "the rule out with --ignore, and report this."
            ) from None
        findings = examine(module, rules).findings
    codes = sorted({finding.rule for finding in select_compatible(findings)})
    raise RewriteError(
        f"{module.file}: the rules {codes} find "
        "something in what they have written. Nothing was written. Leave one out with --ignore."
    )
