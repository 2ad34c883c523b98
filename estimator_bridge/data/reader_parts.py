"""The part of the data that one call of an input_fn reads, where several hosts or workers read."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["reader_part"]


def reader_part(params: Any, input_context: tf.distribute.InputContext | None) -> tuple[int, int]:
    """Returns the number of the part that a call of an input_fn reads, and the number of parts.

    Args:
      params: the params of the input_fn. ``params["context"]`` counts a TPU's hosts, or its
        replicas with PER_SHARD_V1.
      input_context: counts workers that train together; None if there are none.
    """
    tpu = params["context"] if params and "context" in params else None
    if tpu is not None:
        _, index, total, _ = tpu.current_input_fn_deployment()
        return index, total
    if input_context is not None:
        return input_context.input_pipeline_id, input_context.num_input_pipelines
    return 0, 1
