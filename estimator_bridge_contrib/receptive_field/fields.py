"""The receptive field of a network: the part of an image that one element of a feature map sees.

It is followed from the feature map back to the image. On each axis, a window of size k and stride s
turns a field of size r, stride t and padding q into one of size ``s * r + k - s``, stride ``s * t``
and padding ``s * q + p``, where p is the window's padding.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.receptive_field.compute_order import get_compute_order
from estimator_bridge_contrib.receptive_field.windows import Window, windows_of

__all__ = ["ReceptiveField", "compute_receptive_field_from_graph_def"]

_DIRECTIONS = ("horizontal", "vertical")


class ReceptiveField:
    """The receptive field of a convolutional network.

    Iterating over it gives the two sizes, the two strides and the two paddings.

    Args:
      size: its width and height, in pixels.
      stride: the distance of the fields of two neighboring features, on both axes.
      padding: the number of pixels that the first field begins before the image, on both axes.
    """

    def __init__(self, size: Any, stride: Any, padding: Any):
        self.size, self.stride, self.padding = (
            np.asarray(each) for each in (size, stride, padding)
        )

    def compute_input_center_coordinates(self, y: Any, axis: Any = None) -> np.ndarray:
        """Returns the centers of the fields of features.

        Args:
          y: places of features, of shape [..., number of axes].
          axis: the axes, of which 0 is the horizontal one; by default all.

        Raises:
          ValueError: the places have another number of coordinates.
        """
        axes, places = self._checked(y, axis, "feature coordinates `y`")
        half = (self.size[axes] - 1) / 2
        return -self.padding[axes] + places * self.stride[axes] + half

    def compute_feature_coordinates(self, x: Any, axis: Any = None) -> np.ndarray:
        """Returns the places of features whose fields have given centers.

        Args:
          x: centers, of shape [..., number of axes].
          axis: the axes, of which 0 is the horizontal one; by default all.

        Raises:
          ValueError: the centers have another number of coordinates.
        """
        axes, centers = self._checked(x, axis, "input center coordinates `x`")
        half = (1 - self.size[axes]) / 2
        return (centers + self.padding[axes] + half) / self.stride[axes]

    def _checked(self, values: Any, axis: Any, what: str) -> tuple[list[int], np.ndarray]:
        axes, array = list(range(self.size.size) if axis is None else axis), np.asarray(values)
        if array.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {what} ({array.shape[-1]}) does not match dimensionality "
                f"of `axis` ({len(axes)})"
            )
        return axes, array

    def __iter__(self) -> Iterator[Any]:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


class _Field(NamedTuple):
    """A field on one axis; the padding is None if it is not known."""

    size: int = 1
    stride: int = 1
    padding: int | None = 0

    def before(self, window: Window, is_padding_known: bool) -> _Field:
        """Returns the field at a window's input."""
        size, stride = window.size, window.stride
        padding = stride * (self.padding or 0) + (window.padding or 0)
        return _Field(
            stride * self.size + size - stride,
            stride * self.stride,
            padding if is_padding_known else None,
        )

    def shift(self) -> float:
        """Returns the distance from the image's first pixel to the first field's center."""
        return (self.size - 1) / 2 - (self.padding or 0)


def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: Any,
    output_node: Any,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """Computes the receptive field of a feature map.

    Args:
      graph_def: the network: a graph or a GraphDef.
      input_node: the image: a tensor, or the name of its operation.
      output_node: the feature map, in the same forms.
      stop_propagation: starts of names of operations that are not followed.
      input_resolution: the image's height and width. Without them, the padding is None if it
        depends on them.

    Returns:
      The receptive field.

    Raises:
      ValueError: the network has an operation of unknown type, two ways through it have fields in
        different places, or one of the nodes is not found.
    """
    if isinstance(graph_def, tf.Graph):
        graph_def = graph_def.as_graph_def()
    start, end = (
        each.op.name if isinstance(each, tf.Tensor) else each for each in (input_node, output_node)
    )
    places, nodes = get_compute_order(graph_def, start, input_resolution)
    fields: dict[str, tuple[_Field, ...]] = {end: (_Field(), _Field())}
    is_found, is_padding_known = False, True
    for place in sorted(places.values(), key=lambda each: -each.order):
        node = place.node
        if node.name == start:
            break
        is_found = is_found or node.name == end
        if not is_found or node.name not in fields:
            continue
        windows = windows_of(node, nodes, place.input_size)
        if windows is None:
            raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
        is_padding_known &= all(each.padding is not None for each in windows)
        reached = tuple(
            field.before(window, is_padding_known)
            for field, window in zip(fields[node.name], windows)
        )
        for name in _followed(node, stop_propagation or ()):
            fields[name] = _joined(fields.get(name), reached, is_padding_known)
    if not is_found:
        raise ValueError("Output node was not found")
    if start not in fields:
        raise ValueError("Input node was not found")
    return ReceptiveField(*zip(*fields[start]))


def _followed(node: Any, stops: Sequence[str]) -> list[str]:
    names = [name for name in node.input if not name.startswith(("^", *stops))]
    return [name.partition(":")[0] for name in names]


def _joined(
    previous: tuple[_Field, ...] | None, reached: tuple[_Field, ...], is_padding_known: bool
) -> tuple[_Field, ...]:
    """Returns the larger field on each axis, of two ways to one operation."""
    if previous is None:
        return reached
    if is_padding_known:
        strides, shifts = (
            [(getter(old), getter(new)) for old, new in zip(previous, reached)]
            for getter in (operator.attrgetter("stride"), _Field.shift)
        )
        for what, pairs in (("effective stride", strides), ("center shift", shifts)):
            for (old, new), direction in zip(pairs, _DIRECTIONS):
                if old != new:
                    raise ValueError(
                        f"Graph is not aligned since {what} from different paths is different in "
                        f"{direction} direction"
                    )
    return tuple(max(pair, key=operator.attrgetter("size")) for pair in zip(previous, reached))
