"""SdcaModel: a linear model that is trained by stochastic dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.linear_network import expanded
from estimator_bridge.canned.sdca_solver import shrunk, solve
from estimator_bridge.canned.sdca_table import ExampleStates
from estimator_bridge_contrib.linear_optimizer.sdca_losses import mean_loss
from estimator_bridge_contrib.linear_optimizer.sdca_settings import (
    check_given,
    read_settings,
)

__all__ = ["SdcaModel"]

_v1 = tf.compat.v1
_SPARSE, _DENSE = "sparse_features", "dense_features"


class SdcaModel:
    """Solves for the weights of a linear model, with a dual variable for each example.

    A step of `minimize` changes copies of the weights; `update_weights` copies them to the
    variables, with the L1 regularization applied. The examples' state is in tables that
    checkpoints save.

    Args:
      examples: by name: ``sparse_features``, a list of SparseFeatureColumn; ``dense_features``, a
        list of float32 [batch, n]; ``example_labels`` and ``example_weights``, float32 [batch];
        ``example_ids``, strings [batch].
      variables: by name: ``sparse_features_weights`` [ids] and ``dense_features_weights`` [n],
        lists of variables in the order of the features. Each may be partitioned in its rows, or a
        list of parts.
      options: ``loss_type``, one of logistic_loss, squared_loss, hinge_loss, smooth_hinge_loss and
        poisson_loss; ``symmetric_l1_regularization``; ``symmetric_l2_regularization``, of which
        less than 1 is 1; optionally ``num_loss_partitions`` (1), the number of workers that train
        on parts of the data, ``num_table_shards`` (1) and ``adaptive`` (True), whether to sample
        examples by their expected gain.

    Raises:
      KeyError: a key is missing.
      ValueError: a value is missing or out of range.
    """

    def __init__(
        self,
        examples: Mapping[str, Any],
        variables: Mapping[str, Any],
        options: Mapping[str, Any],
    ):
        self._settings = read_settings(examples, variables, options)
        self._examples = examples
        self._weights = {
            name: [
                expanded(each if isinstance(each, list) else [each])
                for each in variables[f"{name}_weights"]
            ]
            for name in (_SPARSE, _DENSE)
        }
        self._unshrunk = {
            name: [[_unshrunk(part) for part in parts] for parts in each]
            for name, each in self._weights.items()
        }
        self._states = ExampleStates(self._settings.shards)
        _v1.summary.scalar("approximate_duality_gap", self.approximate_duality_gap())
        _v1.summary.scalar("examples_seen", self._states.size())

    def minimize(self, global_step: Any = None, name: str | None = None) -> tf.Operation:
        """Builds a step on the examples.

        Args:
          global_step: a variable to increment after the step.
          name: the name scope of the operations.

        Returns:
          The operation, for `update_weights`.
        """
        with _v1.name_scope(name, "sdca/minimize"):
            ids = tf.raw_ops.SdcaFprint(
                input=tf.convert_to_tensor(self._examples["example_ids"], tf.string)
            )
            examples = (
                tf.convert_to_tensor(self._examples["example_labels"], tf.float32),
                tf.convert_to_tensor(self._examples["example_weights"], tf.float32),
                self._states.lookup(ids),
            )
            unshrunk_weights = self._unshrunk[_SPARSE], self._unshrunk[_DENSE]
            columns = [_entries(column) for column in self._examples[_SPARSE]]
            numbers = [tf.convert_to_tensor(each) for each in self._examples[_DENSE]]
            states, changes = solve(
                self._settings.solver, columns, numbers, unshrunk_weights, examples
            )
            with tf.control_dependencies([states]):
                updates = [self._states.insert(ids, states)]
                for change, parts in zip(changes, [*unshrunk_weights[0], *unshrunk_weights[1]]):
                    updates += change(parts)
            if global_step is None:
                return tf.group(*updates)
            with tf.control_dependencies(updates):
                return tf.group(_v1.assign_add(global_step, 1), name=name)

    def update_weights(self, train_op: tf.Operation) -> tf.Operation:
        """Builds the update of the variables, which runs after a step.

        Args:
          train_op: the operation that `minimize` returned.
        """
        solver = self._settings.solver
        with tf.control_dependencies([train_op]):
            return tf.group(
                *[
                    _v1.assign(part, shrunk(source.read_value(), solver.l1, solver.l2))
                    for part, source in zip(_parts(self._weights), _parts(self._unshrunk))
                ]
            )

    def predictions(self, examples: Mapping[str, Any]) -> tf.Tensor:
        """Returns predictions [batch]: probabilities for logistic_loss, means for poisson_loss.

        Args:
          examples: see the class; labels and ids are not needed.

        Raises:
          KeyError: a key is missing.
          ValueError: a value is missing.
        """
        check_given(examples, ["example_weights"])
        linear = self._linear(examples)
        if self._settings.solver.loss_type == "logistic_loss":
            with tf.name_scope("sdca/logistic_prediction"):
                return tf.sigmoid(linear)
        if self._settings.solver.loss_type == "poisson_loss":
            with tf.name_scope("sdca/poisson_prediction"):
                return tf.exp(linear)
        return linear

    def approximate_duality_gap(self) -> tf.Tensor:
        """Returns the duality gap over all examples seen, a scalar; NaN before the first."""
        with tf.name_scope("sdca/approximate_duality_gap"):
            _, primal, dual, count = tf.unstack(self._states.sums(), num=4)
            penalty = self._l1_loss() + 2.0 * self._l2_loss(self._settings.solver.l2)
            return (primal + dual + penalty) / count

    def unregularized_loss(self, examples: Mapping[str, Any]) -> tf.Tensor:
        """Returns the mean loss of examples, a scalar.

        Args:
          examples: see the class; ids are not needed.

        Raises:
          KeyError: a key is missing.
          ValueError: a value is missing.
        """
        check_given(examples, ["example_labels", "example_weights"])
        with tf.name_scope("sdca/unregularized_loss"):
            return mean_loss(
                self._settings.solver.loss_type,
                _wide(examples["example_labels"]),
                tf.cast(self._linear(examples), tf.float64),
                _wide(examples["example_weights"]),
            )

    def regularized_loss(self, examples: Mapping[str, Any]) -> tf.Tensor:
        """Returns the mean loss of examples with both regularizations, a scalar.

        Args:
          examples: see the class; ids are not needed.

        Raises:
          KeyError: a key is missing.
          ValueError: a value is missing.
        """
        check_given(examples, ["example_labels", "example_weights"])
        with tf.name_scope("sdca/regularized_loss"):
            penalty = self._l1_loss() + self._l2_loss(self._settings.l2)
            count = tf.reduce_sum(_wide(examples["example_weights"]))
            return penalty / count + self.unregularized_loss(examples)

    def _linear(self, examples: Mapping[str, Any]) -> tf.Tensor:
        """Returns the sums of the features' values times their weights [batch]."""
        with tf.name_scope("sdca/prediction"):
            batch = tf.size(tf.convert_to_tensor(examples["example_weights"], tf.float32))
            total = tf.zeros([batch])
            for column, parts in zip(examples[_SPARSE], self._weights[_SPARSE]):
                rows, ids, values = _entries(column)
                weights = tf.reshape(tf.gather(tf.concat(parts, 0), ids), [-1])
                total += tf.math.unsorted_segment_sum(weights * values, rows, batch)
            for numbers, parts in zip(examples[_DENSE], self._weights[_DENSE]):
                weights = tf.reshape(tf.concat(parts, 0), [-1, 1])
                total += tf.reshape(tf.matmul(tf.convert_to_tensor(numbers), weights), [-1])
            return tf.reshape(total, [-1])

    def _l1_loss(self) -> tf.Tensor:
        with tf.name_scope("sdca/l1_loss"):
            sums = [tf.reduce_sum(tf.abs(_wide(part))) for part in _parts(self._weights)]
            return self._settings.solver.l1 * tf.add_n(sums)

    def _l2_loss(self, l2: float) -> tf.Tensor:
        with tf.name_scope("sdca/l2_loss"):
            sums = [tf.reduce_sum(tf.square(_wide(part))) for part in _parts(self._weights)]
            return l2 * tf.add_n(sums) / 2.0


def _unshrunk(part: Any) -> Any:
    """Creates the solver's copy of a weight, with the name of 1.15 in checkpoints."""
    return _v1.Variable(
        tf.zeros(part.shape), name=f"{part.op.name}_unshrinked/SDCAOptimizer", dtype=tf.float32
    )


def _entries(column: Any) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the rows, ids and values of a SparseFeatureColumn."""
    values = column.feature_values
    if values is None:
        values = tf.ones_like(column.feature_indices, tf.float32)
    return column.example_indices, column.feature_indices, values


def _wide(value: Any) -> tf.Tensor:
    return tf.cast(tf.convert_to_tensor(value), tf.float64)


def _parts(variables: Mapping[str, Sequence[Iterable[Any]]]) -> list[Any]:
    """Returns the parts of all variables, those of sparse features first."""
    return [part for name in (_SPARSE, _DENSE) for parts in variables[name] for part in parts]
