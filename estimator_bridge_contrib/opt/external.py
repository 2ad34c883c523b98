"""Minimizes a graph's loss with an optimizer outside TensorFlow, such as SciPy's."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]

_v1 = tf.compat.v1
_SET_BY_ITSELF = ("jac", "callback", "constraints", "bounds")


class ExternalOptimizerInterface:
    """Presents a loss and its variables to an optimizer as a function of one vector.

    A subclass defines ``_minimize``.

    Args:
      loss: a scalar.
      var_list: the variables to change; by default the trainable ones.
      equalities: tensors constrained to 0.
      inequalities: tensors constrained to be nonnegative.
      var_to_bounds: by variable (or its ref() or op name), a pair of lower and upper bounds.
      **optimizer_kwargs: arguments of the optimizer.
    """

    def __init__(
        self,
        loss: tf.Tensor,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[tf.Tensor] | None = None,
        inequalities: Sequence[tf.Tensor] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ):
        self._vars = list(_v1.trainable_variables() if var_list is None else var_list)
        self._loss, self.optimizer_kwargs = loss, optimizer_kwargs
        self._loss_gradient = self._gradient(loss)
        self._equalities = [(each, self._gradient(each)) for each in equalities or ()]
        self._inequalities = [(each, self._gradient(each)) for each in inequalities or ()]
        self._bounds = None if var_to_bounds is None else self._pack_bounds(var_to_bounds)
        self._packed = self._pack([tf.convert_to_tensor(var) for var in self._vars])
        ends = np.cumsum([0, *(var.shape.num_elements() for var in self._vars)])
        self._parts = [slice(start, end) for start, end in zip(ends[:-1], ends[1:])]
        self._fed = [_v1.placeholder(var.dtype.base_dtype) for var in self._vars]
        self._assign = [
            _v1.assign(var, tf.reshape(fed, var.shape.as_list())).op
            for var, fed in zip(self._vars, self._fed)
        ]

    def minimize(
        self,
        session: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Changes the variables until the optimizer finishes.

        Args:
          session: the session of the variables; the default session by default.
          feed_dict: feeds of the loss.
          fetches: the arguments of ``loss_callback``.
          step_callback: called with the vector after each of the optimizer's steps.
          loss_callback: called with the fetched values after each computation of the loss.
          **run_kwargs: further arguments of the run that sets the variables at the end.

        Raises:
          ValueError: there is no session.
        """
        session = session or _v1.get_default_session()
        if session is None:
            raise ValueError(
                "minimize needs a session: pass one, or call it in `with tf.Session():`."
            )
        feeds, more = dict(feed_dict or {}), list(fetches or ())

        def function_of(*tensors: Any, then: Callable[..., Any] | None = None) -> Callable:
            def evaluate(x: np.ndarray) -> list[Any]:
                self._set(session, x)
                values = session.run([*tensors, *more], feed_dict=feeds)
                if then is not None:
                    then(*values[len(tensors) :])
                return values[: len(tensors)]

            return evaluate

        def functions_of(pairs: Sequence[tuple[Any, Any]], place: int) -> list[Callable]:
            return [function_of(pair[place]) for pair in pairs]

        solution = self._minimize(
            initial_val=session.run(self._packed),
            loss_grad_func=function_of(self._loss, self._loss_gradient, then=loss_callback),
            equality_funcs=functions_of(self._equalities, 0),
            equality_grad_funcs=functions_of(self._equalities, 1),
            inequality_funcs=functions_of(self._inequalities, 0),
            inequality_grad_funcs=functions_of(self._inequalities, 1),
            packed_bounds=self._bounds,
            step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        self._set(session, solution, **run_kwargs)

    def _minimize(self, **arguments: Any) -> np.ndarray:
        del arguments
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method, or use ScipyOptimizerInterface."
        )

    def _set(self, session: Any, x: np.ndarray, **run_kwargs: Any) -> None:
        feeds = {fed: x[part] for fed, part in zip(self._fed, self._parts)}
        session.run(self._assign, feed_dict=feeds, **run_kwargs)

    def _gradient(self, tensor: tf.Tensor) -> tf.Tensor:
        gradients = tf.gradients(tensor, self._vars, unconnected_gradients="zero")
        return self._pack([tf.convert_to_tensor(gradient) for gradient in gradients])

    @staticmethod
    def _pack(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
        return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)

    def _pack_bounds(self, var_to_bounds: Mapping[Any, tuple[Any, Any]]) -> list[Any]:
        by_name = {_name_of(key): pair for key, pair in var_to_bounds.items()}
        packed: list[Any] = []
        for var in self._vars:
            pair = by_name.get(var.op.name, (-np.inf, np.inf))
            low, high = (np.broadcast_to(bound, var.shape.as_list()).flat for bound in pair)
            packed += zip(low, high)
        return packed


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes with scipy.optimize.minimize, by default with L-BFGS-B.

    The arguments are those of ``ExternalOptimizerInterface``; others are passed to SciPy:
    ``method``, ``tol``, ``options``. The package scipy must be installed.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, **arguments: Any) -> np.ndarray:
        for name in _SET_BY_ITSELF:
            if name in arguments["optimizer_kwargs"]:
                argument = "var_to_bounds" if name == "bounds" else "the constructor's arguments"
                raise ValueError(
                    f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                    f"manually. Use {argument}."
                )
        constraints = [
            {"type": kind, "fun": _single(function), "jac": _single(gradient)}
            for kind, name in (("eq", "equality"), ("ineq", "inequality"))
            for function, gradient in zip(
                arguments[f"{name}_funcs"], arguments[f"{name}_grad_funcs"]
            )
        ]

        def loss_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
            loss, gradient = arguments["loss_grad_func"](x)
            return float(loss), gradient.astype(np.float64)

        settings = {"method": self._DEFAULT_METHOD, **arguments["optimizer_kwargs"]}
        result = _scipy_minimize()(
            loss_and_gradient,
            arguments["initial_val"].astype(np.float64),
            jac=True,
            callback=arguments["step_callback"],
            constraints=constraints,
            bounds=arguments["packed_bounds"],
            **settings,
        )
        logging.info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f",
            result.message,
            result.fun,
        )
        return result.x


def _single(function: Callable[[np.ndarray], list[Any]]) -> Callable[[np.ndarray], Any]:
    return lambda x: np.asarray(function(x)[0], np.float64)


def _scipy_minimize() -> Callable[..., Any]:
    try:
        return importlib.import_module("scipy.optimize").minimize
    except ImportError as error:
        raise ImportError(
            "ScipyOptimizerInterface needs SciPy, which is not installed. Run: pip install scipy"
        ) from error


def _name_of(key: Any) -> str:
    if isinstance(key, str):
        return key
    return (key.deref() if hasattr(key, "deref") else key).op.name
