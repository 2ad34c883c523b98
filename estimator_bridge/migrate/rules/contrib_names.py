from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.moved_names import find_moved_uses
from estimator_bridge.migrate.registry import rule


@rule("EB012", "a name of tf.contrib with a replacement", under_run=True)
def contrib_names(module: Module) -> Iterator[Finding]:
    """TensorFlow 2 has no `tf.contrib`. The names that programs used have replacements.

    A name for an object that TensorFlow's or this library's public API also has becomes the public
    name. All others are in `estimator_bridge.legacy.contrib`, with contrib's arguments, variable
    names and numbers.

    Before:

    ```python
    import tensorflow as tf

    def model_fn(features, labels, mode, params):
        net = tf.contrib.layers.fully_connected(features, 8)
        cell = tf.contrib.rnn.GRUCell(8)
        return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions=net)
    ```

    After:

    ```python
    import estimator_bridge as eb
    from estimator_bridge.legacy import contrib
    import tensorflow.compat.v1 as tf

    def model_fn(features, labels, mode, params):
        net = contrib.layers.fully_connected(features, 8)
        cell = tf.nn.rnn_cell.GRUCell(8)
        return eb.tpu.TPUEstimatorSpec(mode, predictions=net)
    ```
    """
    return find_moved_uses(module, "EB012", ("tf1.contrib",))
