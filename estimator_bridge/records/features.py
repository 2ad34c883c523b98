"""The features of a record: their types and shapes, and how they are encoded and parsed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["Feature", "encode", "parse", "parsing_spec"]

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")
_FLOATS = ("float16", "float32", "float64", "bfloat16")
_RAW = "uint8"  # stored as bytes: an integer of an Example takes up to two, and time to parse


@dataclasses.dataclass(frozen=True)
class Feature:
    """A feature of every record.

    Attributes:
      dtype: the type of the parsed feature: "int64", "float32", "string", or "uint8" for arrays of
        bytes.
      shape: the shape of one example; a first dimension of None differs among records.
    """

    dtype: str
    shape: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, name: str, dtype: Any, shape: Any) -> Feature:
        """Returns the feature that stores values of a type and a shape.

        Args:
          name: the feature's name, for errors.
          dtype: a type of NumPy or TensorFlow. Integers are stored as int64, floats as float32,
            and arrays of uint8 as bytes.
          shape: the shape of one example; only its first dimension may be None.

        Raises:
          ValueError: an Example cannot hold values of that type or shape.
        """
        kind = tf.as_dtype(dtype).name if not _is_text(dtype) else "string"
        dims = tuple(shape)
        if kind == "string":
            storage = "string"
        elif kind in _INTEGERS:
            storage = _RAW if kind == _RAW and dims else "int64"
        elif kind in _FLOATS:
            storage = "float32"
        else:
            raise ValueError(
                f"feature {name!r} has the type {kind}, which a record cannot hold: want integers "
                "up to int64, floats or strings. Convert it first."
            )
        if None in dims[1:] or (None in dims and storage == _RAW):
            raise ValueError(
                f"feature {name!r} has the shape {list(dims)}: only the first dimension may "
                "differ among records, and none of an array of uint8. Pad it to one shape, or "
                "encode images as PNG or JPEG strings."
            )
        return cls(storage, dims)

    @property
    def size(self) -> int | None:
        """The number of values in an example; None if it differs among records."""
        return None if None in self.shape else math.prod(d for d in self.shape if d is not None)

    @property
    def parsing(self) -> Any:
        """The entry for ``tf.io.parse_example``."""
        if self.dtype == _RAW:
            return tf.io.FixedLenFeature([], tf.string)
        dtype = tf.as_dtype(self.dtype)
        if self.size is None:
            return tf.io.FixedLenSequenceFeature(list(self.shape[1:]), dtype, allow_missing=True)
        return tf.io.FixedLenFeature(list(self.shape), dtype)

    def decoded(self, parsed: tf.Tensor, is_batch: bool) -> tf.Tensor:
        """Returns a parsed tensor with the feature's type and shape."""
        if self.dtype != _RAW:
            return parsed
        batch = [-1 if parsed.shape[0] is None else parsed.shape[0]] if is_batch else []
        return tf.reshape(tf.io.decode_raw(parsed, tf.uint8), [*batch, *self.shape])

    def encoded(self, name: str, value: Any) -> tf.train.Feature:
        """Returns the value of one example as a protocol buffer.

        Args:
          name: the feature's name, for errors.
          value: a value with the feature's shape.

        Raises:
          ValueError: the value has another shape.
        """
        array = np.asarray(value)
        if len(array.shape) != len(self.shape) or any(
            want is not None and size != want for size, want in zip(array.shape, self.shape)
        ):
            raise ValueError(
                f"feature {name!r} has the shape {list(array.shape)}, want {list(self.shape)} as "
                "in earlier records. Every record needs the same features and shapes."
            )
        if self.dtype == _RAW:
            content = np.ascontiguousarray(array, np.uint8).tobytes()
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=[content]))
        values = array.ravel().tolist()
        if self.dtype == "string":
            texts = [v if isinstance(v, bytes) else str(v).encode() for v in values]
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=texts))
        if self.dtype == "int64":
            return tf.train.Feature(int64_list=tf.train.Int64List(value=map(int, values)))
        return tf.train.Feature(float_list=tf.train.FloatList(value=map(float, values)))


def encode(features: Mapping[str, Feature], values: Mapping[str, Any]) -> bytes:
    """Returns one example as a serialized `tf.train.Example`; equal values give equal bytes.

    Raises:
      ValueError: a feature is missing or has another shape.
    """
    if set(values) != set(features):
        raise ValueError(
            f"a record has the features {sorted(values)}, want {sorted(features)} as in earlier "
            "records."
        )
    feature = {name: kind.encoded(name, values[name]) for name, kind in features.items()}
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return example.SerializeToString(deterministic=True)


def parsing_spec(features: Mapping[str, Feature]) -> dict[str, Any]:
    """Returns the ``features`` argument of ``tf.io.parse_example``."""
    return {name: feature.parsing for name, feature in features.items()}


def parse(features: Mapping[str, Feature], records: tf.Tensor) -> dict[str, tf.Tensor]:
    """Parses serialized examples.

    Args:
      features: the features of each record, by name.
      records: strings of shape [] for one example, or [batch] for several, which is faster.

    Returns:
      Tensors by name, of one example or of shape [batch, ...].
    """
    is_batch = records.shape.rank == 1
    function = tf.io.parse_example if is_batch else tf.io.parse_single_example
    parsed = function(records, parsing_spec(features))
    return {name: features[name].decoded(tensor, is_batch) for name, tensor in parsed.items()}


def _is_text(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "SUO"
