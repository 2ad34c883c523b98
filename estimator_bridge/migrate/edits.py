"""Applies the edits of findings to a text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Sequence

from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module

__all__ = ["apply_edits", "replace_spans", "select_compatible"]

_WIDTH = 96


def select_compatible(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings to rewrite; of two with overlapping edits, the first."""
    chosen_spans: list[Span] = []
    compatible = []
    for finding in findings:
        if finding.severity is not Severity.REWRITTEN:
            continue
        spans = [edit.span for edit in finding.edits]
        if any(span.overlaps(other) for span in spans for other in chosen_spans):
            continue
        chosen_spans += spans
        compatible.append(finding)
    return compatible


def apply_edits(module: Module, findings: Sequence[Finding]) -> str:
    """Returns the module's text with the findings' edits, and comments on those left by hand.

    Args:
      module: the module.
      findings: all its findings.
    """
    compatible = select_compatible(findings)
    edits = {edit: None for finding in compatible for edit in finding.edits}
    statements = {statement: None for finding in compatible for statement in finding.imports}
    import_edits = _imports(module, list(statements))
    comments = _comments(module, _outside_of_splits(module, findings, edits))
    return replace_spans(module.text, [*import_edits, *comments, *edits])


def replace_spans(text: str, edits: Iterable[Edit]) -> str:
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
    has = {" ".join(module.lines.of(import_.statement).split()) for import_ in module.imports}
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


def _outside_of_splits(
    module: Module, findings: Sequence[Finding], edits: Iterable[Edit]
) -> list[Finding]:
    """Returns the findings that are not in a statement which becomes several ones.

    The next round finds them again in one of these, above which the comment belongs.
    """
    splits = [edit.span for edit in edits if "\n" in edit.text]
    return [
        finding
        for finding in findings
        if not any(
            span.start <= module.lines.start(finding.line) + finding.column - 1 < span.end
            for span in splits
        )
    ]


def _comments(module: Module, findings: Sequence[Finding]) -> list[Edit]:
    """Returns the edits that insert a comment above each statement to handle by hand."""
    edits: list[Edit] = []
    places: set[tuple[int, str]] = set()
    lines = _statement_lines(module)
    for finding in findings:
        if finding.severity not in (Severity.BY_HAND, Severity.UNAVAILABLE):
            continue
        line = lines[finding.line]
        if (line, finding.rule) in places or _stands_above(module, line, finding.rule):
            continue
        places.add((line, finding.rule))
        start = module.lines.start(line)
        text = module.lines.line(line)
        indent = text[: len(text) - len(text.lstrip())]
        comment = textwrap.wrap(
            f"{finding.rule}: {finding.message}. {finding.how}".strip(),
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
