from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import methods_called
from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule

_TODAY = {
    "iteritems": "items", "iterkeys": "keys", "itervalues": "values",
    "viewitems": "items", "viewkeys": "keys", "viewvalues": "values",
}  # fmt: skip


@rule("EB032", "a dict method of Python 2")
def python2_dicts(module: Module) -> Iterator[Finding]:
    """Python 3.0 removed `dict.iteritems`, `iterkeys`, `itervalues` and `has_key`.

    A method of that name that the module itself defines is left alone, and so is code in a `try` or
    with a `hasattr` check.

    Before:

    ```python
    for name, value in {"a": 1}.iteritems():
        print(name, value)
    if not {}.has_key("a"):
        print("none")
    ```

    After:

    ```python
    for name, value in {"a": 1}.items():
        print(name, value)
    if not ("a" in {}):
        print("none")
    ```
    """
    own = {node.name for node in module.nodes(ast.FunctionDef)}
    own |= {node.value for node in module.nodes(ast.Constant) if isinstance(node.value, str)}
    for call, method in methods_called(module, *_TODAY, "has_key"):
        name = method.attr
        arity = 1 if name == "has_key" else 0
        if name in own or call.keywords or len(call.args) != arity or _is_in_try(module, call):
            continue
        if name == "has_key":
            key, holder = module.lines.of(call.args[0]), module.lines.of(method.value)
            if isinstance(call.args[0], ast.Starred):
                continue
            replacement = f"{key} in {holder}"
            edit = module.replacement(call, f"({replacement})")
        else:
            replacement, end = f".{_TODAY[name]}()", module.lines.span(method).end
            edit = Edit(Span(end - len(name), end), _TODAY[name])
        yield module.finding_at(
            "EB032", edit.span.start, Severity.REWRITTEN, f"{name} is Python 2's",
            f"Write {replacement}.", (edit,),
        )  # fmt: skip


def _is_in_try(module: Module, node: ast.AST) -> bool:
    while node in module.parents and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        node = module.parents[node]
        if isinstance(node, ast.Try) and any(
            "AttributeError" in ast.dump(h) for h in node.handlers
        ):
            return True
    return False
