"""The input of a program's steps, as the program's session draws from it.

In TF1 each ``Session.run`` that needed the batch drew the next one, whoever called it. So a session
run finds out which parts of the input its fetches reach, and draws an element of each from the same
iterators as the steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.elements_ahead import ElementsAhead
from estimator_bridge.graph.snapshot import Snapshot, node_name
from estimator_bridge.tensorflow_private.datasets import end_iterator
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["DividedIterators", "InputPart", "SessionInput"]


@dataclasses.dataclass(frozen=True)
class InputPart:
    """Tensors that are drawn together, as they come from the same iterators and queues.

    Attributes:
      nodes: the graph's nodes that draw the part: a run that reaches one of them draws an element.
      refs: the tensors that an element's flat components stand for. One with a blank in it stands
        for none: a value that was passed to the model directly.
    """

    nodes: frozenset[str]
    refs: tuple[str, ...]


class DividedIterators(tf.Module):
    """One iterator for each part of an input, used by a step like a single iterator.

    An element is a flat tuple of the components of all parts. The components of a part that is not
    drawn are empty.

    Args:
      iterators: the iterators of the parts, with flat components; None for a part not drawn.
      specs: the specs of all components.
      counts: the number of components of each part.
    """

    def __init__(
        self,
        iterators: Sequence[Any],
        specs: Sequence[tf.TensorSpec],
        counts: Sequence[int],
    ):
        super().__init__()
        if not specs:  # hooks feed everything, but an optional has at least one component
            iterators, specs, counts = [None], [tf.TensorSpec([], tf.int64)], [1]
        self._all, self._specs, self._counts = tuple(iterators), list(specs), tuple(counts)

    @classmethod
    def of(cls, iterator: Any) -> DividedIterators:
        """Returns an iterator as iterators of parts: of a single part, if it has none."""
        if isinstance(iterator, DividedIterators):
            return iterator
        specs = tf.nest.flatten(iterator.element_spec, expand_composites=True)
        return cls([iterator], specs, [len(specs)])

    @property
    def element_spec(self) -> tuple[tf.TensorSpec, ...]:
        """The specs of an element."""
        return tuple(self._specs)

    @property
    def part_numbers(self) -> tuple[int, ...]:
        """The indices of the parts that are drawn."""
        return tuple(i for i, iterator in enumerate(self._all) if iterator is not None)

    @property
    def iterators(self) -> list[Any]:
        """The iterators that are drawn from."""
        return [self._all[number] for number in self.part_numbers]

    def only(self, parts: Collection[int]) -> DividedIterators:
        """Returns the same iterators, drawing only from these parts."""
        iterators = [it if i in parts else None for i, it in enumerate(self._all)]
        return DividedIterators(iterators, self._specs, self._counts)

    def with_iterators(self, iterators: Iterable[Any]) -> DividedIterators:
        """Returns a copy in which other iterators replace those that are drawn from."""
        replacements = iter(iterators)
        return DividedIterators(
            [None if it is None else next(replacements) for it in self._all],
            self._specs,
            self._counts,
        )

    def get_next_as_optional(self) -> Any:
        """Returns an element in the graph under construction; none if one of its parts ended."""
        optionals = [iterator.get_next_as_optional() for iterator in self.iterators]
        if not optionals:
            return tf.experimental.Optional.from_value(self._element([]))
        return tf.cond(
            tf.reduce_all([optional.has_value() for optional in optionals]),
            lambda: tf.experimental.Optional.from_value(
                self._element([optional.get_value() for optional in optionals])
            ),
            lambda: tf.experimental.Optional.empty(self.element_spec),
        )

    def __iter__(self) -> DividedIterators:
        return self

    def __next__(self) -> tuple[tf.Tensor, ...]:
        """Returns an element; eager.

        Raises:
          StopIteration: one of the parts has ended.
        """
        return self._element([next(iterator) for iterator in self.iterators])

    def take(self, number: int) -> list[tf.Tensor]:
        """Returns the flat components of the next element of one part; eager.

        Raises:
          StopIteration: the part has ended.
        """
        return tf.nest.flatten(next(self._all[number]), expand_composites=True)

    def _element(self, values: Sequence[Any]) -> tuple[tf.Tensor, ...]:
        elements = iter(values)
        flat: list[tf.Tensor] = []
        for iterator, count in zip(self._all, self._counts):
            specs = self._specs[len(flat) : len(flat) + count]
            if iterator is None:
                flat += map(_empty, specs)
                continue
            for value, spec in zip(tf.nest.flatten(next(elements), expand_composites=True), specs):
                value.set_shape(spec.shape)
                flat.append(value)
        return tuple(flat)


class SessionInput:
    """A session's view of its program's input.

    Args:
      parts: the parts, as far as they are known before the input is opened.
      open_input: makes the iterator; returns it, and the parts with all of their ``refs``. The
        iterator of an input with one part may be TensorFlow's own.
      refusal: why a run of the session cannot draw; None if it can.
      divides: whether a step leaves parts undrawn that it does not need.
      is_in_order: whether the batch of a step is drawn after the step before it, not during it.

    Attributes:
      ahead: elements that steps have drawn already.
    """

    def __init__(
        self,
        parts: Sequence[InputPart],
        open_input: Callable[[], tuple[Any, Sequence[InputPart]]],
        refusal: str | None = None,
        divides: bool = False,
        is_in_order: bool = False,
    ):
        self._parts, self._open_input = list(parts), open_input
        self._refusal, self.divides, self.is_in_order = refusal, divides, is_in_order
        self._iterator: Any = None
        self.ahead = ElementsAhead()

    @property
    def iterator(self) -> Any:
        """The only iterator of the training, made on first access."""
        if self._iterator is None:
            self._iterator, parts = self._open_input()
            self._parts = list(parts)
        return self._iterator

    def close(self) -> None:
        """Ends the iterators, if they were made."""
        iterator_or_parts = self._iterator
        if iterator_or_parts is not None:
            for iterator in (
                [iterator_or_parts]
                if isinstance(iterator_or_parts, tf.data.Iterator)
                else iterator_or_parts.iterators
            ):
                end_iterator(iterator)

    @property
    def refs(self) -> list[str]:
        """The tensors that an element's flat components stand for; complete once it is open."""
        return [ref for part in self._parts for ref in part.refs]

    @property
    def endless(self) -> frozenset[int]:
        """The parts that need no draw: they are the same in all elements."""
        return frozenset(i for i, part in enumerate(self._parts) if not part.nodes)

    def refs_of_parts(self, parts: Collection[int]) -> list[str]:
        """Returns ``refs``, with a placeholder name for each part that is not listed."""
        _ = self.iterator
        return [
            ref if i in parts else f"not drawn {ref}"
            for i, part in enumerate(self._parts)
            for ref in part.refs
        ]

    def drawn_by(
        self, snapshot: Snapshot, fetches: Iterable[str], fed: Collection[str]
    ) -> frozenset[int]:
        """Returns the indices of the parts of which a run of these fetches draws an element.

        Args:
          snapshot: the snapshot of the program's graph.
          fetches: references.
          fed: references whose values are given: nothing behind them runs.
        """
        names: set[str] = set()
        worklist = [ref for ref in fetches if ref not in fed]
        while worklist:
            name = node_name(worklist.pop())
            if name in names or name not in snapshot.nodes:
                continue
            names.add(name)
            for ref in snapshot.nodes[name].input:
                if (ref if ":" in ref else ref + ":0") not in fed:
                    worklist.append(ref)
        return frozenset(
            i for i, part in enumerate(self._parts) if not names.isdisjoint(part.nodes)
        )

    def refs_of(self, parts: Collection[int]) -> list[str]:
        """Returns the tensors that these parts' components stand for."""
        return [ref for i in sorted(parts) for ref in self._parts[i].refs]

    def check(self, parts: Collection[int], fetches: Sequence[str]) -> None:
        """Checks that elements can be drawn for a run.

        Raises:
          FailedPreconditionError: they cannot.
        """
        if self._refusal:
            batch_refs = [ref for ref in self.refs_of(parts) if " " not in ref]
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"session.run() was asked for {list(fetches)}, which needs the next batch of the "
                f"training input ({batch_refs}), but cannot draw it: {self._refusal}",
            )

    def draw(self, parts: Collection[int], fetches: Sequence[str]) -> dict[str, tf.Tensor]:
        """Returns the next element of each of these parts, by reference.

        Raises:
          OutOfRangeError: one of the parts has ended.
        """
        iterator = DividedIterators.of(self.iterator)
        values: dict[str, tf.Tensor] = {}
        with eager_mode():
            for number in sorted(parts):
                try:
                    flat = self._take_ahead() or iterator.take(number)
                except StopIteration:
                    raise tf.errors.OutOfRangeError(
                        None,
                        None,
                        f"End of sequence: session.run() was asked for {list(fetches)}, which "
                        "needs the next batch, but the input has ended.",
                    ) from None
                values.update(zip(self._parts[number].refs, flat))
        return {ref: value for ref, value in values.items() if " " not in ref}

    def _take_ahead(self) -> list[tf.Tensor]:
        """Returns an element that steps have drawn; none if there is none.

        Raises:
          StopIteration: the input ended there.
        """
        elements = self.ahead.take(1)
        if elements is None:
            return []
        if not elements.size:
            raise StopIteration
        return [tf.constant(column[0]) for column in elements.columns]


def _empty(spec: tf.TensorSpec) -> tf.Tensor:
    shape = [size or 0 for size in (spec.shape.as_list() if spec.shape.rank else [])]
    return tf.fill(shape, "") if spec.dtype == tf.string else tf.zeros(shape, spec.dtype)
