"""Writes the graph of a checkpoint without its masks."""

from __future__ import annotations

import os

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.model_pruning.strip_pruning_vars_lib import (
    graph_def_from_checkpoint,
    strip_pruning_vars_fn,
)

__all__ = ["strip_pruning_vars"]


def strip_pruning_vars(
    checkpoint_dir: str, output_node_names: str, output_dir: str, filename: str
) -> None:
    """Writes the latest checkpoint's graph as a binary GraphDef of constants, without masks.

    Args:
      checkpoint_dir: the folder with checkpoints.
      output_node_names: the names of the operations to keep, with commas between them.
      output_dir: the folder to write to.
      filename: the file's name.

    Raises:
      ValueError: there are no names, or there is no checkpoint.
    """
    if not output_node_names:
        raise ValueError(
            "Need to specify at least 1 output node through output_node_names, such as 'softmax'."
        )
    names = output_node_names.replace(" ", "").split(",")
    graph_def = graph_def_from_checkpoint(checkpoint_dir, names)
    tf.io.write_graph(strip_pruning_vars_fn(graph_def, names), output_dir, filename, as_text=False)
    logging.info("\nFinal graph written to %s", os.path.join(output_dir, filename))
