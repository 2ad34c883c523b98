"""Kills at each file operation of a training; another process then trains to the end.

What is left is compared with a training that nobody disturbed: the weights, the optimizer's slots,
the global step, the examples that come next, summaries, exports, `checkpoint`, and the names of all
files.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from parity.faults.counts import counted, table
from parity.faults.options import Options

__all__ = ["NAMES", "Ground", "differences_told", "run", "table"]

NAMES = ["train", "retention", "train_and_evaluate", "tpu", "warm_start"]
_AT_ONCE = 2
_SAME = "as undisturbed"


class Ground:
    """A folder in which a program is run again and again.

    Args:
      folder: empty.
      name: the program's.

    Attributes:
      traces: what the program leaves that nobody disturbed.
    """

    def __init__(self, folder: Path, name: str):
        from parity.faults import killing_programs

        self._folder, self._program = folder, killing_programs.PROGRAMS[name]
        folder.mkdir(parents=True)
        foreign = folder / killing_programs.FOREIGN
        train = killing_programs.PROGRAMS["train"]
        if name == "warm_start" and self._forked(train, foreign, "foreign")[0]:
            raise RuntimeError(f"the first training failed; see {folder / 'foreign.log'}")
        traces, error = self.go_on(folder / "undisturbed")
        if traces is None:
            raise RuntimeError(f"the undisturbed training failed: {error}")
        self.traces = traces
        shutil.rmtree(folder / "undisturbed")

    def place(self, name: str) -> Path:
        """A model_dir that is not there yet."""
        return self._folder / name

    def run_with(self, fault: Any, model_dir: Path, secs: float = 120.0) -> Any:
        """Runs the program with a fault; see `operations.run_with`."""
        from parity.faults.operations import run_with

        log = self._folder / f"{model_dir.name}.log"
        return run_with(fault, lambda: self._program(str(model_dir)), model_dir, log, secs)

    def go_on(self, model_dir: Path) -> tuple[dict[str, Any] | None, str]:
        """Runs the program to its end.

        Returns:
          What it has left; None and the reason where it failed.
        """
        from parity.faults.traces import traces_of

        code, output = self._forked(self._program, model_dir, model_dir.name)
        if code is None:
            return None, "hangs"
        if code:
            return None, output.strip().splitlines()[-1]
        out = self._folder / f"{model_dir.name}.json"
        look: Callable[[str], Any] = lambda place: out.write_text(  # noqa: E731
            json.dumps(traces_of(Path(place)))
        )
        code, output = self._forked(look, model_dir, f"{model_dir.name}.look")
        if code:
            return None, f"cannot be read: {output.strip().splitlines()[-1]}"
        told = json.loads(out.read_text())
        out.unlink()
        return told, ""

    def _forked(
        self, program: Callable[[str], Any], model_dir: Path, name: str
    ) -> tuple[int | None, str]:
        from parity.faults.forks import Forked

        process = Forked(lambda ready: program(str(model_dir)), self._folder / f"{name}.log")
        return process.wait(180), process.output

    def clean(self, model_dir: Path) -> None:
        """Deletes what a run has left."""
        shutil.rmtree(model_dir, ignore_errors=True)
        for log in self._folder.glob(f"{model_dir.name}.*"):
            log.unlink()


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Does these cases, one after the other.

    Args:
      names: of NAMES.
      options: all of them count.

    Returns:
      By case: see `counts.counted`; and the `operations` of an undisturbed run.
    """
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            ground = Ground(Path(folder, name), name)
            known = _Results(options.results, name)
            points, number = _points(ground)
            chosen = random.Random(options.seed).sample(points, len(points))[:: options.every]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                outcomes = pool.map(lambda point: known.get(point, ground, _kill), chosen)  # noqa: B023
                reached = [outcome for outcome in outcomes if outcome["was_killed"]]
            results[name] = counted(reached, lambda o: not o["told"], differences_told)
            results[name]["operations"] = number
            shutil.rmtree(folder + "/" + name)
    return results


class _Results:
    """Outcomes in a file, so that a campaign goes on where it stopped."""

    def __init__(self, file: Path | None, case: str):
        self._file, self._case = file, case
        self._lock = threading.Lock()
        self._known: dict[tuple[str, int], dict[str, Any]] = {}
        if file and file.exists():
            for line in map(json.loads, file.read_text().splitlines()):
                if line["case"] == case:
                    self._known[line["action"], line["at"]] = line

    def get(
        self,
        point: tuple[str, int],
        ground: Ground,
        do: Callable[[Ground, str, int], dict[str, Any]],
    ) -> dict[str, Any]:
        """An outcome, looked up or tried now."""
        outcome = self._known.get(point)
        if outcome is None:
            outcome = {"case": self._case, **do(ground, *point)}
            if self._file:
                with self._lock, self._file.open("a") as file:
                    file.write(json.dumps(outcome) + "\n")
            if outcome["told"]:
                print(json.dumps(outcome), file=sys.stderr, flush=True)
        return outcome


def _points(ground: Ground) -> tuple[list[tuple[str, int]], int]:
    """Where the program is killed: after each operation, before the first, and amid each write."""
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


def _kill(ground: Ground, action: str, at: int) -> dict[str, Any]:
    """Kills a run of the program at one place, and lets another go on."""
    from parity.faults.operations import Action, Fault

    model_dir = ground.place(f"{action}-{at}")
    outcome = ground.run_with(Fault(Action[action], at), model_dir)
    last = outcome.operations[-1] if outcome.operations else None
    told: list[Any] = []
    if outcome.was_killed:
        told = told_of(ground, model_dir)
    ground.clean(model_dir)
    return {
        "action": action, "at": at, "was_killed": outcome.was_killed,
        "operation": f"{last.name} {last.path}" if last else "", "told": told,
    }  # fmt: skip


def told_of(ground: Ground, model_dir: Path) -> list[Any]:
    """Lets a run go on to the end; tells what its traces differ in from an undisturbed one's."""
    from parity.faults.traces import differences

    traces, error = ground.go_on(model_dir)
    return [("error", error)] if traces is None else differences(ground.traces, traces)


def differences_told(outcome: Mapping[str, Any]) -> str:
    """The kinds of differences, in a few words."""
    kinds: Iterable[str] = sorted({kind for kind, _ in outcome["told"]})
    return ", ".join(kinds) or _SAME
