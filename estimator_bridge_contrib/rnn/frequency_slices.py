"""Slices of a spectrum, and kernels in several variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["frequency_slices", "sharded_kernel"]


def frequency_slices(
    inputs: Any,
    size: int | None,
    skip: int | None,
    counts: Sequence[int] | None = None,
    starts: Sequence[int] | None = None,
    ends: Sequence[int] | None = None,
    offset: int = 0,
) -> list[list[tf.Tensor]]:
    """Cuts inputs into slices.

    Args:
      inputs: [batch, frequencies].
      size: the frequencies of a slice.
      skip: the distance of a slice from the next one.
      counts: the number of slices of each block; by default one block, with all that fit.
      starts: the first frequency of each block; the first one of the inputs by default.
      ends: the end of each block; that of the inputs by default.
      offset: moves all slices; zeros are beyond the inputs' ends.

    Returns:
      For each block, its slices [batch, size].

    Raises:
      ValueError: the inputs' size is unknown, size or skip is missing, or another number of slices
        fits into a block.
    """
    total = inputs.shape.with_rank(2).as_list()[-1]
    if total is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    if size is None or skip is None:
        raise ValueError(
            f"The inputs, of size {total}, are cut into slices: give the cell feature_size and "
            f"frequency_skip, got {size} and {skip}."
        )
    if offset:
        inputs = tf.pad(inputs, [[0, 0], [max(-offset, 0), max(offset, 0)]])
    shift = max(offset, 0)
    blocks = []
    for block in range(len(counts or [0])):
        start = starts[block] if starts else 0
        end = ends[block] if ends else total
        count = (end - start - size) // skip + 1
        if counts and counts[block] != count:
            raise ValueError(
                f"num_frequency_blocks[{block}] is {counts[block]}, but {count} slices of "
                f"{size}, {skip} apart, fit into the frequencies from {start} to {end}."
            )
        firsts = [start + shift + number * skip for number in range(count)]
        blocks.append([inputs[:, first : first + size] for first in firsts])
    return blocks


def sharded_kernel(name: str, shape: Sequence[int], dtype: Any, shards: int) -> tf.Tensor:
    """Gets a kernel whose rows are in variables NAME_0, NAME_1 and so on.

    Raises:
      ValueError: there are more variables than rows.
    """
    rows, columns = shape
    if shards > rows:
        raise ValueError(f"Too many shards: {name} of shape {list(shape)} in {shards} variables.")
    parts = [
        tf.compat.v1.get_variable(
            f"{name}_{number}", [rows // shards + (number < rows % shards), columns], dtype
        )
        for number in range(shards)
    ]
    if shards == 1:
        return tf.convert_to_tensor(parts[0])
    kernel = tf.concat(parts, 0, name=f"{name}/concat")
    tf.compat.v1.add_to_collection("concatenated_variables", kernel)
    return kernel
