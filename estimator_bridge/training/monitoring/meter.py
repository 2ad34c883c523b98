"""The figures of one training: waiting, FLOP/s, and the configuration that they belong to."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.compile_for.units import as_si
from estimator_bridge.runtime import StepLoop, workers_of
from estimator_bridge.training.monitoring.drawn_batches import DrawnBatches
from estimator_bridge.training.monitoring.flops import StepFlops, count_flops
from estimator_bridge.training.monitoring.input_advice import advice_on_input
from estimator_bridge.training.monitoring.input_wait import InputWait, MeasuredLoop
from estimator_bridge.training.monitoring.peaks import Peak, peak_of
from estimator_bridge.training.monitoring.run_description import describe_run
from estimator_bridge.training.program import Program
from estimator_bridge.training.progress_reports import MachineUse, StepReport

__all__ = ["Meter"]

_v1 = tf.compat.v1
_LONG_WAIT = 0.2  # of the time: then the input is what to improve
_FIGURES = {
    "monitor/input_wait_share": "input_wait",
    "monitor/flops_per_sec": "flops_per_sec",
    "monitor/matrix_unit_share": "matrix_share",
}


class Meter:
    """Measures the loops of one training.

    Args:
      program: the traced program.
      model_dir: the folder of its summaries.
      clock: returns the time in seconds.
    """

    def __init__(
        self, program: Program, model_dir: str, clock: Callable[[], float] = time.monotonic
    ):
        self._clock, self._start = clock, clock()
        self._program, self.model_dir = program, model_dir
        plan, strategy = program.plan, program.execution.strategy
        self._wait: InputWait | None = None
        self._batches = DrawnBatches()
        if workers_of(strategy).count == 1 and not plan.layout.hosts:
            self._wait = InputWait(_bytes_of(program), plan.layout.elements or 1)
        self._names: list[str] | None = None
        self._flops: StepFlops | None = None
        self._peak: Peak | None = None
        self._waits: list[float] = []

    def make_loop(self, *references: Any, **options: Any) -> StepLoop | MeasuredLoop:
        """Returns the program's loop, measured where one process feeds it."""
        loop = self._program.make_loop(*references, **options)
        if self._names is None:
            self._names = loop.names
        if self._wait is None:
            return loop
        source = self._program.session.input
        return MeasuredLoop(loop, self._wait, self._batches, source.ahead if source else None)

    def measure(self, report: StepReport) -> StepReport:
        """Returns a report with the figures of the time since the last one."""
        wait = self._wait.share() if self._wait else None
        if wait is not None:
            self._waits.append(wait)
        flops = share = None
        count = self._count_flops()
        if count.total and report.steps_per_sec:
            replicas = self._program.execution.strategy.num_replicas_in_sync
            flops = count.total * replicas * report.steps_per_sec
            peak = self._peak_here(count)
            share = flops / (peak.flops * replicas) if peak.flops else None
        rate, examples = report.examples_per_sec, self._examples()
        if rate is None and report.steps_per_sec and examples:
            rate = report.steps_per_sec * examples
        return dataclasses.replace(
            report,
            examples_per_sec=rate,
            use=MachineUse(wait, flops, share),
        )

    def _examples(self) -> int | None:
        """Returns the size of a global batch: of the graph, or of a drawn batch."""
        plan, shapes = self._program.plan, self._batches.shapes
        if plan.examples or not shapes or not shapes[0]:
            return plan.examples
        size = shapes[0][0]
        return size * (plan.layout.elements or 1) if size else None

    def _count_flops(self) -> StepFlops:
        """Returns the FLOPs of a replica's step; nothing before a batch's shapes are known."""
        if self._flops is None:
            batch_shapes = self._batches.shapes
            shapes = dict(_replica_shapes(self._program, batch_shapes))
            is_open = any(None in dims for dims in shapes.values()) and batch_shapes is None
            if self._names is None or (is_open and self._wait is not None):
                return StepFlops(0)
            try:
                self._flops = count_flops(self._program.graph, self._names, shapes)
            except (ValueError, tf.errors.InvalidArgumentError) as error:
                logging.warning("The monitor cannot count the step's FLOPs: %s", error)
                self._flops = StepFlops(0, missing=f"the graph cannot be counted: {error}")
        return self._flops

    def _peak_here(self, flops: StepFlops) -> Peak:
        if self._peak is None:
            self._peak = peak_of(self._program.execution.strategy, flops.dtypes)
        return self._peak

    def write_summaries(self, report: StepReport) -> None:
        """Writes the figures of a report for TensorBoard."""
        values = [
            _v1.Summary.Value(tag=tag, simple_value=value)
            for tag, name in _FIGURES.items()
            if (value := getattr(report.use, name)) is not None
        ]
        if values:
            writer = _v1.summary.FileWriterCache.get(self.model_dir)
            writer.add_summary(_v1.Summary(value=values), report.step)

    def notes(self) -> Iterator[str]:
        """Yields sentences: a remedy if steps wait, and what the figures leave out."""
        late = self._waits[-5:]
        ready = self._wait.ready_steps_per_sec if self._wait else None
        if late and ready and (share := sum(late) / len(late)) >= _LONG_WAIT:
            yield (
                f"Steps waited for their input {share:.0%} of the time: with the input ready, "
                f"{ready:,.4g} steps/s are possible. "
                f"{advice_on_input(self._program.graph)}"
            )
        if self._wait is None:
            yield (
                "Waiting for input is not measured: several processes feed the replicas, and they "
                "would wait for each other's samples."
            )
        if self._flops and self._flops.missing:
            yield f"FLOP/s leave out {self._flops.missing}."

    def configuration(self) -> Mapping[str, str]:
        """Returns the names and values that a report shows."""
        flops = self._flops or StepFlops(0)
        peak = self._peak_here(flops)
        seconds = self._clock() - self._start
        rows = dict(
            describe_run(self._program, self.model_dir, peak.device, seconds, self._examples())
        )
        if flops.total:
            types = ", ".join(f"{kind} {as_si(n)}" for kind, n in flops.by_type.items())
            rows["FLOPs of a replica's step"] = f"{as_si(flops.total)}FLOP ({types.strip()})"
            if peak.flops:
                rows["peak of its matrix units"] = f"{as_si(peak.flops)}FLOP/s"
        return rows


def _replica_shapes(
    program: Program, batch_shapes: list[list[int | None]] | None = None
) -> Iterator[tuple[str, list[int | None]]]:
    """Yields the shapes of one replica's batch.

    Args:
      program: the program.
      batch_shapes: the shapes of a drawn element, for dimensions that the graph does not know.
    """
    plan = program.plan
    replicas = 1 if plan.layout.elements else plan.replicas
    size = plan.examples // replicas if plan.examples else None
    if batch_shapes is None or len(batch_shapes) != len(program.inputs):
        batch_shapes = [[]] * len(program.inputs)
    for ref, sizes in zip(program.inputs, batch_shapes):
        if " " in ref:
            continue
        shape = program.graph.get_tensor_by_name(ref).shape
        if shape.rank is None:
            continue
        dims = shape.as_list()
        if len(sizes) == len(dims):
            first = [sizes[0] // replicas if sizes[0] else None] if sizes else []
            dims = [one if one is not None else two for one, two in zip(dims, first + sizes[1:])]
        if dims and dims[0] is None:
            dims[0] = size
        yield ref, dims


def _bytes_of(program: Program) -> int:
    """Returns the size of a step's batches, as far as their shapes are known."""
    replicas = program.plan.replicas

    def size(ref: str, dims: list[int | None]) -> int:
        dtype = program.graph.get_tensor_by_name(ref).dtype
        each = 64 if dtype == tf.string else max(dtype.size, 1)
        return math.prod(each_dim or 1 for each_dim in dims) * each

    return replicas * sum(size(ref, dims) for ref, dims in _replica_shapes(program))
