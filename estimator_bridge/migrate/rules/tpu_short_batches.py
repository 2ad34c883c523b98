from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.batch_calls import batch_calls, batch_size
from estimator_bridge.migrate.calls import keyword
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import Function, tpu_functions

# Functions that set a batch's static size in another way.
_STATIC = {"set_shape", "ensure_shape", "reshape", "batch_and_drop_remainder"}


@rule("EB054", "a possibly short last batch in a TPU's training")
def tpu_short_batches(module: Module) -> Iterator[Finding]:
    """Training on cores needs batches of a static size, so `batch` needs `drop_remainder=True`.

    Without it training stops with "must have static shape", even on an input that repeats.
    Evaluation and prediction count a short last batch, so `drop_remainder` should depend on the
    mode. Functions that do not mention training, or that set the shape, are left alone.

    Left alone by `rewrite`, with a comment:

    ```python
    import tensorflow.compat.v1 as tf

    def train_input_fn(params):
        data = tf.data.Dataset.range(64).repeat()
        # EB054: batch(...) gives batches of unknown size, which training on cores refuses. Give it
        # drop_remainder=True where the function is used for training.
        return data.batch(params["batch_size"])
    ```
    """
    functions = tpu_functions(module)
    for call, method, around in batch_calls(module, functions.inputs):
        if not functions.asks_for_batch_size(around) or _is_static(call, around):
            continue
        if isinstance(batch_size(call), ast.Constant):  # batches that the program uses itself
            continue
        if not _is_of_training(functions.enclosing(around)):
            continue
        yield module.finding(
            "EB054", call, Severity.BY_HAND,
            f"{method.attr}(...) gives batches of unknown size, which training on cores refuses",
            "Give it drop_remainder=True where the function is used for training.",
        )  # fmt: skip


def _is_of_training(functions: list[Function]) -> bool:
    """Returns whether functions, innermost first, name training or shuffle, and no other mode."""
    if any(word in f.name for f in functions for word in ("eval", "pred", "test", "serving")):
        return False
    nodes = list(ast.walk(functions[-1]))
    names = [node.arg for node in nodes if isinstance(node, ast.arg)]
    names += [node.id for node in nodes if isinstance(node, ast.Name)]
    names += [node.attr for node in ast.walk(functions[0]) if isinstance(node, ast.Attribute)]
    names += [function.name for function in functions]
    return any("train" in name or name == "shuffle" for name in names)


def _is_static(call: ast.Call, around: Function) -> bool:
    most = {"batch": 1, "padded_batch": 2, "map_and_batch": 3}[call.func.attr]  # type: ignore[attr-defined]
    if len(call.args) > most or keyword(call, "drop_remainder"):
        return True
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _STATIC)
        or (isinstance(node, ast.Name) and node.id in _STATIC)
        for node in ast.walk(around)
    )  # fmt: skip
