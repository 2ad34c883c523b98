"""Applies the edits of findings to a text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Sequence

from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module

__all__ = ["applied", "compatible", "with_edits"]

_WIDTH = 96


def compatible(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings to rewrite; of two with overlapping edits, the first."""
    taken: list[Span] = []
    chosen = []
    for found in findings:
        if found.severity is not Severity.REWRITTEN:
            continue
        spans = [edit.span for edit in found.edits]
        if any(span.overlaps(other) for span in spans for other in taken):
            continue
        taken += spans
        chosen.append(found)
    return chosen


def applied(module: Module, findings: Sequence[Finding]) -> str:
    """Returns the module's text with the findings' edits, and comments on those left by hand.

    Args:
      module: the module.
      findings: all its findings.
    """
    chosen = compatible(findings)
    edits = {edit: None for found in chosen for edit in found.edits}
    statements = {statement: None for found in chosen for statement in found.imports}
    inserted = _imports(module, list(statements))
    return with_edits(module.text, [*inserted, *_comments(module, findings), *edits])


def with_edits(text: str, edits: Iterable[Edit]) -> str:
    """Applies edits, which must not overlap; insertions at the same position keep their order."""
    parts = []
    end = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[end : edit.span.start], edit.text]
        end = edit.span.end
    return "".join([*parts, text[end:]])


def _imports(module: Module, statements: list[str]) -> list[Edit]:
    """Returns the edit that inserts missing imports above the first import of TensorFlow."""
    if not statements:
        return []
    # This library comes first: it must be imported before TensorFlow.
    statements.sort(key=lambda text: (text.startswith("from"), text))
    has = {" ".join(module.lines.of(found.statement).split()) for found in module.imports}
    lines = [statement for statement in statements if statement not in has]
    start = module.lines.start(_import_line(module))
    text = "".join(f"{line}{module.newline}" for line in lines)
    if not text:
        return []
    before = module.text[:start]
    glue = module.newline if before and not before.endswith(("\n", "\r")) else ""
    return [Edit(Span(start, start), f"{glue}{text}")]


def _import_line(module: Module) -> int:
    """Returns the line above which to insert imports."""
    body = module.tree.body
    for statement in body:
        if any(
            isinstance(node, (ast.Import, ast.ImportFrom)) and _is_tensorflow(node)
            for node in ast.walk(statement)
        ) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            return _first_line(statement)
    start = 0
    while start < len(body) and (_is_docstring(body[start]) or _is_future(body[start])):
        start += 1
    if start < len(body):
        return _first_line(body[start])
    return len(module.lines) + 1


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(node.lineno for node in decorators)])


def _is_tensorflow(node: ast.Import | ast.ImportFrom) -> bool:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return any(name.startswith("tensorflow") for name in names)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _comments(module: Module, findings: Sequence[Finding]) -> list[Edit]:
    """Returns the edits that insert a comment above each statement to handle by hand."""
    edits: list[Edit] = []
    said: set[tuple[int, str]] = set()
    lines = _statement_lines(module)
    for found in findings:
        if found.severity not in (Severity.BY_HAND, Severity.UNAVAILABLE):
            continue
        line = lines[found.line]
        if (line, found.rule) in said or _stands_above(module, line, found.rule):
            continue
        said.add((line, found.rule))
        start = module.lines.start(line)
        text = module.lines.line(line)
        indent = text[: len(text) - len(text.lstrip())]
        comment = textwrap.wrap(
            f"{found.rule}: {found.message}. {found.how}".strip(),
            max(_WIDTH - len(indent) - 2, 40),
            break_long_words=False,
            break_on_hyphens=False,
        )
        whole = "".join(f"{indent}# {part}{module.newline}" for part in comment)
        edits.append(Edit(Span(start, start), whole))
    return edits


def _statement_lines(module: Module) -> list[int]:
    """Maps each line to the line above which a comment on it can stand.

    That is the first line of the innermost statement, or of the one before it on the same line.
    """
    lines = list(range(len(module.lines) + 2))
    for node in ast.walk(module.tree):  # outer statements come before inner ones
        if not isinstance(node, ast.stmt):
            continue
        first = _first_line(node)
        before = module.lines.line(first)[: node.col_offset if first == node.lineno else 0]
        above = lines[first] if before.strip() else first
        last = node.end_lineno or node.lineno
        inner = [child for child in getattr(node, "body", []) if isinstance(child, ast.stmt)]
        end = min([last + 1, *(child.lineno for child in inner)]) if inner else last + 1
        lines[first:end] = [above] * (end - first)
    return lines


def _stands_above(module: Module, line: int, code: str) -> bool:
    """Returns whether the comment of a rule is already above a line."""
    while line > 1:
        line -= 1
        text = module.lines.line(line).strip()
        if not text.startswith("#"):
            return False
        if text.startswith(f"# {code}:"):  # a long name is on the next line
            return True
    return False
