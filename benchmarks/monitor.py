"""Measures what `eb.training.Monitor` costs, and how well it finds an input's known delay.

    python -m benchmarks.monitor

The cost: a linear model on a batch of 8, whose step is about as short as a step can be. Trainings
with and without a monitor take turns, and processor time is compared, because wall time follows the
machine's other load. The monitor's own work is counted beside it. All of it concerns the later half
of a training: the first samples take up to half a second.

The share of waiting, against a truth of the same training: steps and inputs that sleep known times;
and an input that sleeps in some of the training's phases and not in the others.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_bridge as eb

__all__ = ["main"]

tf1 = tf.compat.v1


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> eb.EstimatorSpec:
    """A linear model; its step can be made longer by products of matrices, or by a sleep."""
    if params.get("sleep"):
        slowly = _after(lambda: params["sleep"])
        features = tf.ensure_shape(tf1.numpy_function(slowly, [features], tf.float32), [8, 4])
    prediction = tf1.layers.dense(features, 1)
    loss = tf.reduce_mean(tf.square(prediction[:, 0] - labels))
    if params.get("products"):
        matrix = tf1.get_variable("matrix", [params["size"]] * 2)
        product = matrix
        for _ in range(params["products"]):
            product = tf.matmul(product, matrix)
        loss += 1e-30 * tf.reduce_sum(product)
    step = tf1.train.get_or_create_global_step()
    train_op = tf1.train.GradientDescentOptimizer(1e-3).minimize(loss, step)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _after(secs: Callable[[], float]) -> Callable[[np.ndarray], np.ndarray]:
    """Returns the identity, after a sleep."""

    def slowly(value: np.ndarray) -> np.ndarray:
        time.sleep(secs())
        return value

    return slowly


def batches(secs: Callable[[], float] | None = None) -> Callable[[], tf.data.Dataset]:
    """Returns an input_fn that sleeps before each batch, and draws two batches ahead."""

    def input_fn() -> tf.data.Dataset:
        data = tf.data.Dataset.from_tensors((tf.ones([8, 4]), tf.ones([8]))).repeat()
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        if secs is None:
            return data.with_options(options)
        slowly = _after(secs)

        def with_sleep(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return x, tf.ensure_shape(tf.numpy_function(slowly, [y], tf.float32), [8])

        return data.map(with_sleep).prefetch(2).with_options(options)

    return input_fn


def train(input_fn: Callable[[], Any], steps: int, params: dict[str, Any], *hooks: Any) -> None:
    """Trains without checkpoints and summaries."""
    with tempfile.TemporaryDirectory() as folder:
        config = eb.RunConfig(folder, save_checkpoints_steps=None, save_checkpoints_secs=None,
                              save_summary_steps=None, log_step_count_steps=None)  # fmt: skip
        eb.Estimator(model_fn, config=config, params=params).train(
            input_fn, max_steps=steps, hooks=hooks
        )


class _Used(tf1.train.SessionRunHook):
    """Notes the processor time after each chunk; its chunks are those of a training without it."""

    def __init__(self) -> None:
        self.times: list[tuple[int, float]] = []

    def steps_until_due(self, step: int) -> float:
        del step
        return float("inf")

    def observe(self, step: int, *_: Any) -> None:
        self.times.append((step, time.process_time()))

    def secs_per_step(self) -> float:
        """Returns the processor time of a step in the later half of the training."""
        last = self.times[-1]
        first = next(one for one in self.times if one[0] >= 0.5 * last[0])
        return (last[1] - first[1]) / (last[0] - first[0])


class _OwnTime:
    """The processor time of the monitor's own work: its Python after a chunk, and its draws."""

    def __init__(self, monitor: eb.training.Monitor):
        self.reports = self.draws = 0.0
        monitor.observe = self._timed(monitor.observe, "reports")  # type: ignore[method-assign]
        attach = monitor.attach

        def attach_and_time(meter: Any) -> None:
            batches = meter._batches
            batches.draw = self._timed(batches.draw, "draws")
            attach(meter)

        monitor.attach = attach_and_time  # type: ignore[method-assign]

    def _timed(self, run: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            begun = time.process_time()
            try:
                return run(*given)
            finally:
                setattr(self, kind, getattr(self, kind) + time.process_time() - begun)

        return timed


def cost(steps: int, rounds: int) -> None:
    """Prints the processor time of the smallest step with and without a monitor, in turns."""
    ratios, alone, reports, draws = [], [], [], []
    for number in range(rounds):
        monitor = eb.training.Monitor(lambda report: None, lambda text: None)
        own = _OwnTime(monitor)
        found = {}
        for is_watched in (True, False) if number % 2 else (False, True):
            used = _Used()
            train(batches(), steps, {}, *([monitor, _Late(own)] if is_watched else []), used)
            found[is_watched] = used.secs_per_step()
            if is_watched:
                whole = used.secs_per_step() * steps / 2
                reports.append(own.reports / whole)
                draws.append(own.draws / whole)
        ratios.append(found[True] / found[False])
        alone.append(found[False])
    error = statistics.stdev(ratios) / len(ratios) ** 0.5 if rounds > 1 else math.nan
    print(
        f"smallest step: {1e6 * statistics.median(alone):.1f} us of processor time; with a monitor "
        f"{statistics.mean(ratios):.4f} of that (mean of {rounds} pairs, standard error "
        f"{error:.4f}; {min(ratios):.3f} to {max(ratios):.3f})\n"
        f"counted, of the processor time: reports {statistics.median(reports):.2%}, "
        f"drawing samples {statistics.median(draws):.2%}",
        flush=True,
    )


class _Late(tf1.train.SessionRunHook):
    """Counts the monitor's work in the later half of a training alone."""

    def __init__(self, own: _OwnTime):
        self._own, self._is_late = own, False

    def steps_until_due(self, step: int) -> float:
        del step
        return float("inf")

    def observe(self, step: int, total: int, *_: Any) -> None:
        if not self._is_late and step >= total / 2:
            self._is_late = True
            self._own.reports = self._own.draws = 0.0


def _show(kind: str, shares: list[tuple[float, float]]) -> None:
    """Prints measured and true shares of one training, and the difference of their medians."""
    found, wanted = (statistics.median(each) for each in zip(*shares))
    print(
        f"{kind}: waiting {found:6.1%}, in truth {wanted:6.1%}, difference "
        f"{100 * (found - wanted):+.1f} points (reports: "
        f"{min(each[0] for each in shares):.1%} to {max(each[0] for each in shares):.1%})",
        flush=True,
    )


def shares_of_sleeps(secs: float) -> None:
    """Prints the share of waiting if steps and input sleep: the difference of their times."""
    for step, source in ((0.01, 0.005), (0.01, 0.0125), (0.01, 0.02), (0.01, 0.05)):
        reports: list[eb.training.StepReport] = []
        monitor = eb.training.Monitor(reports.append, lambda text: None)
        steps = int(secs / max(step, source))
        train(batches(lambda value=source: value), steps, {"sleep": step}, monitor)
        waits = [one.use.input_wait for one in reports if one.use.input_wait is not None]
        truth = max(1 - step / source, 0.0)
        kind = f"step sleeps {1e3 * step:4.1f} ms, input {1e3 * source:4.1f} ms"
        _show(kind, [(wait, truth) for wait in waits])


class _Phases:
    """An input that sleeps in each second phase of a training, which gives the truth.

    Args:
      secs: the sleep.
    """

    LENGTH = 4  # reports, a second each

    def __init__(self, secs: float):
        self._secs, self._seen = secs, 0
        self._pace: dict[int, list[tuple[float, float | None]]] = {}

    def sleep(self) -> float:
        """Returns the time to sleep now."""
        return self._secs if self._seen // self.LENGTH % 2 else 0.0

    def __call__(self, report: eb.training.StepReport) -> None:
        # The first report of a phase covers chunks of both.
        if self._seen % self.LENGTH and report.steps_per_sec:
            kept = self._pace.setdefault(self._seen // self.LENGTH, [])
            kept.append((report.steps_per_sec, report.use.input_wait))
        self._seen += 1

    def shares(self) -> list[tuple[float, float]]:
        """Returns the measured share of each phase with sleeps, and that of the two paces."""
        found = []
        for number in range(1, max(self._pace), 2):
            around = [p for n in (number - 1, number + 1) for p, _ in self._pace.get(n, [])]
            paces, waits = zip(*self._pace.get(number, [(math.nan, None)]))
            known = [wait for wait in waits if wait is not None]
            if known and around:
                truth = 1 - statistics.median(paces) / statistics.median(around)
                found.append((statistics.median(known), max(truth, 0.0)))
        return found


def shares_of_phases(secs: float) -> None:
    """Prints the share of waiting of steps that compute, beside that of paces in turns."""
    params = {"size": 192, "products": 24}
    for sleep in (0.002, 0.01, 0.02, 0.04):
        phases = _Phases(sleep)
        monitor = eb.training.Monitor(phases, lambda text: None)
        train(batches(phases.sleep), int(secs * 70), params, monitor)
        _show(f"step computes, input sleeps {1e3 * sleep:4.1f} ms", phases.shares())


def main() -> None:
    """Runs the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400_000, help="steps of a training")
    parser.add_argument("--rounds", type=int, default=8, help="pairs of trainings")
    parser.add_argument("--only", choices=("sleeps", "phases", "cost"), help="measure this alone")
    parser.add_argument("--secs", type=float, default=15.0, help="time of a training with sleeps")
    given = parser.parse_args()
    tf1.logging.set_verbosity("ERROR")
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} CPUs", flush=True)
    parts = {
        "sleeps": lambda: shares_of_sleeps(given.secs),
        "phases": lambda: shares_of_phases(4 * given.secs),
        "cost": lambda: cost(given.steps, given.rounds),
    }
    for part in [given.only] if given.only else parts:
        parts[part]()


if __name__ == "__main__":
    main()
