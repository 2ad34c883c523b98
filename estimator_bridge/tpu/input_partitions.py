"""TPUConfig's input_partition_dims: the division of a replica's batch over its cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["flat_partitions"]

_ROLES = ("features", "labels")
_KINDS = ("feature", "label")


def flat_partitions(dims: Sequence[Any], spec: Any, cores: int) -> list[list[int] | None]:
    """Returns the number of parts of each dimension of each flat component of a batch.

    Args:
      dims: ``input_partition_dims``, for features or for features and labels, in their structure.
      spec: TensorSpecs of (features, labels), or of features, for a replica's or a host's batch.
      cores: the number of cores per replica.

    Returns:
      For each component a list of numbers, or None if each core gets the whole component.

    Raises:
      ValueError: the structures differ, or a division does not fit the number of cores or the
        rank of the tensor.
    """
    is_pair = isinstance(spec, (tuple, list)) and not hasattr(spec, "_fields")
    parts = list(spec) if is_pair else [spec]
    if dims[0] is None:
        raise ValueError(
            "input_partition_dims[0] must not be None: it defines the partitions of features. "
            "Leave out input_partition_dims if nothing is partitioned."
        )
    partitions: list[list[int] | None] = []
    for i, part in enumerate(parts):
        own = dims[i] if i < len(dims) else None
        if own is None:
            partitions += [None] * len(tf.nest.flatten(part))
        else:
            _check_keys(own, part, i)
            partitions += _flat(own, part, i, own, part, cores)
    return partitions


def _check_keys(dims: Any, spec: Any, number: int) -> None:
    keys, expected = (sorted(x) if isinstance(x, dict) else [] for x in (dims, spec))
    if keys != expected:
        raise ValueError(
            f"TPUConfig.input_partition_dims[{number}] mismatched {_KINDS[number]} keys. Expected "
            f"{expected}, got {keys}. Give one entry for each key, and None for a tensor that is "
            "not partitioned."
        )


def _flat(
    dims: Any, spec: Any, number: int, all_dims: Any, all_specs: Any, cores: int
) -> list[list[int] | None]:
    role = _ROLES[number]
    if isinstance(spec, dict):
        if not isinstance(dims, dict) or set(dims) != set(spec):
            raise _structure_error(number, all_dims, all_specs)
        nested = [(dims[key], spec[key]) for key in sorted(spec)]
    elif isinstance(spec, (tuple, list)):
        if not isinstance(dims, (tuple, list)) or len(dims) != len(spec):
            raise _structure_error(number, all_dims, all_specs)
        nested = list(zip(dims, spec))
    elif dims is None:
        return [None]
    else:
        if not isinstance(dims, (tuple, list)) or any(isinstance(d, (list, dict)) for d in dims):
            raise _structure_error(number, all_dims, all_specs)
        _check(dims, spec, role, cores)
        return [list(dims)]
    return [x for d, s in nested for x in _flat(d, s, number, all_dims, all_specs, cores)]


def _structure_error(number: int, dims: Any, spec: Any) -> ValueError:
    role = _ROLES[number]
    return ValueError(
        f"TPUConfig.input_partition_dims[{number}] mismatched the structure of {role}. "
        f"input_partition_dims[{number}]: {dims}, {role} {spec}. In place of each tensor, give a "
        "list with one number for each dimension, or None."
    )


def _check(dims: Sequence[int], spec: tf.TensorSpec, role: str, cores: int) -> None:
    if min(dims, default=1) < 1:
        raise ValueError(f"All input partition dims must be >= 1. Got {list(dims)} for {role}.")
    product = int(np.prod(dims))
    if product == 1:
        return
    if product != cores:
        raise ValueError(
            "The product of each input partition dim should equal to num_cores_per_replica. "
            f"(dim = {list(dims)}, num_cores_per_replica = {cores})"
        )
    if len(dims) != spec.shape.rank:
        raise ValueError(
            "Input partition dims must have the same number of dimensions as the `Tensor` to be "
            f"partitioned. (tensor shape = {spec.shape}, input partition dims = {list(dims)})."
        )
