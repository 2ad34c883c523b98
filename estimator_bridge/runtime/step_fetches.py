"""The results that a loop returns from its last step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import LiftedSession, Snapshot
from estimator_bridge.graph.deferred_fetches import defer

__all__ = ["StepFetches"]


class StepFetches:
    """References whose values in the last step are wanted.

    Operations without side effects that only they need run after the last step, from the values
    of ``needs``, which each step returns.

    Args:
      session: the session of the traced graph.
      fetches: references; those of operations change state or hold others back.
      base: references that a step computes in any case.
      from_outside: references whose values come from outside of the graph.
      of_host: of these, those that the host's part gives after the step.

    Attributes:
      fetches: as given.
      refs: the references that have values.
      needs: references whose values on the first replica each step returns.
      operations: the operations that each step runs for the fetches, '^name' each.
      has_effects: whether the fetches change state.
    """

    def __init__(
        self,
        session: LiftedSession,
        fetches: Sequence[str],
        base: Sequence[str],
        from_outside: Iterable[str],
        of_host: Iterable[str] = (),
    ):
        owners, snapshot = session.resources.owners, Snapshot.of(session.graph)

        def tensor_of(ref: str) -> tf.Tensor:
            return session.graph.get_tensor_by_name(snapshot.stands_for.get(ref, ref))

        self.fetches = tuple(fetches)
        self.refs = [ref for ref in fetches if not ref.startswith("^")]
        self.operations: list[str] = []
        self.has_effects, self._deferred = False, None
        if fetches:
            outside = {*from_outside, *(f"{name}:0" for name in owners)}
            division = defer(snapshot, base, fetches, outside, owners, of_host)
            self._deferred, self.has_effects = division.deferred, division.has_effects
            self.operations = [ref for ref in division.in_step if ref.startswith("^")]
            if self._deferred:
                session.resources.prepare(self._deferred.handles)
        self._resources = session.resources
        self.needs = self._deferred.needs if self._deferred else self.refs
        if any(tensor_of(ref).dtype in (tf.variant, tf.resource) for ref in self.needs):
            # The state of a TensorArray cannot pass from step to step.
            self._deferred, self.needs = None, self.refs
        self._traced = [tensor_of(ref) for ref in self.refs]
        self._needs_traced = [tensor_of(ref) for ref in self.needs]

    @property
    def fit_xla(self) -> bool:
        """Whether a compiled loop can carry the needs: numbers of static shapes."""
        others = tf.string, tf.variant, tf.resource
        return all(
            tensor.shape.is_fully_defined() and tensor.dtype not in others
            for tensor in self._needs_traced
        )

    @property
    def is_direct(self) -> bool:
        """Whether the values are the needs themselves."""
        return self._deferred is None

    @property
    def need_shapes(self) -> list[tf.TensorShape]:
        """The shapes of the needs."""
        return [tensor.shape for tensor in self._needs_traced]

    def no_needs(self) -> list[tf.Tensor]:
        """Returns empty needs before the first step."""
        return [_empty(tensor) for tensor in self._needs_traced]

    def none(self) -> list[tf.Tensor]:
        """Returns empty values if no step ran."""
        return [_empty(tensor) for tensor in self._traced]

    def take_needs(
        self, strategy: tf.distribute.Strategy, values: Mapping[str, Any]
    ) -> list[tf.Tensor]:
        """Returns the needs, from a step's per-replica values by reference."""
        needs = [strategy.experimental_local_results(values[ref])[0] for ref in self.needs]
        for need, traced in zip(needs, self._needs_traced):
            need.set_shape(traced.shape)  # a GraphDef does not keep what set_shape set
        return needs

    def compute(self, needs: Sequence[tf.Tensor], is_wanted: bool | tf.Tensor = True) -> list[Any]:
        """Returns the values, from a step's needs; computes nothing if they are not wanted."""
        deferred = self._deferred
        if deferred is None:
            return list(needs)
        values = dict(zip(self.needs, needs))

        def compute() -> list[Any]:
            handles = self._resources.handles(deferred.handles)
            return [
                tf.ensure_shape(value, traced.shape)
                for value, traced in zip(deferred(values, handles), self._traced)
            ]

        return compute() if is_wanted is True else tf.cond(is_wanted, compute, self.none)


def _empty(tensor: tf.Tensor) -> tf.Tensor:
    shape = [size or 0 for size in (tensor.shape.as_list() if tensor.shape.rank else [])]
    return tf.fill(shape, "") if tensor.dtype == tf.string else tf.zeros(shape, tensor.dtype)
