"""Reasons why a program's step is not compiled: program to a part of the message to reason."""

from __future__ import annotations

__all__ = ["EXPLAINED"]

EXPLAINED: dict[str, dict[str, str]] = {
    "accumulation": {
        "XLA compilation requires a fixed tensor list size": (
            "it has the gradient of a loop whose length is a tensor "
            "(`parity/programs/accumulation.py`, line 45). XLA has to know how often such a loop "
            "may run: `maximum_iterations` in `tf.while_loop`."
        ),
        "would drift apart": (
            "it sums gradients by hand before the optimizer sees them "
            "(`parity/programs/accumulation.py`, line 52), so nothing adds up those of the "
            "replicas, and the library refuses it. On one replica, its loop is the reason."
        ),
    },
    "feature_columns": {
        "must have static shape": (
            "its input parses records into batches of unknown size and sparse strings "
            "(`batches` in `parity/programs/feature_columns.py`), and its model looks the strings "
            "up. A TPU has no strings: turn them into ids in the input_fn."
        ),
        "must be dense tensors": (
            "its features are sparse strings (`batches` in `parity/programs/feature_columns.py`), "
            "which its model looks up. A TPU has no strings: turn them into dense ids in the "
            "input_fn."
        ),
    },
    "encoder": {
        "CrossShardOptimizer must be used": (
            "its optimizer is not wrapped (`parity/programs/encoder.py`, `apply_gradients` in "
            "`train`), so several replicas would drift apart. The original refuses it, too. On one "
            "replica it compiles."
        ),
    },
    "embedding_bag": {
        "must be dense tensors": (
            "its features are a SparseTensor (`.map(sparse)` in "
            "`parity/programs/embedding_bag.py`). A TPU takes dense tensors: `tf.sparse.to_dense` "
            "in the input_fn."
        ),
    },
    "partitioned": {
        "ResourceSparseApplyFtrl": (
            "the gradient of a looked-up table is sparse, and TensorFlow has no Ftrl for such "
            "gradients in XLA (`parity/programs/partitioned.py`, `optimizer.minimize`). A "
            "CrossShardOptimizer makes it dense."
        ),
        **dict.fromkeys(
            ("Reading input as constant from a dynamic tensor", "The shape of its result is not"),
            "`tf.nn.embedding_lookup` of a partitioned table divides the ids by part, which gives "
            "shapes that depend on data (`parity/programs/partitioned.py`, line 47). Leave the "
            "partitioner out: a TPU's variables are not spread over parameter servers.",
        ),
    },
    "warm_start": {
        "LookupTableFindV2": (
            "it looks strings up in a table inside the model (`parity/programs/warm_start.py`, "
            "line 50). A TPU has neither: look up in the input_fn."
        ),
    },
}
