"""What has to be the same on any number of cores, and what a TPU's part may hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from estimator_bridge.graph.compilable import xla_compiles
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.runtime import StepLoop
from estimator_bridge.testing.batches import KeptBatch
from estimator_bridge.testing.described_tpu import TPUGraph
from estimator_bridge.testing.report import ModelCheckError, ModelReport
from estimator_bridge.testing.runs import ModelRun

__all__ = ["TrainedStep", "check_tpu_graph", "compare_results"]

_SHOWN = 5
# By how many times what another order of the examples changes another split may change a weight.
_ROUNDING = 10


@dataclasses.dataclass(frozen=True)
class TrainedStep:
    """A training step that was run.

    Attributes:
      run: the model that ran it.
      batch: on which batch.
      loop: by which loop.
      before: all variables before it, by name.
      after: all variables after it.
      loss: the mean over the replicas.
    """

    run: ModelRun
    batch: KeptBatch
    loop: StepLoop
    before: Mapping[str, np.ndarray]
    after: Mapping[str, np.ndarray]
    loss: float

    def compare(
        self, what: str, cores: int, report: ModelReport, tolerance: float | None, place: str
    ) -> None:
        """Compares the replicas with each other, and with the first number of cores.

        Args:
          what: was run, for messages.
          cores: on how many.
          report: has what the first number of cores gave; if there is none yet, gets it.
          tolerance: see ``check_model_fn``.
          place: of the model_fn, for messages.

        Raises:
          ModelCheckError: something differs, or the loss is no number.
        """
        weights = {name: self.after[name] for name in self.run.trainable}
        for name in weights:
            self._check_replicas_agree(what, name, cores)
        if not math.isfinite(self.loss):
            raise ModelCheckError(f"{what}: the loss is {self.loss}.\n  at {place}")
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
        apart = [] if math.isclose(self.loss, loss, rel_tol=tolerance) else ["the loss"]
        for name, value in weights.items():
            wanted = report.weights[name]
            allowed = tolerance + _ROUNDING * report.rounding[name]
            if not np.allclose(value, wanted, rtol=tolerance, atol=allowed):
                apart.append(f"{name} by {np.abs(value - wanted).max():.2g}")
        if apart:
            more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
            suspects = self.run.suspects(self.loop.names)[:_SHOWN]
            raise ModelCheckError(
                f"{what}: after one step from the same values, on the same global batch, not all "
                f"is as on {first} core(s), but differs: {', '.join(apart[:_SHOWN])}{more}; the "
                f"losses are {self.loss:.7g} and {loss:.7g}.\n  at {place}\n"
                "  The loss has to be a mean over the replica's examples, all gradients to be "
                "reduced once (CrossShardOptimizer), and what is computed from a whole batch to be "
                "summed with cross_replica_sum. A model that is meant to depend on the split is "
                "checked with tolerance=None." + "".join(f"\n{line}" for line in suspects)
            )

    def _check_replicas_agree(self, what: str, name: str, cores: int) -> None:
        first, *others = self.run.copies(name)
        for core, other in enumerate(others, 1):
            if not np.allclose(first, other, rtol=1e-6, atol=1e-6, equal_nan=True):
                line = line_of_node(self.run.graph, name)
                raise ModelCheckError(
                    f"{what}: after one step core {core} has other values in {name!r} than core 0, "
                    f"up to {np.abs(first - other).max():.2g} apart: its gradient is not summed "
                    f"over the {cores} cores, or it is assigned what a core computed alone.\n"
                    f"  at {line}\n  Wrap the optimizer in CrossShardOptimizer, or sum what is "
                    "assigned with cross_replica_sum."
                )

    def _rounding(self, weights: Mapping[str, np.ndarray], tolerance: float) -> dict[str, float]:
        """How far each weight moves when the sums over the examples are rounded otherwise.

        Optimizers like Adam divide by the gradient's size, and blow a gradient that is zero but
        for rounding up to a full step. Where the order of the examples changes the loss, it is
        more than rounding, and tells nothing.
        """
        moved = dict.fromkeys(weights, 0.0)
        for dataset in self.batch.reordered():
            self.run.load(self.before)
            result = self.run.step(self.loop, dataset)
            if not math.isclose(result.loss, self.loss, rel_tol=tolerance):
                return dict.fromkeys(weights, 0.0)
            values = self.run.values()
            for name, value in weights.items():
                difference = float(np.abs(values[name] - value).max(initial=0.0))
                moved[name] = max(moved[name], difference)
        return moved


def compare_results(
    what: str, results: Mapping[int, Mapping[str, Any]], cores: int, tolerance: float, place: str
) -> None:
    """Compares metrics or predictions with those of the first number of cores.

    Args:
      what: was run, for messages.
      results: values by key, by number of cores.
      cores: whose.
      tolerance: absolute and relative.
      place: of the model_fn, for messages.

    Raises:
      ModelCheckError: they differ.
    """
    first, expected = next(iter(results.items()))
    for key, value in results[cores].items():
        wanted = expected[key]
        if np.shape(value) != np.shape(wanted) or not np.all(_close(value, wanted, tolerance)):
            raise ModelCheckError(
                f"{what}: {key!r} is not what it is on {first} core(s), of the same weights and "
                f"examples: {_short(value)} instead of {_short(wanted)}.\n  at {place}\n"
                "  Metrics get the global batch in eval_metrics=(metric_fn, tensors), and "
                "predictions have the batch as their first dimension: give them one row an "
                "example, and let none depend on the others of its core."
            )


def check_tpu_graph(
    what: str,
    run: ModelRun,
    graph: TPUGraph,
    variables: int,
    allowed: Collection[str],
    place: str,
) -> None:
    """Checks that a graph is one computation, with copies of all variables, that a TPU can run.

    Args:
      what: was traced, for messages.
      run: the model that was.
      graph: what it gave.
      variables: how many the step uses.
      allowed: types of ops to let pass.
      place: of the model_fn, for messages.

    Raises:
      ModelCheckError: it is not.
    """
    if graph.computations != 1 or graph.variables != variables:
        raise ModelCheckError(
            f"{what}: {graph.computations} replicated computation(s) with {graph.variables} "
            f"variables, instead of one with {variables}. This is an error of estimator_bridge, "
            "not of the model."
        )
    for op, names in graph.names_on_tpu.items():
        if op not in allowed and not xla_compiles(op):
            raise ModelCheckError(
                f"{what}: the operation {names[0]} ({op}), which only a host can run, is in the "
                f"TPU's part.\n  at {line_of_node(run.graph, names[0]) or place}"
            )


def _close(value: Any, wanted: Any, tolerance: float) -> Any:
    value, wanted = np.asarray(value), np.asarray(wanted)
    if value.dtype.kind not in "fc":
        return value == wanted
    return np.isclose(value, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), threshold=8, edgeitems=2).replace("\n", "")
