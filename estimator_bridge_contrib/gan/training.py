"""A training op for each net of a GAN."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.gan.model import GANLoss, GANModel
from estimator_bridge_contrib.training import create_train_op

__all__ = ["GANTrainOps", "gan_train_ops"]

_v1 = tf.compat.v1


class GANTrainOps(NamedTuple):
    """The operations that train a GAN.

    Attributes:
      generator_train_op: a step of the generator; its value is the loss.
      discriminator_train_op: a step of the discriminator.
      global_step_inc_op: increments the global step, which the other two do not.
      train_hooks: always empty.
    """

    generator_train_op: tf.Tensor
    discriminator_train_op: tf.Tensor
    global_step_inc_op: tf.Tensor
    train_hooks: tuple = ()


def gan_train_ops(
    model: GANModel,
    loss: GANLoss,
    generator_optimizer: Any,
    discriminator_optimizer: Any,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """Makes a training op for each net, which changes only that net's variables.

    Args:
      model: the result of `gan_model`.
      loss: the result of `gan_loss`.
      generator_optimizer: a v1 optimizer.
      discriminator_optimizer: a v1 optimizer.
      check_for_unused_update_ops: whether an update op of neither net is an error.
      is_chief: has no effect: the strategy synchronizes.
      **kwargs: arguments of tf.contrib.training.create_train_op; by default `update_ops` is the
        collection UPDATE_OPS.

    Raises:
      ValueError: an update op belongs to neither net.
    """
    del is_chief
    updates = kwargs.pop("update_ops", _v1.get_collection(_v1.GraphKeys.UPDATE_OPS))
    ops = {}
    used: list[Any] = []
    for name, net_loss, optimizer, scope, variables in [
        ("generator", loss.generator_loss, generator_optimizer, model.generator_scope,
         model.generator_variables),
        ("discriminator", loss.discriminator_loss, discriminator_optimizer,
         model.discriminator_scope, model.discriminator_variables),
    ]:  # fmt: skip
        own = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS, f"{scope.name}/")
        own = [update for update in own if any(update is op for op in updates)]
        used += own
        with tf.name_scope(f"{name}_train"):
            ops[name] = create_train_op(
                total_loss=net_loss,
                optimizer=optimizer,
                global_step=None,
                update_ops=own,
                variables_to_train=variables,
                **kwargs,
            )
    unused = [u.name for u in updates if not any(u is one for one in used)]
    if check_for_unused_update_ops and unused:
        raise ValueError(
            f"There are unused update ops: {unused}. They are neither the generator's nor the "
            "discriminator's. Run them yourself and pass check_for_unused_update_ops=False."
        )
    increment = _v1.train.get_or_create_global_step().assign_add(1)
    return GANTrainOps(ops["generator"], ops["discriminator"], increment)
