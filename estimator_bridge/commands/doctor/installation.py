"""Faults of the installed packages, found without loading any of them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from estimator_bridge.base import tpu_wheels
from estimator_bridge.base.compatibility import (
    companion_problems,
    installed_versions,
    tensorflow_problem,
)
from estimator_bridge.commands.doctor.shared_libraries import functions_of, tpu_functions_called_by

__all__ = ["Fault", "faults_of", "notes_of", "without_tpu_kernels"]

_OWN_REQUIREMENTS = ("numpy", "keras", "protobuf", "ml-dtypes", "h5py")
_CC = "libtensorflow_cc.so.2"
_LIBRARY_PATH = "TPU_LIBRARY_PATH"  # of another libtpu than the installed one


class Fault(NamedTuple):
    """A fault to repair before a program can run: a text, and the commands in their order."""

    text: str
    commands: tuple[str, ...] = ()


def faults_of(versions: Mapping[str, str] | None = None) -> list[Fault]:
    """Looks for what keeps TensorFlow from being loaded.

    Args:
        versions: versions by distribution name; by default the installed ones.
    """
    versions = installed_versions() if versions is None else versions
    try:
        problem = tensorflow_problem(versions)
        companions = [] if problem else [_fault(text) for text in companion_problems(versions)]
    except ImportError as error:  # a version that cannot be read
        problem = str(error)
    if problem:
        return [_fault(problem)]
    faults = [*_overwritten(versions)]
    if not (faults and tpu_wheels.TENSORFLOW_TPU in versions):  # whose repair includes the others
        faults += companions
        if not any("libtpu" in fault.text for fault in faults):
            faults += _incomplete_libtpu(versions)
    twice = _recorded_twice(versions)
    faults += twice.values()
    return [*faults, *_unmet_requirements(versions, twice), *_nightly_keras()]


def _fault(problem: str) -> Fault:
    text, _, command = problem.partition(" Run: ")
    return Fault(text, tuple(command.split(" && ")) if command else ())


def without_tpu_kernels(path: str) -> list[Fault]:
    """Returns the fault of a TensorFlow that loads without TPUs beside an installed tensorflow-tpu.

    Args:
        path: the file of the package that was loaded.
    """
    versions = installed_versions()
    if tpu_wheels.TENSORFLOW_TPU not in versions:
        return []
    own = importlib.metadata.distribution(tpu_wheels.TENSORFLOW_TPU).locate_file("tensorflow")
    text = (
        f"tensorflow-tpu {versions[tpu_wheels.TENSORFLOW_TPU]} is installed, but the TensorFlow "
        f"that is loaded has no support for TPUs: {path}."
    )
    if Path(path).parent != Path(str(own)):
        return [Fault(f"{text} Python finds it before {own}: remove it, or its folder's place.")]
    return [Fault(text, tpu_wheels.reinstall_tpu_wheel(versions))]


def notes_of(versions: Mapping[str, str] | None = None) -> list[str]:
    """Returns what a program can live with."""
    versions = installed_versions() if versions is None else versions
    names = _tensorflows(versions)
    notes = []
    if tpu_wheels.TENSORFLOW_TPU in names:
        if "libtpu" not in versions:
            command = tpu_wheels.libtpu_command(versions[tpu_wheels.TENSORFLOW_TPU])
            notes.append(f"tensorflow-tpu finds no TPU without libtpu. Run: {command}")
        if "tensorflow" not in versions:
            notes.append(
                "pip does not know that tensorflow-tpu is a tensorflow, and installs another one "
                "over it with the next package that requires tensorflow. To prevent that, "
                f"{tpu_wheels.keep_advice(versions[tpu_wheels.TENSORFLOW_TPU])}"
            )
    elif len(names) > 1:
        notes.append(
            f"{' and '.join(names)} install the same files: to update or remove one damages the "
            "other. Remove both, then install tensorflow, which tf-keras requires."
        )
    return notes


def _tensorflows(versions: Mapping[str, str]) -> list[str]:
    return [
        name
        for name, version in versions.items()
        if name.startswith(("tensorflow", "tf-nightly")) and not tpu_wheels.is_stand_in(version)
    ]


def _overwritten(versions: Mapping[str, str]) -> Iterator[Fault]:
    """Finds a TensorFlow whose libraries are not those that were installed under its name."""
    names = _tensorflows(versions)
    changed_libraries = {name: file for name in names if (file := _changed_library(name))}
    if tpu_wheels.TENSORFLOW_TPU in changed_libraries:
        yield Fault(
            f"tensorflow-tpu {versions[tpu_wheels.TENSORFLOW_TPU]} is installed, but "
            f"{changed_libraries[tpu_wheels.TENSORFLOW_TPU]} is missing or another package's: "
            "another TensorFlow was installed over it or removed from over it.",
            tpu_wheels.reinstall_tpu_wheel(versions),
        )
        return
    if len(changed_libraries) < len(names):  # the one that was installed last is whole
        return
    for name, file in list(changed_libraries.items())[:1]:
        others = [other for other in names if other != name]
        remove = (f"pip uninstall -y {' '.join(others)}",) if others else ()
        yield Fault(
            f"{name} {versions[name]} is installed, but {file} is missing or another package's.",
            (*remove, f"pip install --force-reinstall --no-deps {name}=={versions[name]}"),
        )


def _changed_library(name: str) -> str | None:
    """Returns a shared library of a distribution whose size is not the recorded one."""
    try:
        files = importlib.metadata.distribution(name).files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if ".so" not in file.suffixes or file.size is None:
            continue
        path = Path(str(file.locate()))
        if not path.is_file() or path.stat().st_size != file.size:
            return str(file)
    return None


def _incomplete_libtpu(versions: Mapping[str, str]) -> Iterator[Fault]:
    """Compares the functions that TensorFlow calls with those of libtpu."""
    library_path = os.environ.get(_LIBRARY_PATH)
    if tpu_wheels.TENSORFLOW_TPU not in versions or not (library_path or "libtpu" in versions):
        return
    tensorflow, libtpu = _folder("tensorflow"), _folder("libtpu")
    library = Path(library_path) if library_path else libtpu and libtpu / "libtpu.so"
    if tensorflow is None or library is None:
        return
    try:
        missing = tpu_functions_called_by(tensorflow / _CC) - functions_of(library)
    except FileNotFoundError:
        return  # another layout: loading tells
    except (OSError, ValueError) as error:
        missing = {f"all functions ({error})"}
    if missing:
        wheel, first = versions[tpu_wheels.TENSORFLOW_TPU], sorted(missing)[0]
        install = tpu_wheels.libtpu_command(wheel)
        release = f"libtpu {versions.get('libtpu')}"
        commands: tuple[str, ...] = (install.replace("install", "install --force-reinstall", 1),)
        if library_path:
            release = f"{_LIBRARY_PATH}={library_path}"
            commands = (f"unset {_LIBRARY_PATH}", install)
        yield Fault(
            f"tensorflow-tpu {wheel} ends the process when it is imported with {release}, which "
            f"lacks {len(missing)} function(s) that it calls: {first}.",
            commands,
        )


def _folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) if folders else None


def _unmet_requirements(versions: Mapping[str, str], without: Collection[str]) -> Iterator[Fault]:
    """Finds packages of other versions than TensorFlow requires, such as numpy 2 for 2.16."""
    try:
        from packaging.requirements import InvalidRequirement, Requirement
    except ImportError:  # TensorFlow requires it
        return
    for name in _tensorflows(versions)[:1]:
        for text in importlib.metadata.requires(name) or ():
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            key = requirement.name.lower().replace("_", "-")
            if key not in _OWN_REQUIREMENTS or key in without:
                continue
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            version = _version(key)
            if version and requirement.specifier.contains(version, prereleases=True):
                continue
            yield Fault(
                f"{name} {versions[name]} requires {requirement.name}{requirement.specifier}, "
                f"and {key} is {version or 'not installed'}.",
                (f'pip install "{key}{requirement.specifier}"',),
            )


def _recorded_twice(versions: Mapping[str, str]) -> dict[str, Fault]:
    """Returns the faults of packages that are recorded twice in one folder, by their names."""
    recorded: dict[tuple[str, str], list[str]] = {}
    for distribution in importlib.metadata.distributions():
        name = _plain(distribution.metadata["Name"] or "")
        if name in {"keras", "libtpu", *versions}:
            folder = str(distribution.locate_file(""))
            recorded.setdefault((name, folder), []).append(distribution.version)
    faults = {}
    for (name, _), releases in sorted(recorded.items()):
        if len(releases) == 1:
            continue
        newest = max(releases, key=_numbers)
        install = f"pip install --no-deps {name}=={newest}"
        if tpu_wheels.is_stand_in(newest):
            install = tpu_wheels.keep_command()
        faults[name] = Fault(
            f"{name} is recorded twice in one folder, by an installation that was broken off.",
            (*[f"pip uninstall -y {name}"] * len(releases), install),
        )
    return faults


def _nightly_keras() -> Iterator[Fault]:
    nightly = _version("keras-nightly")
    if nightly and _version("keras"):
        yield Fault(
            f"keras {_version('keras')} and keras-nightly {nightly} overwrite each other's files.",
            (
                "pip uninstall -y keras-nightly keras",
                f'pip install --no-deps "keras=={_version("keras")}"',
            ),
        )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
