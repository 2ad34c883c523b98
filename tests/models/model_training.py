"""Trains a model of models/ as train.py does, on emulated cores or as a plain Estimator."""

from __future__ import annotations

import importlib

import numpy as np
from absl import flags as absl_flags

import estimator_bridge as eb
import flags
from models.mnist.dataset import examples, open_data
from models.registry import define_model_flags, entry_of, settle
from models.task import InputRequest


def flags_of(model, *arguments):
    """Flag values as train.py gets them."""
    values = absl_flags.FlagValues()
    flags.define_flags(values, paths={"data_dir": "runs/data"})
    define_model_flags(values)
    values(["train.py", f"--model={model}", *arguments])
    settle(values)
    return values


def open_task(values):
    entry = entry_of(values.model)
    entry.check(values)
    return importlib.import_module(entry.task).open_task(values)


def digits_as_bytes(data_dir, count):
    """The first test digits in the order of their records: uint8 [count, 8, 8], and labels."""
    images, labels = examples(open_data(str(data_dir)), "test", count)
    return np.rint(images * 255).astype(np.uint8), labels


class Trained:
    """A model that was trained for the test, with what it is asked about.

    Args:
        task: the task.
        values: the flags.
        model_dir: its folder.
        cores: the number of emulated cores; 0: a plain Estimator.
    """

    def __init__(self, task, values, model_dir, cores):
        self.task, self.values = task, values
        params = {
            **task.params,
            "learning_rate": values.learning_rate,
            "train_steps": values.train_steps,
            "warmup_steps": values.warmup_steps,
        }
        if cores:
            self.estimator = eb.tpu.TPUEstimator(
                task.model.tpu_model_fn,
                config=eb.tpu.RunConfig(
                    model_dir=str(model_dir),
                    tf_random_seed=1,
                    cluster=eb.tpu.TPUClusterResolver(f"emulated:{cores}"),
                    tpu_config=eb.tpu.TPUConfig(iterations_per_loop=values.train_steps),
                ),
                params=params,
                train_batch_size=values.train_batch_size,
                eval_batch_size=values.eval_batch_size,
                predict_batch_size=values.predict_batch_size,
                warm_start_from=task.warm_start,
            )
        else:
            self.estimator = eb.Estimator(
                task.model.model_fn,
                config=eb.RunConfig(model_dir=str(model_dir), tf_random_seed=1),
                params=params,
                warm_start_from=task.warm_start,
            )

    def _input(self, split, training, first=None):
        size = self.values.train_batch_size if training else self.values.eval_batch_size
        return self.task.data.input_fn(InputRequest(split, training, size, 1, first))

    def train(self):
        self.estimator.train(self._input("train", True), max_steps=self.values.train_steps)
        return self

    def evaluate(self):
        return self.estimator.evaluate(self._input("test", False))

    def predict(self, first=None):
        return list(self.estimator.predict(self._input("test", False, first)))
