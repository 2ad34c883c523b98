"""Checks a repository, rewrites a copy in memory, and counts."""

from __future__ import annotations

import ast
import difflib
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from estimator_bridge.migrate.check import examine_all
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.rewriting import rewrite_text

__all__ = ["Census", "take"]


@dataclass
class Census:
    """The counts of one repository.

    Attributes:
      name: the repository.
      files: Python files and notebooks found.
      passed_over: those that could not be read, by reason.
      lines: lines of those that were read.
      seconds: CPU seconds of the check.
      severities: findings, by severity.
      rules: findings, by rule.
      changed_files: files that `rewrite` changes.
      changed_lines: lines that it removes or replaces.
      not_python: files whose rewritten text Python cannot parse.
      unstable: files that a second run changes again.
    """

    name: str
    files: int = 0
    passed_over: int = 0
    lines: int = 0
    seconds: float = 0.0
    severities: dict[str, int] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)
    changed_files: int = 0
    changed_lines: int = 0
    not_python: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        return asdict(self)


def take(folder: Path) -> tuple[Census, dict[str, tuple[str, str]]]:
    """Checks and rewrites one repository.

    Args:
      folder: its files; nothing is written there.

    Returns:
      The counts; and by file, its text before and after.
    """
    options = Options()
    rules = options.rules()
    census = Census(folder.name)
    start = time.process_time()
    files = examine_all([str(folder)], options)
    census.seconds = round(time.process_time() - start, 2)
    severities: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    texts: dict[str, tuple[str, str]] = {}
    for file, sources in files:
        census.files += 1
        census.passed_over += bool(file.passed_over)
        census.lines += file.lines
        severities.update(finding.severity.value for finding in file.findings)
        codes.update(finding.rule for finding in file.findings)
        if sources is None:
            continue
        source, module = sources
        after = rewrite_text(module, rules, file.findings)[0]
        texts[file.path] = source.text, after
        if after != source.text:
            census.changed_files += 1
            census.changed_lines += _count_changes(source.text, after)
            _look_again(census, file.path, after, module, rules)
    census.severities, census.rules = dict(severities), dict(sorted(codes.items()))
    return census, texts


def _count_changes(before: str, after: str) -> int:
    delta = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return sum(line.startswith("-") and not line.startswith("---") for line in delta)


def _look_again(census: Census, path: str, after: str, first: Module, rules: Any) -> None:
    from estimator_bridge.migrate.check import examine

    try:
        ast.parse(after)
    except SyntaxError as error:
        census.not_python.append(f"{path}:{error.lineno}")
        return
    # As a second run of the command sees it: only the new text tells what TensorFlow is meant.
    module = Module(path, after)
    module.dialect = module.verdict.dialect or first.dialect
    if rewrite_text(module, rules, examine(module, rules).findings)[0] != after:
        census.unstable.append(path)
