"""The engine's step loop against a loop written by hand, both in this process, in turn.

    python -m benchmarks.step_loop [--rounds 9] [--seconds 1.0]

A round times each loop once, for about so many seconds; what counts is the ratio within a round,
as the machine's own speed changes from round to round.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import estimator_bridge as eb  # first: it selects Keras 2

import tensorflow as tf  # isort: skip

from benchmarks.models import MODELS, Model, dataset
from estimator_bridge.runtime import default_strategy
from estimator_bridge.training.execution import Execution
from estimator_bridge.training.initialize import initialize_session
from estimator_bridge.training.program import trace_program

__all__ = ["main"]


def engine_loop(model: Model):
    """The engine's loop, as Estimator.train runs it: steps -> None."""
    execution = Execution(default_strategy(), eb.RunConfig(model_dir="unused", tf_random_seed=1))
    program = trace_program(execution, model.model_fn, lambda: dataset(model), "train", {})
    with program.graph.as_default():
        program.scaffold.finalize()
        initialize_session(program.session, program.scaffold, None)
    loop = program.make_loop()
    iterator = iter(program.dataset())
    return lambda steps: loop(iterator, steps, limit=1 << 40)


def hand_loop(model: Model):
    """The loop written by hand: steps -> None."""
    loop, iterator = model.by_hand(), iter(dataset(model))
    return lambda steps: float(loop(iterator, tf.constant(steps)))


def measure(model: Model, rounds: int, seconds: float) -> list[tuple[float, float]]:
    """Steps a second of the engine and by hand, a pair a round."""
    loops = [engine_loop(model), hand_loop(model)]
    for loop in loops:
        loop(10)
    steps = max(100, int(seconds * _rate(loops[1], 200)))
    pairs = []
    for i in range(rounds):
        order = (0, 1) if i % 2 else (1, 0)  # whatever drifts, drifts for both
        rates = {index: _rate(loops[index], steps) for index in order}
        pairs.append((rates[0], rates[1]))
    return pairs


def _rate(loop, steps: int) -> float:
    start = time.perf_counter()
    loop(steps)
    return steps / (time.perf_counter() - start)


def main() -> None:
    """Prints a table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="how often each loop is timed")
    parser.add_argument("--seconds", type=float, default=1.0, help="about how long a timing takes")
    args = parser.parse_args()
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} CPUs, {args.rounds} rounds")
    print(f"{'model':28}{'engine':>10}{'by hand':>10}   engine / by hand: median (min to max)")
    for model in MODELS:
        pairs = measure(model, args.rounds, args.seconds)
        ratios = sorted(engine / hand for engine, hand in pairs)
        engine, hand = (statistics.median(column) for column in zip(*pairs))
        print(
            f"{model.name:28}{engine:>8.0f}/s{hand:>8.0f}/s   {statistics.median(ratios):.3f} "
            f"({ratios[0]:.3f} to {ratios[-1]:.3f})"
        )


if __name__ == "__main__":
    main()
