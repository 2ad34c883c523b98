from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.legacy.tf1.private_names import place_of
from estimator_bridge.migrate.findings import Edit, Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import new_import, variable_of
from estimator_bridge.migrate.registry import rule


@rule("EB022", "a function that was removed from a private module")
def private_functions(module: Module) -> Iterator[Finding]:
    """Some private modules of TensorFlow still exist, but have lost functions.

    Functions that have a public name become that name.

    Before:

    ```python
    import tensorflow.compat.v1 as tf
    from tensorflow.python import pywrap_tensorflow

    reader = pywrap_tensorflow.NewCheckpointReader("model.ckpt")
    ```

    After:

    ```python
    import tensorflow.compat.v1 as tf
    from tensorflow.python import pywrap_tensorflow

    reader = tf.train.NewCheckpointReader("model.ckpt")
    ```
    """
    for use in module.scopes.references:
        place = place_of(use.target)
        if place is None or use.is_store or len(use.nodes) < 2:
            continue
        text, statement = _expression_for(module, place)
        yield module.finding(
            "EB022", use.nodes[0], Severity.REWRITTEN,
            f"{use.target} has moved", f"Write {text}.",
            (Edit(module.span(use.nodes[0], use.node), text),), (statement,) if statement else (),
        )  # fmt: skip


def _expression_for(module: Module, place: str) -> tuple[str, str]:
    """Returns the expression for a place of the table, and the import that it needs, or ""."""
    home, _, name = place.rpartition(".")
    if home.partition(".")[0] == "tf1":
        tensorflow, statement = _tensorflow(module)
        return f"{tensorflow}{place[len('tf1') :]}", statement
    variable, statement = variable_of(module, home, home.rpartition(".")[2])
    return f"{variable}.{name}", statement


def _tensorflow(module: Module) -> tuple[str, str]:
    """Returns the variable for tf.compat.v1, and the import that it needs, or ""."""
    for import_ in module.imports:
        top = import_.statement in module.tree.body
        if top and not import_.has_guard and module.name(import_.target) == "tf1":
            return import_.variable, ""
    name = module.free_name("tf", "tf1", "tf1_")
    return name, new_import("tensorflow.compat.v1", name)
