"""Detects a TPU from the environment and device files alone.

This module does not import TensorFlow, so `estimator-bridge doctor` works even if TensorFlow fails
to load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

__all__ = ["CHECKS_TPU", "CORES", "NAMES_A_TPU", "RUNTIME", "default_tpu_name", "find_tpu"]

# The number of emulated cores for programs that ask for a TPU; `estimator-bridge run --cores N`
# sets it, and processes that a program starts inherit it.
CORES = "ESTIMATOR_BRIDGE_CORES"

# The devices of JAX for programs that ask for a TPU; `estimator-bridge run --runtime` sets it.
RUNTIME = "ESTIMATOR_BRIDGE_RUNTIME"

# Whether steps on those cores are compiled as for a TPU before they run, set by `--check-tpu`.
CHECKS_TPU = "ESTIMATOR_BRIDGE_CHECK_TPU"

# Variables in which Cloud TPU VMs, Kubernetes and Colab name their TPU; the first set one counts.
NAMES_A_TPU = (
    "TPU_NAME",
    "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS",
    "COLAB_TPU_ADDR",
    "TPU_ACCELERATOR_TYPE",
)
# The first chip's file: up to TPU v4, and from v5 on.
_ACCEL, _VFIO = "/dev/accel0", "/dev/vfio/0"
# A file below /dev/vfio is any device that was handed to a program, such as a GPU of a virtual
# machine: only the PCI bus says which. Google's numbers: v2 and v3, v4, v5p, v5e, v6e, TPU7x.
_PCI_DEVICES = "/sys/bus/pci/devices"
_GOOGLE = "0x1ae0"
_TPUS = frozenset({"0x0027", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076"})


def find_tpu(
    environ: Mapping[str, str],
    device_types: Iterable[str] = (),
    exists: Callable[[str], bool] = os.path.exists,
    pci_devices: str = _PCI_DEVICES,
) -> str | None:
    """Looks for a TPU, without connecting to it.

    Args:
      environ: environment variables.
      device_types: types of the devices that TensorFlow sees, such as "CPU" or "TPU", if it was
        loaded.
      exists: returns whether a path exists.
      pci_devices: the folder of the devices on the PCI bus.

    Returns:
      The evidence for a TPU, as text to show; None if there is none.
    """
    cores = sum(kind == "TPU" for kind in device_types)
    if cores:
        return f"{cores} TPU core{'s' if cores > 1 else ''} attached"
    name = next((name for name in NAMES_A_TPU if environ.get(name)), None)
    if name:
        return f"{name}={environ[name]}"
    if exists(_ACCEL):
        return _ACCEL
    return _VFIO if exists(_VFIO) and _has_tpu(pci_devices) else None


def _has_tpu(pci_devices: str) -> bool:
    """Returns whether a TPU's chip is on the bus, or the bus cannot be seen."""
    if not os.path.isdir(pci_devices):
        return True
    return any(
        _text_of(device, "vendor") == _GOOGLE and _text_of(device, "device") in _TPUS
        for device in os.scandir(pci_devices)
    )


def _text_of(device: os.DirEntry[str], name: str) -> str:
    try:
        with open(os.path.join(device.path, name), encoding="ascii") as file:
            return file.read(16).strip()
    except (OSError, ValueError):
        return ""


def default_tpu_name(environ: Mapping[str, str]) -> str:
    """Returns the name of the TPU that ``find_tpu`` found, for a program that names none.

    Args:
      environ: environment variables.

    Returns:
      The name or address that the environment gives, or 'local': the chips of this machine.
    """
    if environ.get("TPU_NAME"):
        return environ["TPU_NAME"]
    if environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"):
        return environ["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"]
    colab = environ.get("COLAB_TPU_ADDR")
    if colab:  # an address without a scheme
        return colab if colab.startswith("grpc://") else f"grpc://{colab}"
    return "local"
