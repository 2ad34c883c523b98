"""Folds batch norms into the weights and biases of the layers before them."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge_contrib.quantize.fused_batch_norms import fold_fused
from estimator_bridge_contrib.quantize.unfused_batch_norms import fold_unfused

__all__ = ["FoldBatchNorms"]


def FoldBatchNorms(
    graph: tf.Graph, is_training: bool, freeze_batch_norm_delay: int | None = None
) -> None:
    """Replaces each convolution or product and its batch norm by a layer with folded weights.

    The weights are multiplied by ``gamma / sigma``, and what is left of the batch norm is a bias.
    In training, the batch's statistics come from the old layer, which is computed too.

    Args:
      graph: the graph, which is changed.
      is_training: whether it trains. For the batch norms that TensorFlow's fused operation
        computes, that operation tells it.
      freeze_batch_norm_delay: the number of training steps after which moving averages are used
        instead of the batch's statistics, and are not updated any more; None for never.

    Raises:
      ValueError: a layer cannot be folded: its channels are not last, or nothing takes its outputs.
      TypeError: a batch norm in training has no moving averages.
      KeyError: an unfused batch norm is not as tf.contrib.layers makes it, or its layer is followed
        neither by Relu6, Relu or Identity in the layer's scope nor by an addition "AddV2".
    """
    fold_fused(graph, freeze_batch_norm_delay)
    fold_unfused(graph, is_training, freeze_batch_norm_delay)
