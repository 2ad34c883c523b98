"""Losses of unrolled sequences, and models that are unrolled to several lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["model_with_buckets", "sequence_loss", "sequence_loss_by_example"]

_v1 = tf.compat.v1


def sequence_loss_by_example(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the weighted cross-entropy of each sequence.

    Args:
      logits: by step, a tensor [batch, symbols].
      targets: by step, the symbols [batch].
      weights: by step, the weights [batch].
      average_across_timesteps: whether to divide by the sum of a sequence's weights.
      softmax_loss_function: a function of labels and logits, in place of the cross-entropy.
      name: the operations' name.

    Returns:
      The losses [batch].

    Raises:
      ValueError: the lists have different lengths.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}. Give one tensor for each step."
        )
    with _v1.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        parts = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                labels = tf.reshape(target, [-1])
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            parts.append(loss * weight)
        losses = tf.add_n(parts)
        if average_across_timesteps:
            losses /= tf.add_n(weights) + 1e-12  # a sequence without weights has the loss 0
    return losses


def sequence_loss(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the weighted cross-entropy of a batch of sequences.

    Args:
      logits: by step, a tensor [batch, symbols].
      targets: by step, the symbols [batch].
      weights: by step, the weights [batch].
      average_across_timesteps: whether to divide by the sum of a sequence's weights.
      average_across_batch: whether to divide the sum by the number of sequences.
      softmax_loss_function: see ``sequence_loss_by_example``.
      name: the operations' name.

    Returns:
      A scalar.

    Raises:
      ValueError: the lists have different lengths.
    """
    with _v1.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        losses = sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps, softmax_loss_function
        )
        total = tf.reduce_sum(losses)
        if not average_across_batch:
            return total
        return total / tf.cast(tf.shape(targets[0])[0], total.dtype)


def model_with_buckets(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    targets: list[Any],
    weights: list[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[..., Any],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[tf.Tensor]]:
    """Makes one model for each pair of lengths, all with the same weights.

    Args:
      encoder_inputs: by step, the encoder's inputs.
      decoder_inputs: by step, the decoder's inputs.
      targets: by step, the symbols [batch].
      weights: by step, their weights [batch].
      buckets: pairs of the encoder's and the decoder's number of steps, in ascending order.
      seq2seq: a function of encoder and decoder inputs that returns outputs and a state.
      softmax_loss_function: see ``sequence_loss_by_example``.
      per_example_loss: whether losses are [batch] instead of scalars.
      name: the operations' name.

    Returns:
      By bucket, the list of outputs; and by bucket, the loss.

    Raises:
      ValueError: a list is shorter than the last bucket.
    """
    sequences = {
        "encoder_inputs": (encoder_inputs, 0),
        "targets": (targets, 1),
        "weights": (weights, 1),
    }
    for what, (steps, side) in sequences.items():
        if len(steps) < buckets[-1][side]:
            raise ValueError(
                f"Length of {what} ({len(steps)}) must be at least that of last bucket "
                f"({buckets[-1][side]})."
            )
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with _v1.name_scope(
        name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]
    ):
        for number, (encoded, decoded) in enumerate(buckets):
            reuse = True if number else None
            with _v1.variable_scope(_v1.get_variable_scope(), reuse=reuse):
                bucket_outputs, _ = seq2seq(encoder_inputs[:encoded], decoder_inputs[:decoded])
                outputs.append(bucket_outputs)
                loss = loss_of(
                    bucket_outputs,
                    targets[:decoded],
                    weights[:decoded],
                    softmax_loss_function=softmax_loss_function,
                )
                losses.append(loss)
    return outputs, losses
