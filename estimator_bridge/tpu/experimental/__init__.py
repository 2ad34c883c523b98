"""tf.estimator.tpu.experimental."""

from estimator_bridge.tpu.embedding_spec import EmbeddingConfigSpec

__all__ = ["EmbeddingConfigSpec"]


def __dir__() -> list[str]:
    return sorted(__all__)
