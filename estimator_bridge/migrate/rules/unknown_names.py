from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import tf_name
from estimator_bridge.migrate.names import Fate
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.rules.removed_names import instead


@rule("EB017", "a name that is not in TensorFlow's public API")
def unknown_names(module: Module) -> Iterator[Finding]:
    """A name below `tf` that is not in the public API: private, misspelled, or long removed.

    It may be an attribute that another module sets. If it was private, look for a public name for
    the same function.

    Left alone by `rewrite`, with a comment:

    ```python
    import tensorflow.compat.v1 as tf

    # EB017: tf.mul is not in TensorFlow's public API. TensorFlow 1.0 renamed it: write tf.multiply.
    y = tf.mul(2.0, 3.0)
    ```
    """
    for use, entry in module.uses:
        if (
            entry.fate is not Fate.UNKNOWN
            or use.is_store
            or not entry.name.startswith(("tf1", "tf2"))
        ):
            continue
        if use.target == "tensorflow.compat.v2.enable_v2_behavior":
            continue  # TensorFlow 2 itself has it only in compat
        name = tf_name(entry.name)
        if use.target.startswith("tensorflow.compat.v2."):
            name = name.replace("tf.", "tf.compat.v2.", 1)
        yield module.finding(
            "EB017",
            use.nodes[0],
            Severity.BY_HAND,
            f"{name} is not in TensorFlow's public API",
            instead(entry.how) or _before_tf1(entry.name) or "Look for what took its place.",
        )


# TensorFlow 1.0 renamed these: the old names below tf, each with the new one.
_RENAMED = {
    "audio_summary": "summary.audio",
    "batch_matmul": "matmul",
    "complex_abs": "abs",
    "concat_v2": "concat",
    "histogram_summary": "summary.histogram",
    "image_summary": "summary.image",
    "inv": "reciprocal",
    "listdiff": "setdiff1d",
    "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge",
    "mul": "multiply",
    "neg": "negative",
    "pack": "stack",
    "scalar_summary": "summary.scalar",
    "select": "where",
    "sub": "subtract",
    "train.SummaryWriter": "summary.FileWriter",
    "unpack": "unstack",
}


def _before_tf1(name: str) -> str:
    """Returns the advice on a name that TensorFlow 1.0 renamed, or ""."""
    new = _RENAMED.get(name.partition(".")[2])
    return f"TensorFlow 1.0 renamed it: write tf.{new}." if new else ""
