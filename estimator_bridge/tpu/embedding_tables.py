"""TPU embeddings without a TPU's embedding engine: tables that are variables on each core.

The columns create and read their tables as they do on a CPU, so names and checkpoints are the same.
Only the training differs: the gradient of a lookup is kept for the table's own optimizer, and the
program's optimizer gets no gradient for the table.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.model.cross_shard import cross_replica_sum
from estimator_bridge.tensorflow_private.columns import (
    SHARED_EMBEDDING_COLUMN,
    columns_as_on_a_cpu,
    shared_table_name,
)
from estimator_bridge.tensorflow_private.graphs import operations_made_otherwise
from estimator_bridge.tpu.embedding_spec import EmbeddingConfigSpec
from estimator_bridge.tpu.optimizers_of_tables import optimizers_may_train_nothing
from estimator_bridge.tpu_embedding_parameters import (
    AdagradParameters,
    AdamParameters,
    EmbeddingParameters,
)

__all__ = ["EmbeddingTables"]

_v1 = tf.compat.v1


class _Table(NamedTuple):
    variable: tf.Variable
    column: Any
    # By lookup: the rows and their latest gradient.
    lookups: dict[int, tuple[tf.Tensor, tf.Tensor]]


class EmbeddingTables:
    """The tables of one traced model.

    Args:
      spec: the estimator's EmbeddingConfigSpec.
      graph: the model's graph.
    """

    def __init__(self, spec: EmbeddingConfigSpec, graph: tf.Graph):
        self._spec, self._graph = spec, graph
        self._tables: dict[Any, _Table] = {}  # by the reference of the variable's handle
        self._lookups = 0
        self._is_looking_up = False

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """A context for the call of model_fn."""
        makers = {"ResourceGather": self._looked_up}
        creators = tf.variable_creator_scope(self._create)
        optimizers = optimizers_may_train_nothing(self._have_gradients)
        with columns_as_on_a_cpu(), operations_made_otherwise(makers), creators, optimizers:
            yield

    def train(self) -> list[tf.Operation]:
        """Updates the tables with the gradients that the program has computed.

        Returns:
          An operation for each table with a gradient.

        Raises:
          RuntimeError: model_fn used none of the columns.
        """
        if self._spec.feature_columns and not self._tables:
            names = [column.name for column in self._spec.feature_columns or ()]
            raise RuntimeError(
                "Embedding feature column did not capture any thing. Make sure the feature columns "
                f"passed to TPUEstimator constructor ({names}) are used in model_fn, with "
                "tf.compat.v1.feature_column.input_layer or DenseFeatures."
            )
        return [self._train(table) for table in self._tables.values() if table.lookups]

    def _have_gradients(self) -> bool:
        return any(table.lookups for table in self._tables.values())

    def _create(self, next_creator: Any, **kwargs: Any) -> tf.Variable:
        variable = next_creator(**kwargs)
        for column in self._spec.feature_columns or ():
            if _is_table_of(column, variable.op.name):
                self._tables[variable.handle.ref()] = _Table(variable, column, {})
                break
        return variable

    def _looked_up(
        self, inputs: Sequence[tf.Tensor], name: str | None, attrs: Mapping[str, Any]
    ) -> tf.Operation | None:
        del attrs
        handle, rows = inputs
        table = self._tables.get(handle.ref())
        if table is None or self._is_looking_up:
            return None
        self._is_looking_up = True
        try:
            rows_of_table = tf.raw_ops.ResourceGather(
                resource=handle, indices=rows, dtype=table.variable.dtype, name=name
            )
        finally:
            self._is_looking_up = False
        number, self._lookups = self._lookups, self._lookups + 1

        @tf.custom_gradient
        def with_gradient(x: tf.Tensor):
            def gradient(dy: tf.Tensor) -> None:
                if _v1.get_default_graph() is not self._graph:
                    raise NotImplementedError(
                        f"The gradient of the TPU embedding {table.variable.op.name!r} is computed "
                        "inside a loop or a branch. Compute it outside."
                    )
                table.lookups[number] = (rows, dy)

            return tf.identity(x), gradient

        return tf.identity(with_gradient(rows_of_table)).op

    def _train(self, table: _Table) -> tf.Operation:
        variable, parameters = table.variable, self._spec.optimization_parameters
        count, size = variable.shape.as_list()
        rows = tf.concat([tf.reshape(rows, [-1]) for rows, _ in table.lookups.values()], 0)
        gradients = tf.concat([tf.reshape(dy, [-1, size]) for _, dy in table.lookups.values()], 0)
        step = _v1.train.get_global_step()
        multiplier = self._spec.experimental_gradient_multiplier_fn
        if multiplier is not None:
            gradients *= tf.cast(multiplier(step), gradients.dtype)
        # Both have the table's size, so their shapes do not depend on the rows looked up.
        total = cross_replica_sum(tf.math.unsorted_segment_sum(gradients, rows, count))
        ones = tf.ones_like(rows, tf.float32)
        counts = cross_replica_sum(tf.math.unsorted_segment_sum(ones, rows, count))
        rate_fn = table.column.get_learning_rate_fn()
        rate = parameters.learning_rate if rate_fn is None else tf.cast(rate_fn(step), tf.float32)
        return _update(variable, total, counts[:, tf.newaxis] > 0, rate, parameters)


def _is_table_of(column: Any, name: str) -> bool:
    if isinstance(column, SHARED_EMBEDDING_COLUMN):
        own = re.escape(shared_table_name(column))
        return re.search(rf"(^|/){own}(_\d+)?$", name) is not None
    return re.search(rf"(^|/){re.escape(column.name)}(_\d+)?/embedding_weights$", name) is not None


def _update(
    variable: tf.Variable,
    gradient: tf.Tensor,
    mask: tf.Tensor,
    rate: Any,
    parameters: EmbeddingParameters,
) -> tf.Operation:
    """Updates the rows that were looked up, or all rows with an Adam that is not lazy.

    Args:
      variable: the table.
      gradient: the gradient of the whole table, summed over all replicas.
      mask: booleans of shape [rows, 1]: whether any replica looked up the row.
      rate: the learning rate.
      parameters: the optimizer and its hyperparameters.
    """
    least, most = parameters.clip_gradient_min, parameters.clip_gradient_max
    if least is not None or most is not None:
        gradient = _clip(gradient, least, most)
    if isinstance(parameters, AdamParameters) and not parameters.lazy_adam:
        mask = tf.ones_like(mask)
    weights = variable.read_value()
    new = weights
    if parameters.weight_decay_factor is not None:
        decay: Any = parameters.weight_decay_factor
        if parameters.multiply_weight_decay_factor_by_learning_rate:
            decay = decay * rate
        new -= decay * weights
    updates = []
    # The names of slots are those of a v1 optimizer and of the original's checkpoints.
    if isinstance(parameters, AdagradParameters):
        slot = _slot(variable, "Adagrad", parameters.initial_accumulator)
        accumulator = slot + tf.square(gradient)
        updates.append(slot.assign(tf.where(mask, accumulator, slot)))
        new -= rate * gradient * tf.math.rsqrt(accumulator)
    elif isinstance(parameters, AdamParameters):
        m_slot, v_slot = (_slot(variable, f"Adam/{name}", 0.0) for name in "mv")
        m = parameters.beta1 * m_slot + (1 - parameters.beta1) * gradient
        v = parameters.beta2 * v_slot + (1 - parameters.beta2) * tf.square(gradient)
        updates.append(m_slot.assign(tf.where(mask, m, m_slot)))
        updates.append(v_slot.assign(tf.where(mask, v, v_slot)))
        if parameters.sum_inside_sqrt:
            new -= rate * m * tf.math.rsqrt(v + parameters.epsilon**2)
        else:
            new -= rate * m / (tf.sqrt(v) + parameters.epsilon)
    else:
        new -= rate * gradient
    new = _clip(new, parameters.clip_weight_min, parameters.clip_weight_max)
    updates.append(variable.assign(tf.where(mask, new, weights)))
    return tf.group(*updates)


def _clip(x: tf.Tensor, least: float | None, most: float | None) -> tf.Tensor:
    x = x if least is None else tf.maximum(x, least)
    return x if most is None else tf.minimum(x, most)


def _slot(variable: tf.Variable, name: str, value: float) -> tf.Variable:
    return _v1.get_variable(
        f"{variable.op.name}/{name}",
        variable.shape,
        variable.dtype,
        _v1.constant_initializer(value),
        trainable=False,
    )
