"""Checks that the installed TensorFlow and tf-keras are supported, and match.

tf-keras (Keras 2) has one release for each minor version of TensorFlow. A mismatched pair fails
deep inside with a message that names neither; this check names both, and imports nothing.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from estimator_bridge.base import tpu_wheels
from estimator_bridge.base.tpu_presence import find_tpu

__all__ = [
    "FIRST_UNTESTED_TENSORFLOW",
    "OLDEST_TENSORFLOW",
    "check_versions",
    "companion_problems",
    "installed_versions",
    "is_the_command",
    "settle_tpu_wheel",
    "tensorflow_problem",
]

OLDEST_TENSORFLOW = (2, 16)
FIRST_UNTESTED_TENSORFLOW = (2, 22)

_TENSORFLOW = (  # TensorFlow's package names; all of them install the same folder
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm",
    "tensorflow-tpu",
    "tf-nightly",
    "tf-nightly-cpu",
)
_TF_KERAS = ("tf-keras", "tf-keras-nightly")


def is_the_command(argv: Sequence[str]) -> bool:
    """Returns whether the process runs `estimator-bridge`, which reports a wrong version itself.

    Args:
        argv: the process's arguments while this package is imported. Under `python -m` the first
            one is still "-m".
    """
    return bool(argv) and os.path.basename(argv[0]).partition(".")[0] in ("estimator-bridge", "-m")


def installed_versions() -> dict[str, str]:
    """Finds the installed TensorFlow and tf-keras, and tensorflow-tpu's libtpu; imports nothing.

    Returns:
        Versions by distribution name, for the installed ones.
    """
    versions: dict[str, str] = {}
    for name in _TENSORFLOW + _TF_KERAS:
        _add_version(versions, name)
    if tpu_wheels.TENSORFLOW_TPU in versions:
        _add_version(versions, "libtpu")
    return versions


def _add_version(versions: dict[str, str], name: str) -> None:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        versions[name] = importlib.metadata.version(name)


def settle_tpu_wheel() -> None:
    """Lets an installed tensorflow-tpu ask no metadata server where there is no sign of a TPU.

    It would wait for minutes there while TensorFlow is imported. Must run before that.
    """
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version(tpu_wheels.TENSORFLOW_TPU)
        if tpu_wheels.skips_metadata(os.environ, find_tpu(os.environ) is not None):
            os.environ["TPU_SKIP_MDS_QUERY"] = "1"


def check_versions(versions: Mapping[str, str] | None = None) -> None:
    """Checks that TensorFlow is supported, and that tf-keras matches it.

    The check reads package metadata and imports nothing. A TensorFlow newer than the tested
    releases only causes a warning.

    Args:
        versions: Versions by distribution name; by default the installed ones.

    Raises:
        ImportError: TensorFlow or tf-keras is missing or too old, or they do not match.
    """
    versions = installed_versions() if versions is None else versions
    problem = tensorflow_problem(versions) or next(companion_problems(versions), None)
    if problem:
        raise ImportError(problem)
    for name, version in list(_tensorflows(versions).items())[:1]:
        if _minor(version) >= FIRST_UNTESTED_TENSORFLOW:
            warnings.warn(
                f"estimator_bridge is tested with TensorFlow {_version_range()}, but found {name} "
                f"{version}. It may work; if it does not, run: {_pip_install()}",
                stacklevel=3,
            )


def tensorflow_problem(versions: Mapping[str, str]) -> str | None:
    """Returns what is wrong with the installed TensorFlow; most texts end with "Run: ...".

    Args:
        versions: versions by distribution name.

    Returns:
        None if there is one of a supported version.

    Raises:
        ImportError: a version cannot be read.
    """
    tensorflow = _tensorflows(versions)
    if not tensorflow:
        return _without_tensorflow(versions)
    if len({_minor(version) for version in tensorflow.values()}) > 1:
        return _several(tensorflow, versions)
    name, version = next(iter(tensorflow.items()))
    if _minor(version) >= OLDEST_TENSORFLOW:
        return None
    # Another distribution of TensorFlow would be installed over it.
    remove = "" if name == "tensorflow" else f"pip uninstall -y {name} && "
    return (
        f"estimator_bridge needs TensorFlow {_version_range()}, but found {name} {version}, which "
        f"still has tf.estimator itself. Use that, or replace it. Run: {remove}{_pip_install()}"
    )


def _tensorflows(versions: Mapping[str, str]) -> dict[str, str]:
    return {
        name: versions[name]
        for name in _TENSORFLOW
        if name in versions and not tpu_wheels.is_stand_in(versions[name])
    }


def _without_tensorflow(versions: Mapping[str, str]) -> str | None:
    if "tensorflow" in versions:
        return (
            f"tensorflow {versions['tensorflow']} is a package without files that stands for "
            f"tensorflow-tpu, which is not installed. Run: {tpu_wheels.keep_command()}"
        )
    if importlib.util.find_spec("tensorflow") is not None:
        return None  # A custom build without metadata.
    return (
        f"estimator_bridge needs TensorFlow {_version_range()}, but found none. "
        f"Run: {_pip_install()}"
    )


def _several(tensorflow: Mapping[str, str], versions: Mapping[str, str]) -> str:
    both = ", ".join(f"{name} {version}" for name, version in tensorflow.items())
    text = (
        "estimator_bridge found several TensorFlows of different versions in one environment: "
        f"{both}. They overwrite each other's files."
    )
    if tpu_wheels.TENSORFLOW_TPU in tensorflow:
        return tpu_wheels.damaged_tpu_wheel(versions, text)
    return (
        f"{text} Remove them all, then install one. "
        f"Run: pip uninstall -y {' '.join(tensorflow)} && {_pip_install()}"
    )


def companion_problems(versions: Mapping[str, str]) -> Iterator[str]:
    """Yields which packages do not fit the installed TensorFlow, each with the command to repair.

    Args:
        versions: versions by distribution name.
    """
    name, version = next(iter(_tensorflows(versions).items()), ("", ""))
    if not name:
        return
    if name == tpu_wheels.TENSORFLOW_TPU and "libtpu" in versions:
        unfit = tpu_wheels.unfit_libtpu(version, versions["libtpu"])
        # TPU_LIBRARY_PATH names another libtpu than the installed one.
        if unfit and not os.environ.get("TPU_LIBRARY_PATH"):
            yield unfit
    tf_keras = next((versions[name] for name in _TF_KERAS if name in versions), None)
    minor = _minor(version)
    # Nightlies of TensorFlow and tf-keras are numbered independently for some days per release.
    if tf_keras is None or (_minor(tf_keras) != minor and "nightly" not in name):
        has = "no tf-keras" if tf_keras is None else f"tf-keras {tf_keras}"
        release = f"{minor[0]}.{minor[1]}"
        command = f'pip install "tf-keras~={release}.0"'
        if "tensorflow" not in versions:
            command = tpu_wheels.tf_keras_command(minor)  # pip would install tensorflow over it
        yield (
            "estimator_bridge needs the tf-keras (Keras 2) that belongs to the installed "
            f"TensorFlow: found {name} {version} with {has}, wanted tf-keras {release}. "
            f"Run: {command}"
        )


def _minor(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None:
        raise ImportError(f"estimator_bridge cannot read the version {version!r}; wanted 2.N.")
    return int(match[1]), int(match[2])


def _version_range() -> str:
    oldest, newest = OLDEST_TENSORFLOW, FIRST_UNTESTED_TENSORFLOW
    return f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1] - 1}"


def _pip_install() -> str:
    bounds = "<{}.{}".format(*FIRST_UNTESTED_TENSORFLOW)
    return f'pip install --upgrade "tensorflow{bounds}" "tf-keras{bounds}"'
