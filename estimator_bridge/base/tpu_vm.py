"""A TPU VM's environment variables: how TensorFlow reaches chips of each kind.

It imports nothing of TensorFlow: wrong values end the process that starts the TPU.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from estimator_bridge.base.tpu_presence import attached_chip, is_one_of_several_hosts
from estimator_bridge.base.tpu_wheels import TENSORFLOW_TPU, keep_command

__all__ = [
    "UNSET_PJRT",
    "USES_PJRT",
    "advice_after_failure",
    "is_set",
    "pjrt_without_chip",
    "tpu_vm_notes",
]

USES_PJRT = "NEXT_PLUGGABLE_DEVICE_USE_C_API"
_LIBRARY = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH"
UNSET_PJRT = f"unset {USES_PJRT} {_LIBRARY}"
_NO_KERNELS = "<no registered kernels>"  # in TensorFlow's message
_TPU_LIBRARY = "TPU_LIBRARY_PATH"
# TensorFlow drives these chips by libtpu's PJRT, older ones by its own interface.
_PJRT_CHIPS = ("v5e", "v5p", "v6e")
_JAX_ONLY = "tpu7x"


def is_set(environ: Mapping[str, str], name: str) -> bool:
    """Returns whether a switch of the environment is on."""
    return environ.get(name, "").strip().lower() in ("1", "true", "yes", "t", "y")


def pjrt_without_chip(environ: Mapping[str, str]) -> bool:
    """Returns whether PJRT is asked for on a machine that shows no chip."""
    return is_set(environ, USES_PJRT) and attached_chip(environ) is None


def tpu_vm_notes(
    environ: Mapping[str, str],
    chip: str | None,
    versions: Mapping[str, str],
    exists: Callable[[str], bool] = os.path.exists,
) -> Iterator[str]:
    """Yields what to change in the environment of a machine with or without TPU chips.

    Args:
        environ: environment variables.
        chip: the kind of this machine's chips, as ``attached_chip`` returns it.
        versions: versions by distribution name.
        exists: returns whether a path exists.
    """
    if environ.get("PJRT_DEVICE"):
        yield (
            f"PJRT_DEVICE={environ['PJRT_DEVICE']} is read by PyTorch/XLA and by JAX's tools; "
            "TensorFlow does not read it."
        )
    library = environ.get(_TPU_LIBRARY)
    if library and TENSORFLOW_TPU in versions and not exists(library):
        yield (
            f"{_TPU_LIBRARY}={library} names no file, so TensorFlow finds no TPU. "
            f"Run: unset {_TPU_LIBRARY}"
        )
    if chip is None:
        if is_set(environ, USES_PJRT):
            yield (
                f"{USES_PJRT} is set, and this machine shows no TPU chip: TensorFlow's process "
                f"ends as it starts the TPU. Run: {UNSET_PJRT}"
            )
        return
    if chip == _JAX_ONLY:
        yield (
            "This machine's chips are TPU7x, for which there is no TensorFlow. JAX runs the steps: "
            "in an environment with the package tensorflow, not tensorflow-tpu, run pip install "
            "'estimator-bridge[jax]' 'jax[tpu]', and name the TPU 'jax' (--tpu=jax, "
            "estimator-bridge run --runtime jax)."
        )
        return
    if TENSORFLOW_TPU not in versions:
        yield (
            f"This machine has TPU chips ({chip}), and the installed TensorFlow has no support "
            f"for them. Run: {keep_command()} (or let JAX run the steps: pip install 'jax[tpu]', "
            "and name the TPU 'jax')."
        )
    elif chip in _PJRT_CHIPS:
        yield from _pjrt_notes(environ, chip, exists)
    name = environ.get("TPU_NAME", "")
    if name not in ("", "local") and "://" not in name and not is_one_of_several_hosts(environ):
        yield (
            f"TPU_NAME={name} is a name of the Cloud API. This machine has the chips itself, so "
            "programs that use this name get the TPU 'local'."
        )


def advice_after_failure(
    environ: Mapping[str, str], chip: str | None, versions: Mapping[str, str], error: str
) -> str:
    """Returns what to change where this machine's TPU could not be started: lines, or ''.

    Args:
        environ: environment variables.
        chip: the kind of this machine's chips, as ``attached_chip`` returns it.
        versions: versions by distribution name.
        error: TensorFlow's message.
    """
    notes = list(tpu_vm_notes(environ, chip, versions))
    if TENSORFLOW_TPU in versions and _NO_KERNELS in error:
        notes.append(
            f"tensorflow-tpu {versions[TENSORFLOW_TPU]} is installed, and the TensorFlow that was "
            "loaded is another one, without support for TPUs, which was installed over it. "
            "`estimator-bridge doctor` prints the lines that repair it."
        )
    if chip is None and TENSORFLOW_TPU not in versions:
        notes.append(
            "The installed TensorFlow does not support TPUs. tensorflow-tpu supports v2 to v6e: "
            f"{keep_command()}. JAX supports every TPU: pip install 'estimator-bridge[jax]' "
            "'jax[tpu]', and name the TPU 'jax'."
        )
    return "".join(f"{note}\n" for note in notes)


def _pjrt_notes(
    environ: Mapping[str, str], chip: str, exists: Callable[[str], bool]
) -> Iterator[str]:
    library = environ.get(_LIBRARY)
    lines = []
    if not is_set(environ, USES_PJRT):
        lines.append(f"export {USES_PJRT}=true")
    if not library or not exists(library):
        lines.append(f"export {_LIBRARY}={_libtpu()}")
    if lines:
        reason = f"{_LIBRARY} names no file, and " if library and not exists(library) else ""
        yield (
            f"{reason}TensorFlow drives a {chip} by PJRT. Before the program starts, run: "
            f"{' && '.join(lines)}"
        )


def _libtpu() -> str:
    """Returns the path of the installed libtpu.so, else that of TPU VMs' images."""
    spec = importlib.util.find_spec("libtpu")
    folders = spec.submodule_search_locations if spec else None
    return str(Path(folders[0]) / "libtpu.so") if folders else "/lib/libtpu.so"
