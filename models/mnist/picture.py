"""Draws some digits with the model's predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from models.common.saved_files import saved_output

__all__ = ["draw_predictions", "save_figure"]

_COLUMNS = 10
_RIGHT, _WRONG = "#1a7f37", "#cf222e"


def draw_predictions(
    path: str,
    images: np.ndarray,
    labels: Sequence[int],
    classes: Sequence[int],
    probabilities: Sequence[float],
) -> None:
    """Writes a PNG with one tile per digit: green if the model is right, red if it is wrong.

    Args:
        path: the file; written completely or not at all.
        images: [count, height, width], from 0 to 1.
        labels: [count], the true digits.
        classes: [count], the predicted digits.
        probabilities: [count], the predictions' probabilities, from 0 to 1.

    Raises:
        ValueError: there are no digits, or the arguments differ in length.
    """
    counts = {len(images), len(labels), len(classes), len(probabilities)}
    if len(counts) != 1 or counts == {0}:
        raise ValueError(
            "images, labels, classes and probabilities must be equally many, at least one; got "
            f"{len(images)}, {len(labels)}, {len(classes)}, {len(probabilities)}"
        )
    # A Figure without pyplot needs no display and keeps no global state.
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(images))
    rows = math.ceil(len(images) / columns)
    figure = Figure(figsize=(1.1 * columns, 1.4 * rows + 0.5), layout="constrained")
    right = sum(int(label == class_) for label, class_ in zip(labels, classes))
    figure.suptitle(f"{right} of these {len(images)} test digits classified correctly")
    grid = figure.subplots(rows, columns, squeeze=False)
    for tile in grid.flat:
        tile.set_axis_off()
    for tile, image, label, class_, probability in zip(
        grid.flat, images, labels, classes, probabilities
    ):
        tile.imshow(image, cmap="gray_r", vmin=0.0, vmax=1.0, interpolation="nearest")
        is_right = label == class_
        text = f"{class_}  {probability:.0%}" + ("" if is_right else f"\nis {label}")
        tile.set_title(text, color=_RIGHT if is_right else _WRONG, fontsize=9)
    save_figure(figure, path)


def save_figure(figure: Any, path: str) -> None:
    """Writes a figure of matplotlib as a PNG, completely or not at all; a user's own file stays."""
    with saved_output(path) as temporary_path:
        figure.savefig(temporary_path, dpi=120)
