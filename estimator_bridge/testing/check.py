"""Checks on a CPU that a model is ready for a TPU."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.model import MODE_NAMES, ModeKeys, TPURunConfig
from estimator_bridge.runtime import emulate_cores
from estimator_bridge.testing.comparisons import TrainedStep, check_tpu_graph, compare_results
from estimator_bridge.testing.described_tpu import TPUGraph, described_tpu
from estimator_bridge.testing.kept_batch import KeptBatch
from estimator_bridge.testing.report import ModelReport, explained, place_of
from estimator_bridge.testing.runs import ModelRun, dynamic_operations
from estimator_bridge.tpu.estimator import TPUEstimator
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.tpu.global_batch import GlobalBatch

__all__ = ["check_model_fn"]

_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
_SHOWN = 5


def check_model_fn(
    model_fn: Callable[..., Any],
    input_fn: Callable[..., Any],
    params: Mapping[str, Any] | None = None,
    train_batch_size: int = 8,
    eval_batch_size: int | None = None,
    cores: Sequence[int] = (1, 2),
    modes: Sequence[str] = _MODES,
    tolerance: float | None = 1e-5,
    allowed_ops: Collection[str] = (),
) -> ModelReport:
    """Checks that a model_fn would run on a TPU and gives the same results on any number of cores.

    The first batch of the input_fn in each mode is kept. One step runs on that batch for each
    number of emulated cores, from the same initial values. The check covers:

    - that shapes are static, and the other requirements of TPU mode;
    - that the training step leaves the same weights on each core, and on any number of cores;
    - that evaluation gives the same metrics, and prediction the same predictions;
    - that XLA would compile each step;
    - that each step can be traced under TensorFlow's TPUStrategy, with all of it on the TPU.

    Random numbers, such as those of dropout, are drawn once and given to all examples and cores
    alike, so that they do not depend on how a batch is split. Hooks are not called.

    Args:
      model_fn: returns a TPUEstimatorSpec.
      input_fn: an input_fn for TPUEstimator; an argument ``mode`` tells it the mode.
      params: the params of both functions.
      train_batch_size: global batch size for training; divisible by each number of cores.
      eval_batch_size: global batch size for evaluation and prediction; the same by default.
      cores: numbers of emulated cores. The first one is the reference for the others.
      modes: the modes that the model supports, training first.
      tolerance: allowed difference of weights, metrics and predictions, absolute and relative.
        None skips comparing training weights and losses, for models that depend on how a batch is
        split, such as batch norm with moments per core.
      allowed_ops: types of ops that are allowed although XLA cannot compile them.

    Returns:
      The results of the check.

    Raises:
      ModelCheckError: the model is not ready; the message names the mode, the number of cores, the
        reason and the line of the program.
      TooLateError: TensorFlow has already started with fewer emulated cores.
      XlaMissingError: this TensorFlow has no XLA for CPUs, so it cannot check any model.
      ValueError: an argument is wrong.
    """
    _check_arguments(cores, modes)
    emulate_cores(max(cores))
    sizes = dict.fromkeys(modes, eval_batch_size or train_batch_size)
    if ModeKeys.TRAIN in sizes:
        sizes[ModeKeys.TRAIN] = train_batch_size
    with tempfile.TemporaryDirectory() as folder:
        check = _Check(model_fn, input_fn, params, sizes, folder, tolerance, allowed_ops)
        for mode in modes:
            check.run(mode, cores)
    return check.report


def _check_arguments(cores: Sequence[int], modes: Sequence[str]) -> None:
    if not cores or min(cores) < 1:
        raise ValueError(f"cores must be positive numbers, got {list(cores)}. Write cores=(1, 2).")
    unknown = [mode for mode in modes if mode not in _MODES]
    if unknown or not modes or ModeKeys.TRAIN in modes[1:]:
        raise ValueError(
            f"modes must be some of {list(_MODES)}, with {ModeKeys.TRAIN!r} first if it is among "
            f"them, got {list(modes)}."
        )


class _Check:
    """The state of a check across modes; see ``check_model_fn``."""

    def __init__(self, model_fn, input_fn, params, sizes, folder, tolerance, allowed_ops):
        self.report = ModelReport()
        self._model_fn, self._input_fn, self._params = model_fn, input_fn, params
        self._sizes, self._folder = sizes, folder
        self._tolerance, self._exempt_ops = tolerance, allowed_ops
        self._values: dict[str, np.ndarray] | None = None  # initial values of all variables

    def run(self, mode: str, cores: Sequence[int]) -> None:
        """Checks one mode on each number of cores, and then for a TPU."""
        batch, after = None, None
        for number in cores:
            estimator = self._estimator(number)
            activity = f"{MODE_NAMES[mode]} on {number} core(s)"
            with explained(activity, self._model_fn):
                execution = estimator._execution(mode)
            assert isinstance(execution, TPUExecution)
            if batch is None:
                with explained(f"the input of {MODE_NAMES[mode]}", self._input_fn):
                    batch = KeptBatch(execution, self._input_fn, mode, estimator.params)
            run = self._trace(activity, execution, estimator, mode, batch)
            try:
                with explained(activity, self._model_fn):
                    run.start(self._values)
                    if self._values is None:
                        self._values = run.values()
                    values = self._step(activity, run, mode, number, batch)
                    after = after or values
                if number == cores[-1]:
                    with explained(f"{activity}, compiled by XLA", self._model_fn):
                        run.loop().check_compiles(for_tpu=True, exempt_ops=self._exempt_ops)
            finally:
                run.close()
        assert batch is not None
        self._values = after if mode == ModeKeys.TRAIN else self._values
        self.report.tpu[mode] = self._trace_for_tpu(mode, batch)

    def _estimator(self, cores: int) -> TPUEstimator:
        return TPUEstimator(
            self._model_fn,
            config=TPURunConfig(
                master=f"emulated:{cores}", model_dir=self._folder, tf_random_seed=1
            ),
            params=self._params,
            train_batch_size=self._sizes.get(ModeKeys.TRAIN),
            eval_batch_size=self._sizes.get(ModeKeys.EVAL),
            predict_batch_size=self._sizes.get(ModeKeys.PREDICT),
        )

    def _trace(self, activity, execution, estimator, mode, batch) -> ModelRun:
        batch.graph = None
        with explained(activity, self._model_fn, lambda: _dynamic_lines(batch.graph)):
            return ModelRun(execution, estimator, mode, batch)

    def _step(self, activity, run, mode, cores, batch) -> dict[str, np.ndarray] | None:
        """Runs the step and compares; returns the variables after a training step."""
        loop = run.loop(draws_alike=True)
        result = run.step(loop)
        place = place_of(self._model_fn)
        if mode == ModeKeys.TRAIN:
            values = run.values()
            training = TrainedStep(run, batch, loop, self._values or {}, values, result.loss)
            training.compare(activity, cores, self.report, self._tolerance, place)
            return values
        results: dict[int, dict[str, Any]] = self.report.metrics
        if mode == ModeKeys.EVAL:
            results[cores] = run.metrics()
        else:
            results = self.report.predictions
            results[cores] = run.predictions(result)
        compare_results(activity, results, cores, self._tolerance or 1e-5, place)
        return None

    def _trace_for_tpu(self, mode: str, batch: KeptBatch) -> TPUGraph:
        size, place = self._sizes[mode], place_of(self._model_fn)
        cores = math.gcd(size, 8)
        activity = f"{MODE_NAMES[mode]} on a TPU of {cores} core(s), traced"
        estimator = self._estimator(1)
        config = estimator._config
        execution = TPUExecution(
            described_tpu(cores), config, GlobalBatch.of(config.tpu_config, size)
        )
        run = self._trace(activity, execution, estimator, mode, batch)
        try:
            with explained(activity, self._model_fn):
                loop = run.loop()
                graph = run.tpu_graph(loop)
            check_tpu_graph(activity, run, graph, len(loop.variables), self._exempt_ops, place)
        finally:
            run.close()
        return graph


def _dynamic_lines(graph: tf.Graph | None) -> str:
    """Lists the sources of dynamic sizes, to add to an error about shapes."""
    obstacles = dynamic_operations(graph)[:_SHOWN]
    if not obstacles:
        return ""
    return "\n  Shapes stop being static here:" + "".join(
        f"\n  {obstacle}" for obstacle in obstacles
    )
