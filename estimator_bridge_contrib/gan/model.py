"""The two nets of a GAN, as the other functions of tf.contrib.gan use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["GANLoss", "GANModel", "gan_model"]

_v1 = tf.compat.v1


class GANModel(NamedTuple):
    """Two nets, and their outputs for one batch.

    Attributes:
      generator_inputs: the generator's inputs.
      generated_data: the generator's outputs.
      generator_variables: the generator's trainable variables.
      generator_scope: the generator's variable scope.
      generator_fn: the function that built the generator.
      real_data: the real data.
      discriminator_real_outputs: the discriminator's outputs for the real data.
      discriminator_gen_outputs: the discriminator's outputs for the generated data.
      discriminator_variables: the discriminator's trainable variables.
      discriminator_scope: the discriminator's variable scope.
      discriminator_fn: the function that built the discriminator.
    """

    generator_inputs: Any
    generated_data: Any
    generator_variables: list
    generator_scope: Any
    generator_fn: Callable
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: list
    discriminator_scope: Any
    discriminator_fn: Callable


class GANLoss(NamedTuple):
    """A scalar for each net to minimize."""

    generator_loss: tf.Tensor
    discriminator_loss: tf.Tensor


def gan_model(
    generator_fn: Callable,
    discriminator_fn: Callable,
    real_data: Any,
    generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """Builds a generator, and a discriminator twice: for generated and for real data.

    Args:
      generator_fn: a function of `generator_inputs` that returns data.
      discriminator_fn: a function of (data, generator_inputs) that returns scores.
      real_data: a tensor, or a structure of tensors.
      generator_inputs: a tensor, or a structure of tensors.
      generator_scope: the generator's variable scope, or its name.
      discriminator_scope: the discriminator's variable scope, or its name.
      check_shapes: whether generated data must have the shape of real data.

    Raises:
      ValueError: the shapes differ.
    """
    with _v1.variable_scope(generator_scope) as generator:
        generator_inputs = tf.nest.map_structure(tf.convert_to_tensor, generator_inputs)
        generated = generator_fn(generator_inputs)
    with _v1.variable_scope(discriminator_scope) as discriminator:
        of_generated = discriminator_fn(generated, generator_inputs)
    with _v1.variable_scope(discriminator, reuse=True):
        real_data = tf.nest.map_structure(tf.convert_to_tensor, real_data)
        of_real = discriminator_fn(real_data, generator_inputs)
    if check_shapes and not generated.shape.is_compatible_with(real_data.shape):
        raise ValueError(
            f"Generator output shape ({generated.shape}) must be the same shape as real data "
            f"({real_data.shape}). Change generator_fn, or pass check_shapes=False."
        )
    return GANModel(
        generator_inputs,
        generated,
        _trainable(generator),
        generator,
        generator_fn,
        real_data,
        of_real,
        of_generated,
        _trainable(discriminator),
        discriminator,
        discriminator_fn,
    )


def _trainable(scope: Any) -> list:
    return _v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, f"{scope.name}/")
