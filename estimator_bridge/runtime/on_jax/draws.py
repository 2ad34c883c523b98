"""Which generator draws a step's random numbers on JAX's devices."""

from __future__ import annotations

import functools
import os

from tensorflow.compat.v1 import logging

__all__ = ["DRAWS_VARIABLE", "advise_on_draws", "device_draws"]

DRAWS_VARIABLE = "ESTIMATOR_BRIDGE_JAX_DRAWS"
_SAME, _OF_DEVICE = "same", "device"


def device_draws() -> bool:
    """Returns whether the device's own generator draws, which other devices do not repeat.

    Otherwise steps draw the numbers of emulated cores, by arithmetic, which on a TPU takes some 170
    operations a number.

    Raises:
      ValueError: the environment variable ESTIMATOR_BRIDGE_JAX_DRAWS has another value.
    """
    value = os.environ.get(DRAWS_VARIABLE, "").strip().lower()
    if value not in ("", _SAME, _OF_DEVICE):
        raise ValueError(
            f"The environment variable {DRAWS_VARIABLE} must be {_SAME!r} (the numbers of emulated "
            f"cores) or {_OF_DEVICE!r} (the device's own generator, faster on a TPU); got "
            f"{value!r}."
        )
    return value == _OF_DEVICE


@functools.cache  # one line a process
def advise_on_draws(name: str, platform: str) -> None:
    """Says that the steps on an accelerator compute their random numbers, and how not to.

    Args:
      name: the devices, as the program names them.
      platform: their kind, as JAX names it.
    """
    if platform != "cpu":
        logging.info(
            "Steps on %s draw the random numbers of emulated cores, which takes a TPU some 170 "
            "operations a number. %s=%s has it draw its own, which takes one or two.",
            name, DRAWS_VARIABLE, _OF_DEVICE,
        )  # fmt: skip
