"""The state that a loop shares with its session: parts of the input, random positions."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from estimator_bridge.graph import DividedIterators, LiftedSession, Snapshot

__all__ = ["NeededParts", "SessionRunCounter"]


class NeededParts:
    """The parts of the input that a step draws; a session draws from the others by itself.

    Args:
      session: the session of the traced graph; knows its input.
      base: references that a step computes in any case.
      fetches: references that it computes additionally.
      fed: references whose values calls supply; no part is drawn for them.

    Attributes:
      are_more: whether the fetches need parts that a step without them leaves alone.
    """

    def __init__(
        self,
        session: LiftedSession,
        base: Sequence[str],
        fetches: Sequence[str],
        fed: Sequence[str],
    ):
        source, self.are_more = session.input, False
        self._refs: Sequence[str] | None = None
        self._drawn: frozenset[int] | None = None  # None: a step draws all in any case
        self._needed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        if source is not None and source.divides:
            snapshot = Snapshot.of(session.graph)
            drawn = source.drawn_by(snapshot, base, fed) | source.endless
            more = source.drawn_by(snapshot, fetches, fed) if fetches else frozenset()
            self._drawn, self.are_more = drawn | more, not drawn.issuperset(more)
            # The source itself, which holds an iterator's dataset, is not kept with the loop.
            self._refs = source.refs_of_parts(self._drawn)

    @property
    def are_chosen(self) -> bool:
        """Whether a step may leave parts alone."""
        return self._drawn is not None

    def refs(self, inputs: Sequence[str]) -> Sequence[str]:
        """Returns the references of the flat components of a step's elements.

        Args:
          inputs: the references if a step draws all parts.
        """
        return inputs if self._refs is None else self._refs

    def of(self, iterator: Any) -> Any:
        """Returns the iterator that a step draws from: of the parts that it needs."""
        if iterator not in self._needed:
            drawn, whole = self._drawn or frozenset(), DividedIterators.of(iterator)
            # All parts is None: a value that refers to its key would keep both alive.
            self._needed[iterator] = None if drawn.issuperset(whole.drawn) else whole.only(drawn)
        needed = self._needed[iterator]
        return iterator if needed is None else needed


class SessionRunCounter:
    """Counts session runs between the steps of random operations that steps have too.

    Args:
      session: the session of the traced graph.
      random_names: the random operations of a step.
    """

    def __init__(self, session: LiftedSession, random_names: Sequence[str]):
        self._random, self._names = session.random, random_names
        self._drawn_beside, self._runs_seen = 0, -1

    def count(self) -> int:
        """Returns the number of such runs."""
        if self._runs_seen != self._random.runs:
            self._drawn_beside = self._random.drawn_beside(self._names)
            self._runs_seen = self._random.runs
        return self._drawn_beside
