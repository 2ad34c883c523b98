"""Finds datasets that give the same elements each time they are read from the start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.tensorflow_private.datasets import iterator_resource
from estimator_bridge.tensorflow_private.names import dataset_options, eager_mode

__all__ = ["is_repeatable"]

_DRAWS = re.compile(r"\w*(Shuffle|ShuffleAndRepeat|Random|Sampling)Dataset(V\d)?")
# For these, an input, not an attribute, says whether they keep an order.
_MAY_BE_SLOPPY = frozenset({"ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"})
_FAIL = 2  # the value of ExternalStatePolicy.FAIL in the kernel


def is_repeatable(dataset: tf.data.Dataset, iterator: Any, graph: tf.Graph | None) -> bool:
    """Whether an input is a dataset that depends only on itself and is not random.

    Args:
      dataset: the input; one in parts is not a dataset.
      iterator: a new iterator of it. A generator, a queue, a variable or a clock is state outside
        of it.
      graph: the graph in which the dataset was created; None for none. A shuffle counts as random,
        with or without a seed.
    """
    if not isinstance(dataset, tf.data.Dataset):
        return False
    with eager_mode():
        try:
            tf.raw_ops.SerializeIterator(
                resource_handle=iterator_resource(iterator), external_state_policy=_FAIL
            )
            return not any(map(_draws, _nodes(dataset, graph)))
        except tf.errors.OpError:
            return False


def _nodes(dataset: tf.data.Dataset, graph: tf.Graph | None) -> Iterator[Any]:
    if graph is not None:
        snapshot = Snapshot.of(graph)
        nodes, library = snapshot.nodes.values(), snapshot.library
    else:
        graph_def = tf.compat.v1.GraphDef.FromString(
            tf.raw_ops.DatasetToGraphV2(
                input_dataset=tf.data.experimental.to_variant(dataset), external_state_policy=_FAIL
            ).numpy()
        )
        nodes, library = graph_def.node, graph_def.library
    yield from nodes
    for function in library.function:
        yield from function.node_def


def _draws(node: Any) -> bool:
    if "Dataset" not in node.op:
        return False
    if _DRAWS.fullmatch(node.op) or node.op in _MAY_BE_SLOPPY:
        return True
    if node.op == "OptionsDataset":
        options = dataset_options.Options.FromString(node.attr["serialized_options"].s)
        return options.WhichOneof("optional_deterministic") == "deterministic" and (
            not options.deterministic
        )
    return node.attr["deterministic"].s == b"false" or node.attr["sloppy"].b
