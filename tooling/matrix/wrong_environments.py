"""Breaks an environment of tensorflow-tpu, and follows the lines that doctor prints.

python -m tooling.matrix.wrong_environments [--only "libtpu 0.0.52" ...]. The environment is made by
the lines of docs/kaggle_and_colab.md. For each case: packages are installed, or damaged, as users
do it, `estimator-bridge doctor` is run, its lines are typed as they stand, and then doctor has to
be content and TensorFlow to be imported with its TPU kernels. Results go to
docs/wrong_environments.json and into the table of that page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tooling.matrix.environments import ROOT, clean_environ, python_in, python_of
from tooling.matrix.tpu_wheels import import_in, pip_in

__all__ = [
    "AS_DOCUMENTED",
    "CASES",
    "PAGE",
    "RESULTS",
    "advice_of",
    "documented_lines",
    "read_results",
    "table",
    "with_table",
]

RESULTS = ROOT / "docs" / "wrong_environments.json"
PAGE = ROOT / "docs" / "kaggle_and_colab.md"
_STAND_IN = ROOT / "estimator_bridge" / "tensorflow_for_tpu"
_SITE = "$(python -c 'import sysconfig; print(sysconfig.get_paths()[\"purelib\"])')"
AS_DOCUMENTED = "the lines above"
_DOCUMENTED = "the lines of the page"
# What a user does, as lines for a shell in the environment.
CASES = {
    AS_DOCUMENTED: (),
    "tensorflow-cpu 2.19 alone, then the lines above": (
        "pip uninstall -y tensorflow tensorflow-tpu libtpu tf-keras keras",
        "pip install tensorflow-cpu==2.19.1",
        _DOCUMENTED,
    ),
    "this project with all extras but torch": (
        "pip install '.[models,jax,monitor,tests,safetensors,tpu-compile,docs,release]'",
    ),
    "tensorflow-hub, -text and -datasets": (
        "pip install tensorflow-hub tensorflow-datasets 'tensorflow-text==2.20.*'",
    ),
    "libtpu 0.0.52": ("pip install --no-deps libtpu==0.0.52",),
    "libtpu 0.0.13": ("pip install --no-deps libtpu==0.0.13",),
    "no libtpu": ("pip uninstall -y libtpu",),
    "a damaged libtpu": (f"truncate -s 1M {_SITE}/libtpu/libtpu.so",),
    "no tf-keras": ("pip uninstall -y tf-keras",),
    "tf-keras 2.18": ("pip install --no-deps tf-keras==2.18.0",),
    "no tensorflow-tpu": ("pip uninstall -y tensorflow-tpu",),
    "keras and keras-nightly": ("pip install --no-deps keras-nightly",),
    "protobuf 3.20": ("pip install --no-deps protobuf==3.20.3",),
    "tensorflow-cpu over it": ("pip install --no-deps tensorflow-cpu==2.20.0",),
    "tensorflow 2.21 over it": ("pip install --no-deps tensorflow==2.21.0",),
    "tensorflow over it, and removed": (
        "pip install --force-reinstall --no-deps tensorflow==2.20.0",  # the stand-in is one
        "pip uninstall -y tensorflow",
    ),
    "a plain `pip install tensorflow-tpu tf-keras`": (
        "pip uninstall -y tensorflow tensorflow-tpu libtpu tf-keras keras",
        "pip install tensorflow-tpu==2.20.0 tf-keras",
    ),
    "an installation of keras that was broken off": (
        f"cp -r {_SITE}/keras-3.*.dist-info {_SITE}/keras-3.0.0.dist-info",
        f"sed -i 's/^Version: .*/Version: 3.0.0/' {_SITE}/keras-3.0.0.dist-info/METADATA",
        f"sed -i 's/keras-3[^/]*info/keras-3.0.0.dist-info/' {_SITE}/keras-3.0.0.dist-info/RECORD",
    ),
    "libtpu 0.0.52, no tf-keras and protobuf 3.20": (
        "pip install --no-deps libtpu==0.0.52 protobuf==3.20.3",
        "pip uninstall -y tf-keras",
    ),
    "jax[tpu] beside it": ("pip install 'jax[tpu]'",),
}
_BEGIN, _END = "<!-- wrong environments: begin -->\n", "<!-- wrong environments: end -->"

Row = dict[str, Any]


def run_case(name: str, folder: Path) -> Row:
    """Damages a working environment, and repairs it by doctor's lines.

    Args:
        name: one of ``CASES``.
        folder: the environment's folder; a working one.

    Returns:
        "damaged" and "repaired", the exit codes of doctor; "commands", its lines; "import", what an
        import of TensorFlow does in the end.
    """
    for command in CASES[name]:
        for line in _documented() if command == _DOCUMENTED else (command,):
            _shell(line, folder)
    report = _doctor(folder)
    commands = advice_of(report.stdout)
    for command in commands:
        _shell(command, folder)
    return {
        "damaged": report.returncode,
        "commands": [command.replace(str(ROOT), ".") for command in commands],
        "repaired": _doctor(folder).returncode,
        "import": import_in(folder),
    }


def advice_of(report: str) -> list[str]:
    """Returns the lines to type of a report: those at its end, else those of its notes."""
    _, _, lines = report.partition("Run these lines, in this order\n")
    commands = re.findall(r"^  (\S.*)$", lines, re.M)
    return commands or re.findall(r"^  note .*?finds no TPU.*? Run: (.*)$", report, re.M)


def _shell(command: str, folder: Path) -> None:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        command, shell=True, cwd=ROOT, env={**clean_environ(), "PATH": path},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def _doctor(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python_in(folder), "-m", "estimator_bridge", "doctor"], cwd=ROOT,
        env={**clean_environ(), "TPU_SKIP_MDS_QUERY": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def documented_lines(page: str) -> list[str]:
    """Returns the lines of a page that install packages beside tensorflow-tpu, as they stand."""
    blocks = re.findall(r"^```sh\n((?:(?!```).*\n)+)```", page, re.M)
    (block,) = [block for block in blocks if _STAND_IN.name in block]
    return [line for line in block.splitlines() if line.startswith("pip ")]


def _make(folder: Path, python: str) -> None:
    """Makes the environment of the documentation's lines."""
    subprocess.run([python_of(python), "-m", "venv", str(folder)], check=True)
    for line in _documented():
        _shell(line, folder)


def _documented() -> list[str]:
    lines = documented_lines(PAGE.read_text(encoding="utf-8"))
    return [line.replace("path/to/this/repository", str(ROOT)) for line in lines]


def _complete(folder: Path) -> None:
    """Installs again what a repair may leave out, as pip knows it without doctor: the stand-in."""
    pip_in(folder, "install", "--no-deps", str(_STAND_IN), "tf-keras==2.20.1")


def read_results(path: Path = RESULTS) -> dict[str, Row]:
    """Returns the recorded rows by the names of the cases; {} before the first run."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def table(results: dict[str, Row]) -> str:
    """Returns the table, one line a case."""
    lines = ["| environment | doctor's exit | its lines | afterwards |", "|---|---|---|---|"]
    for name in CASES:
        row = results.get(name)
        if row is None:
            lines.append(f"| {name} | not run yet | | |")
            continue
        typed = "; ".join(f"`{command}`" for command in row["commands"]) or "none"
        loaded = row["import"]
        outcome = "works" if _works(row) else f"{loaded['outcome']}, doctor {row['repaired']}"
        lines.append(f"| {name} | {row['damaged']} | {typed} | {outcome} |")
    return "\n".join(lines) + "\n"


def _works(row: Row) -> bool:
    loaded = row["import"]
    return row["repaired"] == 0 and loaded["outcome"] == "imports" and loaded["kernels"]


def with_table(page: str, results: dict[str, Row]) -> str:
    """Returns the page with its table replaced."""
    head, rest = page.split(_BEGIN)
    return f"{head}{_BEGIN}{table(results)}{_END}{rest.split(_END)[1]}"


def main() -> int:
    """Runs the cases, one after the other in one environment; a new one as documented.

    Returns:
        0 if each ended in a working environment, else 1.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tooling.matrix.wrong_environments", description=__doc__
    )
    parser.add_argument("--only", nargs="+", choices=[*CASES], default=[*CASES])
    parser.add_argument("--python", default="3.12")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "wrong_environment",
                        help="of the environment (default: build/wrong_environment)")  # fmt: skip
    options = parser.parse_args()
    folder = options.folder.resolve()
    if AS_DOCUMENTED in options.only:
        shutil.rmtree(folder, ignore_errors=True)
    if not python_in(folder).exists():
        _make(folder, options.python)
    worked = True
    for name in options.only:
        print(f"{name}: damaging and repairing", flush=True)
        row = run_case(name, folder)
        if name == AS_DOCUMENTED:
            row["installed_by"] = documented_lines(PAGE.read_text(encoding="utf-8"))
        results = {**read_results(), name: row}
        rows = {case: results[case] for case in CASES if case in results}
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
        print(f"{name}: {json.dumps(row)}", flush=True)
        worked &= _works(row)
        _complete(folder)
    return 0 if worked else 1


if __name__ == "__main__":
    sys.exit(main())
