"""Wide and deep as a task: a table as records, and its predictions."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.common.in_memory import Split, input_fn_of
from models.common.task import Task, TaskData
from models.tabular.model import CLASSIFIER, REGRESSOR, columns_of
from models.tabular.tables import FILES, TABLES, check_tables, write_table

__all__ = ["open_task"]

_SHOWN = 8

Values = dict[str, np.ndarray]


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens a table, as records; see `models.common.task.open_task`."""
    table, target = flag_values.table, flag_values.target
    folder = os.path.join(flag_values.data_dir, table)
    if table in TABLES:
        write_table(folder, table)
    problem = check_tables(flag_values.data_dir, table, target, flag_values.target_kind)
    assert problem is not None  # its files are there
    records = {split: _records(folder, split, problem.columns) for split in FILES}
    values = {split: _values(path, target) for split, path in records.items()}
    params = _params(values["train"][target], problem.classes)
    features = [name for name in values["train"] if name != target]
    params["columns"] = columns_of({name: values["train"][name] for name in features})
    is_class = problem.classes > 0
    splits = {split: _split(columns, target, is_class) for split, columns in values.items()}
    data = TaskData(
        name=table,
        folder=folder,
        unit="rows",
        sizes={split: len(columns[target]) for split, columns in values.items()},
        input_fn=functools.partial(input_fn_of, splits),
    )
    return Task(
        model=CLASSIFIER if is_class else REGRESSOR,
        data=data,
        receiver_fn=_receiver(features),
        show=functools.partial(_show, values["test"][target], is_class),
        shown_examples=_SHOWN,
        params=params,
    )


def _records(folder: str, split: str, columns: Sequence[str]) -> str:
    """Writes a CSV file as records, once, and returns their folder."""
    source = os.path.join(folder, FILES[split])
    records = os.path.join(folder, "records", split)
    types = dict.fromkeys(columns, "float32")
    eb.records.write(eb.records.from_csv(source, types), records, shards=1)
    return records


def _values(records: str, target: str) -> Values:
    """Reads all rows, for the scales of the columns."""
    batches = list(eb.records.input_fn(records, training=False, batch_size=1024)())
    values = {name: np.concatenate([b[name].numpy() for b in batches]) for name in batches[0]}
    return {target: values.pop(target), **values}


def _params(labels: np.ndarray, classes: int) -> dict[str, Any]:
    if classes:
        return {"outputs": classes}
    return {"outputs": 1, "mean": float(labels.mean()), "spread": float(labels.std()) or 1.0}


def _split(values: Values, target: str, is_class: bool) -> Split:
    labels = values[target].astype(np.int64 if is_class else np.float32)
    return Split({name: column for name, column in values.items() if name != target}, labels)


def _receiver(names: Sequence[str]) -> Callable[[], Any]:
    def receive() -> Any:
        tensors = {
            name: tf.compat.v1.placeholder(tf.float32, [None], f"column{number}")
            for number, name in enumerate(names)
        }
        return eb.export.ServingInputReceiver(tensors, tensors)

    return receive


def _show(
    labels: np.ndarray, is_class: bool, rows: Sequence[Mapping[str, Any]], model_dir: str
) -> str:
    del model_dir
    if is_class:
        pairs = [f"{int(row['class'])} (is {int(label)})" for row, label in zip(rows, labels)]
    else:
        pairs = [f"{float(row['value']):.1f} (is {label:.1f})" for row, label in zip(rows, labels)]
    return "Predicted: " + ", ".join(pairs)
