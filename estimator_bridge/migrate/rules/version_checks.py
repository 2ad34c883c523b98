from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import tf_name
from estimator_bridge.migrate.registry import rule

_VERSIONS = {
    f"{root}.{name}"
    for root in ("tf1", "tf2")
    for name in ("VERSION", "__version__", "version.VERSION")
}


@rule("EB062", "a decision based on TensorFlow's version")
def version_checks(module: Module) -> Iterator[Finding]:
    """Decisions based on `tf.__version__` predate TensorFlow 2.

    `assert tf.__version__.startswith("1.")` now fails, and comparing versions as strings ("2.21" <
    "2.4") gives wrong results. Keep the branch that is right for TensorFlow 2 and its
    `tf.compat.v1`.

    A version that is only printed is left alone, and so is a comparison with 1.4 or another old
    version, which still takes the right branch. So is a module that supports both TensorFlows: one
    that uses `tf.compat`, or imports TensorFlow in a `try` or below an `if`.

    Left alone by `rewrite`, with a comment:

    ```python
    import tensorflow.compat.v1 as tf

    # EB062: tf.__version__ decides here. It is 2.16 or newer: leave what is right for
    # tf.compat.v1 of TensorFlow 2.
    assert tf.__version__.startswith("1."), "use TensorFlow 1"
    ```
    """
    if _supports_both(module):
        return
    for use in module.scopes.references:
        whole, name = module.name(use.target), ""
        for version in _VERSIONS:
            if f"{whole}.".startswith(f"{version}."):
                name = version
        if name and not use.is_store and _decides(module, use.node):
            yield module.finding(
                "EB062", use.nodes[0], Severity.BY_HAND, f"{tf_name(name)} decides here",
                "It is 2.16 or newer: leave what is right for tf.compat.v1 of TensorFlow 2.",
            )  # fmt: skip


def _is_older(node: ast.Compare) -> bool:
    """Returns whether a version is compared with one below 2, which works for strings too."""
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    has_order = all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
    return has_order and bool(texts) and all(str(text).startswith(("0.", "1.")) for text in texts)


def _supports_both(module: Module) -> bool:
    has_guard = any(f.has_guard and f.target.startswith("tensorflow") for f in module.imports)
    return has_guard or any(
        node.attr == "compat" and isinstance(node.value, ast.Name)
        for node in module.nodes(ast.Attribute)
    )


def _decides(module: Module, node: ast.AST) -> bool:
    """Returns whether an expression is part of a comparison or a condition."""
    below: ast.AST = node
    while below in module.parents:
        above = module.parents[below]
        if isinstance(above, ast.Compare):
            return not _is_older(above)
        if isinstance(above, (ast.If, ast.IfExp, ast.Assert, ast.While)):
            return below is above.test
        if isinstance(above, ast.stmt):
            return False
        below = above
    return False
