from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.moved_names import find_moved_uses
from estimator_bridge.migrate.registry import rule


@rule("EB011", "a name of tf.estimator", under_run=True)
def estimator_names(module: Module) -> Iterator[Finding]:
    """TensorFlow removed `tf.estimator` in 2.16. `estimator_bridge` has its names.

    In a TensorFlow 1 program, `tf.estimator` means `tf.compat.v1.estimator`: an Estimator with
    `export_savedmodel`, and canned estimators whose loss is a sum over the batch. Those that differ
    from TensorFlow 2's classes are in `eb.v1`.

    Before:

    ```python
    import tensorflow as tf

    tf.flags.DEFINE_string("model_dir", "", "Where checkpoints go.")
    config = tf.estimator.RunConfig(save_checkpoints_steps=100)
    estimator = tf.estimator.DNNClassifier([8], [], config=config)
    ```

    After:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf

    tf.flags.DEFINE_string("model_dir", "", "Where checkpoints go.")
    config = eb.RunConfig(save_checkpoints_steps=100)
    estimator = eb.v1.DNNClassifier([8], [], config=config)
    ```
    """
    return find_moved_uses(module, "EB011", ("tf1.estimator", "tf2.estimator"))
