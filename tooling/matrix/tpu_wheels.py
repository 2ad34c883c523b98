"""Installs each tensorflow-tpu: python -m tooling.matrix.tpu_wheels [--only 2.20.0:3.12].

An environment a pair of tensorflow-tpu and Python: what a plain `pip install` of the wheel does,
and with which libtpu TensorFlow is imported, in a process that libtpu may end. It needs no TPU.
Results go to docs/tpu_wheels.json and into the table of docs/tpu.md.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tooling.matrix.environments import ROOT, MatrixError, clean_environ, python_in, python_of

__all__ = [
    "PAGE",
    "PAIRS",
    "RESULTS",
    "cell",
    "import_in",
    "pip_in",
    "read_results",
    "table",
    "with_table",
]

RESULTS = ROOT / "docs" / "tpu_wheels.json"
PAGE = ROOT / "docs" / "tpu.md"
NONE = "none"
# The wheels of the index, the newest patch of each minor version, with its Pythons.
_WHEELS = {
    "2.20.0": ("3.9", "3.10", "3.11", "3.12", "3.13"),
    "2.19.1": ("3.9", "3.12"),
    "2.18.0": ("3.9", "3.12"),
    "2.17.1": ("3.9", "3.12"),
    "2.16.2": ("3.9", "3.12"),
}
PAIRS = tuple((wheel, python) for wheel, pythons in _WHEELS.items() for python in pythons)
# The ends of the ranges that work, their neighbors, and the newest for each Python.
_LIBTPU = {
    **dict.fromkeys(("2.16.2", "2.17.1", "2.18.0"), ("0.0.1", "0.0.2", "0.0.31", "0.0.32")),
    "2.20.0": ("0.0.13", "0.0.14", "0.0.31", "0.0.32"),
    "2.19.1": ("0.0.1", "0.0.2", "0.0.10", "0.0.11", "0.0.31", "0.0.32"),
}
_LIMIT_SECS = 300.0
# Without the second, TensorFlow does not load libtpu while another process has it, and is imported
# with any.
_ENVIRON = {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "true"}
_MARK = "tpu_wheels: "
_PROGRAM = f"""
import json
import tensorflow as tf
from tensorflow.python.framework import kernels
has_kernels = bool(kernels.get_registered_kernels_for_op("_ConfigureDistributedTPU").kernel)
print({_MARK!r} + json.dumps({{"kernels": has_kernels}}), flush=True)
try:
    tf.function(lambda x: x + 1.0, jit_compile=True)(tf.constant(1.0))
    xla = "compiles"
except Exception as error:
    xla = str(error).splitlines()[0]
print({_MARK!r} + json.dumps({{"kernels": has_kernels, "xla": xla}}), flush=True)
"""
_BEGIN, _END = "<!-- tpu wheels: begin -->\n", "<!-- tpu wheels: end -->"

Row = dict[str, Any]


def run_pair(wheel: str, python: str, folder: Path) -> Row:
    """Installs a wheel and tries it with each libtpu.

    Args:
        wheel: the version of tensorflow-tpu.
        python: the Python, as "major.minor".
        folder: the environment's folder.

    Returns:
        "pip": what a plain installation does; "libtpu": what an import does, by libtpu's version.

    Raises:
        MatrixError: the Python is not installed.
    """
    subprocess.run([python_of(python), "-m", "venv", str(folder)], check=True)
    row: Row = {"pip": "", "libtpu": {}}
    plain = pip_in(folder, "install", f"tensorflow-tpu=={wheel}")
    if plain.returncode:
        row["pip"] = _refusal(plain.stdout)
        if not _install_without_libtpu(wheel, folder):
            return row
    else:
        version = _libtpu(folder)
        row["pip"] = f"installs libtpu {version}"
        row["libtpu"][version] = import_in(folder)
        pip_in(folder, "uninstall", "-y", "libtpu")
    row["libtpu"][NONE] = import_in(folder)
    for version in _LIBTPU[wheel]:
        if version in row["libtpu"]:
            continue
        if pip_in(folder, "install", "--no-deps", f"libtpu=={version}").returncode:
            row["libtpu"][version] = {"outcome": "not on the index for this Python"}
            continue
        row["libtpu"][version] = import_in(folder)
    return row


def pip_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs an environment's pip; its output and errors are its stdout."""
    return subprocess.run(
        [python_in(folder), "-m", "pip", *arguments, "--disable-pip-version-check"],
        env=clean_environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip


def _install_without_libtpu(wheel: str, folder: Path) -> bool:
    """Installs a wheel, then what it requires but libtpu; returns whether that went well."""
    if pip_in(folder, "install", "--no-deps", f"tensorflow-tpu=={wheel}").returncode:
        return False
    program = (
        "import importlib.metadata as m, json; print(json.dumps(m.requires('tensorflow-tpu')))"
    )
    texts = json.loads(subprocess.check_output([python_in(folder), "-c", program], text=True))
    others = [text for text in texts if not text.startswith("libtpu") and "extra ==" not in text]
    return pip_in(folder, "install", *others).returncode == 0


def _libtpu(folder: Path) -> str:
    program = "import importlib.metadata as m; print(m.version('libtpu'))"
    return subprocess.run(
        [python_in(folder), "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


def _refusal(text: str) -> str:
    requirement = re.search(r"satisfies the requirement (\S+)", text)
    return f"refused: the index has no {requirement[1]}" if requirement else "refused"


def import_in(folder: Path) -> Row:
    """Returns what an import of an environment's TensorFlow does, in a process of its own."""
    try:
        process = subprocess.run(
            [python_in(folder), "-c", _PROGRAM],
            env={**clean_environ(), **_ENVIRON}, capture_output=True, text=True,
            errors="replace", timeout=_LIMIT_SECS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"outcome": f"not imported within {_LIMIT_SECS:g} s"}
    marks = [line for line in process.stdout.splitlines() if line.startswith(_MARK)]
    if marks:
        return {"outcome": "imports", **json.loads(marks[-1][len(_MARK) :])}
    lines = [line.strip() for line in process.stderr.splitlines() if line.strip()] or [""]
    if process.returncode >= 0:
        return {"outcome": "raises", "message": lines[-1]}
    missing = re.search(r"(\w+) not available in this library", process.stderr)
    name = signal.Signals(-process.returncode).name
    return {"outcome": "ends", "message": f"{name}: {missing[1] if missing else lines[0]}"}


def read_results(path: Path = RESULTS) -> dict[str, Row]:
    """Returns the recorded rows by "wheel:python"; {} before the first run."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def table(results: dict[str, Row]) -> str:
    """Returns the table, one line a pair."""
    lines = [
        "| tensorflow-tpu | Python | plain `pip install` | imports with libtpu | "
        "does not import with |",
        "|---|---|---|---|---|",
    ]
    for wheel, python in PAIRS:
        row = results.get(f"{wheel}:{python}")
        if row is None:
            lines.append(f"| {wheel} | {python} | not run yet | | |")
            continue
        lines.append(
            f"| {wheel} | {python} | {row['pip']} | {cell(row, True)} | {cell(row, False)} |"
        )
    return "\n".join(lines) + "\n"


def cell(row: Row, imports: bool) -> str:
    """Returns the tested releases of libtpu with which TensorFlow is, or is not, imported."""
    tested = {
        version: result
        for version, result in row["libtpu"].items()
        if not result["outcome"].startswith("not on the index")
    }
    releases = [
        version for version, result in tested.items() if (result["outcome"] == "imports") is imports
    ]
    return ", ".join(sorted(releases, key=_numbers))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def with_table(page: str, results: dict[str, Row]) -> str:
    """Returns the page with its table replaced."""
    head, rest = page.split(_BEGIN)
    return f"{head}{_BEGIN}{table(results)}{_END}{rest.split(_END)[1]}"


def _write(results: dict[str, Row]) -> None:
    names = [f"{wheel}:{python}" for wheel, python in PAIRS]
    rows = {name: results[name] for name in names if name in results}
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


def main() -> int:
    """Runs the pairs that have no result.

    Returns:
        0 if each pair could be tried, else 1.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tooling.matrix.tpu_wheels", description=__doc__
    )
    names = [f"{wheel}:{python}" for wheel, python in PAIRS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="WHEEL:PYTHON")
    parser.add_argument("--again", action="store_true", help="run pairs that have a result, too")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "tpu_wheels",
                        help="of the environments (default: build/tpu_wheels)")  # fmt: skip
    options = parser.parse_args()
    tried_all = True
    for name in options.only:
        if name in read_results() and not options.again:
            continue
        wheel, _, python = name.partition(":")
        folder = options.folder.resolve() / name.replace(":", "-py")
        folder.parent.mkdir(parents=True, exist_ok=True)
        print(f"{name}: installing and importing", flush=True)
        try:
            row = run_pair(wheel, python, folder)
        except MatrixError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            tried_all = False
            continue
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        _write({**read_results(), name: row})
        print(f"{name}: {json.dumps(row)}", flush=True)
    return 0 if tried_all else 1


if __name__ == "__main__":
    sys.exit(main())
