from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.python_guards import is_python2_only
from estimator_bridge.migrate.registry import rule

_TODAY = {
    "basestring": "str",
    "long": "int",
    "raw_input": "input",
    "unichr": "chr",
    "unicode": "str",
    "xrange": "range",
}
_IMPORTED = {
    "reduce": "from functools import reduce",
    "reload": "from importlib import reload",
}
_BY_HAND = {
    "cmp": "Write (a > b) - (a < b).",
    "execfile": "Write exec(open(path).read()).",
    "file": "Write open(path).",
}


@rule("EB030", "a function or type that Python 3 renamed")
def python2_builtins(module: Module) -> Iterator[Finding]:
    """Python 3 renamed some of Python 2's built-in functions and types.

    A variable that the module itself defines, as modules for both Pythons do, is left alone. So is
    code below `if six.PY2:`.

    Before:

    ```python
    total = reduce(lambda a, b: a + b, [i for i in xrange(4)])
    ```

    After:

    ```python
    from functools import reduce
    total = reduce(lambda a, b: a + b, [i for i in range(4)])
    ```
    """
    for use in module.scopes.references:
        root, _, name = use.target.partition(".")
        name = name.partition(".")[0]
        node = use.nodes[0]
        if root != "builtins" or use.import_ is not None or is_python2_only(module, node):
            continue
        if name in _TODAY:
            today = _TODAY[name]
            yield module.finding(
                "EB030", node, Severity.REWRITTEN, f"{name} is Python 2's", f"Write {today}.",
                (module.replacement(node, today),),
            )  # fmt: skip
        elif name in _IMPORTED:
            yield module.finding(
                "EB030", node, Severity.REWRITTEN, f"{name} is no longer a built-in",
                f"Add `{_IMPORTED[name]}`.", (), (_IMPORTED[name],),
            )  # fmt: skip
        elif name in _BY_HAND:
            yield module.finding(
                "EB030", node, Severity.BY_HAND, f"{name} is Python 2's", _BY_HAND[name]
            )
