"""BERT as a task: pretraining on texts, or classification of labeled ones."""

from __future__ import annotations

from absl import flags as absl_flags

from models.bert.classification import open_classification
from models.bert.pretraining import open_pretraining
from models.common.task import Task

__all__ = ["open_task"]


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the task of `--bert_task`; see `models.common.task.open_task`."""
    if flag_values.bert_task == "pretrain":
        return open_pretraining(flag_values)
    return open_classification(flag_values)
