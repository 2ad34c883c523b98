"""Calls the compiled loop: any number of steps, from any iterator of the input."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.graph.remote_file_errors import explained_remote_file_errors
from estimator_bridge.runtime.batch_source import BatchSource, batch_source_of
from estimator_bridge.runtime.block_body import BlockBody
from estimator_bridge.runtime.loop_body import LoopBody
from estimator_bridge.runtime.prepared_step import WatchedStep
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.sent_batches import SentBatchSource, sends_batches
from estimator_bridge.runtime.step_outputs import StepOutputs
from estimator_bridge.runtime.step_values import LoopResult
from estimator_bridge.tensorflow_private.eager import flat_call
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["ManySteps"]

_NO_LIMIT = (1 << 63) - 1
_NUMBERS_KEPT = 16
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

    def __call__(self, tensors: Sequence[tf.Tensor]) -> dict[str, Any]:
        """Returns the end state, from the flat iterator, steps, rng_step, limit and fed values."""
        flat = self._call(*tensors)
        return {key: pack(flat[place]) for key, place, pack in self._unpack}


def _packer(part: Any) -> Callable[[list[Any]], Any]:
    """Returns a function that packs flat tensors into the structure of this part of an output."""
    if isinstance(part, _PLAIN):
        return operator.itemgetter(0)
    if isinstance(part, list) and all(isinstance(leaf, _PLAIN) for leaf in part):
        return list
    return functools.partial(tf.nest.pack_sequence_as, part, expand_composites=True)


class ManySteps:
    """Compiles the loop once for each kind of iterator, and calls it.

    Args:
      step: the step to run.
      body: the function of the loop.
      in_order: that of a loop which draws each batch after the step before.
      layout: the layout of a batch.
      fed: the specs of the values that each call supplies.
      outputs: keeps the fetches of each step; None if only the last step's are wanted.

    Attributes:
      fed: as given.
      compiled: the compiled loops, each with what it depends on.
    """

    def __init__(
        self,
        step: WatchedStep,
        body: LoopBody | BlockBody,
        in_order: LoopBody,
        layout: BatchLayout,
        fed: Sequence[tf.TensorSpec],
        outputs: StepOutputs | None,
    ):
        self._step, self._layout = step, layout
        self._body, self._in_order = body, in_order
        self.fed, self._outputs, self._is_random = fed, outputs, step.run.is_random
        self.compiled: list[tuple[object, CompiledLoop]] = []
        # The loop of an iterator, and the tensors that it takes.
        self._loops: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._numbers: dict[int, tf.Tensor] = {}

    @property
    def are_in_blocks(self) -> bool:
        """Whether XLA compiles several steps as one function."""
        return isinstance(self._body, BlockBody)

    def check_blocks(self) -> None:
        """Checks, eagerly, that XLA would compile several steps as one: see ``BlockBody.check``."""
        if isinstance(self._body, BlockBody):
            self._body.check(self.fed)

    def __call__(
        self,
        iterator: Any,
        steps: int,
        rng_step: int,
        limit: int | None,
        fed: Sequence[tf.Tensor],
        is_in_order: bool,
    ) -> LoopResult:
        """Runs up to ``steps`` steps; see ``StepLoop``."""
        self._step.run.check_ready()
        function, drawn_from = self.function(iterator, is_in_order)
        numbers = steps, rng_step if self._is_random else 0, _NO_LIMIT if limit is None else limit
        tensors = [*drawn_from, *map(self._number, numbers), *fed]
        if self._layout.hosts:
            with explained_remote_file_errors([host.device for host in self._layout.hosts]):
                state = function(tensors)
        else:
            state = function(tensors)
        step_count, fetches = int(state["done"]), self._step.fetches.refs
        short, left_over = None, []
        if self._layout.hands_back:
            with eager_mode(), tf.device(host_device()):
                short, left_over = _short_batch(state, iterator), _values(state["left_over"])
        return LoopResult(
            steps=step_count,
            input_ended=bool(state["ended"]),
            loss=float(state["loss"]) if step_count and self._step.loss else None,
            fetch_values=dict(zip(fetches, state["fetched"])) if step_count == steps else None,
            short_batch=short,
            limit_value=int(state["limit_value"]) if self._step.counter else None,
            left_over=left_over,
            outputs=self._outputs.read(state["outputs"], step_count) if self._outputs else (),
        )

    def function(self, iterator: Any, is_in_order: bool) -> tuple[CompiledLoop, list[tf.Tensor]]:
        """Returns the compiled loop for iterators of this kind, and the tensors that it takes."""
        if iterator in self._loops:
            return self._loops[iterator]
        elements, full_batch = self._layout.elements or 1, self._layout.full_batch
        with eager_mode(), tf.device(host_device()):
            source, drawn_from = batch_source_of(iterator, elements, full_batch, is_in_order)
            strategy = self._step.strategy
            if sends_batches(strategy, self._layout):
                devices = strategy.extended.worker_devices
                source = SentBatchSource(source, self._layout, devices)
            compiled = next((loop for key, loop in self.compiled if key == source.key), None)
            if compiled is None:
                body = self._in_order if source.is_in_order else self._body
                compiled = CompiledLoop(body, source, drawn_from, self.fed)
                self.compiled.append((source.key, compiled))
        loop_and_tensors = compiled, tf.nest.flatten(drawn_from, expand_composites=True)
        if source.is_bound:
            self._loops[iterator] = loop_and_tensors
        return loop_and_tensors

    def _number(self, value: int) -> tf.Tensor:
        """Returns a number as a cached tensor: making one takes as long as a small operation."""
        if value not in self._numbers:
            if len(self._numbers) == _NUMBERS_KEPT:
                self._numbers.clear()
            with eager_mode(), tf.device(host_device()):
                self._numbers[value] = tf.constant(value, tf.int64)
        return self._numbers[value]


def _short_batch(state: dict[str, Any], iterator: Any) -> list[Any] | None:
    """Returns the flat components of a batch for which no step ran; None if there is none."""
    if "ahead" in state:  # of several hosts, each with its size, and perhaps padded
        iterator.ahead = state["ahead"].numpy().tolist()
        if not state["is_short"]:
            return None
        parts = [[p[: int(size)] for p in tf.nest.flatten(batch)] for size, batch in next(iterator)]
        return [tf.concat(of_hosts, axis=0) for of_hosts in zip(*parts)]
    size = int(state.get("short_size", 0))
    return [part[:size] for part in state["short_batch"]] if size else None


def _values(optionals: Sequence[Any]) -> list[list[Any]]:
    """Returns the flat components of the optionals that have a value."""
    return [
        tf.nest.flatten(optional.get_value(), expand_composites=True)
        for optional in optionals
        if optional.has_value()
    ]
