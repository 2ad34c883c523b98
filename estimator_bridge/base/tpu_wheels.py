"""Compatible releases of tensorflow-tpu, libtpu and tensorflow, and the repair of others.

It reads versions alone and imports nothing: a wrong pair ends the process while TensorFlow is
imported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = [
    "STAND_IN",
    "TENSORFLOW_TPU",
    "damaged_tpu_wheel",
    "is_newest",
    "is_stand_in",
    "keep_advice",
    "keep_command",
    "libtpu_command",
    "reinstall_tpu_wheel",
    "replace_tpu_wheel",
    "skips_metadata",
    "tf_keras_command",
    "unfit_libtpu",
]

TENSORFLOW_TPU = "tensorflow-tpu"
# Requirements of the name `tensorflow` are met by this package without files, so that pip does not
# install another TensorFlow over tensorflow-tpu. It is built from this folder.
STAND_IN = Path(__file__).resolve().parents[1] / "tensorflow_for_tpu"
_STAND_IN_SUFFIX = "+tpu"
_STAND_IN_FOR = "2.20.0"  # the tensorflow-tpu that it requires
# By minor version of tensorflow-tpu: the first and the last libtpu with all the functions that the
# wheel calls, and so imports. 0.0.1 is the first release of the index.
_LIBTPU: dict[tuple[int, ...], tuple[str, str]] = {
    (2, 18): ("0.0.1", "0.0.31"),
    (2, 19): ("0.0.1", "0.0.31"),
    (2, 20): ("0.0.14", "0.0.31"),
}
# The release that a wheel itself requires, or the nearest to it where the index does not have that.
_REQUIRED_LIBTPU: dict[tuple[int, ...], str] = {
    (2, 18): "0.0.2",
    (2, 19): "0.0.10",
}
# They call functions that no tried release of the index has; see docs/tpu_wheels.json.
_WITHOUT_LIBTPU = ((2, 16), (2, 17))
# Newer releases have no wheels for Python 3.9; 0.0.21 is the last for 3.10.
_LIBTPU_OF_OLD_PYTHON, _NEWEST_LIBTPU_SINCE = "0.0.20", (3, 11)


def is_stand_in(version: str) -> bool:
    """Returns whether a version of `tensorflow` is that of the package without files."""
    return version.endswith(_STAND_IN_SUFFIX)


def is_newest(wheel: str) -> bool:
    """Returns whether a version of tensorflow-tpu is the newest, which the stand-in requires."""
    return wheel == _STAND_IN_FOR


def unfit_libtpu(wheel: str, libtpu: str) -> str | None:
    """Explains why this libtpu cannot be loaded by this tensorflow-tpu.

    Args:
        wheel: the version of tensorflow-tpu.
        libtpu: the version of libtpu.

    Returns:
        The explanation with the command that repairs it; None if they fit or are not known.
    """
    minor = _numbers(wheel)[:2]
    limits = _LIBTPU.get(minor)
    if minor in _WITHOUT_LIBTPU:
        needs = "no tried release has them"
    elif limits is None or _numbers(limits[0]) <= _numbers(libtpu)[:3] <= _numbers(limits[1]):
        return None
    else:
        needs = f"it needs libtpu {limits[0]} to {limits[1]}"
    return (
        f"tensorflow-tpu {wheel} ends the process when it is imported with libtpu {libtpu}, which "
        f"lacks functions that it calls: {needs}. Run: {libtpu_command(wheel)}"
    )


def libtpu_command(wheel: str, python: tuple[int, ...] | None = None) -> str:
    """Returns the command that installs the libtpu of a tensorflow-tpu, or of a newer one.

    Args:
        wheel: the version of tensorflow-tpu.
        python: the Python's version; by default this one's.
    """
    if _numbers(wheel)[:2] in _WITHOUT_LIBTPU:
        return " && ".join(replace_tpu_wheel())
    limits = _LIBTPU.get(_numbers(wheel)[:2])
    if limits is None:
        return "pip install --no-deps libtpu"
    python = sys.version_info[:2] if python is None else python
    release = _REQUIRED_LIBTPU.get(_numbers(wheel)[:2], limits[1])
    if python < _NEWEST_LIBTPU_SINCE:
        release = min(release, _LIBTPU_OF_OLD_PYTHON, key=_numbers)
    return f"pip install --no-deps libtpu=={release}"


def tf_keras_command(minor: tuple[int, int]) -> str:
    """Returns the command that installs tf-keras and leaves tensorflow-tpu in place."""
    return f'pip install --no-deps "tf-keras~={minor[0]}.{minor[1]}.0"'


def reinstall_tpu_wheel(versions: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the commands that restore tensorflow-tpu where other wheels wrote over its files.

    Args:
        versions: versions by distribution name, tensorflow-tpu among them.
    """
    version = versions[TENSORFLOW_TPU]
    minor = _numbers(version)[:2]
    others = [
        name
        for name, other in versions.items()
        if name.startswith(("tensorflow", "tf-nightly"))
        and name != TENSORFLOW_TPU
        and not is_stand_in(other)
    ]
    commands = [f"pip uninstall -y {' '.join(others)}"] if others else []
    if minor in _WITHOUT_LIBTPU:
        return (*commands, *replace_tpu_wheel())
    commands.append(f"pip install --force-reinstall --no-deps {TENSORFLOW_TPU}=={version}")
    commands.append(libtpu_command(version))
    commands.append(tf_keras_command((minor[0], minor[1])))
    return tuple(commands)


def replace_tpu_wheel() -> tuple[str, ...]:
    """Returns the commands that install the newest pair in the place of another tensorflow-tpu."""
    minor = ".".join(_STAND_IN_FOR.split(".")[:2])
    return keep_command(), f'pip install "tf-keras~={minor}.0"'


def damaged_tpu_wheel(versions: Mapping[str, str], reason: str) -> str:
    """Returns an error about a damaged tensorflow-tpu, with the commands that restore it."""
    return f"{reason} Run: {' && '.join(reinstall_tpu_wheel(versions))}"


def keep_command() -> str:
    """Returns the command after which pip takes tensorflow-tpu for `tensorflow`."""
    return f'pip install "{STAND_IN}"'


def keep_advice(wheel: str) -> str:
    """Returns what keeps pip from replacing an installed tensorflow-tpu, as the end of a sentence.

    Args:
        wheel: the version of tensorflow-tpu.
    """
    if is_newest(wheel):
        return f"run: {keep_command()}"
    return (
        "install such packages with pip's --no-deps. The package that stands for tensorflow would "
        f"replace {wheel} by {_STAND_IN_FOR}: {keep_command()}"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def skips_metadata(environ: Mapping[str, str], has_tpu: bool) -> bool:
    """Returns whether tensorflow-tpu should be told to ask no metadata server.

    Without a TPU, libtpu asks Google Cloud's metadata server for minutes while TensorFlow is
    imported.

    Args:
        environ: environment variables.
        has_tpu: whether there is any sign of a TPU here.
    """
    return sys.platform == "linux" and not has_tpu and "TPU_SKIP_MDS_QUERY" not in environ
