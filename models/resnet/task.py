"""A ResNet as a task: its data, the model's params, its export."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.common.shown import show_classes
from models.common.task import Task, TaskData
from models.resnet.data import open_images
from models.resnet.image_data import ImageData
from models.resnet.model import MODEL
from models.resnet.network import BOTTLENECK_DEPTHS

__all__ = ["open_task", "params_of"]

_SHOWN = 10


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the images of `--data_dir`; see `models.common.task.open_task`."""
    images = open_images(flag_values.data_dir, flag_values.skip_bad_records)
    return Task(
        model=MODEL,
        data=TaskData(
            name=images.name,
            folder=images.folder,
            unit="images",
            sizes=images.sizes,
            input_fn=images.input_fn,
            left_out=images.left_out,
        ),
        receiver_fn=lambda: _receive(images),
        show=show_classes,
        shown_examples=_SHOWN,
        params=params_of(flag_values, images),
    )


def params_of(flag_values: absl_flags.FlagValues, images: ImageData) -> dict[str, Any]:
    """Returns the params of `models.resnet.model`, but for those of the training's length."""
    depth = flag_values.depth or images.depth
    return {
        "depth": depth,
        "filters": 64 if depth in BOTTLENECK_DEPTHS else 16,
        "classes": images.classes,
        "bfloat16": flag_values.mixed_precision,
        "cross_replica": flag_values.cross_replica_norm,
        "optimizer": flag_values.optimizer,
        "schedule": flag_values.schedule,
        "label_smoothing": flag_values.label_smoothing,
        "weight_decay": flag_values.weight_decay,
        "ema_decay": flag_values.ema_decay,
        "steps_per_epoch": max(1.0, images.sizes["train"] / flag_values.train_batch_size),
    }


def _receive(images: ImageData) -> eb.export.TensorServingInputReceiver:
    image = tf.compat.v1.placeholder(tf.uint8, [None, *images.shape], name="image")
    return eb.export.TensorServingInputReceiver(images.prepare(image), {"image": image})
