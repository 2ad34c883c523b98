"""A loop that is compiled for one kind of input."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.runtime.batch_source import BatchSource
from estimator_bridge.runtime.block_body import BlockBody
from estimator_bridge.runtime.loop_body import LoopBody
from estimator_bridge.tensorflow_private import flat_call

__all__ = ["CompiledLoop"]

# The description of a function's outputs, each of which is one tensor.
_PLAIN = tf.Tensor, tf.TensorSpec


class CompiledLoop:
    """A loop's function, called flat (see ``flat_call``): packing and checks took 3 steps' time.

    Make it in eager mode, on the host's device.

    Args:
      body: the function to trace.
      source: reads batches.
      iterator: an iterator of this kind, or what replaces it.
      fed: the specs of the values that each call supplies.

    Attributes:
      graph: the graph of the function.
    """

    def __init__(
        self,
        body: LoopBody | BlockBody,
        source: BatchSource,
        iterator: Any,
        fed: Sequence[tf.TensorSpec],
    ):
        number = tf.TensorSpec([], tf.int64)
        function = tf.function(functools.partial(body, source), autograph=False)
        concrete = function.get_concrete_function(iterator, number, number, number, *fed)
        self.graph: tf.Graph = concrete.graph
        self._call = flat_call(concrete)
        self._unpack: list[tuple[str, slice, Callable[..., Any]]] = []
        start = 0
        for key, part in sorted(concrete.structured_outputs.items()):
            end = start + len(tf.nest.flatten(part, expand_composites=True))
            self._unpack.append((key, slice(start, end), _packer(part)))
            start = end

    def __call__(self, given: Sequence[tf.Tensor]) -> dict[str, Any]:
        """Returns the end state, from the flat iterator, steps, rng_step, limit and fed values."""
        flat = self._call(*given)
        return {key: pack(flat[place]) for key, place, pack in self._unpack}


def _packer(part: Any) -> Callable[[list[Any]], Any]:
    """Returns a function that packs flat tensors into the structure of this part of an output."""
    if isinstance(part, _PLAIN):
        return operator.itemgetter(0)
    if isinstance(part, list) and all(isinstance(leaf, _PLAIN) for leaf in part):
        return list
    return functools.partial(tf.nest.pack_sequence_as, part, expand_composites=True)
