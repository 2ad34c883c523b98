"""The supported releases of jax and libtpu, and how to install them."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from collections.abc import Mapping

from estimator_bridge.base.tpu_wheels import TENSORFLOW_TPU

__all__ = ["RELEASES", "how_to_install", "why_unfit"]

# The tested releases, from the first to before the last: private names of both are used. setup.py
# requires the same.
RELEASES = {"jax": ("0.8.3", "0.10.3"), "libtpu": ("0.0.30", "0.0.53")}
_OLDEST_PYTHON = (3, 11)


def why_unfit(versions: Mapping[str, str]) -> str | None:
    """Returns the reason why these releases cannot be used, or None.

    Args:
      versions: the releases by package name.
    """
    for name, (first, end) in RELEASES.items():
        release = versions[name]
        is_old = _numbers(release) < _numbers(first)
        if is_old or _numbers(release) >= _numbers(end):
            return (
                f"{name} {release} is too {'old' if is_old else 'new'}; use a release from "
                f"{first} to before {end}"
            )
    return None


def how_to_install(python: str) -> str:
    """Returns what to do if a Python has no compiler.

    Args:
      python: the Python's path.
    """
    other = (
        "set ESTIMATOR_BRIDGE_COMPILE_PYTHON to a Python that has both, which need not be this "
        "program's own"
    )
    is_here = python == sys.executable
    if is_here and (sys.platform != "linux" or platform.machine() != "x86_64"):
        return (
            f"libtpu is made for Linux on x86-64, and this is {sys.platform} on "
            f"{platform.machine()}: compile there, if necessary in a container."
        )
    if is_here and sys.version_info < _OLDEST_PYTHON:
        return (
            f"Those releases of jax need Python 3.11 or newer, and this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}: install jax and libtpu for a newer one, "
            f"and {other}."
        )
    if is_here and _has_tensorflow_tpu():
        return (
            "Not here: this environment's tensorflow-tpu needs an older libtpu, and has no XLA for "
            "CPUs, which prepares the steps. Install 'estimator-bridge[tpu-compile]' into another "
            "environment, and run the program there."
        )
    return (
        f"Install it: {python} -m pip install 'estimator-bridge[tpu-compile]' (jax and libtpu); or "
        f"{other}."
    )


def _has_tensorflow_tpu() -> bool:
    try:
        return bool(importlib.metadata.version(TENSORFLOW_TPU))
    except importlib.metadata.PackageNotFoundError:
        return False


def _numbers(version: str) -> tuple[int, ...]:
    """Returns a release's numbers; for a nightly build, those of the release it precedes."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
