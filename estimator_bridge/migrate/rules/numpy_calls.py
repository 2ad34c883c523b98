from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import (
    calls,
    is_spread,
    keyword,
    methods_called,
    rename_keyword,
)
from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule

_QUANTILES = {
    f"numpy.{name}" for name in ("nanpercentile", "nanquantile", "percentile", "quantile")
}


@rule("EB043", "a call that NumPy no longer supports")
def numpy_calls(module: Module) -> Iterator[Finding]:
    """NumPy 2.3 and 2.4 removed arguments and methods that old programs use.

    `np.fromstring` reads only text. A call without `sep` reads bytes and becomes
    `np.frombuffer(...).copy()`; the copy keeps the result writable. `a.tostring()` becomes
    `a.tobytes()`. The argument `interpolation` of `np.percentile`, `np.quantile` and their
    nan-variants becomes `method`.

    Before:

    ```python
    import numpy as np

    def read(record):
        pixels = np.fromstring(record, np.uint8)
        return np.percentile(pixels, 50, interpolation="nearest"), pixels.tostring()
    ```

    After:

    ```python
    import numpy as np

    def read(record):
        pixels = np.frombuffer(record, np.uint8).copy()
        return np.percentile(pixels, 50, method="nearest"), pixels.tobytes()
    ```
    """
    own = {node.name for node in module.nodes(ast.FunctionDef)}
    for call, name in calls(module):
        argument = keyword(call, "interpolation")
        if name in _QUANTILES and argument is not None:
            yield module.finding(
                "EB043", argument, Severity.REWRITTEN, "interpolation is now method",
                "Write method=...", (rename_keyword(module, argument, "method"),),
            )  # fmt: skip
        if name == "numpy.fromstring" and not keyword(call, "sep") and not is_spread(call):
            yield _fromstring(module, call)
    for call, method in methods_called(module, "tostring"):
        if not call.args and not call.keywords and "tostring" not in own:
            end = module.lines.span(method).end
            edit = Edit(Span(end - len("tostring"), end), "tobytes")
            yield module.finding(
                "EB043", call, Severity.REWRITTEN, "arrays no longer have tostring()",
                "Write tobytes(), which returns the same bytes.", (edit,),
            )  # fmt: skip


def _fromstring(module: Module, call: ast.Call) -> Finding:
    function = module.lines.span(call.func)
    if not isinstance(call.func, ast.Attribute) or keyword(call, "string"):
        return module.finding(
            "EB043", call, Severity.BY_HAND, "np.fromstring no longer reads bytes",
            "Write np.frombuffer(...).copy().",
        )  # fmt: skip
    end = module.lines.span(call).end
    edits = (
        Edit(Span(function.end - len("fromstring"), function.end), "frombuffer"),
        Edit(Span(end, end), ".copy()"),
    )
    return module.finding(
        "EB043", call, Severity.REWRITTEN, "np.fromstring no longer reads bytes",
        "Write np.frombuffer(...).copy().", edits,
    )  # fmt: skip
