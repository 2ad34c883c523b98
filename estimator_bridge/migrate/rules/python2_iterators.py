from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import methods_called
from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule

_ITERATORS = {
    "builtins.enumerate", "builtins.filter", "builtins.iter", "builtins.map", "builtins.open",
    "builtins.zip", "csv.DictReader", "csv.reader", "itertools.chain", "itertools.count",
    "itertools.cycle", "itertools.islice", "os.walk", "tf1.python_io.tf_record_iterator",
}  # fmt: skip


@rule("EB034", "an iterator with Python 2's protocol")
def python2_iterators(module: Module) -> Iterator[Finding]:
    """An iterator's method is `__next__` in Python 3; Python 2 called it `next`.

    A class with `__iter__` and `next` gets `__next__` as an alias of `next`. A call `it.next()` is
    rewritten if `it` is a built-in iterator, such as that of `iter`, `open`, `csv.reader` or
    `os.walk`; objects of other classes may have a method `next`.

    Before:

    ```python
    import os

    class Batches(object):
        def __iter__(self):
            return self

        def next(self):
            return 1

    root = os.walk("data").next()[0]
    ```

    After:

    ```python
    import os

    class Batches(object):
        def __iter__(self):
            return self

        def next(self):
            return 1

        __next__ = next

    root = next(os.walk("data"))[0]
    ```
    """
    for node in module.nodes(ast.ClassDef):
        methods = {child.name: child for child in node.body if isinstance(child, ast.FunctionDef)}
        names = {n.id for child in node.body for n in ast.walk(child) if isinstance(n, ast.Name)}
        if not {"__iter__", "next"} <= methods.keys() or {"__next__"} & {*methods, *names}:
            continue
        if any(module.lines.of(base).endswith("Iterator") for base in node.bases):
            continue  # six.Iterator has __next__
        method = methods["next"]
        end = module.lines.span(method).end
        if module.text[end : end + 1] not in ("\n", "\r", ""):
            continue
        text = f"{module.newline * 2}{' ' * method.col_offset}__next__ = next"
        yield module.finding(
            "EB034", method, Severity.REWRITTEN, f"{node.name}.next is __next__ in Python 3",
            "Add `__next__ = next`.", (Edit(Span(end, end), text),),
        )  # fmt: skip
    assignments = _variables(module)
    for call, iterator_method in methods_called(module, "next"):
        if (
            call.args
            or call.keywords
            or not _is_iterator(module, iterator_method.value, assignments)
        ):
            continue
        inner = module.lines.of(iterator_method.value)
        yield module.finding(
            "EB034", call, Severity.REWRITTEN, "iterators no longer have a method next()",
            f"Write next({inner}).", (module.replacement(call, f"next({inner})"),),
        )  # fmt: skip


def _is_iterator(module: Module, node: ast.expr, assignments: dict[str, list[ast.expr]]) -> bool:
    if isinstance(node, ast.Name):
        values = assignments.get(node.id, [])
        return bool(values) and all(_is_iterator(module, value, {}) for value in values)
    if isinstance(node, ast.Call):
        return module.name_of(node.func) in _ITERATORS
    return isinstance(node, ast.GeneratorExp)


def _variables(module: Module) -> dict[str, list[ast.expr]]:
    """Returns the values of variables that are set only by plain assignments."""
    assignments: dict[str, list[ast.expr]] = {}
    places: dict[str, int] = {}
    for name in module.nodes(ast.Name):
        if not isinstance(name.ctx, ast.Load):
            places[name.id] = places.get(name.id, 0) + 1
    for argument in module.nodes(ast.arg):
        places[argument.arg] = places.get(argument.arg, 0) + 1
    for node in module.nodes(ast.Assign):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assignments.setdefault(node.targets[0].id, []).append(node.value)
    return {name: values for name, values in assignments.items() if len(values) == places[name]}
