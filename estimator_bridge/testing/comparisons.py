"""Compares results across numbers of cores, and checks the TPU's part of a graph."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from estimator_bridge.graph.compilable import xla_compiles
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.runtime import StepLoop
from estimator_bridge.testing.described_tpu import TPUGraph
from estimator_bridge.testing.kept_batch import KeptBatch
from estimator_bridge.testing.report import ModelCheckError, ModelReport
from estimator_bridge.testing.runs import ModelRun

__all__ = ["TrainedStep", "check_tpu_graph", "compare_results"]

_SHOWN = 5
# The change that another split of the batch may cause, as a multiple of the change that another
# order of the examples causes.
_ROUNDING = 10


@dataclasses.dataclass(frozen=True)
class TrainedStep:
    """The results of one training step.

    Attributes:
      run: the model that ran it.
      batch: its batch.
      loop: its loop.
      before: all variables before the step, by name.
      after: all variables after the step.
      loss: the mean over the replicas.
    """

    run: ModelRun
    batch: KeptBatch
    loop: StepLoop
    before: Mapping[str, np.ndarray]
    after: Mapping[str, np.ndarray]
    loss: float

    def compare(
        self, activity: str, cores: int, report: ModelReport, tolerance: float | None, place: str
    ) -> None:
        """Compares the replicas with each other, and with the first number of cores.

        Args:
          activity: description of the run, for messages.
          cores: number of cores.
          report: results of the first number of cores; filled in if still empty.
          tolerance: see ``check_model_fn``.
          place: the model_fn's location, for messages.

        Raises:
          ModelCheckError: a value differs, or the loss is not a finite number.
        """
        weights = {name: self.after[name] for name in self.run.trainable}
        for name in weights:
            self._check_replicas_agree(activity, name, cores)
        if not math.isfinite(self.loss):
            raise ModelCheckError(f"{activity}: the loss is {self.loss}.\n  at {place}")
        is_first = not report.losses
        report.losses[cores] = self.loss
        if is_first:
            report.weights = weights
        if tolerance is None:
            return
        if is_first:
            report.rounding = self._rounding(weights, tolerance)
            return
        first, loss = next(iter(report.losses.items()))
        differences = [] if math.isclose(self.loss, loss, rel_tol=tolerance) else ["the loss"]
        for name, value in weights.items():
            expected = report.weights[name]
            tolerance_with_rounding = tolerance + _ROUNDING * report.rounding[name]
            if not np.allclose(value, expected, rtol=tolerance, atol=tolerance_with_rounding):
                differences.append(f"{name} by {np.abs(value - expected).max():.2g}")
        if differences:
            remainder = (
                f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
            )
            suspects = self.run.suspects(self.loop.names)[:_SHOWN]
            raise ModelCheckError(
                f"{activity}: after one step from the same values on the same global batch, "
                f"results differ from those on {first} core(s): "
                f"{', '.join(differences[:_SHOWN])}{remainder}; the losses are {self.loss:.7g} and "
                f"{loss:.7g}.\n  at {place}\n  The loss has to be a mean over the replica's "
                "examples, all gradients must be reduced once (CrossShardOptimizer), and values "
                "computed from a whole batch must be summed with cross_replica_sum. If the model "
                "is meant to depend on the split, pass tolerance=None."
                + "".join(f"\n{line}" for line in suspects)
            )

    def _check_replicas_agree(self, activity: str, name: str, cores: int) -> None:
        first, *others = self.run.copies(name)
        for core, other in enumerate(others, 1):
            if not np.allclose(first, other, rtol=1e-6, atol=1e-6, equal_nan=True):
                line = line_of_node(self.run.graph, name)
                raise ModelCheckError(
                    f"{activity}: after one step core {core} has other values in {name!r} than "
                    f"core 0, up to {np.abs(first - other).max():.2g} apart: its gradient is not "
                    f"summed over the {cores} cores, or it is assigned a value computed on one "
                    f"core.\n  at {line}\n  Wrap the optimizer in CrossShardOptimizer, or sum the "
                    "assigned value with cross_replica_sum."
                )

    def _rounding(self, weights: Mapping[str, np.ndarray], tolerance: float) -> dict[str, float]:
        """Returns the change of each weight when sums over the examples are rounded differently.

        Optimizers such as Adam divide by the gradient's size. They scale a gradient that is only a
        rounding error up to a full step. If the order of the examples changes the loss, the change
        is more than rounding, and the result is all zeros.
        """
        changes = dict.fromkeys(weights, 0.0)
        for dataset in self.batch.in_other_orders():
            self.run.load(self.before)
            result = self.run.step(self.loop, dataset)
            if not math.isclose(result.loss, self.loss, rel_tol=tolerance):
                return dict.fromkeys(weights, 0.0)
            values = self.run.values()
            for name, value in weights.items():
                difference = float(np.abs(values[name] - value).max(initial=0.0))
                changes[name] = max(changes[name], difference)
        return changes


def compare_results(
    activity: str,
    results: Mapping[int, Mapping[str, Any]],
    cores: int,
    tolerance: float,
    place: str,
) -> None:
    """Compares metrics or predictions with those of the first number of cores.

    Args:
      activity: description of the run, for messages.
      results: values by key, by number of cores.
      cores: the number of cores to compare.
      tolerance: absolute and relative.
      place: the model_fn's location, for messages.

    Raises:
      ModelCheckError: a value differs.
    """
    first, expected = next(iter(results.items()))
    for key, value in results[cores].items():
        expected_value = expected[key]
        if np.shape(value) != np.shape(expected_value) or not np.all(
            _close(value, expected_value, tolerance)
        ):
            raise ModelCheckError(
                f"{activity}: {key!r} differs from its value on {first} core(s), with the same "
                f"weights and examples: {_short(value)} instead of {_short(expected_value)}.\n  at "
                f"{place}\n  Metrics get the global batch in eval_metrics=(metric_fn, tensors). "
                "Predictions have the batch as their first dimension: return one row per example, "
                "and let no row depend on the other examples of its core."
            )


def check_tpu_graph(
    activity: str,
    run: ModelRun,
    graph: TPUGraph,
    variables: int,
    exempt_ops: Collection[str],
    place: str,
) -> None:
    """Checks that a graph is one computation that a TPU can run, with copies of all variables.

    Args:
      activity: description of the traced graph, for messages.
      run: the traced model.
      graph: the traced graph.
      variables: number of variables that the step uses.
      exempt_ops: types of ops to allow.
      place: the model_fn's location, for messages.

    Raises:
      ModelCheckError: the graph is not such a computation.
    """
    if graph.computations != 1 or graph.variables != variables:
        raise ModelCheckError(
            f"{activity}: {graph.computations} replicated computation(s) with {graph.variables} "
            f"variables, instead of one with {variables}. This is an error of estimator_bridge, "
            "not of the model."
        )
    for op, names in graph.names_on_tpu.items():
        if op not in exempt_ops and not xla_compiles(op):
            raise ModelCheckError(
                f"{activity}: the operation {names[0]} ({op}), which only a host can run, is in "
                f"the TPU's part.\n  at {line_of_node(run.graph, names[0]) or place}"
            )


def _close(value: Any, expected: Any, tolerance: float) -> Any:
    value, expected = np.asarray(value), np.asarray(expected)
    if value.dtype.kind not in "fc":
        return value == expected
    return np.isclose(value, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), threshold=8, edgeitems=2).replace("\n", "")
