"""The same small model under other settings, in steps a second: see ``steps``."""

from __future__ import annotations

from typing import Any

from benchmarks.estimators import estimators, tf, v1
from benchmarks.models import MODELS, Model
from benchmarks.orders import Orders
from benchmarks.programs.steps import Measured, train_as_tpu

__all__ = ["serve"]


def serve(way: str, orders: Orders, model: str = "mlp") -> None:
    """Executes orders.

    Args:
      way: 'here' (all by default), 'log_N' (a log line and a summary every N steps), 'xla',
        'no_prefetch', 'one_by_one' (a map over examples), 'by_batch' (a map over batches), 'loop_N'
        (TPUEstimator on an emulated core, N iterations a loop; orders are whole loops).
      orders: orders with 'steps' each.
      model: the name of the model.
    """
    instance = MODELS[model]()
    kind, _, number = way.partition("_")
    config: dict[str, Any] = {"save_checkpoints_steps": 10**9, "tf_random_seed": 1}
    hooks = [Measured(orders)]
    if kind == "loop":
        train_as_tpu(instance, "emulated:1", int(number), hooks, **config)
        return
    if kind == "log":
        config.update(log_step_count_steps=int(number), save_summary_steps=int(number))
    if way == "xla":
        config["session_config"] = v1.ConfigProto()
        options = config["session_config"].graph_options.optimizer_options
        options.global_jit_level = v1.OptimizerOptions.ON_1
    estimator = estimators.Estimator(
        instance.spec(estimators), config=estimators.RunConfig(**config)
    )
    inputs = {"no_prefetch": _not_ahead, "one_by_one": _one_by_one, "by_batch": _by_batch}
    make = inputs.get(way, Model.dataset)
    estimator.train(lambda: make(instance), hooks=hooks)


def _not_ahead(model: Model) -> tf.data.Dataset:
    examples = tf.data.Dataset.from_tensor_slices(model.examples())
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return examples.repeat().batch(model.batch, drop_remainder=True).with_options(options)


def _one_by_one(model: Model) -> tf.data.Dataset:
    examples = tf.data.Dataset.from_tensor_slices(model.examples()).repeat()
    return examples.map(_scaled).batch(model.batch, drop_remainder=True).prefetch(4)


def _by_batch(model: Model) -> tf.data.Dataset:
    examples = tf.data.Dataset.from_tensor_slices(model.examples()).repeat()
    return examples.batch(model.batch, drop_remainder=True).map(_scaled).prefetch(4)


def _scaled(features: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return features * 2.0 - 1.0, labels
