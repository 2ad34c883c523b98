"""A program's input: its plan, and the session of the graph of the input_fn's call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import InputPart, LiftedSession, SessionInput, Snapshot
from estimator_bridge.tensorflow_private import eager_mode, watch_ends
from estimator_bridge.training.input_plan import InputPlan

__all__ = ["ProgramInput"]

_v1 = tf.compat.v1
_INITIALIZED = (_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.TABLE_INITIALIZERS)


@dataclasses.dataclass(frozen=True)
class ProgramInput:
    """The source of the batches of a program's steps.

    Attributes:
      plan: the plan of the input.
      session: the session of the graph in which the input_fn was called.
      is_apart: whether that graph differs from the model's, because the program is reused.
    """

    plan: InputPlan
    session: LiftedSession
    is_apart: bool = False

    def dataset(self, may_be_ahead: bool = False) -> Any:
        """Returns the batches for the compiled loop; the session is initialized.

        Args:
          may_be_ahead: see ``BatchInput.may_be_read_ahead``.
        """
        return self._with_threads(lambda: self.plan.dataset(self.session, may_be_ahead))

    def open_later(
        self, whole: InputPart, make_iterator: Callable[[Any], Any], is_watched: Callable[[], bool]
    ) -> SessionInput:
        """Returns the input of steps and session runs, which draw from one iterator.

        Args:
          whole: the part that an element is, if all parts are drawn together.
          make_iterator: makes an iterator of a dataset, ``DividedDatasets`` or ``HostDatasets``.
            It is called just before the first batch is drawn.
          is_watched: see ``BatchInput.may_be_read_ahead``.
        """
        may_be_ahead = self.plan.input.may_be_read_ahead(is_watched)
        given, divides = self.plan.input, self.plan.divides
        static = [whole] if not divides or given.is_whole else given.drawn_parts()

        def open_input() -> tuple[Any, Sequence[InputPart]]:
            if divides:
                dataset, parts = self._with_threads(lambda: given.datasets(self.session, static))
                with eager_mode():
                    dataset = self.plan.on_demand(self.session, dataset, may_be_ahead)
            else:
                dataset, parts = self.dataset(may_be_ahead), static
            watch_ends()
            with eager_mode():
                return make_iterator(dataset), parts

        return SessionInput(static, open_input, self.plan.refusal, divides, not may_be_ahead)

    def end(self) -> None:
        """Stops the input's threads; frees what only this input used."""
        graph = self.session.graph
        self.session.end_input()
        if graph is None:
            return
        if self.is_apart:
            self.session.close()
            Snapshot.forget(graph)
        else:
            Snapshot.forget_rows(graph, self.session.given_to_functions)

    def is_like(self, plan: InputPlan) -> bool:
        """Whether a program traced for this input can be used for another plan."""
        other, mine = plan.input, self.plan.input
        are_whole = not self.plan.divides or (other.is_whole and mine.is_whole)
        return other.spec == mine.spec and not other.has_plain_values and are_whole

    def _with_threads(self, make: Callable[[], Any]) -> Any:
        """Starts the threads of the input, and returns the result of ``make``."""
        graph = self.session.graph
        if self.is_apart and any(map(graph.get_collection, _INITIALIZED)):
            with graph.as_default():
                init = [_v1.local_variables_initializer(), _v1.tables_initializer()]
                self.session.run(init)
        # Datasets put their functions into the default graph too; the model's is finalized.
        with tf.Graph().as_default(), eager_mode():
            made = make()
        self.session.queues.start(self.session, self.plan.input.needless_runners())
        return made
