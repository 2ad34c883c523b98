"""The rewrites for quantization-aware training and for the evaluation of what it trained."""

from __future__ import annotations

import re

import tensorflow as tf

from estimator_bridge_contrib.quantize.fold_batch_norms import FoldBatchNorms
from estimator_bridge_contrib.quantize.quantize import Quantize

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]

_UPDATES = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")


def create_training_graph(input_graph: tf.Graph | None = None, quant_delay: int = 0) -> None:
    """Makes a graph compute as if it were quantized to 8 bits, and learn the ranges.

    Call it before the optimizer's ``minimize``. Batch norms are folded, and weights and activations
    are rounded (Jacob et al. 2017, https://arxiv.org/abs/1712.05877). The new variables are in
    GLOBAL_VARIABLES.

    Args:
      input_graph: the graph, which is changed; None for the default graph.
      quant_delay: the number of steps after which values are quantized. 0 suits a model that is
        trained already; a new model should converge first.

    Raises:
      ValueError: an optimizer has updated a variable already, or a layer cannot be folded.
    """
    _rewrite(input_graph, True, quant_delay=quant_delay)


def create_eval_graph(input_graph: tf.Graph | None = None) -> None:
    """Makes a graph compute as if it were quantized to 8 bits, in the ranges of a checkpoint.

    Args:
      input_graph: the graph, which is changed; None for the default graph.

    Raises:
      ValueError: an optimizer updates a variable, or a layer cannot be folded.
    """
    _rewrite(input_graph, False)


def experimental_create_training_graph(
    input_graph: tf.Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Does what ``create_training_graph`` does, with more options.

    Args:
      input_graph: the graph, which is changed; None for the default graph.
      weight_bits: the number of bits of weights, 2 to 8.
      activation_bits: the number of bits of activations, 2 to 8.
      symmetric: whether the ranges of weights and of layers' outputs are symmetric about zero.
      quant_delay: the number of steps after which values are quantized.
      freeze_bn_delay: the number of steps after which batch norms use their moving averages and do
        not update them any more; None for never. It should be more than ``quant_delay``.
      scope: the name scope of the operations that are quantized; None for all.

    Raises:
      ValueError: an optimizer has updated a variable already, or a layer cannot be folded.
    """
    _rewrite(
        input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay,
        scope,
    )  # fmt: skip


def experimental_create_eval_graph(
    input_graph: tf.Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Does what ``create_eval_graph`` does, with more options.

    Args:
      input_graph: the graph, which is changed; None for the default graph.
      weight_bits: the number of bits of weights, 2 to 8.
      activation_bits: the number of bits of activations, 2 to 8.
      symmetric: has no effect on an evaluation, whose ranges are those of the checkpoint.
      quant_delay: the number of steps after which values are quantized; None for at once.
      scope: the name scope of the operations that are quantized; None for all.

    Raises:
      ValueError: an optimizer updates a variable, or a layer cannot be folded.
    """
    _rewrite(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, scope=scope)


def _rewrite(
    graph: tf.Graph | None,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    graph = tf.compat.v1.get_default_graph() if graph is None else graph
    updates = {op.type for op in graph.get_operations() if _UPDATES.match(op.type)}
    if updates:
        raise ValueError(
            f"Training op found in graph, exiting {updates}. Gradients have to be those of the "
            "quantized model: call this before the optimizer's minimize or apply_gradients."
        )
    with graph.as_default():
        FoldBatchNorms(graph, is_training, freeze_bn_delay)
        Quantize(
            graph,
            is_training,
            weight_bits,
            activation_bits,
            symmetric,
            quant_delay=quant_delay,
            scope=scope,
        )
