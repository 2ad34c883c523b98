from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.batch_calls import batch_calls, batch_size
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import tpu_functions


@rule("EB053", "a constant batch size in a TPU's input")
def tpu_batch_numbers(module: Module) -> Iterator[Finding]:
    """TPUEstimator passes the required batch size in `params["batch_size"]`.

    It depends on the mode, the number of hosts and the division of the input, so an `input_fn` with
    a constant batch size yields batches that cores cannot share. An `input_fn` that looks the size
    up anywhere is left alone, and so is `batch(1)`.

    Left alone by `rewrite`, with a comment:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    def input_fn(params):
        data = tf.data.Dataset.range(64).repeat()
        # EB053: batch(32) is not the size that TPUEstimator asks for. Write
        # batch(params["batch_size"], drop_remainder=True).
        return data.batch(32, drop_remainder=True)

    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=64)
    estimator.train(input_fn)
    ```
    """
    functions = tpu_functions(module)
    if not functions.is_used:
        return
    sized = [f for f in functions.inputs if functions.asks_for_batch_size(f)]
    for call, method, around in batch_calls(module, functions.inputs):
        size = batch_size(call)
        if around in sized or not isinstance(size, ast.Constant):
            continue
        if isinstance(size.value, int) and size.value > 1:
            yield module.finding(
                "EB053", call, Severity.BY_HAND,
                f"{method.attr}({size.value}) is not the size that TPUEstimator asks for",
                f'Write {method.attr}(params["batch_size"], drop_remainder=True).',
            )  # fmt: skip
