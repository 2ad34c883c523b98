"""A task: a model on its data, with everything that the main job does with it."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Protocol

from absl import flags as absl_flags

from models.common.registry import entry_of

__all__ = ["InputRequest", "ModelFns", "Task", "TaskData", "open_task"]


class ModelFns(Protocol):
    """A model for both estimators, such as an `eb.Model`."""

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        """Builds the model for an `Estimator`."""

    def tpu_model_fn(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        """Builds the model for a `TPUEstimator`."""


@dataclasses.dataclass(frozen=True)
class InputRequest:
    """The input of one phase.

    Attributes:
        split: `"train"` or `"test"`.
        training: whether examples are shuffled, augmented and repeated without end; otherwise
            each comes once, in order.
        batch_size: the global batch size.
        seed: of the order and of the augmentation; None: another in each run.
        first: only this many examples, without augmentation; None: all.
    """

    split: str
    training: bool
    batch_size: int
    seed: int | None = None
    first: int | None = None


@dataclasses.dataclass(frozen=True)
class TaskData:
    """The data of a task, found and checked.

    Attributes:
        name: its name.
        folder: where it is.
        unit: what an example is, in the plural, such as "images".
        sizes: the number of examples of the splits `"train"` and `"test"`.
        input_fn: makes the input_fn of a request: batches of (features, labels).
        bytes_each: maps whether it is training to a lower bound of the memory for one example, in
            bytes; None: not known.
        left_out: the records that are not read because they are damaged, a line each.
    """

    name: str
    folder: str
    unit: str
    sizes: dict[str, int]
    input_fn: Callable[[InputRequest], Callable[..., Any]]
    bytes_each: Callable[[bool], int] | None = None
    left_out: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class Task:
    """A model on its data.

    Attributes:
        model: both adapters of the model. `--api=keras` and `--api=loop` need an `eb.Model`.
        data: its data.
        receiver_fn: a serving_input_receiver_fn.
        show: shows some predictions: called with the rows of `predict` for the first test examples
            and with the model_dir; returns a line for the user.
        shown_examples: the number of examples to show.
        params: the model's params, besides `learning_rate`, `train_steps` and `warmup_steps`.
        warm_start: an `eb.WarmStartSettings` for initial weights; None: those of the model.
    """

    model: ModelFns
    data: TaskData
    receiver_fn: Callable[[], Any]
    show: Callable[[Sequence[Mapping[str, Any]], str], str]
    shown_examples: int = 40
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    warm_start: Any = None


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the task of `--model`, by the function of this name in the module of its entry.

    Args:
        flag_values: parsed and checked flags, such as `--data_dir`. Small data that ships is
            written there at first use.

    Returns:
        The task: its data is found and checked, its files of weights too.

    Raises:
        DataError: a file of records is damaged, missing or of another kind; the message names it.
        UserError: other data, or weights, are missing or do not fit the model.
        OSError: a folder cannot be read or written.
    """
    task: Task = importlib.import_module(entry_of(flag_values.model).task).open_task(flag_values)
    return task
