"""The generative network as a task: digits to learn from, and a picture of generated ones."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.gan.model import MODEL, NOISE, serving_input_receiver_fn
from models.in_memory import Split, input_fn_of
from models.mnist.dataset import DigitData, examples, open_data
from models.mnist.picture import save_figure
from models.task import InputRequest, Task, TaskData

__all__ = ["open_task"]

_PICTURE = "generated.png"
_COLUMNS = 10
# Fewer examples are kept as arrays, whose rows are gathered in whole batches: one by one, they cost
# a twentieth of a training step.
_FEW = 10_000


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the digits of `--data_dir`, as the model mnist does; see `models.task.open_task`."""
    digits = open_data(flag_values.data_dir)
    data = TaskData(
        name=f"gan-{digits.name}",
        folder=digits.folder,
        unit="images",
        sizes=digits.sizes,
        input_fn=functools.partial(_input_fn, _images_of(digits)),
    )
    return Task(
        model=MODEL,
        data=data,
        receiver_fn=serving_input_receiver_fn(),
        show=_draw,
        params={"height": digits.height, "width": digits.width},
    )


def _images_of(digits: DigitData) -> Callable[[InputRequest], Callable[..., tf.data.Dataset]]:
    """Returns the function that makes the input_fn of a request, without noise."""
    if sum(digits.sizes.values()) > _FEW:
        return functools.partial(_read, digits)
    splits = {}
    for split, size in digits.sizes.items():
        images, labels = examples(digits, split, size)
        splits[split] = Split(images[..., np.newaxis], labels)
    return functools.partial(input_fn_of, splits)


def _read(digits: DigitData, request: InputRequest) -> Callable[..., tf.data.Dataset]:
    def dataset() -> tf.data.Dataset:
        found = digits.read(request.split).take(-1 if request.first is None else request.first)
        if request.training:
            size = request.first or digits.sizes[request.split]
            found = found.cache().shuffle(size, seed=request.seed).repeat()
        return found

    return eb.data.input_fn(dataset, training=request.training, batch_size=request.batch_size)


def _input_fn(
    images_of: Callable[[InputRequest], Callable[..., tf.data.Dataset]], request: InputRequest
) -> Callable[..., tf.data.Dataset]:
    """Returns images with noise beside them: the host draws it, so a batch has it on any cores."""

    def noisy(number: tf.Tensor, batch: tuple[tf.Tensor, tf.Tensor]) -> Any:
        images, labels = batch
        seed = tf.stack([tf.constant(request.seed or 0, tf.int64), number])
        noise = tf.random.stateless_normal([tf.shape(images)[0], NOISE], seed)
        noise = tf.ensure_shape(noise, [images.shape[0], NOISE])
        return {"image": images, "noise": noise}, labels

    batches = images_of(request)

    def with_noise(params: Any = None, mode: str | None = None) -> tf.data.Dataset:
        # In whole batches: a map of single examples made training steps wait for their noise.
        return batches(params, mode).enumerate().map(noisy).prefetch(tf.data.AUTOTUNE)

    return with_noise


def _draw(rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    """Draws generated images, ten in a row."""
    from matplotlib.figure import Figure

    images = [row["image"][..., 0] for row in rows]
    blank = np.zeros_like(images[0])
    images += [blank] * (-len(images) % _COLUMNS)
    lines = [np.hstack(images[at : at + _COLUMNS]) for at in range(0, len(images), _COLUMNS)]
    figure = Figure(figsize=(_COLUMNS, len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.imshow(np.vstack(lines), cmap="gray_r", vmin=0.0, vmax=1.0, interpolation="nearest")
    path = os.path.join(model_dir, _PICTURE)
    save_figure(figure, path)
    return f"Picture of {len(rows)} generated images: {path}"
