"""The digit classifier as a task: its data, its picture of predictions, its export."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.common.own_part import own_part
from models.common.task import InputRequest, Task, TaskData
from models.mnist.dataset import DigitData, examples, make_dataset, open_data
from models.mnist.model import MODEL, bytes_per_example, serving_input_receiver_fn
from models.mnist.picture import draw_predictions

__all__ = ["open_task"]

_PICTURE = "predictions.png"


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the digits of `--data_dir`; see `models.common.task.open_task`."""
    data = open_data(flag_values.data_dir)
    return Task(
        model=MODEL,
        data=TaskData(
            name=data.name,
            folder=data.folder,
            unit="images",
            sizes=data.sizes,
            input_fn=functools.partial(_input_fn, data),
            bytes_each=lambda training: bytes_per_example(data.height, data.width, training),
        ),
        receiver_fn=serving_input_receiver_fn(data.height, data.width),
        show=functools.partial(_draw, data),
    )


def _input_fn(data: DigitData, request: InputRequest) -> Callable[..., tf.data.Dataset]:
    count = -1 if request.first is None else request.first

    def dataset(params: Any, input_context: tf.distribute.InputContext | None) -> tf.data.Dataset:
        def read(split: str) -> tf.data.Dataset:
            return own_part(data.read(split).take(count), params, input_context)

        if request.training:
            own_data = dataclasses.replace(data, read=read)
            return make_dataset(own_data, "train", shuffle_seed=request.seed, first=request.first)
        return read(request.split)

    return eb.data.input_fn(dataset, training=request.training, batch_size=request.batch_size)


def _draw(data: DigitData, rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    images, labels = examples(data, "test", len(rows))
    path = os.path.join(model_dir, _PICTURE)
    draw_predictions(
        path,
        images,
        labels.tolist(),
        [int(row["class"]) for row in rows],
        [float(row["probabilities"].max()) for row in rows],
    )
    return f"Picture of {len(images)} test digits: {path}"
