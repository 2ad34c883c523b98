"""Finds the peak rate of the matrix units that a strategy's replicas run on."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

import tensorflow as tf

from estimator_bridge.compile_for.chips import CHIPS, GPUS, Chip, Gpu
from estimator_bridge.compile_for.slices import find_slice
from estimator_bridge.graph import is_on_tpu

__all__ = ["Peak", "gpu_of", "peak_of", "rate_of_gpu"]

_HALF = ("bfloat16", "float16")
# The variables by which Cloud TPU machines, Kaggle and Colab name the slice.
_TPU_VARIABLES = ("TPU_ACCELERATOR_TYPE", "ACCELERATOR_TYPE")


@dataclasses.dataclass(frozen=True)
class Peak:
    """The peak of the matrix units of one replica's device.

    Attributes:
      device: the chip's name.
      flops: FLOP/s; None if it is unknown, or if the products do not run on matrix units.
      about: why there is none; "" if there is one.
    """

    device: str
    flops: float | None
    about: str = ""


def peak_of(strategy: tf.distribute.Strategy, dtypes: Mapping[str, int]) -> Peak:
    """Returns the peak of a replica's device.

    Args:
      strategy: runs the replicas.
      dtypes: the FLOPs of a step by the dtype of its products; most of them decide.
    """
    if is_on_tpu(strategy):
        chip = _tpu()
        if chip is None:
            return Peak("TPU", None, f"none of {', '.join(_TPU_VARIABLES)} names the slice")
        return Peak(f"TPU {chip.name}", chip.core_flops)
    devices = [d for d in strategy.extended.worker_devices if "GPU" in d]
    if not devices and strategy.num_replicas_in_sync == 1:  # a replica runs on the first GPU
        devices = [gpu.name for gpu in tf.config.list_logical_devices("GPU")[:1]]
    if not devices:
        return Peak("CPU", None, "a CPU has no matrix units that the table knows")
    name = _gpu_name(devices[0])
    card = gpu_of(name)
    if card is None:
        return Peak(name, None, f"the table of chips has no {name!r}")
    kind = max(dtypes, key=lambda each: dtypes[each], default="float32")
    return rate_of_gpu(card, kind, tf.config.experimental.tensor_float_32_execution_enabled())


def gpu_of(name: str) -> Gpu | None:
    """Returns the GPU with the name that the driver gives to it; None if it is unknown."""
    return next((gpu for gpu in GPUS.values() if name in gpu.devices), None)


def rate_of_gpu(gpu: Gpu, dtype: str, allows_tf32: bool) -> Peak:
    """Returns the peak of a GPU's matrix units for products of a dtype.

    Args:
      gpu: the GPU.
      dtype: the dtype of the products.
      allows_tf32: whether float32 may be rounded to TensorFloat-32, as TensorFlow's default is.
    """
    if dtype in _HALF:
        return Peak(gpu.name, gpu.half_flops)
    if dtype == "float32" and allows_tf32 and gpu.tf32_flops is not None:
        return Peak(gpu.name, gpu.tf32_flops)
    return Peak(gpu.name, None, f"its matrix units take no {dtype}: use mixed precision")


def _tpu() -> Chip | None:
    for variable in _TPU_VARIABLES:
        name = os.environ.get(variable)
        if name:
            try:
                return find_slice(name).chip
            except ValueError:
                kind = name.partition("-")[0].replace("v5litepod", "v5e").replace("v5lite", "v5e")
                if kind in CHIPS:
                    return CHIPS[kind]
    return None


def _gpu_name(device: str) -> str:
    number = int(tf.DeviceSpec.from_string(device).device_index or 0)
    physical = tf.config.list_physical_devices("GPU")
    if number >= len(physical):
        return "GPU"
    details = tf.config.experimental.get_device_details(physical[number])
    return str(details.get("device_name", "GPU"))
