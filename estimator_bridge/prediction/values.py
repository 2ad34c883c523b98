"""Turns a record's values into what an input of the model takes, or says why it cannot."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.prediction.accepted_kinds import (
    HEIGHT_AND_WIDTH,
    has_pixels,
    image_input,
    sizes,
)
from estimator_bridge.prediction.rows import Row, RowError
from estimator_bridge.prediction.served_model import ExampleInput, Input, ServedModel
from estimator_bridge.records.images import decoded_image

__all__ = ["arrays_of"]

_SHOWN = 40
_BASE64 = "b64"
_CHANNELS = (1, 3, 4)

Arrays = dict[str, np.ndarray]


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
        model_input = image_input(model)
        return {model_input.name: _of_image(model_input, row.content or b"")}
    if model.examples is not None:
        return {model.examples.name: np.asarray(_serialize(model.examples, row, kind), object)}
    if kind == "tfrecords" and not row.fields and _takes_bytes(model):
        return {model.inputs[0].name: np.asarray(row.content, object)}
    missing = [one.name for one in model.inputs if one.name not in row.fields]
    if missing:
        raise RowError(
            f"no value for the model's input {missing[0]!r}; it has "
            f"{', '.join(row.fields) or 'none'}"
        )
    return {one.name: _value(one, row.fields[one.name], kind == "csv") for one in model.inputs}


def _takes_bytes(model: ServedModel) -> bool:
    return len(model.inputs) == 1 and model.inputs[0].dtype == tf.string


def _of_image(model_input: Input, content: bytes) -> np.ndarray:
    """Returns what an input for images gets of an image's file: its bytes, or its pixels."""
    if model_input.dtype == tf.string:
        return np.asarray(content, object)
    is_gray = len(model_input.shape) == HEIGHT_AND_WIDTH
    channels = 1 if is_gray else model_input.shape[-1] or 0
    if channels and channels not in _CHANNELS:
        raise RowError(f"input {model_input.name!r} has {channels} channels: no image has as many")
    try:
        pixels = decoded_image(content, channels).numpy()
    except tf.errors.InvalidArgumentError:
        raise RowError("not an image (BMP, GIF, JPEG or PNG), or a damaged one") from None
    if is_gray:
        pixels = pixels[..., 0]
    _check_shape(model_input, pixels.shape, "its pixels have")
    return pixels


def _value(model_input: Input, value: Any, is_text: bool) -> np.ndarray:
    """Returns a value as an array of the input's type and shape."""
    if is_text:
        value = _cell(model_input, value)
    if model_input.dtype == tf.uint8 and (isinstance(value, bytes) or _is_base64(value)):
        return _of_bytes(model_input, _as_bytes(value))
    if model_input.dtype == tf.string:
        array = np.asarray(_as_bytes(value), object)
    else:
        array = _numbers(model_input, value)
    if array.shape == () and model_input.shape == (1,):
        array = array.reshape(1)
    _check_shape(model_input, array.shape, f"input {model_input.name!r} has")
    return array


def _of_bytes(model_input: Input, content: bytes) -> np.ndarray:
    """Returns the values that bytes are or, if there are not as many, the pixels of their image."""
    static_sizes = [size for size in model_input.shape if size is not None]
    if len(static_sizes) == len(model_input.shape) and len(content) == math.prod(static_sizes):
        return np.frombuffer(content, np.uint8).reshape(static_sizes)
    if has_pixels(model_input):
        try:
            return _of_image(model_input, content)
        except RowError as error:
            raise RowError(
                f"input {model_input.name!r} has {len(content)} bytes, want "
                f"{sizes(model_input.shape)} of them or an image's file: {error}"
            ) from None
    array = np.frombuffer(content, np.uint8)
    _check_shape(model_input, array.shape, f"input {model_input.name!r} has")
    return array


def _cell(model_input: Input, text: str) -> Any:
    if model_input.dtype == tf.string and not model_input.shape:
        return text
    if not model_input.shape:
        return _number(text, f"input {model_input.name!r} has")
    try:
        return foreign_json(text, is_nan_allowed=True)
    except ValueError:
        raise RowError(
            f"input {model_input.name!r} has {_shorten(text)}, want a JSON list of shape "
            f"{sizes(model_input.shape)}, such as [1, 2]"
        ) from None


def _number(text: str, subject: str) -> float | int:
    for parse in (int, float):
        try:
            return parse(text)
        except ValueError:
            continue
    raise RowError(f"{subject} {_shorten(text)}, want a number")


def _numbers(model_input: Input, value: Any) -> np.ndarray:
    message = f"input {model_input.name!r} has {_shorten(value)}"
    try:
        array = np.asarray(value)
    except ValueError:
        raise RowError(f"{message}, whose lists differ in length") from None
    if array.dtype.kind not in "biuf":
        raise RowError(f"{message}, want {model_input.dtype.name} {sizes(model_input.shape)}")
    dtype = model_input.dtype.as_numpy_dtype
    if not model_input.dtype.is_integer:
        return array.astype(dtype)
    if array.dtype.kind == "f" and not (np.isfinite(array).all() and (array % 1 == 0).all()):
        raise RowError(f"{message}, want whole numbers")
    limits = np.iinfo(dtype)
    if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
        raise RowError(
            f"{message}, want {model_input.dtype.name}: from {limits.min} to {limits.max}"
        )
    return array.astype(dtype)


def _is_base64(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {_BASE64}


def _as_bytes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_bytes(one) for one in value]
    if isinstance(value, bytes):
        return value
    if _is_base64(value):
        try:
            return base64.b64decode(value[_BASE64], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise RowError(f'{_shorten(value)}: "b64" wants a string in base64') from None
    if not isinstance(value, str):
        raise RowError(f'{_shorten(value)}, want a string, or {{"b64": ...}} for bytes')
    return value.encode()


def _check_shape(model_input: Input, shape: tuple[int, ...], subject: str) -> None:
    fits = len(shape) == len(model_input.shape) and all(
        want in (None, size) for want, size in zip(model_input.shape, shape)
    )
    if not fits:
        raise RowError(f"{subject} the shape {list(shape)}, want {sizes(model_input.shape)}")


def _serialize(example_input: ExampleInput, row: Row, kind: str) -> bytes:
    """Returns a record as the serialized Example that the model parses."""
    if kind == "tfrecords":
        assert row.content is not None
        return row.content
    name = example_input.name
    if name in row.fields and set(row.fields) == {name}:  # serialized already
        return _as_bytes(row.fields[name])
    features = {
        name: _feature(name, value, example_input.dtypes.get(name), kind == "csv")
        for name, value in row.fields.items()
        if name in example_input.dtypes
        and value is not None
        and not (kind == "csv" and value == "")
    }
    if not features:
        raise RowError(
            f"none of its values {', '.join(row.fields) or '(it has none)'} is a feature of the "
            f"model, which reads {', '.join(example_input.dtypes)}"
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


def _shorten(value: Mapping | Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
