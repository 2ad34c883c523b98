"""What to write in an input_fn whose batches come late, and in which line."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.graph.batched_maps import maps_of_single_examples
from estimator_bridge.graph.user_line import line_of_node

__all__ = ["advice_on_input"]

_BATCHES = ("BatchDataset", "BatchDatasetV2", "ParallelBatchDataset", "PaddedBatchDatasetV2")
_FUSED = ("MapAndBatchDataset",)
_MAPS = ("MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2")
# Between a map and a batch these hand elements on as they are.
_HANDING_ON = (
    *("CacheDataset", "CacheDatasetV2", "OptionsDataset", "PrefetchDataset", "RepeatDataset"),
    *("ShardDataset", "ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3", "TakeDataset"),
    *("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2", "SkipDataset"),
)


def advice_on_input(graph: tf.Graph) -> str:
    """Returns the advice for an input that steps wait for.

    Args:
      graph: the graph of the input_fn. A function that maps single examples, which is the most
        frequent cause, is named with the user's line.
    """
    advice = (
        "Let the input run ahead: end the dataset with .prefetch(tf.data.AUTOTUNE), give "
        "num_parallel_calls=tf.data.AUTOTUNE to map() and interleave(), batch before a cheap "
        "map(), and .cache() what is the same in each epoch."
    )
    in_batches = maps_of_single_examples(Snapshot.of(graph), graph)
    lines = dict.fromkeys(
        line
        for operation in graph.get_operations()
        if (mapping := _map_of_single_examples(operation)) is not None
        and mapping.name not in in_batches
        and (line := line_of_node(graph, mapping.name))
    )
    if not lines:
        return advice
    return (
        f"A function is called for each single example at {', and at '.join(lines)}. If it can "
        f"take a batch, write .batch() before it. {advice}"
    )


def _map_of_single_examples(operation: tf.Operation) -> tf.Operation | None:
    """Returns the map whose results an operation joins to batches; None if there is none."""
    if operation.type in _FUSED:
        return operation
    if operation.type not in _BATCHES:
        return None
    source = operation.inputs[0].op
    while source.type in _HANDING_ON:
        source = source.inputs[0].op
    return source if source.type in _MAPS else None
