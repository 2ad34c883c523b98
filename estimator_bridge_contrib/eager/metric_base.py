"""Metric: variables that the calls of an evaluation update, and a value computed from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.tensorflow_private.tracking import Trackable, add_tracked_variable

__all__ = ["Metric"]

_v1 = tf.compat.v1


class Metric(Trackable):
    """The base class of metrics: variables that calls update, and a value computed from them.

    A subclass has three methods. ``build`` makes variables with ``add_variable``, ``call`` updates
    them, and ``result`` returns the metric's value.

    Eagerly, a call updates the variables at once. In a graph, a call returns tensors or an
    operation; running it makes all updates in the order of the program. The variables must have
    been initialized, with ``init_variables`` or by the initializer of their collection.

    Args:
      name: the name, also of the variables' scope, where other characters than letters, digits and
        dots become underscores; by default the class's name.
      use_global_variables: whether a graph's variables are global ones instead of local ones.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False):
        self._name = name or type(self).__name__
        self._use_global_variables = use_global_variables
        self._variables: list[tf.Variable] = []
        self._starts: list[tf.Tensor] = []
        self._is_built = False
        scope_name = re.sub("[^A-Za-z0-9.]", "_", self._name)
        with _v1.variable_scope(scope_name, use_resource=True, reuse=False) as scope:
            self._scope = scope
        self._make_variables = self.build
        # A program may call it before the first call.
        self.build = self._build_once  # type: ignore[method-assign]
        if tf.executing_eagerly():
            self._home: Callable[[], Any] = eager_mode
        else:
            self._home = _v1.get_default_graph().as_default
            self.call = _as_one_operation(self.call)  # type: ignore[method-assign]

    def _build_once(self, *args: Any, **kwargs: Any) -> None:
        self._make_variables(*args, **kwargs)
        self._is_built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the metric.

        Args:
          *args: the arguments of ``call``, such as a batch's values.
          **kwargs: the same.

        Returns:
          The result of ``call``. In a graph, tensors or an operation that update when they run.
        """
        if not self._is_built:
            with _v1.variable_scope(self._scope), self._home():
                self.build(*args, **kwargs)
        return self.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The metric's name, which its summary has too."""
        return self._name

    @property
    def variables(self) -> list[tf.Variable]:
        """The variables in the order in which they were made."""
        return self._variables

    def init_variables(self) -> tf.Operation | None:
        """Resets the variables to their first values.

        Returns:
          None eagerly, where it is done; in a graph, an operation that does it.
        """
        if not tf.executing_eagerly():
            return tf.group([variable.initializer for variable in self._variables])
        for variable, start in zip(self._variables, self._starts):
            variable.assign(start)
        return None

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables. A subclass has it.

        Args:
          *args: the arguments of the first call.
          **kwargs: the same.

        Raises:
          NotImplementedError: the subclass lacks it.
        """
        raise self._lacks("build", "makes the variables with self.add_variable")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the variables. A subclass has it; programs call the metric itself.

        Args:
          *args: a batch's values.
          **kwargs: the same.

        Returns:
          Anything; usually the arguments.

        Raises:
          NotImplementedError: the subclass lacks it.
        """
        raise self._lacks("call", "updates the variables")

    def result(self) -> tf.Tensor:
        """Returns the metric's value. A subclass has it.

        Raises:
          NotImplementedError: the subclass lacks it.
        """
        raise self._lacks("result", "returns the metric's value")

    def _lacks(self, method: str, purpose: str) -> NotImplementedError:
        return NotImplementedError(
            f"Metrics must define a {method}() member function: add one to {type(self).__name__} "
            f"that {purpose}."
        )

    def value(self) -> Any:
        """Returns the method ``result`` eagerly; in a graph, the result."""
        return self.result if tf.executing_eagerly() else self.result()

    def aggregate(self, metrics: Sequence[Metric]) -> None:
        """Adds the variables of other metrics to this metric's.

        Args:
          metrics: metrics of the same class.

        Raises:
          TypeError: one of them has another class.
          ValueError: one of them has variables of other names.
        """
        for each in metrics:
            if type(each) is not type(self):
                raise TypeError(
                    f"All metrics must be the same type; got {type(each)} for a {type(self)}."
                )
        for i, variable in enumerate(self._variables):
            others = [each._variables[i] for each in metrics]
            if odd := [each.name for each in others if each.name != variable.name]:
                raise ValueError(
                    "All metrics must have variables in the same order: got "
                    f"{', '.join(odd)} for {variable.name}."
                )
            variable.assign_add(tf.add_n(others))

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> tf.Variable:
        """Makes a variable; for ``build``.

        Args:
          name: the name in the metric's scope, and in a ``tf.train.Checkpoint``.
          shape: the shape.
          dtype: the type.
          initializer: its first value.

        Returns:
          The variable, which no optimizer trains.

        Raises:
          RuntimeError: the metric is built already.
        """
        if self._is_built:
            raise RuntimeError(
                f"Can't call add_variable() except in build(): the metric {self._name!r} is built. "
                f"Make the variable {name!r} in its build()."
            )
        keys, is_eager = _v1.GraphKeys, tf.executing_eagerly()
        kind = keys.GLOBAL_VARIABLES if self._use_global_variables else keys.LOCAL_VARIABLES
        variable = add_tracked_variable(
            self,
            name,
            getter=_v1.get_variable,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
            collections=None if is_eager else [kind, keys.METRIC_VARIABLES],
            use_resource=True,
        )
        self._variables.append(variable)
        if is_eager:
            self._starts.append(variable.read_value())
        return variable


def _as_one_operation(call: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a graph's call of a method one operation, which updates in the order of the program.

    If the method returns None, the call returns the operation.
    """
    converted = tf.function(call)  # by AutoGraph, which may leave this package's own functions

    @tf.function(autograph=False)
    def traced(*args: Any, **kwargs: Any) -> tuple[Any, tf.Tensor]:
        return converted(*args, **kwargs), tf.zeros([])

    def called(*args: Any, **kwargs: Any) -> Any:
        result, done = traced(*args, **kwargs)
        return done.op if result is None else result

    return called
