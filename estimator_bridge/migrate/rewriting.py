"""Rewrites sources: what rules find is written as they say, until they find no more."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from estimator_bridge.legacy.running.dialects import Dialect, judge
from estimator_bridge.migrate.check import Examined, dialect_in_doubt, examine_text
from estimator_bridge.migrate.check import examine as examine_file
from estimator_bridge.migrate.edits import applied, compatible
from estimator_bridge.migrate.files import Found, find_files
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.reading import Source, UnreadableError, read_source
from estimator_bridge.migrate.registry import Rule
from estimator_bridge.migrate.values import Finding

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
    """

    examined: Examined
    source: Source | None = None
    text: str = ""

    @property
    def changed(self) -> bool:
        """Whether there is something to write."""
        return self.source is not None and self.text != self.source.text

    def diff(self) -> str:
        """The change as a unified diff."""
        if self.source is None:
            return ""
        path = self.examined.path
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(
                self.source.text.splitlines(keepends=True),
                self.text.splitlines(keepends=True),
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
    files = find_files(paths, options.exclude)
    doubt = options.dialect or dialect_in_doubt(files)
    return [_rewrite_file(file, options, rules, doubt) for file in files]


def _rewrite_file(
    file: Found, options: Options, rules: Sequence[Rule], doubt: Dialect
) -> Rewritten:
    examined = examine_file(file, options, rules, doubt)
    if examined.passed_over:
        return Rewritten(examined)
    try:
        source = read_source(file.path)
    except (OSError, UnreadableError) as error:  # it has gone since
        return Rewritten(replace(examined, passed_over=str(error)))
    dialect = options.dialect or judge(source.content).dialect or doubt
    # What was TensorFlow 1 stays so for the rounds that follow, whatever it imports by then.
    chosen = options.given(dialect=dialect)
    return Rewritten(examined, source, rewritten_text(source, chosen, rules, examined.findings))


def rewritten_text(
    source: Source, options: Options, rules: Sequence[Rule], findings: Sequence[Finding]
) -> str:
    """What a source is to hold.

    Args:
      source: it.
      options: with its dialect.
      rules: those to follow.
      findings: what they found in it.

    Raises:
      RewriteError: the result is no Python, or the rules find no end.
    """
    assert options.dialect is not None
    for _ in range(_MOST_ROUNDS):
        module = Module(source.path, source.text, options.dialect)
        text = applied(module, findings)
        if text == source.text:
            return text
        try:
            ast.parse(text)
        except SyntaxError as error:
            line = text.split("\n")[(error.lineno or 1) - 1]
            codes = sorted({found.rule for found in compatible(findings)})
            raise RewriteError(
                f"{source.path}: {', '.join(codes)} would have made line {error.lineno} "
                f"{line.strip()!r}, which is not Python ({error.msg}). Nothing was written. Leave "
                "the rule out with --ignore, and report this."
            ) from None
        source = replace(source, text=text)
        findings = examine_text(source, options, rules, options.dialect).findings
    raise RewriteError(
        f"{source.path}: the rules {sorted({found.rule for found in compatible(findings)})} find "
        "something in what they have written. Nothing was written. Leave one out with --ignore."
    )
