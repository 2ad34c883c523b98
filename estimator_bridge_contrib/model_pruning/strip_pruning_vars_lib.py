"""Removes masks from a graph of constants: masked weights become constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.any_checkpoints import newest_listed

__all__ = ["graph_def_from_checkpoint", "strip_pruning_vars_fn"]

_v1 = tf.compat.v1


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """Replaces masked weights by constants, and removes what is then not needed.

    Args:
      input_graph_def: a GraphDef whose variables are constants, as `graph_def_from_checkpoint`
        returns it.
      output_node_names: the names of the operations to keep, or of their tensors.

    Returns:
      The new GraphDef.
    """
    values = _masked_weights(input_graph_def)
    graph_def = _v1.GraphDef()
    for node in input_graph_def.node:
        if node.name not in values:
            graph_def.node.add().CopyFrom(node)
            continue
        value = tf.make_tensor_proto(values[node.name])
        constant = graph_def.node.add(name=node.name, op="Const")
        constant.attr["dtype"].type = value.dtype
        constant.attr["value"].tensor.CopyFrom(value)
    graph_def.library.CopyFrom(input_graph_def.library)
    return _v1.graph_util.extract_sub_graph(graph_def, list(map(_node_name, output_node_names)))


def _node_name(name: str) -> str:
    """Returns the operation's name of a tensor's name."""
    return name.partition(":")[0]


def _masked_weights(graph_def: Any) -> dict[str, np.ndarray]:
    """Returns the masked weights of a graph of constants, by the operations' names."""
    names = [node.name for node in graph_def.node if "masked_weight" in node.name]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with _v1.Session(graph=graph) as session:
            values = session.run([f"{name}:0" for name in names])
    for name, value in zip(names, values):
        zeros = 100 * (1 - np.count_nonzero(value) / max(value.size, 1))
        logging.info("%s has %d values, %1.2f%% zeros \n", name, value.size, zeros)
    return dict(zip(names, values))


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """Reads the latest checkpoint's graph, with its variables as constants.

    Args:
      checkpoint_dir: the folder with checkpoints and their ``.meta`` files.
      output_node_names: the names of the operations to keep, or of their tensors.

    Returns:
      A GraphDef.

    Raises:
      ValueError: there is no checkpoint.
    """
    path = newest_listed(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    with tf.Graph().as_default() as graph:
        saver = _v1.train.import_meta_graph(f"{path}.meta", clear_devices=True)
        with _v1.Session(graph=graph) as session:
            saver.restore(session, path)
            return _v1.graph_util.convert_variables_to_constants(
                session, graph.as_graph_def(), list(map(_node_name, output_node_names))
            )
