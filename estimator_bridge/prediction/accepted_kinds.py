"""The kinds of files that a model takes, told by its signature before any record is read."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.prediction.input_files import KINDS
from estimator_bridge.prediction.served_model import Input, ServedModel

__all__ = ["HEIGHT_AND_WIDTH", "check_kind", "has_pixels", "image_input", "sizes"]

_NAMES = {"csv": "CSV", "images": "images", "jsonl": "JSON lines", "tfrecords": "TFRecords"}
HEIGHT_AND_WIDTH = 2  # the rank of an image without channels


def check_kind(model: ServedModel, kind: str, columns: Sequence[str] | None) -> None:
    """Checks that a model can take records of a kind, before any is read.

    Args:
      model: the model.
      kind: a key of `input_files.KINDS`.
      columns: the columns of a CSV file; None for other kinds.

    Raises:
      DataError: it cannot; the message names the kinds that it takes.
    """
    if kind == "images":
        image_input(model)
    if kind == "csv" and _takes_image_files(model):
        raise DataError(
            f"a cell of a CSV file cannot hold an image's file, which input "
            f"{model.inputs[0].name!r} wants. {_advice(model)}"
        )
    if columns is None or model.examples is not None:
        return
    missing = [one.name for one in model.inputs if one.name not in columns]
    if missing:
        raise DataError(
            f"the model's inputs {', '.join(missing)} are no columns of the CSV file, which has "
            f"{', '.join(columns)}. {_advice(model)}"
        )


def image_input(model: ServedModel) -> Input:
    """Returns the input that takes images.

    Raises:
      DataError: there is none; the message names the kinds that the model takes.
    """
    model_input = _image_input(model)
    if model_input is None:
        raise DataError(
            "images need a model with one input, of image files that it decodes (string []) or of "
            "pixels from 0 to 255 (uint8 [height, width] or [height, width, channels]). "
            f"{_advice(model)}"
        )
    return model_input


def has_pixels(model_input: Input) -> bool:
    """Returns whether an input takes the pixels of an image, with or without channels."""
    is_image = len(model_input.shape) in (HEIGHT_AND_WIDTH, HEIGHT_AND_WIDTH + 1)
    return model_input.dtype == tf.uint8 and is_image


def sizes(shape: Sequence[int | None]) -> str:
    """Returns a shape in words, such as `[?, 3]`."""
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _image_input(model: ServedModel) -> Input | None:
    if model.examples is not None or len(model.inputs) != 1:
        return None
    (only,) = model.inputs
    return only if _takes_image_files(model) or has_pixels(only) else None


def _takes_image_files(model: ServedModel) -> bool:
    """Returns whether the one input is an image's file: the model decodes it, unlike a text."""
    if model.examples is not None or len(model.inputs) != 1 or not model.decodes_images:
        return False
    (only,) = model.inputs
    return only.dtype == tf.string and not only.shape


def _advice(model: ServedModel) -> str:
    """Returns what the signature takes: its inputs, and the kinds of files that can have them."""
    if model.examples is not None:
        inputs = ", ".join(
            f"{name} {kind.name}" for name, kind in sorted(model.examples.dtypes.items())
        )
    else:
        inputs = ", ".join(f"{i.name} {i.dtype.name} {sizes(i.shape)}" for i in model.inputs)
    kinds = ["tfrecords", "jsonl"]
    if not _takes_image_files(model):
        kinds.append("csv")
    if _image_input(model) is not None:
        kinds.insert(0, "images")
    descriptions = [f"{_NAMES[kind]} ({', '.join(KINDS[kind])})" for kind in kinds]
    return (
        f"The signature {model.signature!r} takes: {inputs}. Give it "
        f"{', '.join(descriptions[:-1])} or {descriptions[-1]} of these."
    )
