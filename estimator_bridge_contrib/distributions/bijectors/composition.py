"""Bijectors made of others, and of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector

__all__ = ["Chain", "ConditionalBijector", "Inline", "Invert"]


class ConditionalBijector(Bijector):
    """A bijector whose methods pass further named arguments on to the subclass's."""

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> tf.Tensor:
        """Returns the image of x."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> tf.Tensor:
        """Returns the x whose image is y."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self,
        y: Any,
        event_ndims: Any,
        name: str = "inverse_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> tf.Tensor:
        """Returns the logarithm of the determinant of the inverse's Jacobian at y."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self,
        x: Any,
        event_ndims: Any,
        name: str = "forward_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> tf.Tensor:
        """Returns the logarithm of the determinant of the Jacobian at x."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


class Invert(Bijector):
    """The inverse of another bijector.

    Args:
      bijector: the other.
      validate_args: accepted, and without effect.
      name: the operations' name; "invert_" and the other's name by default.

    Raises:
      NotImplementedError: the other has several inverses.
    """

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Any:
        """The other bijector."""
        return self._bijector

    def _forward_event_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        return self._bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: tf.Tensor) -> tf.Tensor:
        return self._bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: tf.TensorShape) -> tf.TensorShape:
        return self._bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: tf.Tensor) -> tf.Tensor:
        return self._bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._bijector._inverse(x, **kwargs)

    def _inverse(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._bijector._inverse_log_det_jacobian(x, **kwargs)


class Chain(Bijector):
    """Several bijectors, of which the last is applied first.

    Args:
      bijectors: the bijectors; none is the identity.
      validate_args: accepted, and without effect.
      name: the operations' name; "chain_of_" and the others' names by default.

    Raises:
      NotImplementedError: one has several inverses.
      ValueError: they have several types.
    """

    def __init__(
        self,
        bijectors: Sequence[Any] | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        bijectors = () if bijectors is None else bijectors
        self._bijectors = bijectors
        for each in bijectors:
            if not each._is_injective:
                raise NotImplementedError(
                    f"Invert is not implemented for non-injective bijector ({each.name})"
                )
        dtypes = {each.dtype for each in bijectors} - {None}
        if len(dtypes) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(each.name for each in dtypes)}")
        names = [each.name for each in bijectors]
        super().__init__(
            graph_parents=[parent for each in bijectors for parent in each.graph_parents],
            forward_min_event_ndims=_min_event_ndims(
                [
                    (each.forward_min_event_ndims, each.inverse_min_event_ndims)
                    for each in reversed(bijectors)
                ]
            ),
            inverse_min_event_ndims=_min_event_ndims(
                [(each.inverse_min_event_ndims, each.forward_min_event_ndims) for each in bijectors]
            ),
            is_constant_jacobian=all(each.is_constant_jacobian for each in bijectors),
            validate_args=validate_args,
            dtype=dtypes.pop() if dtypes else None,
            name=name or ("_of_".join(["chain", *names]) if names else "identity"),
        )

    @property
    def bijectors(self) -> Sequence[Any]:
        """The bijectors, the one that is applied last first."""
        return self._bijectors

    def _forward_event_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        for each in reversed(self._bijectors):
            input_shape = each.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape: tf.Tensor) -> tf.Tensor:
        for each in reversed(self._bijectors):
            input_shape = each.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: tf.TensorShape) -> tf.TensorShape:
        for each in self._bijectors:
            output_shape = each.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape: tf.Tensor) -> tf.Tensor:
        for each in self._bijectors:
            output_shape = each.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        for each in reversed(self._bijectors):
            x = each.forward(x, **kwargs.get(each.name, {}))
        return x

    def _inverse(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        for each in self._bijectors:
            y = each.inverse(y, **kwargs.get(each.name, {}))
        return y

    def _forward_log_det_jacobian(self, x: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._summed(x, self.forward_min_event_ndims, "forward", kwargs)

    def _inverse_log_det_jacobian(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._summed(y, self.inverse_min_event_ndims, "inverse", kwargs)

    def _summed(
        self, value: tf.Tensor, event_ndims: Any, direction: str, kwargs: dict[str, Any]
    ) -> tf.Tensor:
        """Adds up the log determinants of the bijectors, in the order in which they are applied."""
        value = tf.convert_to_tensor(value, name="x" if direction == "forward" else "y")
        total = tf.cast(0.0, dtype=value.dtype)
        order = self._bijectors if direction == "inverse" else list(reversed(self._bijectors))
        shape: Any = None
        for each in order:
            own = kwargs.get(each.name, {})
            is_known = value.shape.is_fully_defined() and isinstance(event_ndims, int)
            if shape is None:
                shape = _event_shape(value, event_ndims, is_known)
            determinant = getattr(each, f"{direction}_log_det_jacobian")
            total += determinant(value, event_ndims=event_ndims, **own)
            if is_known:
                shape = getattr(each, f"{direction}_event_shape")(shape)
                event_ndims = shape.rank
            else:
                shape = getattr(each, f"{direction}_event_shape_tensor")(shape)
                static_size = tf.get_static_value(tf.size(shape))
                event_ndims = tf.size(shape) if static_size is None else int(static_size)
            value = getattr(each, direction)(value, **own)
        return total


def _event_shape(value: tf.Tensor, event_ndims: Any, is_known: bool) -> Any:
    if is_known:
        return value.shape[value.shape.rank - event_ndims :]
    return tf.shape(value)[tf.rank(value) - event_ndims :]


def _min_event_ndims(pairs: Sequence[tuple[int, int]]) -> int:
    """Returns how many dimensions an event needs to pass through several bijectors.

    Args:
      pairs: of each one, in order, the dimensions that it needs and those that it leaves.
    """
    needed = ndims = 0
    for before, behind in pairs:
        needed += max(before - ndims, 0)
        ndims = max(before, ndims) - (before - behind)
    return needed


class Inline(Bijector):
    """A bijector of functions.

    Args:
      forward_fn: gives the image of x.
      inverse_fn: gives the x whose image is y.
      inverse_log_det_jacobian_fn: gives the logarithm of the determinant of the inverse's Jacobian.
      forward_log_det_jacobian_fn: the same, of the Jacobian at x.
      forward_event_shape_fn: gives the image's shape, as a TensorShape; that of x by default.
      forward_event_shape_tensor_fn: the same, as a tensor.
      inverse_event_shape_fn: gives the shape of x; that of y by default.
      inverse_event_shape_tensor_fn: the same, as a tensor.
      is_constant_jacobian: whether the Jacobian is the same everywhere.
      validate_args: accepted, and without effect.
      forward_min_event_ndims: the number of dimensions of the smallest x it takes.
      inverse_min_event_ndims: the same, of y. One of the two must be given.
      name: the operations' name.
    """

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = {
            "forward_fn": forward_fn,
            "inverse_fn": inverse_fn,
            "inverse_log_det_jacobian_fn": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian_fn": forward_log_det_jacobian_fn,
            "forward_event_shape": forward_event_shape_fn,
            "forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "inverse_event_shape": inverse_event_shape_fn,
            "inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }

    def _call(self, function: str, value: tf.Tensor, kwargs: dict[str, Any]) -> Any:
        implementation = self._functions[function]
        if not callable(implementation):
            raise NotImplementedError(f"{function} is not a callable function.")
        return implementation(value, **kwargs)

    def _shape(self, function: str, shape: Any) -> Any:
        implementation = self._functions[function]
        return shape if implementation is None else implementation(shape)

    def _forward_event_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        return self._shape("forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape: tf.Tensor) -> tf.Tensor:
        return self._shape("forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: tf.TensorShape) -> tf.TensorShape:
        return self._shape("inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: tf.Tensor) -> tf.Tensor:
        return self._shape("inverse_event_shape_tensor", output_shape)

    def _forward(self, x: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._call("forward_fn", x, kwargs)

    def _inverse(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._call("inverse_fn", y, kwargs)

    def _inverse_log_det_jacobian(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._call("inverse_log_det_jacobian_fn", y, kwargs)

    def _forward_log_det_jacobian(self, x: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._call("forward_log_det_jacobian_fn", x, kwargs)
