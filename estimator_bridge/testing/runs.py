"""Runs one step of a model in one mode on a number of cores."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import Snapshot, continue_trace
from estimator_bridge.graph.compilable import Obstacle, find_obstacles
from estimator_bridge.graph.op_kinds import DRAWS_OF_ROWS
from estimator_bridge.graph.randomness import is_seeded
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.runtime import StepLoop
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.testing.described_tpu import TPUGraph
from estimator_bridge.testing.kept_batch import KeptBatch
from estimator_bridge.tpu.estimator import TPUEstimator
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.training.initialize import open_session
from estimator_bridge.training.short_batches import evaluate_short_batch
from estimator_bridge.training.trace_program import trace_program

__all__ = ["ModelRun", "dynamic_operations"]

_v1 = tf.compat.v1


def dynamic_operations(graph: tf.Graph | None) -> list[Obstacle]:
    """Lists the operations of a graph that are the source of dynamic shapes."""
    if graph is None:
        return []
    names = Snapshot.of(graph).nodes
    return [o for o in find_obstacles(graph, names, for_tpu=True) if "not static" in o.reason]


class ModelRun:
    """A model traced in one mode.

    Args:
      execution: the layout of the model.
      estimator: provides the model_fn and its params.
      mode: one of ModeKeys.
      batch: the input.
    """

    def __init__(
        self, execution: TPUExecution, estimator: TPUEstimator, mode: str, batch: KeptBatch
    ):
        self._mode, self._batch = mode, batch
        self._program = trace_program(execution, estimator._model_fn, batch, mode, estimator.params)
        graph = self.graph = self._program.graph
        self._variables = {v.op.name: v for v in graph.get_collection("variables")}
        self.trainable = [v.op.name for v in graph.get_collection("trainable_variables")]
        self._summaries: tempfile.TemporaryDirectory | None = None

    def start(self, values: Mapping[str, np.ndarray] | None = None) -> None:
        """Initializes the variables, as the model does or with these values.

        Raises:
          ValueError: a variable has no value, or one of another shape.
        """
        program = self._program
        with continue_trace(self.graph, program.execution.shards):
            open_session(program.session, program.scaffold, [], None)
        self._open_writers()
        if values is not None:
            self.load(values)

    def _open_writers(self) -> None:
        """Opens the host_call's summary writers on a temporary folder, so that nothing is left."""
        for writer in self.graph.get_collection("_SUMMARY_WRITER_V2"):
            if self._summaries is None:
                self._summaries = tempfile.TemporaryDirectory()
            logdir = writer.inputs[1]
            self._program.session.run(writer, {logdir: self._summaries.name})

    def load(self, values: Mapping[str, np.ndarray]) -> None:
        """Sets the variables to these values, by name; extra values are ignored."""
        missing = [name for name in self._variables if name not in values]
        if missing:
            raise ValueError(
                f"The model has variables in mode {self._mode!r} that it does not have in training "
                f"or on another number of cores: {missing}. A checkpoint could not be restored. "
                "Create the same variables, with the same names, in each."
            )
        variables = list(self._variables.values())
        feeds = {v.initializer.inputs[1]: values[v.op.name] for v in variables}
        self._program.session.run([v.initializer for v in variables], feeds)

    def values(self) -> dict[str, np.ndarray]:
        """Returns all variables, on the first replica."""
        return self._program.session.run(self._variables)

    def copies(self, name: str) -> list[np.ndarray]:
        """Returns a variable's value on each replica."""
        with eager_mode():
            return [copy.numpy() for copy in self._program.session.resources.copies(name)]

    def loop(self, **options: Any) -> StepLoop:
        """Makes the compiled loop; in prediction it returns the predictions."""
        outputs = self._program.traced.outputs
        return self._program.make_loop([t.name for t in outputs.values()], **options)

    def step(self, loop: StepLoop, dataset: tf.data.Dataset | None = None) -> Any:
        """Runs one step on the kept batch or on `dataset`; returns the loop's result."""
        with eager_mode():
            iterator = iter(self._program.dataset() if dataset is None else dataset)
        result = loop(iterator, 1)
        if result.short_batch:
            evaluate_short_batch(self._program, result.short_batch)
        return result

    def metrics(self) -> dict[str, Any]:
        """Returns the results of an evaluation."""
        return self._program.session.run(self._program.results)

    def predictions(self, result: Any) -> dict[str, np.ndarray]:
        """Returns the predictions in a step's result, by key."""
        outputs = self._program.traced.outputs
        return {key: result.fetch_values[tensor.name].numpy() for key, tensor in outputs.items()}

    def tpu_graph(self, loop: StepLoop) -> TPUGraph:
        """Returns the loop's graph that a TPU would get; the layout must be a described TPU."""
        program = self._program
        with continue_trace(self.graph, program.execution.shards):
            program.scaffold.finalize()
        with eager_mode():
            iterator = iter(program.dataset())
        replicas = program.execution.strategy.num_replicas_in_sync
        return TPUGraph.of(loop.traced(iterator), replicas)

    def suspects(self, names: Collection[str]) -> list[str]:
        """Returns lines of the program that make a step depend on how a batch is split."""
        nodes = Snapshot.of(self.graph).nodes
        suspects = []
        for name in names:
            node = nodes[name]
            if node.op.startswith("FusedBatchNorm") and node.attr["is_training"].b:
                suspects.append((name, "batch norm over each replica's own examples"))
            elif is_seeded(node) and node.op not in DRAWS_OF_ROWS:
                suspects.append((name, f"random numbers ({node.op}) that differ between splits"))
        return list(
            dict.fromkeys(f"  {why}: {line_of_node(self.graph, name)}" for name, why in suspects)
        )

    def close(self) -> None:
        """Frees the variables."""
        self._program.close()
        if self._summaries is not None:
            self._summaries.cleanup()
