"""A training whose checkpoints have 100 MB: killed amid its saves, and with files that are limited.

All values of a checkpoint equal its step, so one that mixes two saves, or lacks a part, is noticed.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

_KILLED, _LIMITED = "killed amid a save", "a file's limit"
NAMES = [_KILLED, _LIMITED]
_KILLS = 10  # amid a save; others are tried again
_MOST_TRIES = 4 * _KILLS
_BYTES = 100_000_000  # of a checkpoint
_LIMITS = (1_000_000, 50_000_000, 99_000_000)  # bytes of a file
_LAST = 6
_KEPT = 2
_SECS = 120.0
_LOOK_SECS = 0.001
_STAGING = ".estimator_bridge.staging-*"


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `every` and `seed` have an effect.

    Returns:
      JSON by case: see `counts.summarize_case`.
    """
    from parity.faults import large_program  # TensorFlow is imported before the forks

    del large_program
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _check_undisturbed(folder)
        for case in names:
            outcomes: list[dict[str, Any]] = []
            is_limited = case == _LIMITED
            tries = range(len(_LIMITS))[:: options.every] if is_limited else range(_MOST_TRIES)
            for number in tries:
                if sum(one.get("amid", False) for one in outcomes) >= _KILLS / options.every:
                    break
                chance = random.Random(f"{case} {options.seed + number}")
                model_dir = folder / f"model-{number}"
                if is_limited:
                    outcome = _limited(model_dir, _LIMITS[number])
                else:
                    outcome = _killed(model_dir, chance)
                outcome["wrong"] += _continued(model_dir, outcome.pop("step"))
                print(json.dumps({"case": case, **outcome}), file=sys.stderr, flush=True)
                outcomes.append(outcome)
                shutil.rmtree(model_dir)
            results[case] = summarize_case(outcomes, lambda one: not one["wrong"], _describe)
    return results


def _check_undisturbed(folder: Path) -> None:
    from parity.faults.restarts import in_fork

    model_dir = folder / "undisturbed"
    in_fork(folder, lambda: _train(model_dir, _LAST), _SECS)
    problems = _problems(model_dir)
    if problems:
        raise RuntimeError(f"the undisturbed training is not as expected: {problems}")
    shutil.rmtree(model_dir)


def _train(model_dir: Path, last: int) -> int | None:
    """Trains up to a step; returns where it began."""
    from parity.faults import large_program

    return large_program.train(str(model_dir), last, _KEPT)


def _killed(model_dir: Path, chance: random.Random) -> dict[str, Any]:
    """Kills a training when a random part of one of its saves is written, but not of the first."""
    from parity.faults.forks import Forked

    save = chance.randint(1, _LAST)
    least = chance.randint(1, _BYTES)
    log = model_dir.with_suffix(".log")
    process = Forked(lambda ready: _ignore(_train(model_dir, _LAST)), log)
    end = time.monotonic() + _SECS
    while not (model_dir / f"model.ckpt-{save - 1}.index").exists():
        if process.has_ended or time.monotonic() > end:
            raise RuntimeError(f"no checkpoint {save - 1}:\n{process.output[-3000:]}")
        time.sleep(_LOOK_SECS)
    while _written(model_dir) < least and not process.has_ended and time.monotonic() < end:
        time.sleep(_LOOK_SECS)
    process.send(signal.SIGKILL)
    code = process.wait(30)
    written = _written(model_dir)
    newest, wrong = _newest(model_dir)
    if code not in (0, 128 + signal.SIGKILL):  # 0: the last save was over
        wrong.append(f"ended with {code}")
    return {
        "save": save, "amid": written > 0, "written": written, "step": newest, "from": newest,
        "wrong": wrong,
    }  # fmt: skip


def _limited(model_dir: Path, limit: int) -> dict[str, Any]:
    """Lets a training continue whose files must not be larger than a checkpoint's data."""
    from parity.faults.forks import Forked
    from parity.faults.restarts import in_fork

    in_fork(model_dir.parent, lambda: _train(model_dir, 2), _SECS)

    def train() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        _train(model_dir, _LAST)

    process = Forked(lambda ready: train(), model_dir.with_suffix(".log"))
    code = process.wait(_SECS)
    newest, wrong = _newest(model_dir)
    if code != 1 or "FullDiskError" not in process.output:
        wrong.append(f"ended with {code}, not with DiskFullError: {process.output[-300:]}")
    left = [path.name for path in model_dir.glob(_STAGING)]
    if left:
        wrong.append(f"the failed training left {left}")
    return {"limit": limit, "step": newest, "from": newest, "wrong": wrong}


def _newest(model_dir: Path) -> tuple[int, list[str]]:
    """Returns the step of the newest whole checkpoint, and what is wrong with it."""
    from parity.faults import large_program
    from parity.faults.restarts import in_fork

    step, values = in_fork(model_dir.parent, lambda: large_program.newest(str(model_dir)), _SECS)
    return step, [] if values == [step] else [f"checkpoint {step} has the values {values}"]


def _continued(model_dir: Path, step: int) -> list[str]:
    """Trains to the end in another process; returns what is wrong."""
    from parity.faults.restarts import in_fork

    began = in_fork(model_dir.parent, lambda: _train(model_dir, _LAST), _SECS)
    is_right = began == step or (began is None and step == _LAST)
    problems = [] if is_right else [f"began at {began}, and the newest checkpoint is {step}"]
    return problems + _problems(model_dir)


def _problems(model_dir: Path) -> list[str]:
    """Returns how a folder differs from that of a training that has ended."""
    step, wrong = _newest(model_dir)
    if step != _LAST:
        wrong.append(f"the last checkpoint is {step}")
    endings = ("data-00000-of-00001", "index", "meta")
    steps = range(_LAST - _KEPT + 1, _LAST + 1)
    expected = {f"model.ckpt-{step}.{ending}" for step in steps for ending in endings}
    expected |= {"checkpoint", "graph.pbtxt"}
    names = {path.name for path in model_dir.iterdir() if "tfevents" not in path.name}
    if names != expected:
        wrong.append(f"more: {sorted(names - expected)}, less: {sorted(expected - names)}")
    return wrong


def _written(model_dir: Path) -> int:
    """Returns the size of an unfinished save."""
    size = 0
    for path in model_dir.glob(f"{_STAGING}/**/*ckpt*"):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size if path.is_file() else 0
    for path in model_dir.glob(f"{_STAGING}/*_temp/*"):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def _ignore(value: Any) -> None:
    del value


def _describe(outcome: Mapping[str, Any]) -> str:
    if not outcome.get("amid", True) and not outcome["wrong"]:
        return "killed after the save, continued from it"
    return "; ".join(outcome["wrong"]) or "continued from a whole checkpoint, nothing left over"
