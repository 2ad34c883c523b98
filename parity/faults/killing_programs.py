"""Small trainings that the campaign kills; they run under TensorFlow 2.15 too."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from parity.environment import IS_ORIGINAL, tf

if IS_ORIGINAL:
    api: Any = tf.estimator
    tpu: Any = tf.compat.v1.estimator.tpu
    InputHook: Any = tf.data.experimental.CheckpointInputPipelineHook
else:
    import estimator_bridge as eb

    api, tpu = eb, eb.tpu
    InputHook = eb.training.CheckpointInputPipelineHook

__all__ = ["FOREIGN", "LAST", "PROGRAMS", "next_examples"]

_v1 = tf.compat.v1
LAST = 6  # the last step of all programs
FOREIGN = "warm"  # beside model_dir: the source of the warm start's values
_EXAMPLES = 40


def _dense(inputs: tf.Tensor, units: int, name: str, activation: Any = None) -> tf.Tensor:
    # Without its own seed the original's layer begins with other values in each process.
    initializer = _v1.glorot_uniform_initializer(seed=7)
    return _v1.layers.dense(inputs, units, activation, name=name, kernel_initializer=initializer)


def _model_fn(features, labels, mode, params):
    del labels, params
    step = _v1.train.get_or_create_global_step()
    features = tf.reshape(features, [-1, 1])
    hidden = _dense(features, 8, "hidden", tf.nn.tanh)
    hidden = _v1.nn.dropout(hidden, rate=0.2 if mode == "train" else 0.0, seed=5)
    predictions = _dense(hidden, 1, "predicted")
    loss = tf.reduce_mean(tf.square(predictions - tf.sin(features)))
    if mode != "train":
        metrics = {"error": _v1.metrics.mean_absolute_error(tf.sin(features), predictions)}
        return api.EstimatorSpec(mode, {"y": predictions}, loss, eval_metric_ops=metrics)
    train_op = _v1.train.AdamOptimizer(0.05).minimize(loss, step)
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _tpu_model_fn(features, labels, mode, params):
    del labels, params
    step = _v1.train.get_or_create_global_step()
    features = tf.reshape(features, [-1, 1])
    predictions = _dense(features, 1, "predicted")
    loss = tf.reduce_mean(tf.square(predictions - tf.sin(features)))
    optimizer = _v1.train.AdamOptimizer(0.05)
    if not IS_ORIGINAL:  # whose sums have no kernel on a CPU
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, step)
    return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def _examples() -> tf.data.Dataset:
    """Returns shuffled numbers without an end; a step's examples reveal the input's position."""
    numbers = tf.data.Dataset.range(_EXAMPLES).map(lambda n: tf.cast(n, tf.float32) / 10)
    return numbers.shuffle(16, seed=3).repeat().batch(4, drop_remainder=True)


def _few_examples() -> tf.data.Dataset:
    return tf.data.Dataset.range(8).map(lambda n: tf.cast(n, tf.float32) / 4).batch(4)


def _receiver():
    placeholder = _v1.placeholder(tf.float32, [None, 1])
    return api.export.TensorServingInputReceiver(placeholder, {"x": placeholder})


_SETTINGS = {
    "tf_random_seed": 11,
    "save_checkpoints_steps": 2,
    "save_summary_steps": 1,
    "log_step_count_steps": None,
}


def _estimator(folder: str, warm_start_from: Any = None, **settings: Any) -> Any:
    config = api.RunConfig(folder, **{**_SETTINGS, **settings})
    return api.Estimator(_model_fn, config=config, params={}, warm_start_from=warm_start_from)


def _train(folder: str, **settings: Any) -> None:
    """Runs Estimator.train() with the position of its input."""
    estimator = _estimator(folder, **settings)
    estimator.train(_examples, hooks=[InputHook(estimator)], max_steps=LAST)


def _train_and_evaluate(folder: str) -> None:
    """Evaluates and makes three kinds of exports during training."""
    estimator = _estimator(folder)
    train = api.TrainSpec(_examples, max_steps=LAST, hooks=[InputHook(estimator)])
    exporters = [
        api.BestExporter("best", _receiver, exports_to_keep=2),
        api.LatestExporter("latest", _receiver, exports_to_keep=2),
        api.FinalExporter("final", _receiver),
    ]
    api.train_and_evaluate(
        estimator, train, api.EvalSpec(_few_examples, None, exporters=exporters, throttle_secs=0)
    )


def _tpu_train(folder: str, master: str = "emulated:2") -> None:
    """Runs TPUEstimator on two cores, two steps a loop; the original's on the CPU."""
    where = {} if IS_ORIGINAL else {"master": master}
    loop = tpu.TPUConfig(iterations_per_loop=2)
    config = tpu.RunConfig(model_dir=folder, tpu_config=loop, **where, **_SETTINGS)
    estimator = tpu.TPUEstimator(
        _tpu_model_fn, config=config, train_batch_size=4, use_tpu=not IS_ORIGINAL, params={}
    )
    estimator.train(lambda params: _examples(), hooks=[InputHook(estimator)], max_steps=LAST)


def _warm_start(folder: str) -> None:
    """Starts from another model, which is trained once and not killed."""
    other = os.path.join(os.path.dirname(folder), FOREIGN)
    _train(folder, warm_start_from=other)


# By name. Each trains to LAST from the folder's newest checkpoint.
PROGRAMS: dict[str, Callable[[str], None]] = {
    "train": _train,
    "retention": functools.partial(_train, save_checkpoints_steps=1, keep_checkpoint_max=2),
    "train_and_evaluate": _train_and_evaluate,
    "tpu": _tpu_train,
    "jax": functools.partial(_tpu_train, master="jax:cpu:2"),
    "warm_start": _warm_start,
}


def next_examples(position: str) -> list[list[float]]:
    """Returns the next batches of an input.

    Args:
      position: the prefix of a file that the input's hook has written.
    """
    iterator = iter(_examples())
    tf.train.Checkpoint(iterator=iterator).read(position).expect_partial()
    return [next(iterator).numpy().tolist() for _ in range(3)]
