from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.moved_names import find_moved_uses
from estimator_bridge.migrate.registry import rule


@rule("EB013", "a name of TensorFlow that this library replaces", under_run=True)
def tensorflow_names(module: Module) -> Iterator[Finding]:
    """Some names work on a real TPU only, behave differently, or have left `tf.keras`.

    `tf.tpu.rewrite`, `replicate`, `shard` and `batch_parallel` need a TPU; those of `eb.tpu` run on
    emulated cores too. `tf.distribute.cluster_resolver.TPUClusterResolver` raises for an empty
    name, which programs use when there is no TPU, and does not support emulated cores. Four names
    of `tf.keras.experimental`, such as `export_saved_model`, are in this library or elsewhere in
    Keras.

    Before:

    ```python
    import tensorflow.compat.v1 as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
    ```

    After:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    resolver = eb.tpu.TPUClusterResolver("")
    ```
    """
    return find_moved_uses(module, "EB013", ("tf1", "tf2"), but=("contrib", "estimator"))
