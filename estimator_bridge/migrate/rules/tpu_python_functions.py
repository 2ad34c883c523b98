from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import ROOTS, tf_name
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import tpu_functions

_ON_HOST = {
    "numpy_function",
    "py_func",
    "py_function",
    "Print",
    "print",
    "read_file",
    "io.read_file",
}


@rule("EB051", "a Python function or file access in a step on a TPU")
def tpu_python_functions(module: Module) -> Iterator[Finding]:
    """A TPU's cores cannot call Python, print, or read files.

    Compute what the model needs in `input_fn`, and send what the host needs through `host_call`. On
    a CPU and on emulated cores such operations run.

    Left alone by `rewrite`, with a comment:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    def model_fn(features, labels, mode, params):
        # EB051: tf.py_func cannot run on a TPU. Compute it in input_fn, or on the host in
        # host_call.
        y = tf.py_func(lambda x: x + 1, [features], tf.float32)
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(y))
    ```
    """
    for call, name in tpu_functions(module).calls_on_cores():
        root, _, below = name.partition(".")
        if root in ROOTS and below in _ON_HOST:
            yield module.finding(
                "EB051", call, Severity.BY_HAND, f"{tf_name(name)} cannot run on a TPU",
                "Compute it in input_fn, or on the host in host_call.",
            )  # fmt: skip
