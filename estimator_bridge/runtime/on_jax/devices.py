"""The devices of JAX that a program names: 'jax', 'jax:N' or 'jax:cpu:N'."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import re
from collections.abc import Sequence
from typing import Any

from estimator_bridge.errors import AcceleratorNotFoundError, TooLateError

__all__ = ["JaxName", "jax_devices", "parse_jax_name"]

_NAME = re.compile(r"jax(?::(?P<rest>.*))?")
_OLDEST, _NEWEST = (0, 8, 3), (0, 10)  # what was tested; the modules of a step need its MLIR
_FEWEST_CPUS = 8  # JAX fixes their number at its start; unused ones cost nothing
_INSTALL = "pip install 'estimator-bridge[jax]'; for a TPU 'jax[tpu]', for a GPU 'jax[cuda13]'"


@dataclasses.dataclass(frozen=True)
class JaxName:
    """The devices that a program asks for.

    Attributes:
      count: their number; None for all.
      on_cpu: whether they are CPU devices, for tests.
    """

    count: int | None
    on_cpu: bool = False

    def __str__(self) -> str:
        count = "" if self.count is None else f":{self.count}"
        return f"jax{':cpu' if self.on_cpu else ''}{count}"


def parse_jax_name(name: str | None) -> JaxName | None:
    """Returns the devices that 'jax', 'jax:N' or 'jax:cpu:N' names; None for any other name.

    Raises:
      ValueError: it begins like one and is none.
    """
    match = _NAME.fullmatch(name or "")
    if not match:
        return None
    if match["rest"] is None:
        return JaxName(None)
    parts = re.fullmatch(r"(cpu:)?([1-9]\d*)", match["rest"])
    if not parts:
        raise ValueError(
            f"{name!r} names no devices of JAX. Write 'jax' (all devices of its default platform), "
            "'jax:8' (eight of them) or 'jax:cpu:8' (eight CPU devices, for tests)."
        )
    return JaxName(int(parts[2]), bool(parts[1]))


def jax_devices(name: JaxName) -> Sequence[Any]:
    """Returns JAX's devices, and loads JAX.

    Raises:
      AcceleratorNotFoundError: JAX is not installed or of another release, or has fewer devices,
        or only CPUs where a device was asked for.
      TooLateError: JAX has already started with fewer CPU devices.
    """
    jax = _import_jax(name)
    if name.on_cpu:
        return _cpus(jax, name)
    try:
        devices = jax.devices()
    except RuntimeError as error:
        raise AcceleratorNotFoundError(f"{str(name)!r}: JAX cannot start: {error}") from error
    if devices[0].platform == "cpu":
        raise AcceleratorNotFoundError(
            f"{str(name)!r} means JAX's accelerators, and JAX {jax.__version__} sees only the CPU "
            "here. Check the driver, JAX_PLATFORMS, and that this JAX is built for the device "
            f"({_INSTALL}). For tests on CPU devices write 'jax:cpu:{name.count or 8}'."
        )
    if name.count and len(devices) < name.count:
        raise AcceleratorNotFoundError(
            f"{name.count} devices were asked for by {str(name)!r}, but JAX sees {len(devices)}: "
            f"{', '.join(map(str, devices))}."
        )
    return devices[: name.count]


def _import_jax(name: JaxName) -> Any:
    try:
        version = importlib.metadata.version("jax")
        jax = importlib.import_module("jax")
    except ImportError as error:
        raise AcceleratorNotFoundError(
            f"{str(name)!r} runs steps on JAX, which cannot be imported here: {error}. {_INSTALL}."
        ) from error
    release = tuple(map(int, re.findall(r"\d+", version)[:3]))
    if not (_OLDEST <= release and release[:2] <= _NEWEST):
        raise AcceleratorNotFoundError(
            f"{str(name)!r}: JAX {version} is installed, and steps run on JAX "
            f"{'.'.join(map(str, _OLDEST))} to {'.'.join(map(str, _NEWEST))}.x only. {_INSTALL}."
        )
    return jax


def _cpus(jax: Any, name: JaxName) -> Sequence[Any]:
    count = name.count or 1
    try:
        jax.config.update("jax_num_cpu_devices", max(count, _FEWEST_CPUS))
        # JAX would look for accelerators too, and wait for some that are not there.
        jax.config.update("jax_platforms", "cpu")
    except RuntimeError:  # JAX has started
        pass
    devices = jax.devices("cpu")
    if len(devices) < count:
        raise TooLateError(
            f"{count} CPU devices were asked for by {str(name)!r}, but JAX has already started "
            f"with {len(devices)}. Make the TPUEstimator before the first JAX operation runs, or "
            f'call jax.config.update("jax_num_cpu_devices", {count}) at the program\'s top.'
        )
    return devices[:count]
