"""Measures emulated cores: examples a second on 1, 2, 4 and 8 cores, at one global batch.

    python -m benchmarks.emulation_price [--rounds 9] [--seconds 1.0] [--batch 1024]

The same conv net is trained by ``TPUEstimator``'s own loop on each number of emulated cores, in
one process. A round times each of them once. The result is the ratio to one core within a round,
because the machine's speed changes from round to round. The ratio of processor time compares the
work done, independent of other load.

The batch is typical of a TPU, 128 examples for each of eight cores. A small one would measure the
fixed cost of TensorFlow's CPU kernels.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

import estimator_bridge as eb  # first: it selects Keras 2

import tensorflow as tf  # isort: skip

from estimator_bridge.training.initialize import initialize_session
from estimator_bridge.training.trace_program import trace_program

__all__ = ["main"]

_v1 = tf.compat.v1
CORES = (1, 2, 4, 8)
WANTED = 0.9  # of one core's examples a second, on eight
_SHAPE, _CLASSES = (16, 16, 1), 10


def model_fn(features, labels, mode, params):
    """The model_fn of ``benchmarks.models``' conv net in a TPU program."""
    del params
    x = _v1.layers.conv2d(features, 16, 3, padding="same", activation=tf.nn.relu)
    x = _v1.layers.max_pooling2d(x, 2, 2)
    x = _v1.layers.conv2d(x, 32, 3, padding="same", activation=tf.nn.relu)
    x = _v1.layers.flatten(_v1.layers.max_pooling2d(x, 2, 2))
    loss = _v1.losses.sparse_softmax_cross_entropy(labels, _v1.layers.dense(x, _CLASSES))
    optimizer = eb.tpu.CrossShardOptimizer(_v1.train.MomentumOptimizer(0.01, 0.9))
    train_op = optimizer.minimize(loss, _v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    """Returns endless batches of fixed shape."""
    rng = np.random.RandomState(0)
    features = rng.rand(1024, *_SHAPE).astype(np.float32)
    examples = tf.data.Dataset.from_tensor_slices((features, rng.randint(0, _CLASSES, 1024)))
    return examples.repeat().batch(params["batch_size"], drop_remainder=True)


def loop_on(cores: int, batch: int) -> Callable[[int], object]:
    """Returns the training loop on a number of emulated cores, which runs steps."""
    config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir="unused", tf_random_seed=1)
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=batch)
    execution = estimator._execution(eb.ModeKeys.TRAIN)
    program = trace_program(execution, model_fn, input_fn, eb.ModeKeys.TRAIN, {})
    with program.graph.as_default():
        program.scaffold.finalize()
        initialize_session(program.session, program.scaffold, None)
    loop = program.make_loop()
    iterator = iter(program.dataset())
    return lambda steps: loop(iterator, steps, limit=1 << 40)


def measure(batch: int, rounds: int, seconds: float) -> list[dict[int, tuple[float, float]]]:
    """Returns examples per second of wall and of processor time, by cores; a dict a round."""
    loops = {cores: loop_on(cores, batch) for cores in CORES}
    for loop in loops.values():
        loop(10)
    steps = max(5, int(seconds * _rates(loops[1], 10)[0]))
    rates_by_round = []
    for i in range(rounds):
        order = CORES if i % 2 else CORES[::-1]  # any drift affects all
        rates = {cores: _rates(loops[cores], steps) for cores in order}
        rates_by_round.append(
            {cores: (batch * wall, batch * work) for cores, (wall, work) in rates.items()}
        )
    return rates_by_round


def _rates(loop: Callable[[int], object], steps: int) -> tuple[float, float]:
    """Returns steps per second, of wall and of processor time."""
    start, cpu_start = time.perf_counter(), time.process_time()
    loop(steps)
    return steps / (time.perf_counter() - start), steps / (time.process_time() - cpu_start)


def main() -> None:
    """Prints a table of ratios to one core."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="how often each is timed")
    parser.add_argument("--seconds", type=float, default=1.0, help="about how long a timing takes")
    parser.add_argument("--batch", type=int, default=1024, help="the global batch")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", message=r"`tf\.layers")  # that they are deprecated
    eb.runtime.emulate_cores(max(CORES))
    print(
        f"TensorFlow {tf.__version__}, {os.cpu_count()} CPUs, {args.rounds} rounds, "
        f"conv net 16x16, global batch {args.batch}"
    )
    print(f"{'cores':>5}{'examples/s':>12}   of one core's: median (min to max), of processor time")
    rounds = measure(args.batch, args.rounds, args.seconds)
    for cores in CORES:
        wall, work = (sorted(r[cores][k] / r[1][k] for r in rounds) for k in (0, 1))
        rate = statistics.median(r[cores][0] for r in rounds)
        print(
            f"{cores:>5}{rate:>12.0f}   {statistics.median(wall):.3f} "
            f"({wall[0]:.3f} to {wall[-1]:.3f}), {statistics.median(work):.3f}"
        )
    print(f"wanted of {max(CORES)} cores: {WANTED}")


if __name__ == "__main__":
    main()
