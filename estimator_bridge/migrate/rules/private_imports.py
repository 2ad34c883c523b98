from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.names import Fate, look_up
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.values import Finding, Severity

_PRIVATE = ("tensorflow.python.", "tensorflow.core.")


@rule("EB020", "a private module of TensorFlow that is still there")
def private_imports(module: Module) -> Iterator[Finding]:
    """A module below `tensorflow.python` is private, and may go with any release.

    Today's TensorFlow has it, so nothing is to be done now. Where the public API has the name, that
    is the safer one. Modules that have gone or moved are another rule's.

    Left alone:

    ```python
    from tensorflow.python.framework import dtypes

    kind = dtypes.float32
    ```
    """
    said: set[ast.stmt] = set()
    for found in module.imports:
        target = found.target[:-2] if found.bound == "*" else found.target
        if not target.startswith(_PRIVATE) or found.statement in said:
            continue
        known = look_up(module.name(target))
        if known is not None and known.fate is Fate.SAME:
            said.add(found.statement)
            yield module.finding(
                "EB020", found.statement, Severity.WORKS,
                f"{known.name} is private: it is there in this TensorFlow, and may go",
            )  # fmt: skip
