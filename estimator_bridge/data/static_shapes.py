"""Static shapes of batches, which a compiled replica requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data.returned_tensors import MixedKey

__all__ = ["batch_size_of", "check_static", "pad_batches", "replica_spec"]


def check_static(
    spec: Any, allow_partial_batch: bool, axes: Sequence[int | None] | None = None
) -> None:
    """Checks the shapes of a host's batch.

    Args:
      spec: TensorSpecs of (features, labels), or of features.
      allow_partial_batch: whether the first dimension may be unknown.
      axes: each flat component's batch dimension; None for one that has none. By default all 0.

    Raises:
      ValueError: a shape is not static; the text names the tensor and the fix.
    """
    leaves = _leaves(spec)
    for (role, path, leaf), axis in zip(leaves, axes if axes is not None else [0] * len(leaves)):
        if not isinstance(leaf, tf.TensorSpec):
            raise ValueError(
                f"The {role} to the model returned by input_fn must be dense tensors in TPU mode, "
                f"but {path} is a {type(leaf).__name__} ({leaf}). Make it dense in the input_fn: "
                "tf.sparse.to_dense(x) (for ids of columns, with default_value=-1), "
                "ragged.to_tensor(shape=[None, N])."
            )
        shape = leaf.shape
        if shape.rank is not None and shape.rank > 0:
            unknown = [i for i, size in enumerate(shape.as_list()) if size is None]
            if not unknown or (allow_partial_batch and unknown == [0]):
                continue
        elif shape.rank == 0:
            raise ValueError(
                f"The {role} to the model returned by input_fn must have a batch dimension in TPU "
                f"mode, but {path} is a scalar. Batch the dataset: "
                "dataset.batch(params['batch_size'], drop_remainder=True)."
            )
        else:
            unknown = []
        if unknown == [axis]:
            mend = (
                "Its batch dimension is unknown: batch the dataset with "
                "dataset.batch(params['batch_size'], drop_remainder=True)."
            )
        else:
            mend = (
                "Set it in the dataset's map function with x.set_shape([...]), or pad the examples "
                "to one size (padded_batch with padded_shapes)."
            )
        raise ValueError(
            f"The {role} to the model returned by input_fn must have static shape. Tensor: {path}, "
            f"shape {shape}. {mend}"
        )


def batch_size_of(spec: Any, axes: Sequence[int | None]) -> int | None:
    """Returns the batch size according to the shapes; None if it is unknown.

    Raises:
      ValueError: the tensors disagree.
    """
    sizes = {}
    for (_, path, leaf), axis in zip(_leaves(spec), axes):
        if axis is not None:
            sizes[path] = leaf.shape.as_list()[axis]
    if len(set(sizes.values())) > 1:
        raise ValueError(
            "All tensors that input_fn returns must have the same batch size, got "
            + ", ".join(f"{path}: {size}" for path, size in sizes.items())
            + ". Batch the dataset of (features, labels) as a whole."
        )
    return next(iter(sizes.values()), None)


def replica_spec(spec: Any, axes: Sequence[int | None], replicas: int, full_batch: int) -> Any:
    """Returns the specs of one replica's part of a host's batch.

    Args:
      spec: the spec of the host's batch.
      axes: each flat component's batch dimension; None if each replica gets all of it.
      replicas: the number of replicas that share the batch.
      full_batch: the host's batch size, for specs without it.

    Raises:
      ValueError: the batch size is not divisible by the number of replicas.
    """
    parts = []
    for (_, path, leaf), axis in zip(_leaves(spec), axes):
        shape = leaf.shape.as_list()
        if axis is not None:
            size = shape[axis] if shape[axis] is not None else full_batch
            if size % replicas:
                raise ValueError(
                    f"The batch size {size} of {path} that input_fn returned must be divisible by "
                    f"number of replicas {replicas}. Batch by params['batch_size'], which is."
                )
            shape[axis] = size // replicas
        elif shape[0] is None:  # each replica gets the whole batch
            shape[0] = full_batch
        parts.append(tf.TensorSpec(shape, leaf.dtype))
    return tf.nest.pack_sequence_as(spec, parts)


def pad_batches(dataset: tf.data.Dataset, full_batch: int) -> tf.data.Dataset:
    """Pads every batch to the full size by its last example, and adds its actual size.

    Args:
      dataset: a dataset of batches with up to ``full_batch`` examples.
      full_batch: the size of a host's batch.

    Returns:
      A dataset of (size, batch): size is an int64 scalar, batch has static shapes.
    """

    def pad(*batch):
        flat = tf.nest.flatten(batch)
        size = tf.shape(flat[0], tf.int64)[0]
        check = tf.debugging.assert_less_equal(
            size,
            tf.constant(full_batch, tf.int64),
            f"input_fn returned a batch that is larger than params['batch_size'] ({full_batch}).",
        )
        with tf.control_dependencies([check] if check is not None else []):
            index = tf.minimum(tf.range(full_batch, dtype=tf.int64), size - 1)
        padded = []
        for tensor in flat:
            whole = tf.cond(
                tf.equal(size, full_batch),
                lambda tensor=tensor: tensor,
                lambda tensor=tensor: tf.gather(tensor, index),
            )
            padded.append(tf.ensure_shape(whole, [full_batch, *tensor.shape.as_list()[1:]]))
        structure = batch if len(batch) > 1 else batch[0]
        return size, tf.nest.pack_sequence_as(structure, padded)

    return dataset.map(pad)


def _leaves(spec: Any) -> list[tuple[str, str, Any]]:
    """Returns the role, the readable path and the spec of each component."""
    is_pair = isinstance(spec, (tuple, list)) and not hasattr(spec, "_fields")
    parts = [("features", spec[0]), ("labels", spec[1])] if is_pair else [("features", spec)]
    return [(role, path, leaf) for role, part in parts for path, leaf in _flatten(role, part)]


def _flatten(path: str, part: Any) -> list[tuple[str, Any]]:
    """Returns flat components in tf.nest's order, which sorts dicts by key."""
    if isinstance(part, dict):
        if any(isinstance(key, MixedKey) for key in part):
            raise ValueError(
                f"{path} must have keys of one type in TPU mode, got {', '.join(part)}: a batch is "
                "divided in the order of its keys. Name all features by strings."
            )
        return [x for key in sorted(part) for x in _flatten(f"{path}[{key!r}]", part[key])]
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        return [x for name in part._fields for x in _flatten(f"{path}.{name}", getattr(part, name))]
    if isinstance(part, (tuple, list)):
        return [x for i, item in enumerate(part) for x in _flatten(f"{path}[{i}]", item)]
    return [(path, part)]
