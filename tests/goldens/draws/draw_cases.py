"""Hooks whose session runs need the batch, under the real tf.estimator or here.

Each case gives what every run of the session saw, in order. The estimator module is an argument:
``tf.compat.v1.estimator`` of TF 2.15 when the golden file is made, ``estimator_bridge`` when it is
compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

SIZE = 2  # of a batch


def _rows(count: int) -> np.ndarray:
    """Batch i is [i, i + 0.5]."""
    return (np.arange(count * SIZE) / SIZE).astype(np.float32)


def _dataset(count: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(_rows(count)).batch(SIZE)


def _generator(count: int) -> Any:
    rows = _rows(count).reshape(count, SIZE)
    return tf.data.Dataset.from_generator(lambda: iter(rows), tf.float32, [SIZE])


def _initializable(count: int) -> Any:
    iterator = tf.data.make_initializable_iterator(_dataset(count))
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def _queue(count: int) -> Any:
    row = tf.train.slice_input_producer([_rows(count)], num_epochs=1, shuffle=False)[0]
    return tf.train.batch([row], SIZE)


def _numpy(count: int, est: Any) -> Any:
    input_fn = est.inputs.numpy_input_fn(_rows(count), batch_size=SIZE, num_epochs=1, shuffle=False)
    return input_fn()


def _pandas(count: int, est: Any) -> Any:
    import pandas as pd

    input_fn = est.inputs.pandas_input_fn(
        pd.DataFrame({"x": _rows(count)}), batch_size=SIZE, num_epochs=1, shuffle=False
    )
    return input_fn()["x"]


def _one_shot(count: int) -> Any:
    return tf.data.make_one_shot_iterator(_dataset(count)).get_next()


def _behind(count: int) -> Any:
    """The arguments of model_fn are computed from the iterator's elements."""
    drawn = tf.data.make_one_shot_iterator(_dataset(count)).get_next()
    return tf.identity(drawn, "drawn") * 10.0


def _two(count: int) -> Any:
    """Two iterators, of which a hook's run needs one, and the step both."""
    other = tf.data.make_one_shot_iterator(_dataset(20 * count).map(lambda x: x + 100.0))
    return {"x": _one_shot(count), "other": other.get_next()}


def _noise(count: int) -> Any:
    """Random numbers beside an iterator, each drawn where it is needed."""
    return {"x": _one_shot(count), "other": tf.random.uniform([SIZE], seed=3)}


KINDS: dict[str, Callable[..., Any]] = {
    "dataset": _dataset,
    "generator": _generator,
    "one_shot": _one_shot,
    "initializable": _initializable,
    "numpy": _numpy,
    "pandas": _pandas,
    "queue": _queue,
    "behind": _behind,
    "two": _two,
    "noise": _noise,
}


class Observed:
    """The results of a case.

    Attributes:
      log: what was run, where, and its value.
      tensors: of the graph that was traced last.
    """

    def __init__(self, est: Any) -> None:
        self._est = est
        self.log: list[Any] = []
        self.tensors: dict[str, Any] = {}

    def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        """One weight, drawn to what makes 1 of the batch."""
        del labels
        parts = features if isinstance(features, dict) else {"x": features}
        x = parts["x"]
        weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(weight * x * 0.1 - 1.0), name="the_loss")
        if "other" in parts:
            loss += 0.0 * tf.reduce_sum(parts["other"])
        self.tensors = {**parts, "loss": loss}
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        self.tensors["train"] = optimizer.minimize(tf.reduce_mean(tf.square(weight * x - 1.0)))
        if mode == self._est.ModeKeys.PREDICT:
            return self._est.EstimatorSpec(mode, predictions={"y": x * 2.0})
        return self._est.EstimatorSpec(
            mode,
            loss=loss,
            train_op=optimizer.minimize(loss, global_step=step),
            eval_metric_ops={"mean": tf.metrics.mean(x)},
        )


class Asks(tf.train.SessionRunHook):
    """Runs a fetch in a session at some places, and sees what each step was given."""

    def __init__(self, observed: Observed, places: tuple[str, ...], fetch: str):
        self._observed, self._places, self._fetch = observed, places, fetch

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called once."""
        del coord
        self._ask("created", session)

    def before_run(self, run_context: Any) -> Any:
        """Called before each step."""
        self._ask("before", run_context.session)
        return tf.train.SessionRunArgs(self._observed.tensors["x"])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Called after each step."""
        self._observed.log.append(["step", run_values.results.tolist()])
        self._ask("after", run_context.session)

    def end(self, session: Any) -> None:
        """Called once."""
        self._ask("end", session)

    def _ask(self, place: str, session: Any) -> None:
        if place in self._places:
            value = session.run(self._observed.tensors.get(self._fetch, self._fetch))
            self._observed.log.append([place, None if value is None else value.tolist()])


class Listens(tf.train.CheckpointSaverListener):
    """Runs a fetch around each checkpoint but the first, for which inputs may not be there yet."""

    def __init__(self, observed: Observed):
        self._observed = observed

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""
        if global_step_value:
            value = session.run(self._observed.tensors["x"])
            self._observed.log.append(["save", int(global_step_value), value.tolist()])


ALL = ("created", "before", "after", "end")

# By name: kind, mode, places, what is fetched, batches.
CASES: dict[str, tuple[str, str, tuple[str, ...], str, int]] = {}
for _kind in KINDS:
    for _mode in ("train", "eval", "infer"):
        # As many batches as three steps need, and one for the end.
        CASES[f"{_kind} {_mode}"] = (_kind, _mode, ALL, "x", 11)
    CASES[f"{_kind} train_op"] = (_kind, "train", ("before", "after"), "train", 20)
    CASES[f"{_kind} ends"] = (_kind, "train", ("after",), "x", 3)
for _mode in ("train", "eval", "infer"):
    CASES[f"dataset ends {_mode}"] = ("dataset", _mode, ("before", "end"), "x", 4)
    CASES[f"numpy ends before {_mode}"] = ("numpy", _mode, ("before",), "loss", 5)
CASES["two other"] = ("two", "train", ("before", "after"), "other", 20)
CASES["noise other"] = ("noise", "train", ("before", "after", "end"), "other", 20)
CASES["behind drawn"] = ("behind", "train", ("before", "after"), "drawn:0", 20)
CASES["numpy no hook"] = ("numpy", "train", (), "x", 5)


def run(name: str, est: Any) -> dict[str, Any]:
    """Returns a case's log, its final weight and step, and the error's type."""
    kind, mode, places, fetch, count = CASES[name]
    observed = Observed(est)
    config = est.RunConfig(
        tempfile.mkdtemp(), tf_random_seed=5, save_checkpoints_steps=2, log_step_count_steps=None
    )
    estimator = est.Estimator(observed.model_fn, config=config)
    hooks = [Asks(observed, places, fetch)]
    outcome: dict[str, Any] = {"error": None}
    try:
        if mode == "train":
            listeners = [Listens(observed)] if fetch == "x" and len(places) != 1 else None
            estimator.train(_input_fn(kind, count, est), hooks, steps=3, saving_listeners=listeners)
        elif mode == "eval":
            estimator.train(_input_fn(kind, 1, est), steps=1)
            outcome["results"] = {
                key: float(value)
                for key, value in estimator.evaluate(
                    _input_fn(kind, count, est), steps=3, hooks=hooks
                ).items()
            }
        else:
            estimator.train(_input_fn(kind, 1, est), steps=1)
            outcome["predictions"] = []
            for part in estimator.predict(_input_fn(kind, count, est), hooks=hooks):
                outcome["predictions"].append(float(part["y"]))
    except (tf.errors.OpError, ValueError) as error:
        outcome["error"] = type(error).__name__
    outcome["log"] = observed.log
    if estimator.latest_checkpoint():
        outcome["weight"] = float(estimator.get_variable_value("weight"))
        outcome["step"] = int(estimator.get_variable_value("global_step"))
    return outcome


def _input_fn(kind: str, count: int, est: Any) -> Callable[[], Any]:
    arguments = (est,) if kind in ("numpy", "pandas") else ()
    return lambda: KINDS[kind](count, *arguments)
