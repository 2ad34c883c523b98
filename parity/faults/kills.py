"""Kills at each file operation of a training; another process then trains to the end.

The result is compared with that of an undisturbed training: the weights, the optimizer's slots, the
global step, the next examples, summaries, exports, `checkpoint`, and the names of all files.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "Ground", "describe_deviations", "deviations_of", "run", "table"]

NAMES = ["train", "retention", "train_and_evaluate", "tpu", "jax", "warm_start"]
_AT_ONCE = 2
_TOGETHER = 8  # folders in which one process continues, one after the other
_SECS = 120.0
_SAME = "as undisturbed"


class Ground:
    """A folder in which a program is run repeatedly.

    Args:
      folder: an empty folder.
      name: the name of the program.

    Attributes:
      traces: the traces of an undisturbed run.
      secs: the duration of an undisturbed run.
    """

    def __init__(self, folder: Path, name: str):
        from parity.faults import killing_programs

        self._folder, self._program = folder, killing_programs.PROGRAMS[name]
        self._numbers = itertools.count()
        folder.mkdir(parents=True)
        if name == "warm_start":
            foreign = str(folder / killing_programs.FOREIGN)
            (error,) = self._in_fork(
                "foreign", [foreign], _each(killing_programs.PROGRAMS["train"])
            )
            if error:
                raise RuntimeError(f"the first training failed: {error}")
        start = time.monotonic()
        (error,) = self._in_fork("first", [str(folder / "undisturbed")], _each(self._program))
        self.secs = time.monotonic() - start
        ((self.traces, error),) = [({}, error)] if error else self.look(folder / "undisturbed")
        if error:
            raise RuntimeError(f"the undisturbed training failed: {error}")
        shutil.rmtree(folder / "undisturbed")

    def place(self, name: str) -> Path:
        """Returns the path of a new model_dir."""
        return self._folder / name

    def run_with(self, fault: Any, model_dir: Path, secs: float = 120.0) -> Any:
        """Runs the program with a fault; see `operations.run_with`."""
        from parity.faults.operations import run_with

        log = self._folder / f"{model_dir.name}.log"
        return run_with(fault, lambda: self._program(str(model_dir)), model_dir, log, secs)

    def start(self, model_dir: Path) -> Any:
        """Starts the program in a fork, and returns the fork."""
        from parity.faults.forks import Forked

        log = self._folder / f"{model_dir.name}.log"
        return Forked(lambda ready: self._program(str(model_dir)), log)

    def go_on(self, *model_dirs: Path) -> list[tuple[dict[str, Any], str]]:
        """Runs the program to its end in each folder, in one process; another one reads the traces.

        Returns:
          For each, the program's traces, or {} and the reason if it failed.
        """
        errors = self._in_fork("go_on", [str(place) for place in model_dirs], _each(self._program))
        return [
            ({}, error) if error else traces
            for error, traces in zip(errors, self.look(*model_dirs))
        ]

    def look(self, *model_dirs: Path) -> list[tuple[dict[str, Any], str]]:
        """Returns the program's traces in each; {} and the reason if they cannot be read."""
        from parity.faults.traces import traces_of

        def look(place: str) -> None:
            traces = json.dumps(traces_of(Path(place)))
            Path(place).with_suffix(".traces").write_text(traces)

        places = [str(place) for place in model_dirs]
        errors = self._in_fork("look", places, _each(look))
        traces = [place.with_suffix(".traces") for place in model_dirs]
        return [
            ({}, f"cannot be read: {error}") if error else (json.loads(file.read_text()), "")
            for error, file in zip(errors, traces)
        ]

    def _in_fork(self, name: str, places: list[str], program: Callable[[str], str]) -> list[str]:
        from parity.faults.forks import Forked

        number = next(self._numbers)
        log, out = (self._folder / f"{name}-{number}.{ending}" for ending in ("log", "json"))
        process = Forked(lambda ready: _write(out, [program(place) for place in places]), log)
        code = process.wait(_SECS * (1 + len(places) / 4))
        if code == 0:
            return json.loads(out.read_text())
        if len(places) == 1:
            return ["hangs" if code is None else process.output.strip()[-300:]]
        return [self._in_fork(name, [place], program)[0] for place in places]

    def clean(self, model_dir: Path) -> None:
        """Deletes the files of a run."""
        shutil.rmtree(model_dir, ignore_errors=True)
        for log in self._folder.glob(f"{model_dir.name}.*"):
            log.unlink()


def _each(program: Callable[[str], None]) -> Callable[[str], str]:
    """Returns a function that runs the program and returns its error; "" if there is none."""

    def error_of(place: str) -> str:
        try:
            program(place)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    return error_of


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content))


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: all of them have an effect.

    Returns:
      JSON by case: see `counts.summarize_case`; and the `operations` of an undisturbed run.
    """
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            ground = Ground(Path(folder, name), name)
            saved_results = _Results(options.results, name)
            points, number = _points(ground)
            sample = random.Random(options.seed).sample(points, len(points))[:: options.every]
            outcomes = saved_results.complete(ground, sample)
            kills = [outcome for outcome in outcomes if outcome["was_killed"]]
            results[name] = summarize_case(kills, lambda o: not o["told"], describe_deviations)
            results[name]["operations"] = number
            shutil.rmtree(folder + "/" + name)
    return results


class _Results:
    """Outcomes in a file, so that a campaign can continue where it stopped."""

    def __init__(self, file: Path | None, case: str):
        self._file, self._case = file, case
        self._outcomes: dict[tuple[str, int], dict[str, Any]] = {}
        if file and file.exists():
            for line in map(json.loads, file.read_text().splitlines()):
                if line["case"] == case:
                    self._outcomes[line["action"], line["at"]] = line

    def complete(
        self, ground: Ground, points: Sequence[tuple[str, int]]
    ) -> Iterable[dict[str, Any]]:
        """Returns the outcomes of all these points; tries those that are not known yet."""
        remaining = [point for point in points if point not in self._outcomes]
        for some in (
            remaining[start : start + _TOGETHER] for start in range(0, len(remaining), _TOGETHER)
        ):
            for outcome in _kill(ground, some):
                self._outcomes[outcome["action"], outcome["at"]] = outcome
                line = json.dumps({"case": self._case, **outcome})
                if self._file:
                    with self._file.open("a") as file:
                        file.write(line + "\n")
                if outcome["told"]:
                    print(line, file=sys.stderr, flush=True)
        return [self._outcomes[point] for point in points]


def _points(ground: Ground) -> tuple[list[tuple[str, int]], int]:
    """Returns the places of kills: before the first operation, after each, and amid each write."""
    from parity.faults.operations import Action, Fault

    model_dir = ground.place("counted")
    operations = ground.run_with(Fault(), model_dir).operations
    ground.clean(model_dir)
    points = [(Action.KILL_BEFORE.name, 1)]
    for number, operation in enumerate(operations, 1):
        points.append((Action.KILL_AFTER.name, number))
        if operation.name == "write":
            points.append((Action.KILL_HALFWAY.name, number))
    return points, len(operations)


def _kill(ground: Ground, points: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """Kills runs of the program, each at one place, and lets another process continue."""
    from parity.faults.operations import Action, Fault

    model_dirs = [ground.place(f"{action}-{at}") for action, at in points]
    faults = [Fault(Action[action], at) for action, at in points]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        outcomes = list(pool.map(ground.run_with, faults, model_dirs))
    dead = [place for place, outcome in zip(model_dirs, outcomes) if outcome.was_killed]
    deviations = dict(zip(dead, deviations_of(ground, *dead)))
    records = []
    for (action, at), place, outcome in zip(points, model_dirs, outcomes):
        last = outcome.operations[-1] if outcome.operations else None
        records.append({
            "action": action, "at": at, "was_killed": outcome.was_killed,
            "operation": f"{last.name} {last.path}" if last else "",
            "told": deviations.get(place, []),
        })  # fmt: skip
        ground.clean(place)
    return records


def deviations_of(ground: Ground, *model_dirs: Path) -> list[list[Any]]:
    """Continues to the end in each folder; returns the differences from an undisturbed run."""
    from parity.faults.traces import differences

    return [
        [("error", error)] if error else differences(ground.traces, traces)
        for traces, error in ground.go_on(*model_dirs)
    ]


def describe_deviations(outcome: Mapping[str, Any]) -> str:
    """Returns the kinds of differences, in a few words."""
    kinds: Iterable[str] = sorted({kind for kind, _ in outcome["told"]})
    return ", ".join(kinds) or _SAME
