"""Whether a model is ready for a TPU, found out on a CPU."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.compilable import xla_compiles
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.model import ModeKeys, TPURunConfig
from estimator_bridge.runtime import emulate_cores
from estimator_bridge.testing.batches import KeptBatch
from estimator_bridge.testing.described_tpu import TPUGraph, described_tpu
from estimator_bridge.testing.report import ModelCheckError, ModelReport, explained, place_of
from estimator_bridge.testing.runs import ModelRun, dynamic_operations
from estimator_bridge.tpu.estimator import TPUEstimator
from estimator_bridge.tpu.execution import TPUExecution

__all__ = ["check_model_fn"]

_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
_NAMES = {
    ModeKeys.TRAIN: "training",
    ModeKeys.EVAL: "evaluation",
    ModeKeys.PREDICT: "prediction",
}
_SHOWN = 5
# By how many times what another order of the examples changes another split may change a weight.
_ROUNDING = 10


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
    """Checks that a model_fn would run on a TPU, and computes there what it computes on one core.

    The first batch of the input_fn in each mode is kept, and one step is run on it on so many
    emulated cores, from the same initial values. Checked are:

    - that shapes are static, and what else TPU mode asks for;
    - that the training step leaves the same weights on each core, and on any number of cores;
    - that evaluation gives the same metrics, and prediction the same predictions;
    - that XLA would compile each step;
    - that it can be traced under TensorFlow's own TPUStrategy, and all of it is on the TPU.

    Random numbers, as of dropout, are drawn once and given to all examples and cores alike, so
    that they do not depend on how a batch is split. Hooks are not called.

    Args:
      model_fn: returns a TPUEstimatorSpec.
      input_fn: for TPUEstimator; may tell modes apart by an argument ``mode``.
      params: for both.
      train_batch_size: the global batch; divisible by each number of cores.
      eval_batch_size: the global batch of evaluation and prediction; by default the same.
      cores: numbers of emulated cores. The first is what the others are compared with.
      modes: the modes that the model has, training first.
      tolerance: how far weights, metrics and predictions may be apart, absolute and relative.
        None does not compare weights and losses of training, for models that depend on how a
        batch is split: batch norm whose moments are a core's own.
      allowed_ops: types of ops that are no obstacle to compiling.

    Returns:
      What was seen.

    Raises:
      ModelCheckError: it is not ready; says in which mode and on how many cores, why, and which
        line of the program it is about.
      TooLateError: TensorFlow has already started with fewer emulated cores.
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
    """A check that goes on from mode to mode; see ``check_model_fn``."""

    def __init__(self, model_fn, input_fn, params, sizes, folder, tolerance, allowed_ops):
        self.report = ModelReport()
        self._model_fn, self._input_fn, self._params = model_fn, input_fn, params
        self._sizes, self._folder = sizes, folder
        self._tolerance, self._allowed = tolerance, allowed_ops
        self._values: dict[str, np.ndarray] | None = None  # of all variables, to start from

    def run(self, mode: str, cores: Sequence[int]) -> None:
        """Checks one mode on all numbers of cores, and then for a TPU."""
        batch, after = None, None
        for number in cores:
            estimator = self._estimator(number)
            what = f"{_NAMES[mode]} on {number} core(s)"
            with explained(what, self._model_fn):
                execution = estimator._execution(mode)
            assert isinstance(execution, TPUExecution)
            if batch is None:
                with explained(f"the input of {_NAMES[mode]}", self._input_fn):
                    batch = KeptBatch(execution, self._input_fn, mode, estimator.params)
            run = self._traced(what, execution, estimator, mode, batch)
            try:
                with explained(what, self._model_fn):
                    run.start(self._values)
                    if self._values is None:
                        self._values = run.values()
                    values = self._step(what, run, mode, number, batch)
                    after = after or values
                if number == cores[-1]:
                    with explained(f"{what}, compiled by XLA", self._model_fn):
                        run.loop().check_compiles(for_tpu=True, allowed=self._allowed)
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

    def _traced(self, what, execution, estimator, mode, batch) -> ModelRun:
        batch.graph = None
        with explained(what, self._model_fn, lambda: _dynamic_lines(batch.graph)):
            return ModelRun(execution, estimator, mode, batch)

    def _step(self, what, run, mode, cores, batch) -> dict[str, np.ndarray] | None:
        """Runs the step and compares; returns the variables after a training step."""
        loop = run.loop(draws_alike=True)
        result = run.step(loop)
        if mode == ModeKeys.TRAIN:
            return self._compare_training(what, run, cores, batch, loop, result.loss)
        if mode == ModeKeys.EVAL:
            self.report.metrics[cores] = run.metrics()
            self._compare(what, self.report.metrics, cores, self._tolerance or 1e-5)
        else:
            self.report.predictions[cores] = run.predictions(result)
            self._compare(what, self.report.predictions, cores, self._tolerance or 1e-5)
        return None

    def _compare_training(self, what, run, cores, batch, loop, loss) -> dict[str, np.ndarray]:
        report, values = self.report, run.values()
        weights = {name: values[name] for name in run.trainable}
        for name in weights:
            _check_replicas_agree(what, run, name, cores)
        report.losses[cores] = loss
        if not math.isfinite(loss):
            raise ModelCheckError(f"{what}: the loss is {loss}.\n  at {place_of(self._model_fn)}")
        if not report.weights:
            report.weights = weights
            if self._tolerance is not None:
                report.rounding = self._rounding(run, batch, loop, weights, loss)
            return values
        if self._tolerance is None:
            return values
        alone = next(iter(report.losses.values()))
        apart = [] if math.isclose(loss, alone, rel_tol=self._tolerance) else ["the loss"]
        for name, value in weights.items():
            allowed = self._tolerance + _ROUNDING * report.rounding[name]
            if not np.allclose(value, report.weights[name], rtol=self._tolerance, atol=allowed):
                difference = np.abs(value - report.weights[name]).max()
                apart.append(f"{name} by {difference:.2g}")
        if apart:
            raise ModelCheckError(
                self._apart(what, cores, apart, run.suspects(loop.names), report.losses)
            )
        return values

    def _apart(self, what, cores, apart, suspects, losses) -> str:
        first = next(iter(losses))
        more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
        return "\n".join(
            [
                f"{what}: after one step from the same values, on the same global batch of "
                f"{self._sizes[ModeKeys.TRAIN]}, not all is as on {first} core(s), but differs: "
                f"{', '.join(apart[:_SHOWN])}{more}; the losses are {losses[cores]:.7g} and "
                f"{losses[first]:.7g}.",
                f"  at {place_of(self._model_fn)}",
                "  The loss has to be a mean over the replica's examples, all gradients to be "
                "reduced once (CrossShardOptimizer), and what is computed from a whole batch to be "
                "summed with cross_replica_sum. A model that is meant to depend on the split is "
                "checked with tolerance=None.",
                *suspects[:_SHOWN],
            ]
        )

    def _rounding(self, run, batch, loop, weights, loss) -> dict[str, float]:
        """How far each weight moves when the sums over the examples are rounded otherwise.

        Optimizers like Adam divide by the gradient's size, and blow a gradient that is zero but
        for rounding up to a full step.
        """
        moved = dict.fromkeys(weights, 0.0)
        for dataset in batch.reordered():
            run.load(self._values)
            result = run.step(loop, dataset)
            if not math.isclose(result.loss, loss, rel_tol=self._tolerance):
                return dict.fromkeys(weights, 0.0)
            values = run.values()
            for name, value in weights.items():
                difference = float(np.abs(values[name] - value).max(initial=0.0))
                moved[name] = max(moved[name], difference)
        return moved

    def _compare(self, what, results, cores, tolerance) -> None:
        first, expected = next(iter(results.items()))
        for key, value in results[cores].items():
            wanted = expected[key]
            is_close = np.shape(value) == np.shape(wanted) and np.all(
                _close(value, wanted, tolerance)
            )
            if not is_close:
                raise ModelCheckError(
                    f"{what}: {key!r} is not what it is on {first} core(s), of the same weights "
                    f"and examples: {_short(value)} instead of {_short(wanted)}.\n"
                    f"  at {place_of(self._model_fn)}\n"
                    "  Metrics get the global batch in eval_metrics=(metric_fn, tensors), and "
                    "predictions have the batch as their first dimension: give them one row an "
                    "example, and let none depend on the others of its core."
                )

    def _trace_for_tpu(self, mode: str, batch: KeptBatch) -> TPUGraph:
        cores = math.gcd(self._sizes[mode], 8)
        what = f"{_NAMES[mode]} on a TPU of {cores} core(s), traced"
        estimator = self._estimator(1)
        execution = TPUExecution(
            described_tpu(cores), estimator._config, self._model_fn, estimator.params,
            self._sizes[mode],
        )  # fmt: skip
        run = self._traced(what, execution, estimator, mode, batch)
        try:
            with explained(what, self._model_fn):
                loop = run.loop()
                graph = run.tpu_graph(loop)
            self._check_tpu_graph(what, run, graph, len(loop.variables))
        finally:
            run.close()
        return graph

    def _check_tpu_graph(self, what, run, graph: TPUGraph, variables: int) -> None:
        if graph.computations != 1 or graph.variables != variables:
            raise ModelCheckError(
                f"{what}: {graph.computations} replicated computation(s) with {graph.variables} "
                f"variables, instead of one with {variables}. This is an error of "
                "estimator_bridge, not of the model."
            )
        for op, names in graph.names_on_tpu.items():
            if op not in self._allowed and not xla_compiles(op):
                line = line_of_node(run.graph, names[0]) or place_of(self._model_fn)
                raise ModelCheckError(
                    f"{what}: the operation {names[0]} ({op}), which only a host can run, is in "
                    f"the TPU's part.\n  at {line}"
                )


def _check_replicas_agree(what: str, run: ModelRun, name: str, cores: int) -> None:
    first, *others = run.copies(name)
    for core, other in enumerate(others, 1):
        if not np.allclose(first, other, rtol=1e-6, atol=1e-6):
            line = line_of_node(run.graph, name)
            raise ModelCheckError(
                f"{what}: after one step core {core} has other values in {name!r} than core 0, up "
                f"to {np.abs(first - other).max():.2g} apart: its gradient is not summed over the "
                f"{cores} cores, or it is assigned what a core computed alone.\n  at {line}\n"
                "  Wrap the optimizer in CrossShardOptimizer, or sum what is assigned with "
                "cross_replica_sum."
            )


def _dynamic_lines(graph: tf.Graph | None) -> str:
    """Where sizes that depend on data come from, to add to an error about shapes."""
    found = dynamic_operations(graph)[:_SHOWN]
    if not found:
        return ""
    return "\n  Shapes stop to be static here:" + "".join(f"\n  {obstacle}" for obstacle in found)


def _close(value: Any, wanted: Any, tolerance: float) -> Any:
    value, wanted = np.asarray(value), np.asarray(wanted)
    if value.dtype.kind not in "fc":
        return value == wanted
    return np.isclose(value, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), threshold=8, edgeitems=2).replace("\n", "")
