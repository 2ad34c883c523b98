"""Measures one model on emulated cores three ways: TPUEstimator, Keras's fit and a custom loop.

    python -m benchmarks.keras_on_cores [--rounds 7] [--steps 60] [--cores 8] [--batch 1024]

The model is an `eb.Model`; the batches, the cores and the steps in one compiled call are the same.
A round times each way once, in turn. The result is the ratio to the estimator's examples a second
within a round, because the machine's speed changes from round to round, and the ratio of processor
time, which is independent of other load.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

import estimator_bridge as eb  # first: it selects Keras 2

import tensorflow as tf  # isort: skip
import tf_keras

from estimator_bridge.training.initialize import initialize_session
from estimator_bridge.training.trace_program import trace_program

__all__ = ["main"]

_v1 = tf.compat.v1
_SHAPE, _CLASSES = (16, 16, 1), 10


def _inference(features):
    net = tf_keras.layers.Conv2D(16, 3, padding="same", activation="relu")(features)
    net = tf_keras.layers.MaxPool2D()(net)
    net = tf_keras.layers.Conv2D(32, 3, padding="same", activation="relu")(net)
    net = tf_keras.layers.Flatten()(tf_keras.layers.MaxPool2D()(net))
    return tf_keras.layers.Dense(_CLASSES)(net)


def _loss(labels, outputs):
    return _v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def _optimizer():
    return _v1.train.MomentumOptimizer(0.01, 0.9)


MODEL = eb.Model(_inference, _loss, optimizer=_optimizer)


def dataset(batch: int) -> tf.data.Dataset:
    """Returns endless batches of fixed shape."""
    rng = np.random.RandomState(0)
    features = rng.rand(1024, *_SHAPE).astype(np.float32)
    examples = tf.data.Dataset.from_tensor_slices((features, rng.randint(0, _CLASSES, 1024)))
    return examples.repeat().batch(batch, drop_remainder=True)


def estimator_loop(cores: int, batch: int) -> Callable[[int], object]:
    """Returns the training loop of a TPUEstimator, which runs steps."""
    config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir="unused", tf_random_seed=1)
    estimator = eb.tpu.TPUEstimator(MODEL.tpu_model_fn, config=config, train_batch_size=batch)
    program = trace_program(
        estimator._execution(eb.ModeKeys.TRAIN),
        MODEL.tpu_model_fn,
        lambda params: dataset(params["batch_size"]),
        eb.ModeKeys.TRAIN,
        {},
    )
    with program.graph.as_default():
        program.scaffold.finalize()
        initialize_session(program.session, program.scaffold, None)
    loop = program.make_loop()
    iterator = iter(program.dataset())
    return lambda steps: loop(iterator, steps, limit=1 << 40)


def keras_fit(
    strategy: tf.distribute.Strategy, batch: int, steps_per_call: int
) -> Callable[[int], object]:
    """Returns a call of model.fit, which runs steps; its own work around a call is included."""
    data = dataset(batch)
    with strategy.scope():
        keras = MODEL.keras_model(data, steps_per_execution=steps_per_call)
    return lambda steps: keras.fit(data, steps_per_epoch=steps, verbose=0)


def custom_loop(strategy: tf.distribute.Strategy, batch: int) -> Callable[[int], object]:
    """Returns a compiled loop of strategy.run, which runs steps."""
    data = dataset(batch)
    with strategy.scope():
        keras = MODEL.keras_model(data)
    iterator = iter(strategy.experimental_distribute_dataset(data))

    @tf.function
    def train(batches, steps):
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            losses = strategy.run(keras.replica_step, args=next(batches))
            loss = strategy.reduce("MEAN", losses, axis=None)
        return loss

    return lambda steps: float(train(iterator, tf.constant(steps)))


def _rates(run: Callable[[int], object], steps: int) -> tuple[float, float]:
    """Returns steps per second, of wall and of processor time."""
    start, cpu_start = time.perf_counter(), time.process_time()
    run(steps)
    return steps / (time.perf_counter() - start), steps / (time.process_time() - cpu_start)


def main() -> None:
    """Prints a table of ratios to the estimator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often each is timed")
    parser.add_argument("--steps", type=int, default=60, help="steps of a timing")
    parser.add_argument("--cores", type=int, default=8, help="emulated cores")
    parser.add_argument("--batch", type=int, default=1024, help="the global batch")
    args = parser.parse_args()
    eb.runtime.emulate_cores(args.cores)
    resolver = eb.tpu.TPUClusterResolver(f"emulated:{args.cores}")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    ways = {
        "TPUEstimator": estimator_loop(args.cores, args.batch),
        "Keras fit": keras_fit(strategy, args.batch, args.steps),
        "custom loop": custom_loop(strategy, args.batch),
    }
    for run in ways.values():
        run(args.steps)
    rounds = []
    for i in range(args.rounds):
        order = list(ways) if i % 2 else list(ways)[::-1]  # any drift affects all
        rounds.append({name: _rates(ways[name], args.steps) for name in order})
    print(
        f"TensorFlow {tf.__version__}, {os.cpu_count()} CPUs, {args.cores} emulated cores, "
        f"{args.rounds} rounds of {args.steps} steps, conv net 16x16, global batch {args.batch}"
    )
    print(f"{'':<14}{'examples/s':>12}   of TPUEstimator's: median (min to max), of processor time")
    for name in ways:
        wall, work = (
            sorted(each[name][k] / each["TPUEstimator"][k] for each in rounds) for k in (0, 1)
        )
        rate = args.batch * statistics.median(each[name][0] for each in rounds)
        print(
            f"{name:<14}{rate:>12.0f}   {statistics.median(wall):.3f} "
            f"({wall[0]:.3f} to {wall[-1]:.3f}), {statistics.median(work):.3f}"
        )


if __name__ == "__main__":
    main()
