"""The replicas on JAX's devices, as a tf.distribute strategy that the host's part runs under."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import INSTEAD_OF_JAX, NotOnJaxError
from estimator_bridge.runtime.on_jax.draws import device_draws
from estimator_bridge.tensorflow_private.names import PerReplica

__all__ = ["JaxStrategy"]


class JaxStrategy(tf.distribute.OneDeviceStrategy):
    """Replicas that TensorFlow traces and JAX runs.

    TensorFlow's variables exist once, on the host: sessions, savers and the host's part of a step
    use them. ``JaxLoop`` runs the steps.

    Args:
      devices: JAX's devices, one for each replica.
      name: their name, such as 'jax:4'.

    Attributes:
      jax_devices: as given.
      jax_name: their name.
      device_draws: whether the devices' own generator draws random numbers.
    """

    def __init__(self, devices: Sequence[Any], name: str):
        super().__init__("/cpu:0")
        self.jax_devices, self.jax_name = tuple(devices), name
        self.device_draws = device_draws()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Refuses functions of a program: TensorFlow would run them, on the host.

        Raises:
          NotOnJaxError: always.
        """
        del args, kwargs
        raise NotOnJaxError(
            f"strategy.run on {self.jax_name!r}: JAX runs the steps of TPUEstimator only, not "
            f"those of Keras or of a loop of the program's own. {INSTEAD_OF_JAX}"
        )

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas, one on each device."""
        return len(self.jax_devices)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Returns the values of the replicas, as the host's part of a step gets them."""
        if isinstance(value, PerReplica):
            return tuple(value.values)
        return super().experimental_local_results(value)
