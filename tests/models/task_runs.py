"""Runs of the models of train.py within a test's process: from flags to an estimator."""

from __future__ import annotations

import numpy as np
from absl import flags as absl_flags

import flags
import models.common.task
from models.common.estimators import build_estimator
from models.common.registry import define_model_flags, entry_of, settle
from models.common.task import InputRequest
from models.mnist.dataset import examples, open_data


def parsed(*arguments):
    """Returns the flags of a command line of train.py."""
    values = absl_flags.FlagValues()
    flags.define_flags(values, paths={"data_dir": "runs/data"})
    define_model_flags(values)
    flags.parse_flags(["train.py", *arguments], values, settle)
    return values


def open_task(values):
    """Opens the task of a model's flags."""
    entry_of(values.model).check(values)
    return models.common.task.open_task(values)


def digits_as_bytes(data_dir, count):
    """The first test digits in the order of their records: uint8 [count, 8, 8], and labels."""
    images, labels = examples(open_data(str(data_dir)), "test", count)
    return np.rint(images * 255).astype(np.uint8), labels


def params_of(values, task):
    """The params that the main job gives to a task's model."""
    names = ("learning_rate", "train_steps", "warmup_steps")
    return {**task.params, **{name: values[name].value for name in names}}


class TaskRun:
    """A model with its task, its data and its estimator."""

    def __init__(self, *arguments):
        self.flags = parsed(*arguments)
        self.task = open_task(self.flags)
        self.estimator = build_estimator(
            self.task,
            self.flags,
            flags.choose_accelerator(self.flags, lambda: False),
            model_dir=self.flags.model_dir,
            params=params_of(self.flags, self.task),
            report=lambda report: None,
        )

    def train(self, hooks=()):
        request = InputRequest(
            "train", True, self.flags.train_batch_size, self.flags.tf_random_seed
        )
        self.estimator.train(self.input_fn(request), max_steps=self.flags.train_steps, hooks=hooks)
        return self

    def evaluate(self):
        return self.estimator.evaluate(
            self.input_fn(InputRequest("test", False, self.flags.eval_batch_size))
        )

    def input_fn(self, request):
        return self.task.data.input_fn(request)

    def predict(self, first=None):
        request = InputRequest("test", False, self.flags.predict_batch_size, first=first)
        return list(self.estimator.predict(self.input_fn(request)))
