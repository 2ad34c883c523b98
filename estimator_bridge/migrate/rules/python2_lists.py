from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import Function, functions_of, without_nested

_LAZY_BUILTINS = {"builtins.filter", "builtins.map", "builtins.zip"}
_VIEWS = {"items", "keys", "values"}
_METHODS = {"append", "extend", "index", "insert", "pop", "remove", "reverse", "sort"}
# Methods called on an unnamed result: `values().append(x)` has no effect on a dict, so the object
# is not a dict.
_METHODS_OF_A_CALL = {"index", "pop"}
_OPERATION = re.compile(r"operation|(?:\b|_)ops?\b")
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")


@rule("EB033", "a list of Python 2 that is now an iterator")
def python2_lists(module: Module) -> Iterator[Finding]:
    """`map`, `filter`, `zip`, `range` and a dict's `keys` returned lists in Python 2.

    A program that uses the result as a list (an index, `len`, `+`, `sort`, `shuffle`) now fails.
    `list(...)` is added around the call. The rule finds uses in the same expression, and uses of a
    variable that is set once in the same function.

    Before:

    ```python
    import random

    def order(count, names):
        numbers = range(count)
        random.shuffle(numbers)
        return numbers, map(str, names)[0], [1] + names.keys()
    ```

    After:

    ```python
    import random

    def order(count, names):
        numbers = list(range(count))
        random.shuffle(numbers)
        return numbers, list(map(str, names))[0], [1] + list(names.keys())
    ```
    """
    for call in module.nodes(ast.Call):
        kind = _kind(module, call)
        if kind and _is_used_as_list(module, call, kind):
            yield _wrap_in_list(module, call, kind)
    yield from _check_variables(module, module.tree)
    for function in functions_of(module):
        yield from _check_variables(module, function)


def _check_variables(module: Module, scope: ast.Module | Function) -> Iterator[Finding]:
    nodes = list(without_nested(scope))
    targets = [n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        target, kind = node.targets[0], _kind(module, node.value)
        if not kind or not isinstance(target, ast.Name) or targets.count(target.id) != 1:
            continue
        uses = [
            n for n in nodes
            if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load)
        ]  # fmt: skip
        if any(_is_used_as_list(module, use, kind) for use in uses):
            yield _wrap_in_list(module, node.value, kind)


def _kind(module: Module, call: ast.Call) -> str:
    """Returns the kind of a call that made a list in Python 2, such as "map", or ""."""
    name = module.name_of(call.func)
    if name in _LAZY_BUILTINS or name in ("builtins.range", "builtins.xrange"):
        return name.rpartition(".")[2]
    if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords:
        of_graph = _OPERATION.search(module.lines.of(call.func.value))  # has `values`, too
        return call.func.attr if call.func.attr in _VIEWS and not of_graph else ""
    return ""


def _is_used_as_list(module: Module, node: ast.expr, kind: str) -> bool:
    above = module.parents.get(node)
    is_range, is_view = kind in ("range", "xrange"), kind in _VIEWS
    if isinstance(above, ast.Subscript) and above.value is node:
        # A range supports reading by index; assigning or deleting an item needs a list.
        return not isinstance(above.ctx, ast.Load) if is_range else _is_place(above.slice)
    if isinstance(above, ast.Attribute):
        call = module.parents.get(above)
        is_call = isinstance(call, ast.Call) and call.func is above
        methods = _METHODS_OF_A_CALL if isinstance(node, ast.Call) else _METHODS
        return is_call and above.attr in methods - ({"index"} if is_range else set())
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Add):
        other = above.right if above.left is node else above.left
        return isinstance(other, (ast.List, ast.ListComp)) or (
            isinstance(other, ast.Call) and bool(_kind(module, other))
        )
    if isinstance(above, ast.Call) and len(above.args) == 1 and above.args[0] is node:
        name = module.name_of(above.func)
        return name in _SHUFFLES or (name == "builtins.len" and not is_range and not is_view)
    return False


def _is_place(index: ast.AST) -> bool:
    """Returns whether an index is a number or a slice; a string would be a key."""
    inner = getattr(index, "value", index) if type(index).__name__ == "Index" else index
    if isinstance(inner, ast.UnaryOp):
        inner = inner.operand
    return isinstance(inner, ast.Slice) or (
        isinstance(inner, ast.Constant) and isinstance(inner.value, int)
    )


def _wrap_in_list(module: Module, call: ast.Call, kind: str) -> Finding:
    span = module.lines.span(call)
    ends = Span(span.start, span.start), Span(span.end, span.end)
    text = f"{kind}()" if kind not in _VIEWS else f".{kind}()"
    return module.finding(
        "EB033", call, Severity.REWRITTEN, f"{text} no longer returns a list, but is used as one",
        f"Write list(...) around {text}.", (Edit(ends[0], "list("), Edit(ends[1], ")")),
    )  # fmt: skip
