"""Measures what `eb.training.Monitor` costs, and how well it finds an input's known delay.

    python -m benchmarks.monitor

The cost: a linear model on a batch of 8, whose step is about as short as a step can be. In one
training, blocks of steps with and without the monitor take turns in a random order. Processor time
is compared, because wall time follows the machine's other load, and a third kind of block, without
the monitor again, shows what chance alone does. The monitor's own work is also counted. The first
samples, which take up to half a second, are left out.

The share of waiting, against a truth of the same training: steps and inputs that sleep known times;
and an input that sleeps in some of the training's phases and not in the others.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.training.own_hooks import ObservingHook

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


class _Switch(ObservingHook):
    """Switches a monitor on and off between blocks of steps of one training, and times the blocks.

    While it is off, steps run in the loop without the monitor, which is not called, and its clock
    stands still. So the blocks with it are those of a training that is always monitored.

    Args:
      block: the number of steps of a block.
      rounds: the number of rounds; each has one block of each kind, in a random order.
    """

    KINDS = ("on", "off", "off again")  # the third shows what chance alone does
    WARM_STEPS = 200_000  # on: the first samples, which may take half a second

    def __init__(self, block: int, rounds: int):
        self.block = block
        orders = (random.sample(self.KINDS, len(self.KINDS)) for _ in range(rounds))
        self._warm_blocks = math.ceil(self.WARM_STEPS / block)
        self._kinds = ["on"] * self._warm_blocks + [kind for order in orders for kind in order]
        self.steps = block * len(self._kinds)
        self.secs: dict[str, list[float]] = {kind: [] for kind in self.KINDS}
        self.events = {"reports": 0.0, "draws": 0.0}
        self._number, self._on_secs, self._since, self._cpu_secs = 0, 0.0, time.perf_counter(), 0.0
        self.monitor = eb.training.Monitor(lambda report: None, lambda text: None, clock=self.clock)
        self._observe, self._attach = self.monitor.observe, self.monitor.attach
        self.monitor.observe = self._observe_if_on  # type: ignore[method-assign]
        self.monitor.attach = self._attach_switch  # type: ignore[method-assign]

    @property
    def is_on(self) -> bool:
        """True if the monitor is on."""
        return self._number >= len(self._kinds) or self._kinds[self._number] == "on"

    def clock(self) -> float:
        """Returns the time for which the monitor was on."""
        return self._on_secs + (time.perf_counter() - self._since if self.is_on else 0.0)

    def steps_until_due(self, step: int) -> float:
        """Ends a call of the compiled loop at the end of a block."""
        return self.block - step % self.block

    def observe(self, step: int, *_: Any) -> None:
        """Ends a block; called after the monitor."""
        if step % self.block:
            return
        cpu_secs, last = time.process_time(), self._cpu_secs
        if self._number >= self._warm_blocks:
            self.secs[self._kinds[self._number]].append((cpu_secs - last) / self.block)
        elif self._number == self._warm_blocks - 1:
            self.events = dict.fromkeys(self.events, 0.0)
        self._on_secs, self._since = self.clock(), time.perf_counter()
        self._number += 1
        self._cpu_secs = time.process_time()

    def _attach_switch(self, meter: Any) -> None:
        make_loop, wait = meter.make_loop, meter._wait
        wait.clock, wait._start_time = self.clock, self.clock()
        meter._batches.draw = self._with_count(meter._batches.draw, "draws")
        meter.make_loop = lambda *arguments, **options: _SwitchedLoop(
            make_loop(*arguments, **options), lambda: self.is_on
        )
        self._attach(meter)

    def _observe_if_on(self, *arguments: Any) -> None:
        if self.is_on:
            self._with_count(self._observe, "reports")(*arguments)

    def _with_count(self, run: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def count_time(*arguments: Any) -> Any:
            start_time = time.process_time()
            try:
                return run(*arguments)
            finally:
                self.events[kind] += time.process_time() - start_time

        return count_time


class _SwitchedLoop:
    """A monitored loop, or the loop below it."""

    def __init__(self, loop: Any, is_on: Callable[[], bool]):
        self._measured, self._is_on = loop, is_on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._measured, name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        loop = self._measured if self._is_on() else self._measured._loop
        return loop(*arguments, **options)


def cost(block: int, rounds: int) -> None:
    """Prints the processor time of the smallest step with the monitor on and off, in one training.

    Args:
      block: the number of steps of a block.
      rounds: the number of rounds.
    """
    random.seed(0)
    switch = _Switch(block, rounds)
    train(batches(), switch.steps, {}, switch.monitor, switch)
    secs = {kind: np.array(values) for kind, values in switch.secs.items()}
    off = (secs["off"] + secs["off again"]) / 2
    print(f"smallest step: {1e6 * np.median(off):.1f} us of processor time; {rounds} rounds")
    _show_difference("monitor on, beside off", secs["on"] / off - 1)
    _show_difference("off, beside off again", secs["off"] / secs["off again"] - 1)
    total_secs = secs["on"].sum() * block
    print(
        "counted, of the processor time: "
        f"reports {switch.events['reports'] / total_secs:.2%}, "
        f"drawing samples {switch.events['draws'] / total_secs:.2%}",
        flush=True,
    )


def _show_difference(kind: str, differences: np.ndarray) -> None:
    """Prints the median of paired differences with a bootstrap interval of 95 %.

    Means would follow the blocks during which the system ran something else.
    """
    resampled = np.random.RandomState(0).choice(differences, (4000, len(differences)))
    low, high = np.percentile(np.median(resampled, axis=1), [2.5, 97.5])
    print(f"{kind}: median {np.median(differences):+.2%} ({low:+.2%} to {high:+.2%})", flush=True)


def _show(kind: str, shares: list[tuple[float, float]]) -> None:
    """Prints measured and true shares of one training, and the difference of their medians."""
    waiting_share, true_share = (statistics.median(each) for each in zip(*shares))
    print(
        f"{kind}: waiting {waiting_share:6.1%}, in truth {true_share:6.1%}, difference "
        f"{100 * (waiting_share - true_share):+.1f} points (reports: "
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
        self._secs, self._count = secs, 0
        self._pace: dict[int, list[tuple[float, float | None]]] = {}

    def sleep(self) -> float:
        """Returns the time to sleep now."""
        return self._secs if self._count // self.LENGTH % 2 else 0.0

    def __call__(self, report: eb.training.StepReport) -> None:
        # The first report of a phase covers chunks of both.
        if self._count % self.LENGTH and report.steps_per_sec:
            reports = self._pace.setdefault(self._count // self.LENGTH, [])
            reports.append((report.steps_per_sec, report.use.input_wait))
        self._count += 1

    def shares(self) -> list[tuple[float, float]]:
        """Returns the measured share of each phase with sleeps, and that of the two paces."""
        shares = []
        for number in range(1, max(self._pace), 2):
            around = [p for n in (number - 1, number + 1) for p, _ in self._pace.get(n, [])]
            paces, waits = zip(*self._pace.get(number, [(math.nan, None)]))
            measured_waits = [wait for wait in waits if wait is not None]
            if measured_waits and around:
                truth = 1 - statistics.median(paces) / statistics.median(around)
                shares.append((statistics.median(measured_waits), max(truth, 0.0)))
        return shares


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
    parser.add_argument("--block", type=int, default=1000, help="steps of a block, for the cost")
    parser.add_argument("--rounds", type=int, default=800, help="rounds of blocks, for the cost")
    parser.add_argument("--only", choices=("sleeps", "phases", "cost"), help="measure this alone")
    parser.add_argument("--secs", type=float, default=15.0, help="time of a training with sleeps")
    options = parser.parse_args()
    tf1.logging.set_verbosity("ERROR")
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} CPUs", flush=True)
    parts = {
        "sleeps": lambda: shares_of_sleeps(options.secs),
        "phases": lambda: shares_of_phases(4 * options.secs),
        "cost": lambda: cost(options.block, options.rounds),
    }
    for part in [options.only] if options.only else parts:
        parts[part]()


if __name__ == "__main__":
    main()
