"""Runs of the models of train.py within a test's process: from flags to an estimator."""

from __future__ import annotations

from absl import flags as absl_flags

import flags
from models.estimators import build_estimator
from models.registry import define_model_flags, entry_of, settle
from models.task import InputRequest


def parsed(*arguments):
    """Returns the flags of a command line of train.py."""
    found = absl_flags.FlagValues()
    flags.define_flags(found, paths={"data_dir": "runs/data"})
    define_model_flags(found)
    flags.parse_flags(["train.py", *arguments], found, settle)
    return found


class TaskRun:
    """A model with its task, its data and its estimator."""

    def __init__(self, *arguments, **changed_params):
        self.flags = parsed(*arguments)
        entry = entry_of(self.flags.model)
        entry.check(self.flags)
        self.task = __import__(entry.task, fromlist=["open_task"]).open_task(self.flags)
        self.estimator = build_estimator(
            self.task,
            self.flags,
            flags.choose_accelerator(self.flags, lambda: False),
            model_dir=self.flags.model_dir,
            params={
                **self.task.params,
                "learning_rate": self.flags.learning_rate,
                "train_steps": self.flags.train_steps,
                "warmup_steps": self.flags.warmup_steps,
                **changed_params,
            },
            report=lambda report: None,
        )

    def train(self, hooks=()):
        request = InputRequest(
            "train", True, self.flags.train_batch_size, self.flags.tf_random_seed
        )
        self.estimator.train(self.input_fn(request), max_steps=self.flags.train_steps, hooks=hooks)

    def evaluate(self):
        return self.estimator.evaluate(
            self.input_fn(InputRequest("test", False, self.flags.eval_batch_size))
        )

    def input_fn(self, request):
        return self.task.data.input_fn(request)
