"""The global step, and variables that ignore the settings of scopes."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "VariableDeviceChooser",
    "assert_global_step",
    "assert_or_get_global_step",
    "create_global_step",
    "get_global_step",
    "get_or_create_global_step",
    "global_variable",
    "local_variable",
    "zero_initializer",
]

_v1 = tf.compat.v1

assert_global_step = _v1.train.assert_global_step
create_global_step = _v1.train.create_global_step
get_global_step = _v1.train.get_global_step
get_or_create_global_step = _v1.train.get_or_create_global_step


def assert_or_get_global_step(graph: tf.Graph | None = None, global_step_tensor: Any = None) -> Any:
    """Checks a global step, or finds the graph's.

    Args:
      graph: the graph; the default graph by default.
      global_step_tensor: the tensor to check; None to return the graph's step.

    Returns:
      The global step; None if the graph has none.

    Raises:
      TypeError: it is not an integer scalar.
    """
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Makes a variable that is not trained and not saved; arguments as for tf.Variable."""
    return _variable(
        initial_value, _v1.GraphKeys.LOCAL_VARIABLES, validate_shape, name, use_resource
    )


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Makes a variable that is not trained, but saved; arguments as for tf.Variable."""
    return _variable(
        initial_value, _v1.GraphKeys.GLOBAL_VARIABLES, validate_shape, name, use_resource
    )


def _variable(
    value: Any, collection: str, validate: bool, name: str | None, use_resource: bool | None
) -> Any:
    return _v1.Variable(
        value,
        trainable=False,
        collections=[collection],
        validate_shape=validate,
        name=name,
        use_resource=use_resource,
    )


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Initializes a variable with zeros.

    The operation fails if the variable has a value.

    Args:
      ref: the variable.
      use_locking: whether to block other writes.
      name: a name scope.

    Returns:
      The assignment.
    """
    with tf.name_scope(name):
        has_value = _v1.is_variable_initialized(ref)
        refused = [f"zero_initializer: {ref.name}: input is already initialized."]
        with tf.control_dependencies([tf.debugging.Assert(tf.logical_not(has_value), refused)]):
            zeros = tf.zeros(ref.shape, ref.dtype.base_dtype)
            return _v1.assign(ref, zeros, use_locking=use_locking)


class VariableDeviceChooser:
    """Chooses a device for each variable: parameter servers in turn, or a device of this machine.

    Args:
      num_tasks: the number of parameter servers; 0 for this machine.
      job_name: the job of the parameter servers.
      device_type: "CPU" or "GPU".
      device_index: the index of the device.
      replica: the replica of the job.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ):
        self._tasks, self._job, self._next = num_tasks, job_name, 0
        self._device = {
            "device_type": device_type, "device_index": device_index, "replica": replica,
        }  # fmt: skip

    def __call__(self, op: Any) -> str:
        """Returns the device of the next variable."""
        del op
        where: dict[str, Any] = dict(self._device)
        if self._tasks:
            where.update(job=self._job, task=self._next)
            self._next = (self._next + 1) % self._tasks
        return tf.DeviceSpec(**where).to_string()
