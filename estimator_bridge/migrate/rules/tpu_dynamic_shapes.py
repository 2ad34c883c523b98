from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import is_spread, keyword
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import ROOTS, tf_name
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import tpu_functions

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
_SIZE = "Take sizes from x.shape or from params, and write a weight of 0 for what is behind."
# By operation: the position and name of the size argument.
_SIZED = {
    "fill": (0, "dims"),
    "one_hot": (1, "depth"),
    "ones": (0, "shape"),
    "reshape": (1, "shape"),
    "sequence_mask": (1, "maxlen"),
    "tile": (1, "multiples"),
    "zeros": (0, "shape"),
}
_OF_VALUES = ("reduce_max", "reduce_min", "reduce_sum", "math.reduce_max", "math.reduce_sum")
_WHERE = "Write tf.where(condition, x, y), or multiply by tf.cast(condition, x.dtype)."


@rule("EB050", "a result on a TPU whose size depends on data")
def tpu_dynamic_shapes(module: Module) -> Iterator[Finding]:
    """XLA compiles a step for fixed shapes; a result with a data-dependent size has none.

    The rule finds `tf.where` with one argument, `tf.boolean_mask`, `tf.unique`, `tf.sequence_mask`
    without `maxlen`, and sizes that are maxima or sums of values, in a `model_fn` of TPUEstimator
    and in the functions of the module that it uses. They run on a CPU and on emulated cores. A TPU
    pads such a result if it knows a bound, and otherwise refuses it. Code below `if use_tpu:` or
    another test that names the TPU is left alone, and so are input functions, `host_call` and
    metrics, which run on the host. Sizes from `tf.shape(x)` are left alone too: on cores all shapes
    are static, so XLA knows them.

    Left alone by `rewrite`, with a comment:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    def model_fn(features, labels, mode, params):
        # EB050: the result of tf.boolean_mask is as large as the data say, which a TPU pads or
        # refuses. Give each row a weight of 0 or 1, and multiply by it, or compute it in input_fn.
        kept = tf.boolean_mask(features, labels > 0)
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(kept))
    ```
    """
    for call, name in tpu_functions(module).calls_on_cores():
        root, _, below = name.partition(".")
        how = _DYNAMIC.get(below, "")
        if below in ("where", "where_v2") and _has_only_a_condition(call):
            how = _WHERE
        if below in _SIZED and _is_sized_by_values(module, call, below):
            how = _SIZE
        if root in ROOTS and how:
            yield module.finding(
                "EB050", call, Severity.BY_HAND,
                f"the result of {tf_name(name)} is as large as the data say, which a TPU pads or "
                "refuses", how,
            )  # fmt: skip


def _has_only_a_condition(call: ast.Call) -> bool:
    return len(call.args) <= 1 and not is_spread(call) and not keyword(call, "x")


def _is_sized_by_values(module: Module, call: ast.Call, below: str) -> bool:
    """Returns whether a size is a maximum or a sum of values, like sequence_mask's default."""
    place, name = _SIZED[below]
    argument = keyword(call, name)
    size = argument.value if argument else call.args[place] if len(call.args) > place else None
    if is_spread(call):
        return False
    if size is None or (isinstance(size, ast.Constant) and size.value is None):
        return below == "sequence_mask"
    functions = {module.name_of(node.func) for node in ast.walk(size) if isinstance(node, ast.Call)}
    names = {name.partition(".")[2] for name in functions}
    return bool(names & set(_OF_VALUES)) and not names & {"shape", "size"}
