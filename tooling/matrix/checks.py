"""The checks that run inside an environment: tests of every room, and train.py."""

from __future__ import annotations

import dataclasses
import resource
import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from tooling.matrix.environments import ROOT, clean_environ, python_in

__all__ = ["CHECKS", "Result", "run_tests", "run_train"]

SELECTION = "tests/selections/every_room.txt"
STEPS = 20
_TRAIN = (
    "--tpu=emulated:2", f"--train_steps={STEPS}", "--iterations_per_loop=10",
    "--train_batch_size=32", "--eval_batch_size=100", "--predict_batch_size=16",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a check.

    Attributes:
        passed: the number of tests or steps that passed.
        failed: names of failed tests, or the last lines of a failed program.
        cpu_seconds: the CPU time of all processes, which does not depend on other load.
    """

    passed: int
    failed: tuple[str, ...]
    cpu_seconds: int


def run_tests(folder: Path) -> Result:
    """Runs the tests of every room, which import each module and run the README's programs."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        process, seconds = _run(
            folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={scratch}/tests",
            f"--junitxml={report}", f"@{SELECTION}", cwd=ROOT,
        )  # fmt: skip
        if not report.exists():
            return Result(0, (_end(process),), seconds)
        cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
    failures = tuple(
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    )
    if process.returncode and not failures:
        failures = (_end(process),)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return Result(len(cases) - len(failures) - skipped, failures, seconds)


def run_train(folder: Path) -> Result:
    """Runs train.py for a few steps on emulated cores: training, evaluation, prediction, export."""
    with tempfile.TemporaryDirectory() as scratch:
        process, seconds = _run(folder, str(ROOT / "train.py"), *_TRAIN, cwd=Path(scratch))
        run_dir = Path(scratch) / "runs" / "digits"
        if process.returncode:
            return Result(0, (_end(process),), seconds)
        patterns = {
            "a checkpoint of the last step": f"model.ckpt-{STEPS}.index",
            "a SavedModel": "export/*/saved_model.pb",
        }
        missing = [
            artifact for artifact, pattern in patterns.items() if not list(run_dir.glob(pattern))
        ]
    failures = (f"train.py left no {' and no '.join(missing)}",) if missing else ()
    return Result(0 if missing else STEPS, failures, seconds)


CHECKS = {"tests": run_tests, "train": run_train}


def _run(folder: Path, *arguments: str, cwd: Path) -> tuple[subprocess.CompletedProcess[str], int]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.run(
        [str(python_in(folder)), *arguments],
        cwd=cwd, env=clean_environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return process, round(cpu_seconds)


def _end(process: subprocess.CompletedProcess[str]) -> str:
    return "\n".join(process.stdout.splitlines()[-5:])
