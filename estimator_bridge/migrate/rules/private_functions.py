from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import new_import
from estimator_bridge.migrate.registry import rule

_ROOT = "tensorflow.python."
# By name below tensorflow.python: the public name below tf.compat.v1.
_PUBLIC = {
    "framework.graph_util.convert_variables_to_constants": (
        "graph_util.convert_variables_to_constants"
    ),
    "framework.ops.IndexedSlices": "IndexedSlices",
    "framework.ops.Tensor": "Tensor",
    "framework.ops.register_tensor_conversion_function": "register_tensor_conversion_function",
    "ops.array_ops.stack": "stack",
    "ops.array_ops.unstack": "unstack",
    "ops.control_flow_ops.Assert": "Assert",
    "ops.control_flow_ops.case": "case",
    "ops.control_flow_ops.cond": "cond",
    "ops.control_flow_ops.while_loop": "while_loop",
    "ops.variable_scope.variable": "Variable",
    "pywrap_tensorflow.NewCheckpointReader": "train.NewCheckpointReader",
    "util.nest.is_sequence": "nest.is_nested",
}


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
        place = _place(use.target)
        if place is None or use.stored or len(use.nodes) < 2:
            continue
        tensorflow, statement = _tensorflow(module)
        text = f"{tensorflow}.{place}"
        yield module.finding(
            "EB022", use.nodes[0], Severity.REWRITTEN,
            f"{use.target} has moved", f"Write {text}.",
            (Edit(module.span(use.nodes[0], use.node), text),), (statement,) if statement else (),
        )  # fmt: skip
    for found in module.imports:
        place = _place(found.target)
        if place is not None and not found.guarded:
            yield module.finding(
                "EB022", found.statement, Severity.BY_HAND, f"{found.target} has moved",
                f"Use {place} of tensorflow.compat.v1.",
            )  # fmt: skip


def _place(target: str) -> str | None:
    return _PUBLIC.get(target[len(_ROOT) :]) if target.startswith(_ROOT) else None


def _tensorflow(module: Module) -> tuple[str, str]:
    """Returns the variable for tf.compat.v1, and the import that it needs, or ""."""
    for found in module.imports:
        top = found.statement in module.tree.body
        if top and not found.guarded and module.name(found.target) == "tf1":
            return found.bound, ""
    name = module.free_name("tf", "tf1", "tf1_")
    return name, new_import("tensorflow.compat.v1", name)
