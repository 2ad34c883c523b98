from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import tf_name
from estimator_bridge.migrate.names import Fate
from estimator_bridge.migrate.registry import rule


@rule("EB014", "a name that no longer exists", under_run=True)
def removed_names(module: Module) -> Iterator[Finding]:
    """Some names of TensorFlow 1 and of `tf.contrib` are neither in TensorFlow nor here.

    The message says what to use instead. `rewrite` keeps the name, so that the program stops where
    it needs it, and writes the message above as a comment.

    Before:

    ```python
    import tensorflow as tf

    def run(experiment_fn, hparams):
        tf.contrib.learn.run_experiment(experiment_fn, hparams=hparams)
    ```

    After:

    ```python
    import tensorflow.compat.v1 as tf

    def run(experiment_fn, hparams):
        # EB014: tf.contrib.learn.run_experiment no longer exists. Use
        # tf.estimator.train_and_evaluate with TrainSpec and EvalSpec.
        tf.contrib.learn.run_experiment(experiment_fn, hparams=hparams)
    ```
    """
    for use, entry in module.uses:
        if entry.fate is not Fate.MISSING or use.is_store:
            continue
        if len(use.nodes) == 1 and use.import_ is not None:
            continue  # reported at the import
        yield module.finding(
            "EB014",
            use.nodes[0],
            Severity.UNAVAILABLE,
            f"{tf_name(entry.name)} no longer exists",
            instead(entry.how),
        )


def instead(advice: str) -> str:
    """Returns the advice in a sentence that continues a name: "is not there. Use tf.nest."."""
    rest = advice
    for start in ("is not supported. ", "is not there. "):
        rest = rest[len(start) :] if rest.startswith(start) else rest
    return rest if rest.startswith("tf.") else rest[:1].upper() + rest[1:]
