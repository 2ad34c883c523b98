from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.names import Fate, look_up
from estimator_bridge.migrate.registry import rule

_PRIVATE = ("tensorflow.python.", "tensorflow.core.")


@rule("EB020", "a private module of TensorFlow that still exists")
def private_imports(module: Module) -> Iterator[Finding]:
    """A module below `tensorflow.python` is private, and any release may remove it.

    The current TensorFlow has it, so you need not change anything now. A public name is safer if
    there is one. Other rules report modules that were removed or moved.

    Left alone:

    ```python
    from tensorflow.python.framework import dtypes

    kind = dtypes.float32
    ```
    """
    statements: set[ast.stmt] = set()
    for import_ in module.imports:
        target = import_.target[:-2] if import_.variable == "*" else import_.target
        if not target.startswith(_PRIVATE) or import_.statement in statements:
            continue
        entry = look_up(module.name(target))
        if entry is not None and entry.fate is Fate.SAME:
            statements.add(import_.statement)
            yield module.finding(
                "EB020", import_.statement, Severity.WORKS,
                f"{entry.name} is private: this TensorFlow has it, and a later one may remove it",
            )  # fmt: skip
