"""Measures what `eb.training.Monitor` costs, and how well it finds an input's known delay.

    python -m benchmarks.monitor

The cost: a linear model on a batch of 8, whose step is about as short as a step can be; trainings
with and without a monitor take turns. The share of waiting: an input that sleeps before each batch,
without and with a buffer, against a step of known pace.
"""

from __future__ import annotations

import argparse
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
    """A linear model, and products of matrices to make its step longer."""
    prediction = tf1.layers.dense(features, 1)
    loss = tf.reduce_mean(tf.square(prediction[:, 0] - labels))
    size = params["size"]
    if size:
        matrix = tf1.get_variable("matrix", [size, size])
        product = matrix
        for _ in range(params["products"]):
            product = tf.matmul(product, matrix)
        loss += 1e-30 * tf.reduce_sum(product)
    step = tf1.train.get_or_create_global_step()
    train_op = tf1.train.GradientDescentOptimizer(1e-3).minimize(loss, step)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def batches(sleep: float, buffer: int) -> Callable[[], tf.data.Dataset]:
    """Returns an input_fn that sleeps before each batch."""

    def slowly(value: np.ndarray) -> np.ndarray:
        time.sleep(sleep)
        return value

    def input_fn() -> tf.data.Dataset:
        data = tf.data.Dataset.from_tensors((tf.ones([8, 4]), tf.ones([8]))).repeat()
        if sleep:
            data = data.map(
                lambda x, y: (x, tf.ensure_shape(tf.numpy_function(slowly, [y], tf.float32), [8]))
            )
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        return (data.prefetch(buffer) if buffer else data).with_options(options)

    return input_fn


class _Pace(tf1.train.SessionRunHook):
    """Notes the time after each chunk; its chunks are those of a training without it."""

    def __init__(self) -> None:
        self.times: list[tuple[int, float]] = []

    def steps_until_due(self, step: int) -> float:
        del step
        return float("inf")

    def observe(self, step: int, *_: Any) -> None:
        self.times.append((step, time.perf_counter()))

    def steps_per_sec(self, after: float) -> float:
        """Returns the pace from this share of the steps on."""
        last = self.times[-1]
        first = next(one for one in self.times if one[0] >= after * last[0])
        return (last[0] - first[0]) / (last[1] - first[1])


def train(input_fn: Callable[[], Any], steps: int, params: dict[str, Any], *hooks: Any) -> float:
    """Returns the steps per second of the later half of a training."""
    pace = _Pace()
    with tempfile.TemporaryDirectory() as folder:
        config = eb.RunConfig(folder, save_checkpoints_steps=None, save_checkpoints_secs=None,
                              save_summary_steps=None, log_step_count_steps=None)  # fmt: skip
        eb.Estimator(model_fn, config=config, params=params).train(
            input_fn, max_steps=steps, hooks=[*hooks, pace]
        )
    return pace.steps_per_sec(0.5)


def cost(steps: int, rounds: int) -> None:
    """Prints the pace of the smallest step with and without a monitor, in turns."""
    params, ratios, paces = {"size": 0}, [], []
    for number in range(rounds):
        monitors = [eb.training.Monitor(lambda report: None, lambda text: None)]
        pair = [lambda: train(batches(0, 0), steps, params),
                lambda m=monitors: train(batches(0, 0), steps, params, *m)]  # fmt: skip
        order = (0, 1) if number % 2 else (1, 0)
        found = {which: pair[which]() for which in order}
        ratios.append(found[1] / found[0])
        paces.append(found[0])
    print(
        f"smallest step: {statistics.median(paces):,.0f} steps/s; with a monitor "
        f"{statistics.median(ratios):.4f} of that (median of {rounds}, "
        f"{min(ratios):.3f} to {max(ratios):.3f})",
        flush=True,
    )


def shares() -> None:
    """Prints the measured share of waiting beside the one that follows from the paces."""
    params = {"size": 192, "products": 24}
    for sleep, buffer in ((0.0, 2), (0.002, 2), (0.005, 2), (0.01, 2), (0.02, 2)):
        steps = 1500 if not sleep else int(8 / max(sleep, 0.004))
        alone = train(batches(0, 2), 1500, params)
        reports: list[eb.training.StepReport] = []
        monitor = eb.training.Monitor(reports.append, lambda text: None, 1.0)
        pace = train(batches(sleep, buffer), steps, params, monitor)
        waits = [r.use.input_wait for r in reports if r.use.input_wait is not None]
        found = statistics.median(waits[len(waits) // 2 :])
        wanted = max(1 - pace / alone, 0.0)
        print(
            f"sleep {1e3 * sleep:4.0f} ms, step {1e3 / alone:5.2f} ms: waiting {found:6.1%}, "
            f"from the paces {wanted:6.1%}, difference {100 * (found - wanted):+.1f} points",
            flush=True,
        )


def main() -> None:
    """Runs the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="steps of a training")
    parser.add_argument("--rounds", type=int, default=6, help="pairs of trainings")
    given = parser.parse_args()
    tf1.logging.set_verbosity("ERROR")
    shares()
    cost(given.steps, given.rounds)


if __name__ == "__main__":
    main()
