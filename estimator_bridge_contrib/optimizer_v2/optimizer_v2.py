"""The base of optimizers whose methods get their state as an argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.optimizer_v2.optimizer_state import OptimizerState, Updates

__all__ = ["OptimizerV2"]

_GATE_OP = tf.compat.v1.train.Optimizer.GATE_OP


class OptimizerV2(tf.compat.v1.train.Optimizer):
    """Derive from it, and define `_apply_dense` and `_resource_apply_dense`.

    A hyperparameter is set by `_set_hyper` in the constructor and read by ``state.get_hyper``. If
    it is a function, each step calls it.

    Args:
      use_locking: whether updates of variables hold a lock.
      name: the operations' and slots' name.

    Raises:
      RuntimeError: the class defines `_create_slots`, and not `_create_vars`.
      ValueError: the name is empty.
    """

    def __init__(self, use_locking: bool, name: str):
        kind = type(self)
        if kind._create_slots is not OptimizerV2._create_slots:
            raise RuntimeError(
                "Override _create_vars instead of _create_slots when descending from OptimizerV2 "
                f"(class {kind.__name__})"
            )
        super().__init__(use_locking, name)
        self._hyper: dict[str, tuple[bool, Any]] = {}
        self._state = OptimizerState(
            self._hyper,
            {
                "slot": self._get_or_make_slot,
                "initialized_slot": self._get_or_make_slot_with_initializer,
                "zeros_slot": self._zeros_slot,
                "other": self._create_non_slot_variable,
                "get_other": self._get_non_slot_variable,
                "get_slot": self.get_slot,
                "get_slot_names": self.get_slot_names,
            },
            name,
        )

    def _set_hyper(self, name: str, value: Any) -> None:
        """Sets a hyperparameter: a number, a tensor, a variable, or a function that returns one."""
        is_variable = tf.executing_eagerly() and isinstance(value, tf.Variable)
        self._hyper[name] = (callable(value) or is_variable, value)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = _GATE_OP,
        aggregation_method: int | None = None,
        name: str | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:
        """Updates variables to reduce a loss.

        Args:
          loss: a tensor, or a function that returns one; in eager code, a function.
          global_step: a variable to count steps in.
          var_list: the variables; by default the trainable ones.
          gate_gradients: see `compute_gradients`.
          aggregation_method: how to add up parts of a gradient.
          name: the returned operation's name.
          grad_loss: the gradient of the loss.
          stop_gradients: tensors that gradients do not pass.
          scale_loss_by_num_replicas: whether to divide the loss by the number of replicas.

        Returns:
          The operation of a step.

        Raises:
          ValueError: no variable has a gradient.
        """
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            grad_loss=grad_loss,
            stop_gradients=stop_gradients,
            scale_loss_by_num_replicas=scale_loss_by_num_replicas,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(each) for _, each in pairs]} and "
                f"loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = _GATE_OP,
        aggregation_method: int | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> list[tuple[Any, Any]]:
        """Returns pairs of a gradient, or None, and a variable; see `minimize`.

        Args:
          loss: see `minimize`.
          var_list: see `minimize`.
          gate_gradients: whether an operation's gradients, or all, are computed before any is used:
            GATE_NONE, GATE_OP or GATE_GRAPH.
          aggregation_method: see `minimize`.
          grad_loss: see `minimize`.
          stop_gradients: see `minimize`.
          scale_loss_by_num_replicas: see `minimize`.

        Raises:
          RuntimeError: in eager code, the loss is no function.
          ValueError: there are no variables, or an unknown gate.
        """
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        factor = 1.0 / replicas if scale_loss_by_num_replicas and replicas > 1 else None
        if factor is not None:
            loss = _scaled(loss, factor)
        if stop_gradients is None or callable(loss):
            return super().compute_gradients(
                loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss
            )
        # The base class has no such argument: the tensors are cut from the variables by themselves.
        variables = tf.nest.flatten(
            tf.compat.v1.trainable_variables() if var_list is None else var_list
        )
        gradients = tf.compat.v1.gradients(
            loss,
            variables,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            stop_gradients=stop_gradients,
        )
        if gate_gradients == self.GATE_GRAPH:
            gradients = tf.tuple(gradients)
        return list(zip(gradients, variables))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates variables.

        Args:
          grads_and_vars: pairs as `compute_gradients` returns them.
          global_step: a variable to count steps in.
          name: the returned operation's name.

        Returns:
          The operation of a step.

        Raises:
          TypeError: a gradient is no tensor.
          ValueError: there are no variables, or no gradient.
        """
        updates = Updates(
            self._use_locking,
            self._name,
            self._state,
            {
                "create": self._create_vars,
                "prepare": self._prepare,
                "dense": self._apply_dense,
                "sparse": self._apply_sparse_duplicate_indices,
                "sparse_without_duplicates": self._apply_sparse,
                "resource_dense": self._resource_apply_dense,
                "resource_sparse": self._resource_apply_sparse_duplicate_indices,
                "resource_sparse_without_duplicates": self._resource_apply_sparse,
                "finish": self._finish,
            },
        )
        return updates.apply_gradients(grads_and_vars, global_step, name)

    def variables(self) -> list[Any]:
        """Returns the slots and the other variables of the default graph, sorted by name."""
        return sorted(super().variables(), key=lambda variable: variable.name)

    # What subclasses define.

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        """Makes the slots of variables, by methods of the state. By default there are none."""

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Does nothing: `_create_vars` replaces it."""

    def _prepare(self, state: OptimizerState) -> None:
        """Makes what the updates of all variables share. By default nothing."""

    def _apply_dense(self, grad: tf.Tensor, var: Any, state: OptimizerState) -> Any:
        """Returns the update of a reference variable."""
        raise NotImplementedError(_define(self, "_apply_dense(grad, var, state)"))

    def _resource_apply_dense(self, grad: tf.Tensor, handle: Any, state: OptimizerState) -> Any:
        """Returns the update of a resource variable."""
        raise NotImplementedError(_define(self, "_resource_apply_dense(grad, handle, state)"))

    def _apply_sparse_duplicate_indices(
        self, grad: tf.IndexedSlices, var: Any, state: OptimizerState
    ) -> Any:
        """Returns the update of rows, by default after adding up those of one index."""
        return state.without_duplicates(grad, var)

    def _apply_sparse(self, grad: tf.IndexedSlices, var: Any, state: OptimizerState) -> Any:
        """Returns the update of a reference variable's rows."""
        raise NotImplementedError(_define(self, "_apply_sparse(grad, var, state)"))

    def _resource_apply_sparse_duplicate_indices(
        self, grad: tf.Tensor, handle: Any, indices: tf.Tensor, state: OptimizerState
    ) -> Any:
        """Returns the update of rows, by default after adding up those of one index."""
        return state.resource_without_duplicates(grad, handle, indices)

    def _resource_apply_sparse(
        self, grad: tf.Tensor, handle: Any, indices: tf.Tensor, state: OptimizerState
    ) -> Any:
        """Returns the update of a resource variable's rows."""
        raise NotImplementedError(
            _define(self, "_resource_apply_sparse(grad, handle, indices, state)")
        )

    def _finish(self, state: OptimizerState) -> Any:
        """Returns an operation that runs after all updates, or None."""
        return None


def _scaled(loss: Any, factor: float) -> Any:
    if not callable(loss):
        return loss * factor
    compute: Callable[[], Any] = loss
    return lambda: compute() * factor


def _define(optimizer: OptimizerV2, method: str) -> str:
    return f"{type(optimizer).__name__} must define {method}."
