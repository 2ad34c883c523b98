from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.scopes import Import

_TYPES = {
    "bool": "bool", "complex": "complex", "float": "float", "int": "int", "long": "int",
    "object": "object", "str": "str", "unicode": "str",
}  # fmt: skip
# What to write where the module has a variable with the name of Python's type.
_NUMPY_TYPES = {
    "bool": "np.bool_", "complex": "np.complex128", "float": "np.float64", "int": "np.int64",
    "object": "np.object_", "str": "np.str_",
}  # fmt: skip
_RENAMED = {
    "Inf": "inf", "Infinity": "inf", "NAN": "nan", "NaN": "nan", "PINF": "inf",
    "alltrue": "all", "bool8": "bool_", "complex_": "complex128",
    "cumproduct": "cumprod", "float_": "float64",
    "in1d": "isin", "infty": "inf", "int0": "intp", "mat": "asmatrix", "product": "prod",
    "round_": "round", "row_stack": "vstack", "str0": "str_", "void0": "void",
    "sometrue": "any", "string_": "bytes_",
    "trapz": "trapezoid", "unicode_": "str_",
}  # fmt: skip
_BY_HAND = {
    "NINF": "Write -np.inf.",
    "alen": "Write len(a).",
    "asfarray": "Write np.asarray(a, np.float64).",
    "asscalar": "Write a.item().",
    "cast": "Write np.asarray(a, dtype).",
    "deprecate": "Write warnings.warn(..., DeprecationWarning).",
    "disp": "Write print(...).",
    "find_common_type": "Write np.result_type(...).",
    "float96": "Write np.longdouble.",
    "fv": "Use the package numpy_financial.",
    "irr": "Use the package numpy_financial.",
    "issubclass_": "Write issubclass(a, b).",
    "loads": "Write pickle.loads(text).",
    "maximum_sctype": "Write the type that is wanted.",
    "msort": "Write np.sort(a, axis=0).",
    "npv": "Use the package numpy_financial.",
    "obj2sctype": "Write np.dtype(a).type.",
    "pmt": "Use the package numpy_financial.",
    "rank": "Write np.ndim(a).",
    "safe_eval": "Write ast.literal_eval(text).",
    "sctypes": "List the types that are wanted.",
    "typeDict": "Write np.sctypeDict.",
}


@rule("EB040", "a name that NumPy has removed")
def numpy_names(module: Module) -> Iterator[Finding]:
    """NumPy 1.24 and 2.0 removed aliases of Python's types and of NumPy's own names.

    Before:

    ```python
    import numpy as np

    x = np.zeros([2], dtype=np.float)
    y = np.product(x)
    ```

    After:

    ```python
    import numpy as np

    x = np.zeros([2], dtype=float)
    y = np.prod(x)
    ```
    """
    for use in module.scopes.references:
        root, _, name = use.target.partition(".")
        name = name.partition(".")[0]
        by_module = len(use.nodes) > 1 and use.target.count(".") + 1 == len(use.nodes)
        if root != "numpy" or use.is_store or not by_module:
            continue
        whole = module.span(use.nodes[0], use.nodes[1])
        if name in _TYPES:
            today = _TYPES[name]
            if today in module.scopes.names:  # the module has a variable with that name
                today = _NUMPY_TYPES[today]
                yield module.finding(
                    "EB040", use.node, Severity.BY_HAND, f"NumPy has removed {name}",
                    f"The module has a variable {_TYPES[name]}: rename it, or write {today}.",
                )  # fmt: skip
                continue
        elif name in _RENAMED:
            today = module.text[whole.start : whole.end - len(name)] + _RENAMED[name]
        elif name in _BY_HAND:
            yield module.finding(
                "EB040", use.node, Severity.BY_HAND, f"NumPy has removed {name}", _BY_HAND[name]
            )
            continue
        else:
            continue
        yield module.finding(
            "EB040", use.nodes[0], Severity.REWRITTEN, f"NumPy has removed {name}",
            f"Write {today}.", (Edit(whole, today),),
        )  # fmt: skip
    for import_ in module.imports:
        if isinstance(import_.statement, ast.ImportFrom):
            yield from _check_import(module, import_)


def _check_import(module: Module, import_: Import) -> Iterator[Finding]:
    """Reports one name of `from numpy import ...`; the program's variable stays."""
    root, _, name = import_.target.partition(".")
    if root != "numpy":
        return
    severity = Severity.BY_HAND
    edits: tuple[Edit, ...] = ()
    if name in _RENAMED:
        today = _RENAMED[name] if import_.alias.asname else f"{_RENAMED[name]} as {name}"
        start = module.lines.span(import_.alias).start
        severity = Severity.REWRITTEN
        edits = (Edit(Span(start, start + len(name)), today),)
        how = f"Write {today}."
    elif name in _TYPES:
        how = f"Leave it out: it was Python's own {_TYPES[name]}."
    elif name in _BY_HAND:
        how = _BY_HAND[name]
    else:
        return
    yield module.finding("EB040", import_.alias, severity, f"NumPy has removed {name}", how, edits)
