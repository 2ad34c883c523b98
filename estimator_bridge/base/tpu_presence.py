"""Detects a TPU from the environment and device files alone.

This module does not import TensorFlow, so `estimator-bridge doctor` works even if TensorFlow fails
to load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "CHECKS_TPU",
    "CORES",
    "NAMES_A_TPU",
    "RUNTIME",
    "attached_chip",
    "default_tpu_name",
    "find_tpu",
    "is_one_of_several_hosts",
    "name_on_tpu_vm",
]

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
# The chips' files: up to TPU v4, and from v5 on. A container may have been given any one of them.
_ACCEL, _VFIO = (
    tuple(f"{start}{number}" for number in range(16)) for start in ("/dev/accel", "/dev/vfio/")
)
# A file below /dev/vfio is any device that was handed to a program, such as a GPU of a virtual
# machine: only the PCI bus says which.
_PCI_DEVICES = "/sys/bus/pci/devices"
_GOOGLE = "0x1ae0"
_CHIPS = {
    "0x0027": "v2 or v3",
    "0x005e": "v4",
    "0x0062": "v5p",
    "0x0063": "v5e",
    "0x006f": "v6e",
    "0x0076": "tpu7x",
}
_UNKNOWN_CHIP = "of unknown kind"


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
    accel = next(filter(exists, _ACCEL), None)
    if accel:
        return accel
    vfio = next(filter(exists, _VFIO), None)
    return vfio if vfio and _chip_on_bus(pci_devices) else None


def attached_chip(
    environ: Mapping[str, str],
    exists: Callable[[str], bool] = os.path.exists,
    pci_devices: str = _PCI_DEVICES,
) -> str | None:
    """Returns the kind of this machine's own TPU chips.

    Args:
      environ: environment variables; they name the kind in a container that does not show the bus.
      exists: returns whether a path exists.
      pci_devices: the folder of the devices on the PCI bus.

    Returns:
      Its name, such as "v5e", or "of unknown kind"; None if this machine has no chips.
    """
    if find_tpu({}, exists=exists, pci_devices=pci_devices) is None:
        return None
    chip = _chip_on_bus(pci_devices) or _UNKNOWN_CHIP
    if chip == _UNKNOWN_CHIP:
        kind = environ.get("TPU_ACCELERATOR_TYPE", "").partition("-")[0]
        chip = {"v5litepod": "v5e"}.get(kind, kind) or _UNKNOWN_CHIP
    return chip


def _chip_on_bus(pci_devices: str) -> str | None:
    """Returns the kind of the TPU's chips on the bus, of unknown kind if it cannot be seen."""
    if not os.path.isdir(pci_devices):
        return _UNKNOWN_CHIP
    numbers = (
        _text_of(device, "device")
        for device in os.scandir(pci_devices)
        if _text_of(device, "vendor") == _GOOGLE
    )
    return next((_CHIPS[number] for number in numbers if number in _CHIPS), None)


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


def name_on_tpu_vm(name: str, environ: Mapping[str, str], has_chips: bool) -> str:
    """Returns the name by which a program on a TPU VM connects to the TPU.

    Google's scripts set TPU_NAME to the name of the cloud resource, also on the TPU VM itself.
    TensorFlow would ask the Cloud API for its address, for which such a machine often has no
    permission; the chips are here.

    Args:
      name: the name that the program gives.
      environ: environment variables.
      has_chips: whether this machine has chips.

    Returns:
      'local' for the name in TPU_NAME, if the TPU has no other hosts; else the same name.
    """
    is_resource = name == environ.get("TPU_NAME") and "://" not in name
    if has_chips and is_resource and not is_one_of_several_hosts(environ):
        return "local"
    return name


def is_one_of_several_hosts(environ: Mapping[str, str]) -> bool:
    """Returns whether a TPU VM's variables list other hosts of the same TPU.

    Args:
      environ: environment variables.
    """
    names = environ.get("TPU_WORKER_HOSTNAMES", "").split(",")
    return sum(bool(name.strip()) for name in names) > 1
