from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.names import look_up
from estimator_bridge.migrate.registry import rule


@rule("EB015", "a star import of TensorFlow", under_run=True)
def star_imports(module: Module) -> Iterator[Finding]:
    """`from tensorflow import *` hides which names the module imports from TensorFlow.

    So no rule can follow them. Import the names that the module uses, or the module itself; then
    check again.

    Left alone by `rewrite`, with a comment:

    ```python
    # EB015: all names of tensorflow.contrib.slim are imported. Import the names that are used.
    from tensorflow.contrib.slim import *
    ```
    """
    for import_ in module.imports:
        if import_.variable == "*" and look_up(module.name(import_.target[:-2])) is not None:
            yield module.finding(
                "EB015",
                import_.statement,
                Severity.BY_HAND,
                f"all names of {import_.target[:-2]} are imported",
                "Import the names that are used.",
            )
