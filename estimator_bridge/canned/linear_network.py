"""The logits of linear models of feature columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.canned.column_state import ColumnState
from estimator_bridge.canned.columns import are_v2, is_categorical, scope_of, sorted_columns
from estimator_bridge.canned.summaries import summarize_weights

__all__ = ["LinearModel", "expanded", "linear_logit_fn_builder", "linear_model"]

_v1 = tf.compat.v1


class LinearModel(NamedTuple):
    """A linear model in a graph.

    Attributes:
      logits: of shape ``[batch, units]``.
      bias: the variable of shape ``[units]``.
      weights: each column's variables, embeddings included, by the columns' names.
      state: the columns' own variables and tables.
    """

    logits: tf.Tensor
    bias: Any
    weights: dict[str, list[Any]]
    state: ColumnState

    @property
    def all_weights(self) -> list[Any]:
        """The variables except the bias; a partitioned variable is replaced by its parts."""
        return expanded([v for variables in self.weights.values() for v in variables])

    @property
    def variables(self) -> list[Any]:
        """All variables."""
        return [*self.all_weights, *expanded([self.bias])]


def linear_model(
    features: dict[str, Any],
    columns: Iterable[Any],
    units: int,
    sparse_combiner: str,
    name: str,
) -> LinearModel:
    """Builds a linear model of V2 feature columns.

    Args:
      features: the features by key.
      columns: dense and categorical columns.
      units: the number of outputs.
      sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
      name: the variables' scope.

    Raises:
      ValueError: a linear model does not support a column, or two have the same name.
    """
    ordered = sorted_columns(columns)
    state = ColumnState()
    weights: dict[str, Any] = {}
    by_column: dict[str, list[Any]] = {}
    with _v1.variable_scope(name, auxiliary_name_scope=False):
        for column in ordered:
            with _v1.variable_scope(scope_of(column), auxiliary_name_scope=False):
                start = len(state.variables)
                column.create_state(state)
                weights[column.name] = _zeros(state, column, [_width(column), units])
                by_column[column.name] = state.variables[start:]
        bias = _v1.get_variable(
            "bias_weights", [units], tf.float32, tf.zeros_initializer(), use_resource=True
        )
    cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
    with tf.name_scope(name):
        sums = []
        for column in ordered:
            with tf.name_scope(scope_of(column)):
                weight = weights[column.name]
                sums.append(_weighted_sum(column, cache, state, weight, sparse_combiner))
        _check_batch_sizes(sums, ordered)
        total = tf.add_n(sums, name="weighted_sum_no_bias")
        logits = tf.nn.bias_add(total, bias, name="weighted_sum")
    return LinearModel(logits, bias, by_column, state)


def linear_logit_fn_builder(
    units: int, feature_columns: Iterable[Any], sparse_combiner: str = "sum"
) -> Callable[..., tf.Tensor]:
    """Returns a function that computes a linear model's logits, for your own model_fn.

    Args:
      units: the number of logits, such as a head's ``logits_dimension``.
      feature_columns: the model's inputs.
      sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.

    Returns:
      A function of features that creates the variables in the current variable scope, in
      'linear_model', and returns logits of shape ``[batch, units]``.
    """
    columns = tuple(feature_columns or [])

    def linear_logit_fn(features: dict[str, Any]) -> tf.Tensor:
        if are_v2(columns):
            model = linear_model(features, columns, units, sparse_combiner, "linear_model")
            summarize_weights(model.bias, model.all_weights, units)
            return model.logits
        variables: dict[Any, list[Any]] = {}
        logits = _v1.feature_column.linear_model(
            features, columns, units, sparse_combiner, cols_to_vars=variables
        )
        bias = variables.pop("bias")
        weights = expanded([v for entry in variables.values() for v in _as_list(entry)])
        summarize_weights(_as_list(bias)[0], weights, units)
        return logits

    return linear_logit_fn


def _zeros(state: ColumnState, column: Any, shape: list[int]) -> Any:
    return state.create_variable(
        column, "weights", shape, tf.float32, initializer=tf.zeros_initializer()
    )


def _width(column: Any) -> int:
    """Returns the number of rows of a column's weights."""
    return column.num_buckets if is_categorical(column) else column.variable_shape.num_elements()


def _weighted_sum(column: Any, cache: Any, state: Any, weight: Any, combiner: str) -> tf.Tensor:
    if not is_categorical(column):
        tensor = column.get_dense_tensor(cache, state)
        rows = tf.reshape(tensor, [tf.shape(tensor)[0], _width(column)])
        return tf.matmul(rows, weight, name="weighted_sum")
    entries = column.get_sparse_tensors(cache, state)
    # The combined weights of an example's IDs. TF1's lookup handles variables that are partitioned
    # by consecutive rows.
    return _v1.nn.safe_embedding_lookup_sparse(
        weight,
        _in_rows(entries.id_tensor),
        None if entries.weight_tensor is None else _in_rows(entries.weight_tensor),
        combiner=combiner,
        name="weighted_sum",
    )


def _in_rows(ids: tf.SparseTensor) -> tf.SparseTensor:
    return tf.sparse.reshape(ids, [tf.shape(ids)[0], -1])


def _check_batch_sizes(sums: Sequence[tf.Tensor], columns: Sequence[Any]) -> None:
    sizes = {c.name: tf.compat.dimension_value(s.shape[0]) for c, s in zip(columns, sums)}
    static_sizes = {name: size for name, size in sizes.items() if size is not None}
    if len(set(static_sizes.values())) > 1:
        raise ValueError(
            "Batch size (first dimension) of each feature must be same. The columns have: "
            f"{static_sizes}. input_fn must return tensors of one length."
        )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def expanded(variables: Iterable[Any]) -> list[Any]:
    """Returns variables, with partitioned ones replaced by their parts."""
    parts: list[Any] = []
    for variable in variables:
        parts += [variable] if isinstance(variable, (tf.Variable, tf.Tensor)) else list(variable)
    return parts
