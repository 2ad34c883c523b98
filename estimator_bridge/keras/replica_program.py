"""A Keras model's step, traced for one mode and batch size, on each replica."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import LiftedSession, Resources, for_tpu, host_device, trace_graph
from estimator_bridge.keras.cloning import CompiledModel, keras_in_graphs
from estimator_bridge.keras.metric_sums import MetricSums
from estimator_bridge.keras.model_fn import train_op_of
from estimator_bridge.model import CrossShardOptimizer, ModeKeys, cross_replica_sum
from estimator_bridge.runtime import BatchLayout, LoopRequest, ReplicaStep, Step
from estimator_bridge.tensorflow_private.keras import hypers as hypers_of
from estimator_bridge.tensorflow_private.keras import training_metrics
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["ReplicaProgram"]

_v1 = tf.compat.v1


class ReplicaProgram:
    """A model's step, traced for one kind of batch.

    Args:
      original: the model.
      strategy: the strategy whose replicas share the batches.
      mode: one of ModeKeys.
      specs: specs of a global batch: the inputs, then the targets, then the sample weights. The
        batch size may be unknown.
      has_weights: for each output, whether there are sample weights.
      is_whole: whether each replica gets the global batch instead of an equal part.
      shared: resources of another program of the same model, to share its variables.

    Attributes:
      session: the session of the traced graph.
      weights: names of the model's weights, in its order.
      hypers: names of the optimizer's variables, such as the learning rate, by Keras' names.
    """

    def __init__(
        self,
        original: CompiledModel,
        strategy: tf.distribute.Strategy,
        mode: str,
        specs: Sequence[tf.TensorSpec],
        has_weights: Sequence[bool],
        is_whole: bool,
        shared: Resources | None,
    ):
        self._strategy, self._mode = strategy, mode
        self._replicas = strategy.num_replicas_in_sync
        self._is_whole = is_whole
        self._draw = 0
        self._metric_variables: list[Any] = []
        self.hypers: dict[str, str] = {}
        with trace_graph(None, self._replicas) as graph, keras_in_graphs(mode == ModeKeys.TRAIN):
            _v1.train.create_global_step(graph)
            inputs = [_v1.placeholder(s.dtype, self._part_of(s.shape)) for s in specs]
            with for_tpu(strategy):
                operations, results, variables = self._trace(original, inputs, has_weights)
            variables += [*_v1.global_variables(), *_v1.local_variables()]
        self.session = LiftedSession(graph, strategy, shared)
        refs = [tensor.name for tensor in results]
        step = ReplicaStep(
            self.session,
            strategy,
            Step([tensor.name for tensor in inputs], [f"^{one.name}" for one in operations]),
            BatchLayout(axes=[None if self._is_whole else 0] * len(inputs)),
            LoopRequest(fetches=refs),
        )
        self._refs = refs
        self._initialize(variables)
        with eager_mode(), tf.device(host_device()):
            function = tf.function(
                lambda rng_step, *batch: step(list(batch), rng_step), autograph=False
            )
            self._function = function.get_concrete_function(tf.TensorSpec([], tf.int64), *specs)

    def __call__(self, batch: Sequence[Any]) -> list[Any]:
        """Runs the step.

        Args:
          batch: arrays of a global batch, in the order of the specs.

        Returns:
          In prediction, each output for the global batch; otherwise the mean loss, and the metrics
          of all batches since the last reset.
        """
        with eager_mode(), tf.device(host_device()):
            rng_step = tf.constant(self._draw, tf.int64)
            values = self._function(rng_step, *map(tf.constant, batch))
            self._draw += 1
            local = self._strategy.experimental_local_results
            parts = [local(values[ref]) for ref in self._refs]
            if self._mode != ModeKeys.PREDICT or self._is_whole:
                return [part[0].numpy() for part in parts]
            return [np.concatenate([each.numpy() for each in part]) for part in parts]

    def reset_metrics(self) -> None:
        """Resets the metrics."""
        self.session.run([variable.initializer for variable in self._metric_variables])

    def reset_states(self) -> None:
        """Resets stateful layers."""
        self.session.run([state.initializer for state in self._states])

    def write(self, name: str, value: Any) -> None:
        """Assigns all copies of a variable."""
        self.session.resources.prepare({f"{name}:0"})
        with eager_mode():
            for copy in self.session.resources.copies(name):
                copy.assign(value)

    def read(self, name: str) -> Any:
        """Returns the value of the first replica's copy of a variable."""
        self.session.resources.prepare({f"{name}:0"})
        with eager_mode():
            return self.session.resources.first_copy(name).numpy()

    def _part_of(self, shape: tf.TensorShape) -> list[int | None]:
        size, *others = shape.as_list()
        is_part = size is not None and not self._is_whole
        return [size // self._replicas if is_part else size, *others]

    def _trace(
        self, original: CompiledModel, tensors: list[tf.Tensor], has_weights: Sequence[bool]
    ) -> tuple[list[tf.Operation], list[tf.Tensor], list[Any]]:
        """Returns a step's operations, its results, and the variables that no collection has."""
        count = len(original.model.inputs)
        inputs, rest = tensors[:count], tensors[count:]
        if self._mode == ModeKeys.PREDICT:
            copy = original.copy(inputs)
            outputs = [tf.identity(output) for output in copy.outputs]
            return self._note(copy), outputs, list(copy.weights)
        weight_count = sum(has_weights)
        targets, weights = rest[: len(rest) - weight_count], iter(rest[len(rest) - weight_count :])
        per_output = (
            [next(weights) if has else None for has in has_weights] if weight_count else None
        )
        copy = original.build(inputs, targets, per_output, self._averaging)
        operations = self._note(copy)
        if self._mode == ModeKeys.TRAIN:
            operations = self._train(copy)  # the states' updates among them
        metrics = list({id(m): m for m in training_metrics(copy)}.values())
        sums = MetricSums(metrics, self._replicas, self._is_whole)
        self._metric_variables = sums.variables
        loss = cross_replica_sum(copy.total_loss) / self._replicas
        return (
            [*operations, *sums.operations],
            [loss, *sums.values],
            [*copy.weights, *sums.variables],
        )

    def _note(self, copy: Any) -> list[tf.Operation]:
        """Records a copy's weights and the states that it keeps between batches.

        Returns:
          The operations that update the states.
        """
        self.weights = [weight.op.name for weight in copy.weights]
        stateful = [layer for layer in copy.layers if getattr(layer, "stateful", False)]
        self._states = [s for layer in stateful for s in tf.nest.flatten(layer.states)]
        updates = [getattr(update, "op", update) for update in copy.state_updates]
        return [update for update in updates if isinstance(update, tf.Operation)]

    def _averaging(self, optimizer: Any) -> Any:
        """Makes an optimizer apply the mean of the replicas' gradients."""
        of_tf1 = getattr(optimizer, "optimizer", None)
        if of_tf1 is not None:
            if not isinstance(of_tf1, CrossShardOptimizer):
                of_tf1 = CrossShardOptimizer(of_tf1)
            return type(optimizer)(of_tf1, optimizer.iterations)
        original = optimizer.get_gradients

        def get_gradients(loss: Any, params: Any) -> list[tf.Tensor]:
            return [cross_replica_sum(g) / self._replicas for g in original(loss, params)]

        optimizer.get_gradients = get_gradients
        return optimizer

    def _train(self, copy: Any) -> list[tf.Operation]:
        update = train_op_of(copy)
        hypers = hypers_of(copy.optimizer)
        self.hypers = {k: v.op.name for k, v in hypers.items() if isinstance(v, tf.Variable)}
        if self._replicas == 1:
            return [update]
        # Moving averages, such as batch normalization's, become the mean over the replicas.
        with tf.control_dependencies([update]):
            means = [
                _v1.assign(weight, cross_replica_sum(weight.read_value()) / self._replicas).op
                for weight in copy.non_trainable_weights
                if weight.dtype.is_floating
            ]
        return [update, *means]

    def _initialize(self, variables: Sequence[Any]) -> None:
        """Initializes the variables that other programs have not created."""
        variables_by_name = {variable.op.name: variable for variable in variables}
        resources = self.session.resources
        new = [
            v.initializer
            for name, v in variables_by_name.items()
            if not resources.have_values({name})
        ]
        self.session.run(new)
