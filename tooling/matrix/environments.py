"""Makes an environment with one TensorFlow and one Python, with uv if it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tooling.matrix.claims import Pair

__all__ = [
    "MatrixError",
    "clean_environ",
    "make",
    "python_in",
    "python_of",
    "versions",
    "weigh",
]

ROOT = Path(__file__).resolve().parents[2]
# Further imports of the selected tests, besides those of the library and train.py.
TEST_PACKAGES = ("hypothesis", "pandas", "pytest>=8.2")
DISTRIBUTIONS = ("tensorflow", "tf-keras", "keras", "numpy", "protobuf")
_ASK = """
import importlib.metadata, json, platform
found = {name: importlib.metadata.version(name) for name in %r}
print(json.dumps({"python": platform.python_version(), **found}))
"""
_MADE = "made.json"


class MatrixError(RuntimeError):
    """A pair cannot be run here; the text says what to do."""


def make(pair: Pair, folder: Path) -> dict[str, float]:
    """Makes the environment of a pair, or completes one that was kept.

    Args:
        pair: the TensorFlow and the Python.
        folder: the environment's folder.

    Returns:
        "seconds" of the first installation, and "megabytes" on disk.

    Raises:
        MatrixError: the Python is not installed, or the installation fails.
    """
    start = time.monotonic()
    if not python_in(folder).exists():
        shutil.rmtree(folder, ignore_errors=True)
        _call([python_of(pair.python), "-m", "venv", str(folder)])
    _call(
        [
            *_installer(python_in(folder)),
            "--editable",
            f"{ROOT}[models]",
            f"tensorflow=={pair.tensorflow}.*",
            f"tf-keras=={pair.tensorflow}.*",
            *TEST_PACKAGES,
        ]
    )
    record_file = folder / _MADE
    if not record_file.exists():
        seconds = round(time.monotonic() - start)
        record_file.write_text(json.dumps({"seconds": seconds, "megabytes": weigh(folder)}))
    return json.loads(record_file.read_text())


def python_in(folder: Path) -> Path:
    """Returns the Python of an environment."""
    return folder / "bin" / "python"


def versions(folder: Path) -> dict[str, str]:
    """Returns the versions of Python and of the listed distributions in an environment."""
    return json.loads(_call([str(python_in(folder)), "-c", _ASK % (DISTRIBUTIONS,)]))


def weigh(folder: Path) -> int:
    """Returns the megabytes of a folder's files."""
    files = (path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    return round(sum(files) / 1e6)


def clean_environ() -> dict[str, str]:
    """Returns the environment variables of a check, without those that select packages or Keras."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "TF_USE_LEGACY_KERAS", "TF_CONFIG", "VIRTUAL_ENV"}
    visible = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**visible, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"}


def _installer(python: Path) -> list[str]:
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", str(python)]
    return [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]


def python_of(version: str) -> str:
    """Returns the path of a Python of this "major.minor".

    Raises:
        MatrixError: it is not installed.
    """
    for python in _pythons(version):
        process = subprocess.run(
            [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if process.stdout.strip() == version:  # a pyenv shim exists, but fails
            return python
    raise MatrixError(
        f"Python {version} is not installed. Install it so that `python{version}` or pyenv has it, "
        f"for example by `pyenv install {version}`."
    )


def _pythons(version: str) -> Iterator[str]:
    executable = shutil.which(f"python{version}")
    if executable:
        yield executable
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))


def _call(command: list[str]) -> str:
    process = subprocess.run(
        command, env=clean_environ(), capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise MatrixError(f"`{' '.join(command)}` failed:\n{process.stdout}{process.stderr}")
    return process.stdout
