"""The input of a program's steps, as the program's session draws from it.

In TF1 each ``Session.run`` that needed the batch drew the next one, whoever called it. So a run of
a session asks which parts of the input its fetches reach, and takes an element of each from the
very iterators that the steps draw from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.snapshot import Snapshot, node_name
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["DividedIterators", "InputPart", "SessionInput"]


@dataclasses.dataclass(frozen=True)
class InputPart:
    """What is drawn together: the tensors that come from the same iterators and queues.

    Attributes:
      nodes: the graph's nodes that draw it: a run that reaches one of them draws an element.
      refs: the tensors that an element's flat components stand for; one with a blank in it stands
        for none: a value that the model was given as it is.
    """

    nodes: frozenset[str]
    refs: tuple[str, ...]


class DividedIterators(tf.Module):
    """One iterator for each part of an input; what a step takes in the place of one for all.

    An element is a flat tuple of the components of all parts. Those of a part that is not drawn are
    empty.

    Args:
      iterators: of the parts, each of flat components; None for a part that is not drawn.
      specs: of all components.
      counts: how many of them each part has.
    """

    def __init__(
        self,
        iterators: Sequence[Any],
        specs: Sequence[tf.TensorSpec],
        counts: Sequence[int],
    ):
        super().__init__()
        if not specs:  # hooks feed all, and an optional has one component at least
            iterators, specs, counts = [None], [tf.TensorSpec([], tf.int64)], [1]
        self._all, self._specs, self._counts = tuple(iterators), list(specs), tuple(counts)

    @classmethod
    def of(cls, iterator: Any) -> DividedIterators:
        """The only part's iterator."""
        specs = tf.nest.flatten(iterator.element_spec, expand_composites=True)
        return cls([iterator], specs, [len(specs)])

    @property
    def element_spec(self) -> tuple[tf.TensorSpec, ...]:
        """Of an element."""
        return tuple(self._specs)

    @property
    def drawn(self) -> tuple[int, ...]:
        """The numbers of the parts that are drawn."""
        return tuple(i for i, iterator in enumerate(self._all) if iterator is not None)

    @property
    def iterators(self) -> list[Any]:
        """The iterators that are drawn from."""
        return [self._all[number] for number in self.drawn]

    def only(self, parts: Collection[int]) -> DividedIterators:
        """The same iterators, of which only these parts' are drawn from."""
        kept = [it if i in parts else None for i, it in enumerate(self._all)]
        return DividedIterators(kept, self._specs, self._counts)

    def with_iterators(self, iterators: Iterable[Any]) -> DividedIterators:
        """The like, with other iterators in the place of those that are drawn from."""
        given = iter(iterators)
        return DividedIterators(
            [None if it is None else next(given) for it in self._all], self._specs, self._counts
        )

    def get_next_as_optional(self) -> Any:
        """An element, in the graph that is being built; none where one of the parts has ended."""
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
        """An element; eager.

        Raises:
          StopIteration: one of the parts has ended.
        """
        return self._element([next(iterator) for iterator in self.iterators])

    def take(self, number: int) -> list[tf.Tensor]:
        """The flat components of the next element of one part; eager.

        Raises:
          StopIteration: it has ended.
        """
        return tf.nest.flatten(next(self._all[number]), expand_composites=True)

    def _element(self, values: Sequence[Any]) -> tuple[tf.Tensor, ...]:
        given = iter(values)
        flat: list[tf.Tensor] = []
        for iterator, count in zip(self._all, self._counts):
            specs = self._specs[len(flat) : len(flat) + count]
            if iterator is None:
                flat += map(_empty, specs)
                continue
            for value, spec in zip(tf.nest.flatten(next(given), expand_composites=True), specs):
                value.set_shape(spec.shape)
                flat.append(value)
        return tuple(flat)


class SessionInput:
    """What a session knows of its program's input.

    Args:
      parts: as far as they are known before the input is opened.
      open_input: makes the iterator; returns it, and the parts with all of their ``refs``. The
        iterator is a ``DividedIterators`` unless there is one part.
      refusal: why a run of the session cannot draw; None where it can.
      divides: whether a step leaves the parts alone that it does not need.
    """

    def __init__(
        self,
        parts: Sequence[InputPart],
        open_input: Callable[[], tuple[Any, Sequence[InputPart]]],
        refusal: str | None = None,
        divides: bool = False,
    ):
        self._parts, self._open_input = list(parts), open_input
        self._refusal, self.divides = refusal, divides
        self._iterator: Any = None

    @property
    def iterator(self) -> Any:
        """The run's one iterator, made when it is first asked for."""
        if self._iterator is None:
            self._iterator, parts = self._open_input()
            self._parts = list(parts)
        return self._iterator

    @property
    def refs(self) -> list[str]:
        """The tensors that an element's flat components stand for; all, once it is open."""
        return [ref for part in self._parts for ref in part.refs]

    @property
    def endless(self) -> frozenset[int]:
        """Parts that nothing has to be drawn for: they are the same in all elements."""
        return frozenset(i for i, part in enumerate(self._parts) if not part.nodes)

    def refs_given(self, parts: Collection[int]) -> list[str]:
        """``refs``, of which those of other parts name nothing."""
        _ = self.iterator
        return [
            ref if i in parts else f"not drawn {ref}"
            for i, part in enumerate(self._parts)
            for ref in part.refs
        ]

    def drawn_by(
        self, snapshot: Snapshot, fetches: Iterable[str], fed: Collection[str]
    ) -> frozenset[int]:
        """The parts of which a run of these fetches drew an element, by their numbers.

        Args:
          snapshot: the program's graph.
          fetches: references.
          fed: references whose values are given: nothing behind them runs.
        """
        reached: set[str] = set()
        waiting = [ref for ref in fetches if ref not in fed]
        while waiting:
            name = node_name(waiting.pop())
            if name in reached or name not in snapshot.nodes:
                continue
            reached.add(name)
            for ref in snapshot.nodes[name].input:
                if (ref if ":" in ref else ref + ":0") not in fed:
                    waiting.append(ref)
        return frozenset(
            i for i, part in enumerate(self._parts) if not reached.isdisjoint(part.nodes)
        )

    def refs_of(self, parts: Collection[int]) -> list[str]:
        """The tensors that these parts' components stand for."""
        return [ref for i in sorted(parts) for ref in self._parts[i].refs]

    def check(self, parts: Collection[int], fetches: Sequence[str]) -> None:
        """Checks that elements can be drawn for a run.

        Raises:
          FailedPreconditionError: they cannot.
        """
        if self._refusal:
            needed = [ref for ref in self.refs_of(parts) if " " not in ref]
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"session.run() was asked for {list(fetches)}, which needs the next batch of the "
                f"training's input ({needed}), and cannot draw it: {self._refusal}",
            )

    def draw(self, parts: Collection[int], fetches: Sequence[str]) -> dict[str, tf.Tensor]:
        """The next element of each of these parts, by reference.

        Raises:
          OutOfRangeError: one of them has ended.
        """
        iterator = self.iterator
        values: dict[str, tf.Tensor] = {}
        with eager_mode():
            for number in sorted(parts):
                try:
                    if isinstance(iterator, DividedIterators):
                        flat = iterator.take(number)
                    else:
                        flat = tf.nest.flatten(next(iterator), expand_composites=True)
                except StopIteration:
                    raise tf.errors.OutOfRangeError(
                        None,
                        None,
                        f"End of sequence: session.run() was asked for {list(fetches)}, which "
                        "needs the next batch, and the input has ended.",
                    ) from None
                values.update(zip(self._parts[number].refs, flat))
        return {ref: value for ref, value in values.items() if " " not in ref}


def _empty(spec: tf.TensorSpec) -> tf.Tensor:
    shape = [size or 0 for size in (spec.shape.as_list() if spec.shape.rank else [])]
    return tf.fill(shape, "") if spec.dtype == tf.string else tf.zeros(shape, spec.dtype)
