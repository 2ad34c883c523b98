"""The releases of jax and libtpu that compile for a TPU here, and how to install them."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping

__all__ = ["RELEASES", "how_to_install", "why_unfit"]

# From the first to before the last: those that were tried, as private names of theirs are used.
# setup.py asks for the same.
RELEASES = {"jax": ("0.8.3", "0.10.3"), "libtpu": ("0.0.30", "0.0.53")}
_OLDEST_PYTHON = (3, 11)


def why_unfit(versions: Mapping[str, str]) -> str | None:
    """Why these releases cannot be used; None where they can.

    Args:
      versions: by the package's name.
    """
    for name, (first, end) in RELEASES.items():
        found = versions[name]
        is_old = _numbers(found) < _numbers(first)
        if is_old or _numbers(found) >= _numbers(end):
            return (
                f"{name} {found} is too {'old' if is_old else 'new'}; wanted is {name} from "
                f"{first} to before {end}"
            )
    return None


def how_to_install(python: str) -> str:
    """What to do where a Python has no compiler.

    Args:
      python: its path.
    """
    other = (
        "name a Python that has both by ESTIMATOR_BRIDGE_COMPILE_PYTHON, which this program's own "
        "need not be"
    )
    is_here = python == sys.executable
    if is_here and (sys.platform != "linux" or platform.machine() != "x86_64"):
        return (
            f"libtpu is made for Linux on x86-64, and this is {sys.platform} on "
            f"{platform.machine()}: compile there, in a container if need be."
        )
    if is_here and sys.version_info < _OLDEST_PYTHON:
        return (
            f"Those releases of jax need Python 3.11 or newer, and this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}: install jax and libtpu for a newer one, "
            f"and {other}."
        )
    return (
        f"Install it: {python} -m pip install 'estimator-bridge[tpu-compile]' (jax and libtpu); or "
        f"{other}."
    )


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a release; of a nightly build those of the release that it precedes."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
