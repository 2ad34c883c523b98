from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import is_spread, keyword
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.places import ROOTS, shown
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import tpu_functions
from estimator_bridge.migrate.values import Finding, Severity

_ROWS = "Give each row a weight of 0 or 1, and multiply by it, or compute it in input_fn."
_DYNAMIC = {
    "boolean_mask": _ROWS,
    "dynamic_partition": _ROWS,
    "setdiff1d": "Compute it in input_fn.",
    "unique": "Compute it in input_fn.",
    "unique_with_counts": "Compute it in input_fn.",
    "sparse.retain": _ROWS,
    "sparse_retain": _ROWS,
}
_WHERE = "Write tf.where(condition, x, y), or multiply by tf.cast(condition, x.dtype)."


@rule("EB050", "a result on a TPU whose size depends on data")
def tpu_dynamic_shapes(module: Module) -> Iterator[Finding]:
    """XLA compiles a step for fixed shapes, so no operation's result can be as large as data say.

    Found are `tf.where` with one argument, `tf.boolean_mask`, `tf.unique` and their like in a
    `model_fn` of TPUEstimator, and in the functions of the module that it uses. They run on a CPU
    and on emulated cores, and stop on a TPU. Code below `if use_tpu:` or another test that names
    the TPU is left alone; so are input functions, `host_call` and metrics, which run on the host.

    Left alone by `rewrite`, with a comment:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    def model_fn(features, labels, mode, params):
        # EB050: the result of tf.boolean_mask is as large as the data say, which no TPU can
        # compile. Give each row a weight of 0 or 1, and multiply by it, or compute it in input_fn.
        kept = tf.boolean_mask(features, labels > 0)
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(kept))
    ```
    """
    for call, name in tpu_functions(module).calls_on_cores():
        root, _, below = name.partition(".")
        how = _DYNAMIC.get(below, "")
        if below in ("where", "where_v2") and _has_only_a_condition(call):
            how = _WHERE
        if root in ROOTS and how:
            yield module.finding(
                "EB050", call, Severity.BY_HAND,
                f"the result of {shown(name)} is as large as the data say, which no TPU can "
                "compile", how,
            )  # fmt: skip


def _has_only_a_condition(call: ast.Call) -> bool:
    return len(call.args) <= 1 and not is_spread(call) and not keyword(call, "x")
