"""tf.contrib.periodic_resample: elements of one dimension are dealt to the others.

It generalizes the sub-pixel convolution of Shi et al., https://arxiv.org/abs/1609.05158. With
input sizes T and result sizes S, dimension i grows by g[i] = ceil(S[i] / T[i]). The element at s
of the result comes from s[i] // g[i] in each dimension but the adjustable one, q, and there from
S[q] * sum(G[i] * (s[i] % g[i])) + s[q], where G[i] is the product of all g before i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["periodic_resample"].opened()

_v1 = tf.compat.v1


def periodic_resample(values: Any, shape: Any, name: str | None = None) -> tf.Tensor:
    """Resamples a tensor to a shape of which one size follows from the others.

    Args:
      values: numbers of any shape of known rank.
      shape: the result's sizes, each at least that of values; the adjustable one is None or -1.
      name: the operations' name.

    Returns:
      A tensor of the shape; elements that do not fill the adjustable dimension are left out.

    Raises:
      tf.errors.InvalidArgumentError: not one size is adjustable, the rank differs, or a size is
        smaller than in values.
    """
    sizes = [-1 if each is None else int(each) for each in tf.TensorShape(shape).as_list()]
    with _v1.name_scope(name, "PeriodicResample", [values]) as scope:
        values = tf.convert_to_tensor(values, name="values")
        adjustable = _adjustable(values.shape, sizes)
        input_sizes = tf.shape(values)
        others = 1
        for position, size in enumerate(sizes):
            others *= size if position != adjustable else 1
        adjusted = tf.size(values) // others
        output_sizes = [adjusted if i == adjustable else size for i, size in enumerate(sizes)]
        index = _input_index(input_sizes, output_sizes, adjustable)
        result = tf.identity(tf.gather(tf.reshape(values, [-1]), index), name=scope or None)
        static: list[int | None] = list(sizes)
        element_count = values.shape.num_elements()
        static[adjustable] = None if element_count is None else element_count // others
        result.set_shape(static)
        return result


def _adjustable(shape: tf.TensorShape, sizes: Sequence[int]) -> int:
    """Returns the position of the adjustable dimension."""

    def wrong(text: str) -> tf.errors.InvalidArgumentError:
        return tf.errors.InvalidArgumentError(None, None, f"periodic_resample {text}")

    positions = [position for position, size in enumerate(sizes) if size < 1]
    if shape.rank is None:
        raise wrong("expects values of known rank: call set_shape.")
    if shape.rank != len(sizes):
        raise wrong(
            f"expects the rank of the input tensor, {shape.rank}, to be the same as the length of "
            f"the desired shape, {len(sizes)}."
        )
    if len(positions) != 1:
        raise wrong(
            f"expects one index to be marked as adjustable, with None; got the shape {sizes}."
        )
    for position, (size, before) in enumerate(zip(sizes, shape.as_list())):
        if position not in positions and before is not None and size < before:
            raise wrong(
                "expects the size of non-adjustable dimensions be at least as large as size of "
                f"input tensor. Dimension {position} input tensor has size {before}, desired "
                f"shape has size {size}."
            )
    return positions[0]


def _input_index(input_sizes: tf.Tensor, output_sizes: Sequence[Any], adjustable: int) -> tf.Tensor:
    """Returns, for each element of the result, its number among the input's elements."""
    rank = len(output_sizes)
    across = tf.meshgrid(*[tf.range(size) for size in output_sizes], indexing="ij")
    growth = [(output_sizes[i] + input_sizes[i] - 1) // input_sizes[i] for i in range(rank)]
    dealt: Any = 0
    before: Any = 1
    for i in range(rank):
        if i != adjustable:
            dealt += before * (across[i] % growth[i])
        before = before * growth[i]
    index: Any = 0
    for i in range(rank):
        is_dealt = i == adjustable
        place = dealt * output_sizes[i] + across[i] if is_dealt else across[i] // growth[i]
        index = index * input_sizes[i] + place
    return index
