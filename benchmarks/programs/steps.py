"""Training steps: an order is a number of steps, the answer their seconds.

Each way returns to Python after the same number of steps: Estimators log and write a summary every
100, their default; tf_keras' fit and the loop by hand are called with that number.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.estimators import IS_ORIGINAL, estimators, tf, v1
from benchmarks.models import MODELS, Model
from benchmarks.orders import Orders

__all__ = ["Measured", "serve", "tpu_model_fn", "train_as_tpu"]


class Measured(v1.train.SessionRunHook):
    """Executes orders from within a training run."""

    def __init__(self, orders: Orders):
        self._tell, self._orders = orders.tell, iter(orders)
        self._steps_left, self._due = 1, None  # asked for before the session exists

    def after_create_session(self, session, coord):
        """Waits for the first order."""
        self._begin()

    def steps_until_due(self, step):
        """Returns its due steps to this library; the original calls hooks at each step."""
        if self._due is None:
            self._due = step + self._steps_left
        return self._due - step

    def after_run(self, run_context, run_values):
        """Counts steps, and answers when they are done."""
        self._steps_left -= 1 if IS_ORIGINAL else self._steps_left
        if not self._steps_left:
            self._tell(seconds=time.perf_counter() - self._start)
            if not self._begin():
                run_context.request_stop()

    def _begin(self) -> bool:
        order = next(self._orders, None)
        self._steps_left, self._due = order["steps"] if order else 1, None
        self._start = time.perf_counter()
        return order is not None


class EachLoss(v1.train.SessionRunHook):
    """Fetches the loss of each step."""

    def begin(self):
        """Finds the loss."""
        self._loss = v1.get_collection(v1.GraphKeys.LOSSES)[0]

    def before_run(self, run_context):
        """Requests the loss."""
        return v1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        """Receives the loss."""
        self.loss = run_values.results


def serve(
    way: str,
    orders: Orders,
    model: str,
    call: int,
    hook: bool = False,
    runtime: str | None = None,
    **settings: Any,
) -> None:
    """Executes orders.

    Args:
      way: 'original', 'tf1' or 'here', with XLA 'xla' and 'xla_auto'; 'keras', 'hand'; or the
        arithmetic alone: 'bare', 'bare_xla'.
      orders: orders with 'steps' each.
      model: the name of the model.
      call: steps between two returns to Python.
      hook: whether a hook fetches the loss of each step (Estimators only).
      runtime: the master of a TPUEstimator, which 'here' uses instead of an Estimator.
      **settings: arguments of the RunConfig.
    """
    instance = MODELS[model]()
    if way == "hand":
        iterator = iter(instance.dataset())
        _by_function(functools.partial(instance.by_hand(), iterator), orders, call)
    elif way in ("bare", "bare_xla"):
        _by_function(instance.bare(by_xla=way == "bare_xla"), orders, call)
    elif way == "keras":
        _by_keras(instance, orders, call)
    else:
        if way.startswith("xla"):
            os.environ["ESTIMATOR_BRIDGE_XLA"] = "auto" if way == "xla_auto" else "on"
        config = {"save_checkpoints_steps": 10**9, "tf_random_seed": 1, **settings}
        if runtime:
            train_as_tpu(instance, runtime, call, [Measured(orders)], **config)
            return
        estimator = estimators.Estimator(
            instance.spec(estimators), config=estimators.RunConfig(**config)
        )
        hooks = [EachLoss()] if hook else []
        estimator.train(instance.dataset, hooks=[*hooks, Measured(orders)])


def tpu_model_fn(model: Model):
    """Runs the model's training as a TPU program."""

    def model_fn(features, labels, mode, params):
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model.v1_logits(features))
        )
        optimizer = estimators.tpu.CrossShardOptimizer(model.optimizer.v1())
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return estimators.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def train_as_tpu(model: Model, master: str, iterations: int, hooks: Sequence[Any], **config: Any):
    """Trains a TPUEstimator.

    Args:
      model: the model.
      master: its device, such as 'emulated:1' or 'jax:cpu:1'.
      iterations: the steps of a loop.
      hooks: the hooks.
      **config: arguments of the RunConfig.
    """
    tpu = estimators.tpu
    tpu_config = tpu.TPUConfig(iterations_per_loop=iterations)
    tpu.TPUEstimator(
        tpu_model_fn(model),
        config=tpu.RunConfig(master=master, tpu_config=tpu_config, **config),
        train_batch_size=model.batch,
    ).train(lambda params: model.dataset(), hooks=hooks)


def _by_function(loop: Callable[[tf.Tensor], tf.Tensor], orders: Orders, call: int) -> None:
    steps = tf.constant(call)
    for order in orders:
        start = time.perf_counter()
        for _ in range(order["steps"] // call):
            float(loop(steps))
        orders.tell(seconds=time.perf_counter() - start)


def _by_keras(model: Model, orders: Orders, call: int) -> None:
    import tf_keras

    class Told(tf_keras.callbacks.Callback):
        """Measures only the steps, without the set-up of each fit()."""

        def on_epoch_begin(self, epoch, logs=None):
            self.start = time.perf_counter()

        def on_epoch_end(self, epoch, logs=None):
            orders.tell(seconds=time.perf_counter() - self.start)

    network = model.keras()
    loss = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(model.optimizer.keras(), loss, steps_per_execution=call)
    dataset = model.dataset()
    for order in orders:
        network.fit(
            dataset, steps_per_epoch=order["steps"], epochs=1, verbose=0, callbacks=[Told()]
        )
