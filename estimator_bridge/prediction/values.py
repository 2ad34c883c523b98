"""Turns a record's values into what an input of the model takes, or says why it cannot."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.prediction.rows import Row, RowError
from estimator_bridge.prediction.served_model import ExampleInput, Input, ServedModel

__all__ = ["arrays_of", "check_kind"]

_SHOWN = 40
_BASE64 = "b64"
_CHANNELS = (1, 3, 4)
_HEIGHT_AND_WIDTH = 2

Arrays = dict[str, np.ndarray]


def check_kind(model: ServedModel, kind: str, names: Sequence[str] | None) -> None:
    """Checks that a model can take records of a kind, before any is read.

    Args:
      model: the model.
      kind: a key of `input_files.KINDS`.
      names: the columns of a CSV file; None for other kinds.

    Raises:
      DataError: it cannot.
    """
    if kind == "images":
        _image_input(model)
    if names is None or model.examples is not None:
        return
    missing = [one.name for one in model.inputs if one.name not in names]
    if missing:
        raise DataError(
            f"the model's inputs {', '.join(missing)} are no columns of the CSV file, which has "
            f"{', '.join(names)}. The signature {model.signature!r} takes: {_listed(model)}."
        )


def arrays_of(model: ServedModel, kind: str, row: Row) -> Arrays:
    """Returns the values of one record, by input.

    Args:
      model: the model.
      kind: the kind of the file, a key of `input_files.KINDS`.
      row: the record.

    Raises:
      RowError: the record has no value for an input, or one of another type or shape.
    """
    if kind == "images":
        return _of_image(_image_input(model), row)
    if model.examples is not None:
        return {model.examples.name: np.asarray(_serialized(model.examples, row, kind), object)}
    if kind == "tfrecords" and not row.fields and _takes_bytes(model):
        return {model.inputs[0].name: np.asarray(row.content, object)}
    missing = [one.name for one in model.inputs if one.name not in row.fields]
    if missing:
        raise RowError(
            f"no value for the model's input {missing[0]!r}; it has "
            f"{', '.join(row.fields) or 'none'}"
        )
    return {one.name: _value(one, row.fields[one.name], kind == "csv") for one in model.inputs}


def _listed(model: ServedModel) -> str:
    return ", ".join(f"{i.name} {i.dtype.name} {_sizes(i.shape)}" for i in model.inputs)


def _sizes(shape: Sequence[int | None]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _takes_bytes(model: ServedModel) -> bool:
    return len(model.inputs) == 1 and model.inputs[0].dtype == tf.string


def _image_input(model: ServedModel) -> Input:
    found = [
        one
        for one in model.inputs
        if (one.dtype == tf.string and not one.shape)
        or (one.dtype == tf.uint8 and len(one.shape) in (_HEIGHT_AND_WIDTH, _HEIGHT_AND_WIDTH + 1))
    ]
    if len(found) != 1 or len(model.inputs) > 1 or model.examples is not None:
        raise DataError(
            "images need a model with one input, of image files (string []) or of pixels from 0 to "
            f"255 (uint8 [height, width] or [height, width, channels]). The signature "
            f"{model.signature!r} takes: {_listed(model)}. Write the images as records or JSON "
            "lines of these inputs."
        )
    return found[0]


def _of_image(wanted: Input, row: Row) -> Arrays:
    if wanted.dtype == tf.string:
        return {wanted.name: np.asarray(row.content, object)}
    is_gray = len(wanted.shape) == _HEIGHT_AND_WIDTH
    channels = 1 if is_gray else wanted.shape[-1] or 0
    if channels and channels not in _CHANNELS:
        raise RowError(f"input {wanted.name!r} has {channels} channels: no image has as many")
    try:
        pixels = tf.io.decode_image(row.content, channels, expand_animations=False).numpy()
    except tf.errors.InvalidArgumentError:
        raise RowError("not an image (BMP, GIF, JPEG or PNG), or a damaged one") from None
    if is_gray:
        pixels = pixels[..., 0]
    _check_shape(wanted, pixels.shape, "its pixels have")
    return {wanted.name: pixels}


def _value(wanted: Input, given: Any, is_text: bool) -> np.ndarray:
    """Returns a value as an array of the input's type and shape."""
    if wanted.dtype == tf.uint8 and isinstance(given, bytes):
        given = np.frombuffer(given, np.uint8)
        sizes = [size for size in wanted.shape if size is not None]
        if len(sizes) == len(wanted.shape) and given.size == math.prod(sizes):
            given = given.reshape(sizes)
    elif is_text:
        given = _cell(wanted, given)
    if wanted.dtype == tf.string:
        array = np.asarray(_as_bytes(given), object)
    else:
        array = _numbers(wanted, given)
    if array.shape == () and wanted.shape == (1,):
        array = array.reshape(1)
    _check_shape(wanted, array.shape, f"input {wanted.name!r} has")
    return array


def _cell(wanted: Input, text: str) -> Any:
    if wanted.dtype == tf.string and not wanted.shape:
        return text
    if not wanted.shape:
        return _number(text, f"input {wanted.name!r} has")
    try:
        return json.loads(text)
    except ValueError:
        raise RowError(
            f"input {wanted.name!r} has {_shortened(text)}, want a JSON list of shape "
            f"{_sizes(wanted.shape)}, such as [1, 2]"
        ) from None


def _number(text: str, what: str) -> float | int:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise RowError(f"{what} {_shortened(text)}, want a number")


def _numbers(wanted: Input, given: Any) -> np.ndarray:
    said = f"input {wanted.name!r} has {_shortened(given)}"
    try:
        array = np.asarray(given)
    except ValueError:
        raise RowError(f"{said}, whose lists differ in length") from None
    if array.dtype.kind not in "biuf":
        raise RowError(f"{said}, want {wanted.dtype.name} {_sizes(wanted.shape)}")
    dtype = wanted.dtype.as_numpy_dtype
    if not wanted.dtype.is_integer:
        return array.astype(dtype)
    if array.dtype.kind == "f" and not (np.isfinite(array).all() and (array % 1 == 0).all()):
        raise RowError(f"{said}, want whole numbers")
    limits = np.iinfo(dtype)
    if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
        raise RowError(f"{said}, want {wanted.dtype.name}: from {limits.min} to {limits.max}")
    return array.astype(dtype)


def _as_bytes(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return [_as_bytes(one) for one in given]
    if isinstance(given, bytes):
        return given
    if isinstance(given, dict) and set(given) == {_BASE64}:
        try:
            return base64.b64decode(given[_BASE64], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise RowError(f'{_shortened(given)}: "b64" wants a string in base64') from None
    if not isinstance(given, str):
        raise RowError(f'{_shortened(given)}, want a string, or {{"b64": ...}} for bytes')
    return given.encode()


def _check_shape(wanted: Input, shape: tuple[int, ...], what: str) -> None:
    fits = len(shape) == len(wanted.shape) and all(
        want in (None, got) for want, got in zip(wanted.shape, shape)
    )
    if not fits:
        raise RowError(f"{what} the shape {list(shape)}, want {_sizes(wanted.shape)}")


def _serialized(wanted: ExampleInput, row: Row, kind: str) -> bytes:
    """Returns a record as the serialized Example that the model parses."""
    if kind == "tfrecords":
        assert row.content is not None
        return row.content
    if wanted.name in row.fields and set(row.fields) == {wanted.name}:  # serialized already
        return _as_bytes(row.fields[wanted.name])
    features = {
        name: _feature(name, value, wanted.dtypes.get(name), kind == "csv")
        for name, value in row.fields.items()
        if name in wanted.dtypes and value is not None and not (kind == "csv" and value == "")
    }
    if not features:
        raise RowError(
            f"none of its values {', '.join(row.fields) or '(it has none)'} is a feature of the "
            f"model, which reads {', '.join(wanted.dtypes)}"
        )
    example = tf.train.Example(features=tf.train.Features(feature=features))
    return example.SerializeToString()


def _feature(name: str, value: Any, dtype: tf.DType, is_text: bool) -> tf.train.Feature:
    values: Any = value if isinstance(value, list) else [value]
    if dtype == tf.string:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=_as_bytes(values)))
    if is_text:
        text = str(value)
        values = _cell(Input(name, dtype, (None,)), text) if text.startswith("[") else [
            _number(text, f"feature {name!r} has")
        ]  # fmt: skip
    numbers = _numbers(Input(name, dtype, (None,)), values).ravel().tolist()
    if dtype == tf.int64:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))
    return tf.train.Feature(float_list=tf.train.FloatList(value=numbers))


def _shortened(value: Mapping | Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
