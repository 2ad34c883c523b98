"""Folders full of files of others: trained in, killed, continued, exported from; none is lost.

Most programs run in one process for many folders: there an error that nothing catches ends them at
an operation on files. The others run in a process each, which gets SIGKILL at a random moment.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults import foreign_entries
from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "REFUSALS", "run", "table"]

_ENDED, _KILLED = "ended at an operation", "killed by SIGKILL"
NAMES = [_ENDED, _KILLED]
_FOLDERS = {_ENDED: 900, _KILLED: 100}
_TOGETHER = 25  # folders of one process
_SECS = 60.0  # for each folder
_MOST_OPERATIONS = 150
_MOST_SECS = 2.5
# A folder may be refused, with an error that says what is in the way.
REFUSALS = ("CheckpointError", "ModelDirInUseError", "DiskError", "OSError")


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `seed`, `every`, and `attempts`, the number of folders of both cases.

    Returns:
      JSON by case: see `counts.summarize_case`; `broken` lists the outcomes that did not hold.
    """
    results = {}
    with tempfile.TemporaryDirectory() as name:
        for case in names:
            count = _FOLDERS[case] * options.attempts // sum(_FOLDERS.values())
            seeds = range(options.seed, options.seed + max(count, 1))[:: options.every]
            outcomes = []
            for start in range(0, len(seeds), _TOGETHER):
                outcomes += _try(Path(name), case, seeds[start : start + _TOGETHER])
                print(f"{case}: {len(outcomes)} of {len(seeds)}", file=sys.stderr, flush=True)
            results[case] = summarize_case(outcomes, lambda outcome: not outcome["lost"], _describe)
            results[case]["broken"] = [outcome for outcome in outcomes if outcome["lost"]]
    return results


def _try(folder: Path, case: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
    from parity.faults.restarts import in_fork

    roots = [folder / f"{case}-{seed}" for seed in seeds]
    before = []
    for root, seed in zip(roots, seeds):
        chance = random.Random(f"{case} {seed}")
        root.mkdir()
        foreign_entries.create(root, foreign_entries.random_entries(chance, 16))
        before.append(foreign_entries.contents(root))
    if case == _KILLED:
        first = [_kill(folder, root, seed) for root, seed in zip(roots, seeds)]
    else:
        first = in_fork(folder, lambda: _each(roots, seeds, _end), _SECS * len(roots))
    second = in_fork(folder, lambda: _each(roots, seeds, _continue), _SECS * len(roots))
    outcomes = []
    for root, seed, entries, *messages in zip(roots, seeds, before, first, second):
        losses = foreign_entries.losses(entries, foreign_entries.contents(root))
        losses += [error for error in messages if error.startswith("unexpected")]
        outcomes.append({"case": case, "seed": seed, "told": messages, "lost": losses})
        if losses:
            print(json.dumps(outcomes[-1]), file=sys.stderr, flush=True)
        shutil.rmtree(root)
    return outcomes


def _each(
    roots: Sequence[Path], seeds: Sequence[int], program: Callable[[str, int], str]
) -> list[str]:
    """Runs a program in each folder; returns what ended it, "" for its end."""
    outcomes = []
    for root, seed in zip(roots, seeds):
        try:
            outcomes.append(program(str(root / "model"), seed))
        except Exception as error:
            classes = {kind.__name__ for kind in type(error).__mro__}
            is_refusal = not classes.isdisjoint(REFUSALS)
            start = "" if is_refusal else "unexpected "
            outcomes.append(f"{start}{type(error).__name__}: {str(error)[:300]}")
    return outcomes


def _end(folder: str, seed: int) -> str:
    from parity.faults import foreign_programs

    with contextlib.suppress(foreign_programs.Killed):
        with foreign_programs.killed_after(1 + seed * 7 % _MOST_OPERATIONS):
            foreign_programs.train_first(folder, _has_exports(seed))
        return ""
    return "killed"


def _continue(folder: str, seed: int) -> str:
    from parity.faults import foreign_programs

    foreign_programs.continue_training(folder, _has_exports(seed))
    return ""


def _kill(folder: Path, root: Path, seed: int) -> str:
    from parity.faults import foreign_programs
    from parity.faults.forks import Forked

    def train(ready: Callable[[], None]) -> None:
        del ready
        foreign_programs.train_first(str(root / "model"), _has_exports(seed))

    process = Forked(train, folder / "log")
    # A quarter of the kills may come before the model is built, the others come after it.
    graph = root / "model" / "graph.pbtxt"
    while seed % 4 and not process.has_ended and not graph.exists():
        time.sleep(0.002)
    end = time.monotonic() + random.Random(seed).uniform(0, _MOST_SECS)
    while time.monotonic() < end and not process.has_ended:
        time.sleep(0.002)
    process.send(signal.SIGKILL)
    code = process.wait(_SECS)
    return "killed" if code == 128 + signal.SIGKILL else ""


def _has_exports(seed: int) -> bool:
    return seed % 4 == 0


def _describe(outcome: Mapping[str, Any]) -> str:
    if outcome["lost"]:
        return "lost"
    error = outcome["told"][-1].partition(":")[0]
    return f"nothing lost, {error}" if error else "nothing lost"
