"""The generative network as a task: digits to learn from, and a picture of generated ones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import flags as absl_flags

from models.common.task import Task, TaskData
from models.gan.inputs import noisy_inputs
from models.gan.model import MODEL, serving_input_receiver_fn
from models.mnist.dataset import open_data
from models.mnist.picture import save_figure

__all__ = ["open_task"]

_PICTURE = "generated.png"
_COLUMNS = 10


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the digits of `--data_dir`, as mnist does; see `models.common.task.open_task`."""
    digits = open_data(flag_values.data_dir)
    data = TaskData(
        name=f"gan-{digits.name}",
        folder=digits.folder,
        unit="images",
        sizes=digits.sizes,
        input_fn=noisy_inputs(digits),
    )
    return Task(
        model=MODEL,
        data=data,
        receiver_fn=serving_input_receiver_fn(),
        show=_draw,
        params={"height": digits.height, "width": digits.width},
    )


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
