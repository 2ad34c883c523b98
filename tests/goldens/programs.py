"""Five small programs in TF1 style, each written once for both estimators.

The estimator module is an argument: ``tf.compat.v1.estimator`` of TF 2.15 when the golden files are
made, ``estimator_bridge`` when they are compared. Nothing is left to chance: the data come from a
seeded numpy generator and are never shuffled, the graph's seed is ``GRAPH_SEED``, and each random
op has an op seed of its own.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, NamedTuple

import model_fns
import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "GRAPH_SEED",
    "PROGRAMS",
    "RESUME_SETTINGS",
    "SCRATCH_STEPS",
    "TRAIN_STEPS",
    "Program",
    "build",
]

GRAPH_SEED = 2024
SCRATCH_STEPS = 3  # from nothing to the golden checkpoint
TRAIN_STEPS = 10  # from the golden checkpoint on
TRAIN_EXAMPLES = 60
TEST_EXAMPLES = 22  # no multiple of either batch size: the last batch is short
BATCH = 6
TPU_EVAL_BATCH = 8
# How the 10 steps are run: checkpoints at 3, 7, 11 and 13 of which the last three stay, and
# summaries often enough that a short run writes some.
RESUME_SETTINGS = {
    "save_checkpoints_steps": 4,
    "keep_checkpoint_max": 3,
    "save_summary_steps": 5,
    "log_step_count_steps": 5,
}


# The data: (features, labels) of `count` examples, from one seed.


def _vectors(count: int, seed: int):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 8]).astype(np.float32)
    noise = random.normal(size=[count])
    return {"x": x}, (x[:, 0] - x[:, 1] + 0.5 * noise > 0).astype(np.int64)


def _images(count: int, seed: int):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 3, size=[count]).astype(np.int64)
    x = random.normal(size=[count, 6, 6, 1]).astype(np.float32)
    x[np.arange(count), 2 * labels, :, 0] += 1.0  # a bright line in a row of its own
    return x, labels


def _tokens(count: int, seed: int):
    random = np.random.RandomState(seed)
    ids = random.randint(0, 11, size=[count, 5]).astype(np.int32)
    x = random.normal(size=[count, 3]).astype(np.float32)
    return {"ids": ids, "x": x}, np.digitize(ids.sum(axis=1), [20, 30]).astype(np.int64)


class Program(NamedTuple):
    """A model_fn's maker, the data that it learns from, and how it is run."""

    make_model_fn: Callable[[ModuleType, list[float]], model_fns.ModelFn]
    make_data: Callable[[int, int], Any]
    tpu: bool = False
    is_random: bool = False  # whether its steps draw random numbers

    def train_input(self, params):
        """Batches without end, always in the same order; features and labels."""
        data = tf.data.Dataset.from_tensor_slices(self.make_data(TRAIN_EXAMPLES, 1))
        return data.repeat().batch(params["batch_size"], drop_remainder=True)

    def uninterrupted_input(self, params):
        """The batches of a run of SCRATCH_STEPS and then of one that goes on from it."""
        data = self.train_input(params)
        return data.take(SCRATCH_STEPS).concatenate(data)

    def test_input(self, params):
        """Every test example once, the last batch short; features and labels."""
        data = tf.data.Dataset.from_tensor_slices(self.make_data(TEST_EXAMPLES, 2))
        return data.batch(params["batch_size"])

    def predict_input(self, params):
        """The test examples without their labels."""
        data = tf.data.Dataset.from_tensor_slices(self.make_data(TEST_EXAMPLES, 2)[0])
        return data.batch(params["batch_size"])


PROGRAMS = {
    "mlp": Program(model_fns.mlp, _vectors),
    "conv": Program(model_fns.conv, _images),
    "handwritten": Program(model_fns.handwritten, _tokens),
    "dropout": Program(model_fns.dropout, _vectors, is_random=True),
    "mlp_tpu": Program(model_fns.mlp_tpu, _vectors, tpu=True),
}


def build(
    name: str,
    est: ModuleType,
    model_dir: str,
    losses: list[float],
    ordered_step: bool = True,
    **settings: Any,
):
    """Makes one program's estimator.

    Args:
        name: A key of ``PROGRAMS``.
        est: The estimator module: TF 2.15's ``tf.compat.v1.estimator``, or ``estimator_bridge``.
        model_dir: Where the estimator keeps its files.
        losses: A list to which each training step appends its loss.
        ordered_step: See ``model_fns._handwritten_train_op``; the other programs do not read it.
        **settings: Passed on to ``RunConfig``.

    Returns:
        An ``Estimator``, or for a TPU program a ``TPUEstimator`` with ``use_tpu=False``.
    """
    program = PROGRAMS[name]
    model_fn = program.make_model_fn(est, losses)
    if program.tpu:
        return est.tpu.TPUEstimator(
            model_fn,
            config=est.tpu.RunConfig(
                tpu_config=est.tpu.TPUConfig(iterations_per_loop=2),
                model_dir=model_dir,
                tf_random_seed=GRAPH_SEED,
                **settings,
            ),
            use_tpu=False,
            train_batch_size=BATCH,
            eval_batch_size=TPU_EVAL_BATCH,
            predict_batch_size=TPU_EVAL_BATCH,
        )
    return est.Estimator(
        model_fn,
        config=est.RunConfig(model_dir=model_dir, tf_random_seed=GRAPH_SEED, **settings),
        params={"batch_size": BATCH, "ordered_step": ordered_step},
    )
