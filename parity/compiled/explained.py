"""Why a step of a program is not compiled: program to a part of the message to the reason."""

from __future__ import annotations

__all__ = ["EXPLAINED"]

EXPLAINED: dict[str, dict[str, str]] = {
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
            "`parity/programs/embedding_bag.py`). A TPU takes dense tensors: `tf.sparse.to_dense` in the input_fn."
        ),
    },
    "partitioned": {
        "ResourceSparseApplyFtrl": (
            "the gradient of a looked-up table is sparse, and TensorFlow has no Ftrl for such "
            "gradients in XLA (`parity/programs/partitioned.py`, `optimizer.minimize`). A "
            "CrossShardOptimizer makes it dense."
        ),
        "Reading input as constant from a dynamic tensor": (
            "`tf.nn.embedding_lookup` of a partitioned table divides the ids by part, which gives "
            "shapes that depend on data (`parity/programs/partitioned.py`, line 47). Leave the "
            "partitioner out: a TPU's variables are not spread over parameter servers."
        ),
    },
    "warm_start": {
        "LookupTableFindV2": (
            "it looks strings up in a table inside the model (`parity/programs/warm_start.py`, "
            "line 50). A TPU has neither: look up in the input_fn."
        ),
    },
}
