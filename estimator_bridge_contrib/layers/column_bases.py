"""The parts that all columns of ``tf.contrib.layers`` share, and the features they transform."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

__all__ = [
    "ContribColumn",
    "Features",
    "LookupConfig",
    "MissingFeatureError",
    "check_checkpoint",
    "is_contrib_column",
    "sparse_input",
]


class LookupConfig(NamedTuple):
    """The settings with which a column with a vocabulary finds ids.

    Attributes:
      vocabulary_file: the file of the words; None for a list.
      keys: the words; None for a file.
      num_oov_buckets: the number of ids for other words.
      vocab_size: the number of words.
      default_value: the id of other words.
    """

    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class MissingFeatureError(KeyError, ValueError):
    """A column needs a feature that is not there: a KeyError in contrib, elsewhere a ValueError."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError shows its argument in quotes


class Features:
    """The tensors of features, and of columns once they are transformed.

    Args:
      tensors: by name or column, the tensors; the columns' are added.
    """

    def __init__(self, tensors: dict[Any, Any]):
        self._tensors = tensors

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """Returns the tensor of a feature or of a column.

        Raises:
          MissingFeatureError: there is no such feature.
        """
        if key not in self._tensors:
            if not is_contrib_column(key):
                raise MissingFeatureError(
                    f"The features have no {key!r}, which a column needs. They have: "
                    f"{', '.join(sorted(str(k) for k in self._tensors if isinstance(k, str)))}."
                )
            self._tensors[key] = key.transform_feature(self, state_manager)
        return self._tensors[key]


class ContribColumn:
    """The attributes of all columns, and their comparison, which includes those."""

    transform_feature: Any
    parse_example_spec: Any

    @classmethod
    def _make_with(cls, *fields: Any, **attributes: Any) -> Any:
        column = cls.__new__(cls, *fields)
        vars(column).update(attributes)
        return column

    @property
    def config(self) -> dict[str, Any]:
        """The column's spec for ``tf.io.parse_example``."""
        return dict(self.parse_example_spec)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's transformed tensor to a dict of features."""
        columns_to_tensors[self] = self.transform_feature(Features(columns_to_tensors), None)

    def _transform_feature(self, inputs: Any) -> Any:
        """Transforms the column for ``tf.compat.v1.feature_column``."""
        return self.transform_feature(_WithoutState(inputs), None)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and tuple.__eq__(self, other)  # type: ignore[operator]
            and vars(self) == vars(other)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)  # type: ignore[arg-type]


class _WithoutState:
    """Features of tf.compat.v1.feature_column, as a cache of tf.feature_column."""

    def __init__(self, inputs: Any):
        self._inputs = inputs

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """Returns the tensor of a feature or of a column."""
        del state_manager
        return self._inputs.get(key)


def is_contrib_column(column: Any) -> bool:
    """Returns whether a column is one of ``tf.contrib.layers``."""
    return isinstance(column, ContribColumn)


def sparse_input(tensor: Any, rank: int = 2) -> tf.SparseTensor:
    """Returns ids or words as a SparseTensor; -1 and "" are missing ones in a dense tensor."""
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank == rank - 1:
        tensor = tf.expand_dims(tensor, -1)
    with tf.name_scope("DenseToSparseTensor"):
        missing = tf.constant("" if tensor.dtype == tf.string else -1, tensor.dtype)
        indices = tf.where(tf.not_equal(tensor, missing), name="indices")
        values = tf.gather_nd(tensor, indices, name="values")
        return tf.SparseTensor(indices, values, tf.shape(tensor, out_type=tf.int64))


def check_checkpoint(path: str | None, name: str | None) -> None:
    """Checks the arguments that name a tensor of a checkpoint.

    Args:
      path: the checkpoint's path, or None.
      name: the tensor's name there, or None.

    Raises:
      ValueError: only one of them is given.
    """
    if (path is None) != (name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them. "
            f"Got {path!r} and {name!r}."
        )
