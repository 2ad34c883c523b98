"""Turns a record's values into what an input of the model takes, or says why it cannot."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.foreign_json import foreign_json
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
        wanted = image_input(model)
        return {wanted.name: _of_image(wanted, row.content or b"")}
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


def _takes_bytes(model: ServedModel) -> bool:
    return len(model.inputs) == 1 and model.inputs[0].dtype == tf.string


def _of_image(wanted: Input, content: bytes) -> np.ndarray:
    """Returns what an input for images gets of an image's file: its bytes, or its pixels."""
    if wanted.dtype == tf.string:
        return np.asarray(content, object)
    is_gray = len(wanted.shape) == HEIGHT_AND_WIDTH
    channels = 1 if is_gray else wanted.shape[-1] or 0
    if channels and channels not in _CHANNELS:
        raise RowError(f"input {wanted.name!r} has {channels} channels: no image has as many")
    try:
        pixels = decoded_image(content, channels).numpy()
    except tf.errors.InvalidArgumentError:
        raise RowError("not an image (BMP, GIF, JPEG or PNG), or a damaged one") from None
    if is_gray:
        pixels = pixels[..., 0]
    _check_shape(wanted, pixels.shape, "its pixels have")
    return pixels


def _value(wanted: Input, given: Any, is_text: bool) -> np.ndarray:
    """Returns a value as an array of the input's type and shape."""
    if is_text:
        given = _cell(wanted, given)
    if wanted.dtype == tf.uint8 and (isinstance(given, bytes) or _is_base64(given)):
        return _of_bytes(wanted, _as_bytes(given))
    if wanted.dtype == tf.string:
        array = np.asarray(_as_bytes(given), object)
    else:
        array = _numbers(wanted, given)
    if array.shape == () and wanted.shape == (1,):
        array = array.reshape(1)
    _check_shape(wanted, array.shape, f"input {wanted.name!r} has")
    return array


def _of_bytes(wanted: Input, content: bytes) -> np.ndarray:
    """Returns the values that bytes are or, if there are not as many, the pixels of their image."""
    known = [size for size in wanted.shape if size is not None]
    if len(known) == len(wanted.shape) and len(content) == math.prod(known):
        return np.frombuffer(content, np.uint8).reshape(known)
    if has_pixels(wanted):
        try:
            return _of_image(wanted, content)
        except RowError as error:
            raise RowError(
                f"input {wanted.name!r} has {len(content)} bytes, want {sizes(wanted.shape)} of "
                f"them or an image's file: {error}"
            ) from None
    array = np.frombuffer(content, np.uint8)
    _check_shape(wanted, array.shape, f"input {wanted.name!r} has")
    return array


def _cell(wanted: Input, text: str) -> Any:
    if wanted.dtype == tf.string and not wanted.shape:
        return text
    if not wanted.shape:
        return _number(text, f"input {wanted.name!r} has")
    try:
        return foreign_json(text, is_nan_allowed=True)
    except ValueError:
        raise RowError(
            f"input {wanted.name!r} has {_shortened(text)}, want a JSON list of shape "
            f"{sizes(wanted.shape)}, such as [1, 2]"
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
        raise RowError(f"{said}, want {wanted.dtype.name} {sizes(wanted.shape)}")
    dtype = wanted.dtype.as_numpy_dtype
    if not wanted.dtype.is_integer:
        return array.astype(dtype)
    if array.dtype.kind == "f" and not (np.isfinite(array).all() and (array % 1 == 0).all()):
        raise RowError(f"{said}, want whole numbers")
    limits = np.iinfo(dtype)
    if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
        raise RowError(f"{said}, want {wanted.dtype.name}: from {limits.min} to {limits.max}")
    return array.astype(dtype)


def _is_base64(given: Any) -> bool:
    return isinstance(given, dict) and set(given) == {_BASE64}


def _as_bytes(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return [_as_bytes(one) for one in given]
    if isinstance(given, bytes):
        return given
    if _is_base64(given):
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
        raise RowError(f"{what} the shape {list(shape)}, want {sizes(wanted.shape)}")


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
