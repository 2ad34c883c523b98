from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.tf1.private_names import ROOT, V1_NAMES, place_of
from estimator_bridge.migrate.findings import Edit, Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import new_import, variable_of
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.scopes import Reference


@rule("EB022", "a function that was removed from a private module")
def private_functions(module: Module) -> Iterator[Finding]:
    """Some private modules of TensorFlow still exist, but have lost functions.

    Functions that have a public name become that name. So do names of a TensorFlow 1 program that
    TensorFlow binds to another version today, such as `tensorflow.python.data.Dataset`.

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
        part = None if use.is_store else _part_with_place(module, use)
        if part is None:
            continue
        node, target, place = part
        text, statement = _expression_for(module, place)
        yield module.finding(
            "EB022", use.nodes[0], Severity.REWRITTEN,
            f"{target} has moved", f"Write {text}.",
            (Edit(module.span(use.nodes[0], node), text),), (statement,) if statement else (),
        )  # fmt: skip


def _part_with_place(module: Module, use: Reference) -> tuple[ast.expr, str, str] | None:
    """Returns the node of a use that is a name of the table, its full name and its place."""
    is_tf1 = module.dialect is Dialect.TF1
    for depth in range(2, len(use.nodes) + 1):
        target = use.target.rsplit(".", len(use.nodes) - depth)[0]
        place = V1_NAMES.get(target[len(ROOT) :]) if is_tf1 and target.startswith(ROOT) else None
        if place is None and depth == len(use.nodes):
            place = place_of(target)
        if place is not None:
            return use.nodes[depth - 1], target, place
    return None


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
