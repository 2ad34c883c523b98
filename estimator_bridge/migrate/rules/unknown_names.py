from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import shown
from estimator_bridge.migrate.names import Fate
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.rules.missing_names import instead


@rule("EB017", "a name that is not in TensorFlow's public API")
def unknown_names(module: Module) -> Iterator[Finding]:
    """A name below `tf` that is not in the public API: private, misspelled, or long removed.

    It may be an attribute that another module sets. If it was private, look for a public name for
    the same function.

    Left alone by `rewrite`, with a comment:

    ```python
    import tensorflow.compat.v1 as tf

    # EB017: tf.mul is not in TensorFlow's public API. Look for what took its place.
    y = tf.mul(2.0, 3.0)
    ```
    """
    for use, known in module.uses:
        if (
            known.fate is not Fate.UNKNOWN
            or use.stored
            or not known.name.startswith(("tf1", "tf2"))
        ):
            continue
        if use.target == "tensorflow.compat.v2.enable_v2_behavior":
            continue  # TensorFlow 2 itself has it only in compat
        yield module.finding(
            "EB017",
            use.nodes[0],
            Severity.BY_HAND,
            f"{shown(known.name)} is not in TensorFlow's public API",
            instead(known.how) or "Look for what took its place.",
        )
