"""The classifier of photographs as a task: its data, the model's params, its export."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.common.checked_records import all_of
from models.common.shown import show_classes
from models.common.task import Task, TaskData
from models.flowers.data import Photographs, open_photographs, prepare
from models.flowers.entry import SMALLEST
from models.flowers.model import MODEL
from models.flowers.pretrained import warm_start_from

__all__ = ["open_task"]

_SHOWN = 10


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the photographs and the weights that flags name; see `models.common.task.open_task`."""
    smallest = SMALLEST[flag_values.backbone]
    photographs = open_photographs(
        flag_values.data_dir,
        flag_values.image_size,
        smallest,
        flag_values.patches,
        flag_values.skip_bad_records,
    )
    params: dict[str, Any] = {
        "backbone": flag_values.backbone,
        "width": flag_values.width,
        "image_size": photographs.image_size,
        "freeze_backbone": flag_values.freeze_backbone,
        "classes": photographs.classes,
    }
    path = flag_values.weights
    return Task(
        model=MODEL,
        data=TaskData(
            name=photographs.name,
            folder=photographs.folder,
            unit="photographs",
            sizes=photographs.sizes,
            input_fn=photographs.input_fn,
            left_out=all_of(list(photographs.records.values())).damaged,
        ),
        receiver_fn=lambda: _receive(photographs),
        show=show_classes,
        shown_examples=_SHOWN,
        params=params,
        warm_start=warm_start_from(path, params) if path else None,
    )


def _receive(photographs: Photographs) -> eb.export.TensorServingInputReceiver:
    image = tf.compat.v1.placeholder(tf.uint8, [None, None, None, 3], name="image")
    features = prepare(image, photographs.image_size)
    return eb.export.TensorServingInputReceiver(features, {"image": image})
