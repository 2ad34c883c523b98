"""One object's state as several parts of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.tracking import VARIABLE_VALUE_KEY, Trackable

__all__ = ["split_dependency"]

Buffer = dict[str, Any]


def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[tf.DType],
    fill_save_buffer_fn: Callable[[Buffer], Any],
    consume_restore_buffer_fn: Callable[[Buffer], Any],
    device: str,
) -> dict[str, Trackable]:
    """Makes parts that a checkpoint saves like variables, from one object's state.

    Args:
      component_names: the parts' names.
      component_dtypes: the parts' types.
      fill_save_buffer_fn: puts the parts' tensors into a dict, by name.
      consume_restore_buffer_fn: gets a dict of the restored tensors, when all are there, and
        returns the operation that restores the state.
      device: the device on which the parts are computed.

    Returns:
      The parts by name; the object tracks them under these names.

    Raises:
      ValueError: the numbers of names and of types differ.
    """
    if len(component_names) != len(component_dtypes):
        raise ValueError(
            f"component_names has {len(component_names)} elements, component_dtypes "
            f"{len(component_dtypes)}. Give each part a type."
        )
    state = _State(fill_save_buffer_fn, consume_restore_buffer_fn, device, len(component_names))
    return {
        name: _Part(name, dtype, state) for name, dtype in zip(component_names, component_dtypes)
    }


class _State:
    """The state that the parts share."""

    def __init__(self, fill: Any, consume: Any, device: str, count: int):
        self._fill, self._consume = fill, consume
        self._device, self._count = device, count
        self._restored: Buffer = {}

    def read(self, name: str) -> tf.Tensor:
        """Returns a part's tensor."""
        buffer: Buffer = {}
        with tf.device(self._device):
            self._fill(buffer)
        if name not in buffer:
            raise ValueError(
                f"fill_save_buffer_fn filled in {sorted(buffer)}, without {name!r}. It must set "
                "each of component_names."
            )
        return buffer[name]

    def restore(self, name: str, value: tf.Tensor) -> dict[str, Any]:
        """Keeps a part's value; restores the state with the last one."""
        self._restored[name] = value
        if len(self._restored) < self._count:
            return {}
        restored, self._restored = self._restored, {}
        with tf.device(self._device):
            return {name: self._consume(restored)}


class _Part(Trackable):
    def __init__(self, name: str, dtype: tf.DType, state: _State):
        self._name, self._dtype, self._state = name, dtype, state

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: tf.cast(self._state.read(self._name), self._dtype)}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> dict[str, Any]:
        return self._state.restore(self._name, restored_tensors[VARIABLE_VALUE_KEY])
