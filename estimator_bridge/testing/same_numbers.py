"""Asserts that an `eb.Model` gives the same numbers as the model_fn it replaces."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from estimator_bridge.model import Model, RunConfig
from estimator_bridge.testing.report import ModelCheckError
from estimator_bridge.tpu import RunConfig as TPURunConfig
from estimator_bridge.tpu import TPUEstimator
from estimator_bridge.training import Estimator
from estimator_bridge.training.session_run_hooks import SessionRunArgs, SessionRunHook

__all__ = ["check_same_numbers"]

_EVALUATED = 3  # batches


def check_same_numbers(
    model_fn: Callable[..., Any],
    model: Model,
    train_input: Callable[..., Any],
    eval_input: Callable[..., Any],
    *,
    params: Mapping[str, Any] | None = None,
    steps: int = 5,
    for_tpu: bool = False,
    tolerance: float = 1e-6,
    predict: bool = True,
) -> list[float]:
    """Trains, evaluates and predicts with a model_fn and both adapters of a Model, on the CPU.

    All start with the weights of the model_fn's first checkpoint. The inputs must give the same
    batches each time: set their seeds.

    Args:
      model_fn: the original model.
      model: the same model as an `eb.Model`.
      train_input: an input_fn; may take `params`.
      eval_input: an input_fn; evaluation and prediction use three batches of it.
      params: the estimators' params; "batch_size" is the TPUEstimator's batch size, 8 by default.
      steps: number of training steps.
      for_tpu: whether `model_fn` returns a TPUEstimatorSpec.
      tolerance: allowed difference, relative to the larger number or to 1.
      predict: whether to compare predictions; False for a model_fn that needs labels in every mode.

    Returns:
      The loss of each step.

    Raises:
      ModelCheckError: a number or a variable's name differs; the message names it.
    """
    with tempfile.TemporaryDirectory(prefix="same_numbers") as folder:
        run = _Run(train_input, eval_input, dict(params or {}), steps, predict)
        first = os.path.join(folder, "model_fn")
        expected = run.of(model_fn, first, for_tpu)
        for name, adapter, on_tpu in (
            ("Model.model_fn", model.model_fn, False),
            ("Model.tpu_model_fn", model.tpu_model_fn, True),
        ):
            copy = os.path.join(folder, name)
            _copy_first_checkpoint(first, copy)
            _compare(name, run.of(adapter, copy, on_tpu), expected, tolerance)
        return expected["loss of a step"]


class _Losses(SessionRunHook):
    """Records the loss of each step."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def begin(self) -> None:
        self._loss = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1]

    def before_run(self, run_context: Any) -> SessionRunArgs:
        del run_context
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        del run_context
        self.losses.append(float(run_values.results))


class _Run:
    def __init__(
        self, train_input: Any, eval_input: Any, params: dict[str, Any], steps: int, predict: bool
    ):
        self.train_input, self.eval_input = train_input, eval_input
        self.params, self.steps, self.predict = params, steps, predict

    def of(self, model_fn: Any, model_dir: str, on_tpu: bool) -> dict[str, Any]:
        """Returns all numbers of one model_fn."""
        estimator = self._estimator(model_fn, model_dir, on_tpu)
        hook = _Losses()
        estimator.train(self.train_input, max_steps=self.steps, hooks=[hook])
        evaluated = estimator.evaluate(self.eval_input, steps=_EVALUATED)
        predicted = []
        if self.predict:
            predicted = list(itertools.islice(estimator.predict(self.eval_input), _EVALUATED))
        return {
            "loss of a step": hook.losses,
            "evaluation": {key: np.asarray(value) for key, value in evaluated.items()},
            "prediction": predicted,
            "variables": {n: estimator.get_variable_value(n) for n in _names(estimator)},
        }

    def _estimator(self, model_fn: Any, model_dir: str, on_tpu: bool) -> Estimator:
        params = dict(self.params)
        if not on_tpu:
            config = RunConfig(model_dir=model_dir, tf_random_seed=1)
            return Estimator(model_fn, config=config, params=params or None)
        batch_size = params.pop("batch_size", 8)
        return TPUEstimator(
            model_fn,
            config=TPURunConfig(model_dir=model_dir, tf_random_seed=1),
            params=params,
            use_tpu=False,
            train_batch_size=batch_size,
            eval_batch_size=batch_size,
            predict_batch_size=batch_size,
        )


def _names(estimator: Estimator) -> list[str]:
    return sorted(estimator.get_variable_names())


def _copy_first_checkpoint(source: str, target: str) -> None:
    os.makedirs(target)
    for file in os.listdir(source):
        if file.startswith("model.ckpt-0."):
            shutil.copy(os.path.join(source, file), target)
    with open(os.path.join(target, "checkpoint"), "w", encoding="utf-8") as state:
        state.write('model_checkpoint_path: "model.ckpt-0"\n')


def _compare(name: str, actual: Any, expected: Any, tolerance: float) -> None:
    for label, value in expected.items():
        _compare_values(f"{name}: {label}", actual[label], value, tolerance)


def _compare_values(label: str, actual: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or set(actual) != set(expected):
            has = sorted(actual) if isinstance(actual, dict) else type(actual).__name__
            raise ModelCheckError(f"{label}: {has}; the model_fn gives {sorted(expected)}")
        for key, value in expected.items():
            _compare_values(f"{label} {key!r}", actual[key], value, tolerance)
    elif isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise ModelCheckError(f"{label}: {len(actual)}; the model_fn gives {len(expected)}")
        for place, value in enumerate(expected):
            _compare_values(f"{label} {place}", actual[place], value, tolerance)
    else:
        _compare_arrays(label, np.asarray(actual), np.asarray(expected), tolerance)


def _compare_arrays(label: str, actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise ModelCheckError(
            f"{label}: {actual.dtype} {list(actual.shape)}; the model_fn gives {expected.dtype} "
            f"{list(expected.shape)}"
        )
    if np.issubdtype(expected.dtype, np.floating):
        limit = tolerance * np.maximum(1.0, np.maximum(np.abs(actual), np.abs(expected)))
        same = np.abs(actual - expected) <= limit
    else:
        same = actual == expected
    if not np.all(same):
        place = tuple(int(i) for i in np.argwhere(~np.atleast_1d(same))[0])
        raise ModelCheckError(
            f"{label} differs first at {list(place)}: {np.atleast_1d(actual)[place]}; the model_fn "
            f"gives {np.atleast_1d(expected)[place]}"
        )
