from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import ROOTS, tf_name
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import tpu_functions

_KINDS = ("audio", "histogram", "image", "scalar", "tensor_summary", "text")


@rule("EB052", "a summary in a TPU's model_fn")
def tpu_summaries(module: Module) -> Iterator[Finding]:
    """The original could not write `tf.summary` in a TPU's `model_fn`; this library writes it.

    You need not change anything. The values are those of the first replica; a summary over all
    replicas still goes through `host_call`. Summaries in a `host_call` are not reported.

    Left alone:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    def model_fn(features, labels, mode, params):
        loss = tf.reduce_mean(features)
        tf.summary.scalar("loss", loss)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss)
    ```
    """
    for call, name in tpu_functions(module).calls_on_cores():
        root, _, below = name.partition(".")
        space, _, kind = below.partition(".")
        if root in ROOTS and space == "summary" and kind in _KINDS:
            yield module.finding(
                "EB052", call, Severity.WORKS,
                f"{tf_name(name)} in a TPU's model_fn is written with the first replica's values",
            )  # fmt: skip
