"""Loss functions of GANs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.gan.model import GANLoss, GANModel

__all__ = [
    "gan_loss",
    "least_squares_discriminator_loss",
    "least_squares_generator_loss",
    "minimax_discriminator_loss",
    "minimax_generator_loss",
    "modified_discriminator_loss",
    "modified_generator_loss",
    "wasserstein_discriminator_loss",
    "wasserstein_generator_loss",
    "wasserstein_gradient_penalty",
]

_v1 = tf.compat.v1


def _mean(values: Any, weights: Any = 1.0) -> tf.Tensor:
    return _v1.losses.compute_weighted_loss(values, weights, loss_collection=None)


def wasserstein_generator_loss(model: GANModel, weights: Any = 1.0, **_: Any) -> tf.Tensor:
    """Returns the negative mean score of generated data (arXiv 1701.07875)."""
    return _mean(-model.discriminator_gen_outputs, weights)


def wasserstein_discriminator_loss(
    model: GANModel, real_weights: Any = 1.0, generated_weights: Any = 1.0, **_: Any
) -> tf.Tensor:
    """Returns the mean score of generated data minus that of real data (arXiv 1701.07875)."""
    of_generated = _mean(model.discriminator_gen_outputs, generated_weights)
    return of_generated - _mean(model.discriminator_real_outputs, real_weights)


def _entropy(logits: Any, label: float, weights: Any, smoothing: float = 0.0) -> tf.Tensor:
    return _v1.losses.sigmoid_cross_entropy(
        label * tf.ones_like(logits), logits, weights, smoothing, loss_collection=None
    )


def minimax_discriminator_loss(
    model: GANModel,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    **_: Any,
) -> tf.Tensor:
    """Returns the cross entropy of "real" for real data and "generated" for generated data."""
    of_real = _entropy(model.discriminator_real_outputs, 1.0, real_weights, label_smoothing)
    return of_real + _entropy(model.discriminator_gen_outputs, 0.0, generated_weights)


def minimax_generator_loss(
    model: GANModel, label_smoothing: float = 0.0, weights: Any = 1.0, **_: Any
) -> tf.Tensor:
    """Returns the negative of the discriminator's minimax loss (arXiv 1406.2661)."""
    ones = tf.ones_like(model.discriminator_gen_outputs)
    return -minimax_discriminator_loss(
        model._replace(discriminator_real_outputs=ones), label_smoothing, weights, weights
    )


modified_discriminator_loss = minimax_discriminator_loss


def modified_generator_loss(
    model: GANModel, label_smoothing: float = 0.0, weights: Any = 1.0, **_: Any
) -> tf.Tensor:
    """Returns the cross entropy of "real" for generated data (arXiv 1406.2661, section 3)."""
    return _entropy(model.discriminator_gen_outputs, 1.0, weights, label_smoothing)


def least_squares_generator_loss(
    model: GANModel, real_label: float = 1, weights: Any = 1.0, **_: Any
) -> tf.Tensor:
    """Returns half the squared distance of generated scores from a label (arXiv 1611.04076)."""
    return _mean(tf.square(model.discriminator_gen_outputs - real_label) / 2, weights)


def least_squares_discriminator_loss(
    model: GANModel,
    real_label: float = 1,
    fake_label: float = 0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    **_: Any,
) -> tf.Tensor:
    """Returns half the squared distances of the scores from a label each (arXiv 1611.04076)."""
    of_real = _mean(tf.square(model.discriminator_real_outputs - real_label) / 2, real_weights)
    generated = tf.square(model.discriminator_gen_outputs - fake_label) / 2
    return of_real + _mean(generated, generated_weights)


def wasserstein_gradient_penalty(
    model: GANModel, epsilon: float = 1e-10, target: float = 1.0, one_sided: bool = False, **_: Any
) -> tf.Tensor:
    """Returns the penalty on score slopes other than `target` between real and generated data.

    Formula 3 of arXiv 1704.00028, without its weight.
    """
    real, generated = model.real_data, model.generated_data
    batch = tf.shape(real)[:1]
    ones = tf.ones([real.shape.rank - 1], tf.int32)
    share = tf.random.uniform(tf.concat([batch, ones], axis=0))
    between = real + share * (generated - real)
    with _v1.variable_scope(model.discriminator_scope, reuse=True):
        scores = model.discriminator_fn(between, model.generator_inputs)
    (gradient,) = tf.gradients(scores, between)
    axes = list(range(1, real.shape.rank))
    slopes = tf.sqrt(tf.reduce_sum(tf.square(gradient), axis=axes) + epsilon)
    excess = slopes / target - 1.0
    return tf.reduce_mean(tf.square(tf.maximum(excess, 0.0) if one_sided else excess))


def gan_loss(
    model: GANModel,
    generator_loss_fn: Callable = wasserstein_generator_loss,
    discriminator_loss_fn: Callable = wasserstein_discriminator_loss,
    gradient_penalty_weight: float | None = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: float = 1.0,
    gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: float | None = None,
    aux_cond_generator_weight: float | None = None,
    aux_cond_discriminator_weight: float | None = None,
    tensor_pool_fn: Callable | None = None,
    add_summaries: bool = True,
) -> GANLoss:
    """Computes the losses of both nets, including their regularization.

    Args:
      model: the result of `gan_model`.
      generator_loss_fn: a function of (model, add_summaries=) that returns the generator's loss.
      discriminator_loss_fn: a function of the same that returns the discriminator's loss.
      gradient_penalty_weight: weight of `wasserstein_gradient_penalty` in the discriminator's loss.
      gradient_penalty_epsilon: see `wasserstein_gradient_penalty`.
      gradient_penalty_target: see `wasserstein_gradient_penalty`.
      gradient_penalty_one_sided: see `wasserstein_gradient_penalty`.
      mutual_information_penalty_weight: InfoGAN's weight; only None is supported.
      aux_cond_generator_weight: ACGAN's weight; only None is supported.
      aux_cond_discriminator_weight: ACGAN's weight; only None is supported.
      tensor_pool_fn: a pool of earlier generated data; only None is supported.
      add_summaries: whether to add summaries of both losses.

    Raises:
      ValueError: an unsupported argument is given.
    """
    refused = {
        "mutual_information_penalty_weight": mutual_information_penalty_weight,
        "aux_cond_generator_weight": aux_cond_generator_weight,
        "aux_cond_discriminator_weight": aux_cond_discriminator_weight,
        "tensor_pool_fn": tensor_pool_fn,
    }
    for name, argument in refused.items():
        if argument is not None:
            raise ValueError(
                f"gan_loss({name}={argument!r}) is not supported. Leave it out, or use the package "
                "tensorflow-gan (tfgan)."
            )
    of_generator = generator_loss_fn(model, add_summaries=add_summaries)
    of_discriminator = discriminator_loss_fn(model, add_summaries=add_summaries)
    if gradient_penalty_weight is not None:
        penalty = wasserstein_gradient_penalty(
            model, gradient_penalty_epsilon, gradient_penalty_target, gradient_penalty_one_sided
        )
        of_discriminator += gradient_penalty_weight * penalty
    if add_summaries:
        _v1.summary.scalar("generator_loss", of_generator)
        _v1.summary.scalar("discriminator_loss", of_discriminator)
    regularization = _v1.losses.get_regularization_loss
    return GANLoss(
        of_generator + regularization(f"{model.generator_scope.name}/"),
        of_discriminator + regularization(f"{model.discriminator_scope.name}/"),
    )
