"""The state of an `OptimizerV2`, and the updates of a step."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["OptimizerState", "Updates"]

_v1 = tf.compat.v1


class OptimizerState:
    """The slots, other variables and hyperparameters of an optimizer.

    Args:
      hyper: by name, whether to read a hyperparameter at each step, and the hyperparameter.
      variables: the functions of the optimizer that make and find its variables.
      name: the slots' name.
    """

    def __init__(
        self,
        hyper: Mapping[str, tuple[bool, Any]],
        variables: Mapping[str, Callable[..., Any]],
        name: str,
    ):
        self._hyper, self._variables, self._name = hyper, variables, name
        # By graph: what does not change between steps.
        self._static: Any = weakref.WeakKeyDictionary()
        self._values: dict[tuple[str, Any], tf.Tensor] = {}
        self._updates: Updates | None = None
        self._updated: Sequence[Any] = ()

    def create_slot(
        self, var: Any, val: Any, slot_name: str, optional_op_name: str | None = None
    ) -> Any:
        """Returns a variable's slot, which has a tensor's value at first."""
        return self._variables["slot"](var, val, slot_name, optional_op_name or self._name)

    def create_slot_with_initializer(
        self,
        var: Any,
        initializer: Any,
        shape: Any,
        dtype: Any,
        slot_name: str,
        optional_op_name: str | None = None,
    ) -> Any:
        """Returns a variable's slot, made by an initializer."""
        name = optional_op_name or self._name
        return self._variables["initialized_slot"](var, initializer, shape, dtype, slot_name, name)

    def zeros_slot(self, var: Any, slot_name: str, optional_op_name: str | None = None) -> Any:
        """Returns a variable's slot, which is zero at first."""
        return self._variables["zeros_slot"](var, slot_name, optional_op_name or self._name)

    def get_slot(self, var: Any, name: str) -> Any:
        """Returns a variable's slot; None if there is none."""
        return self._variables["get_slot"](var, name)

    def get_slot_names(self) -> list[str]:
        """Returns the slots' names."""
        return self._variables["get_slot_names"]()

    def create_non_slot(self, initial_value: Any, name: str, colocate_with: Any = None) -> Any:
        """Returns a variable of the optimizer that belongs to none of the model."""
        if colocate_with is None:
            colocate_with = min(self._updated, key=lambda variable: variable.name)
        return self._variables["other"](initial_value, name, colocate_with)

    def get_non_slot(self, name: str) -> Any:
        """Returns a variable that `create_non_slot` made; None if there is none."""
        graph = None if tf.executing_eagerly() else _v1.get_default_graph()
        return self._variables["get_other"](name, graph)

    def get_hyper(self, name: str, dtype: Any = None) -> tf.Tensor:
        """Returns a hyperparameter as a tensor of a type.

        Raises:
          KeyError: there is none of that name.
        """
        value = self._values[name, None]
        if dtype is None:
            return value
        if (name, dtype) not in self._values:
            self._values[name, dtype] = tf.cast(value, dtype)
        return self._values[name, dtype]

    def begin_step(self, updates: Updates, updated: Sequence[Any]) -> None:
        """Reads the hyperparameters.

        Args:
          updates: the step's updates.
          updated: its variables.
        """
        self._updates, self._updated = updates, updated
        with tf.init_scope():
            graph = _v1.get_default_graph()
            if graph not in self._static or tf.executing_eagerly():
                self._static[graph] = {
                    name: tf.convert_to_tensor(value, name=name)
                    for name, (changes, value) in sorted(self._hyper.items())
                    if not changes
                }
        values = dict(self._static[graph])
        for name, (changes, value) in sorted(self._hyper.items()):
            if changes:
                number = value() if callable(value) else value
                values[name] = tf.convert_to_tensor(number, name=name)
        self._values = {(name, None): value for name, value in values.items()}

    def without_duplicates(self, grad: tf.IndexedSlices, var: Any) -> Any:
        """Updates a reference variable's rows, each once."""
        assert self._updates is not None
        return self._updates.without_duplicates(grad, var)

    def resource_without_duplicates(self, grad: tf.Tensor, handle: Any, indices: tf.Tensor) -> Any:
        """Updates a resource variable's rows, each once."""
        assert self._updates is not None
        return self._updates.resource_without_duplicates(grad, handle, indices)


class Updates(tf.compat.v1.train.Optimizer):
    """A step: TensorFlow's own optimizer, whose methods call those with a state.

    Args:
      use_locking: see `OptimizerV2`.
      name: see `OptimizerV2`.
      state: the optimizer's state.
      methods: the optimizer's methods, by what they do.
    """

    def __init__(
        self,
        use_locking: bool,
        name: str,
        state: OptimizerState,
        methods: Mapping[str, Callable[..., Any]],
    ):
        super().__init__(use_locking, name)
        self._state, self._methods = state, methods

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Returns the operation of a step; see `OptimizerV2.apply_gradients`."""
        pairs = tuple(grads_and_vars)
        updated = [variable for gradient, variable in pairs if gradient is not None]
        if not updated:
            return super().apply_gradients(pairs, global_step, name)  # raises the error
        with _v1.name_scope(name, self._name) as scope:
            self._state.begin_step(self, updated)
        return super().apply_gradients(pairs, global_step, scope)

    def without_duplicates(self, grad: tf.IndexedSlices, var: Any) -> Any:
        """See `OptimizerState`."""
        return super()._apply_sparse_duplicate_indices(grad, var)

    def resource_without_duplicates(self, grad: tf.Tensor, handle: Any, indices: tf.Tensor) -> Any:
        """See `OptimizerState`."""
        return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._methods["create"](var_list, self._state)

    def _prepare(self) -> None:
        self._methods["prepare"](self._state)

    def _apply_dense(self, grad: tf.Tensor, var: Any) -> Any:
        return self._methods["dense"](grad, var, self._state)

    def _resource_apply_dense(self, grad: tf.Tensor, handle: Any) -> Any:
        return self._methods["resource_dense"](grad, handle, self._state)

    def _apply_sparse_duplicate_indices(self, grad: tf.IndexedSlices, var: Any) -> Any:
        return self._methods["sparse"](grad, var, self._state)

    def _apply_sparse(self, grad: tf.IndexedSlices, var: Any) -> Any:
        return self._methods["sparse_without_duplicates"](grad, var, self._state)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: tf.Tensor, handle: Any, indices: tf.Tensor
    ) -> Any:
        return self._methods["resource_sparse"](grad, handle, indices, self._state)

    def _resource_apply_sparse(self, grad: tf.Tensor, handle: Any, indices: tf.Tensor) -> Any:
        method = self._methods["resource_sparse_without_duplicates"]
        return method(grad, handle, indices, self._state)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        updates = tf.group(*update_ops)
        with tf.control_dependencies([updates]):
            last = self._methods["finish"](self._state)
        return tf.group(updates if last is None else last, name=name_scope)
