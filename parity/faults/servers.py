"""Kills processes of a cluster with parameter servers by turns, and starts each again.

One job trains all the while. A kill held if the job trained on from its last checkpoint or from
the servers' values, the process that was started again took part, and no other process ended.
"""

from __future__ import annotations

import itertools
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.clusters import Cluster
from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "TRAINED", "run", "table"]

TRAINED = "has trained a step"  # printed by a process of the program, once

_PLACES = {
    "chief killed": ("chief 0",),
    "worker killed": ("worker 0", "worker 1"),
    "server killed": ("ps 0", "ps 1"),
    "server and worker killed": ("ps 0 worker 1", "ps 1 worker 0"),
    "chief and server killed": ("chief 0 ps 1", "chief 0 ps 0"),
}
NAMES = list(_PLACES)
_COUNTS = {"ps": 2, "worker": 2, "chief": 1}
_SECS = 90.0  # from a kill to new checkpoints
_ENOUGH = 30  # steps after the kill


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Kills by turns, in one job.

    Args:
      names: of NAMES.
      options: `attempts` is the number of kills.

    Returns:
      JSON by case: see `counts.summarize_case`.
    """
    outcomes: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    turns = itertools.cycle(names)
    places = {name: itertools.cycle(_PLACES[name]) for name in names}
    with tempfile.TemporaryDirectory() as name, Cluster(Path(name), _COUNTS) as cluster:
        model_dir = Path(name, "model")
        words = ["-m", "parity.faults.server_program", str(model_dir)]
        cluster.start_all(*words, PYTHONWARNINGS="ignore")
        _wait_for_step(cluster, model_dir, _ENOUGH)
        for _ in range(options.attempts):
            case = next(turns)
            outcome = _once(cluster, model_dir, next(places[case]), words)
            print(json.dumps({"case": case, **outcome}), file=sys.stderr, flush=True)
            outcomes[case].append(outcome)
            if not _passes(outcome):
                print(cluster.outputs(), file=sys.stderr, flush=True)
                break  # nothing can be learned from later kills
        cluster.send("chief 0", signal.SIGTERM)
        cluster.wait("chief 0")
    nonempty = {name: own for name, own in outcomes.items() if own}
    return {name: summarize_case(own, _passes, _describe) for name, own in nonempty.items()}


def _once(cluster: Cluster, model_dir: Path, victims: str, words: Sequence[str]) -> dict[str, Any]:
    parts = victims.split()
    places = [f"{job} {index}" for job, index in zip(parts[::2], parts[1::2])]
    before, began = _step(model_dir), time.monotonic()
    trainers = [place for place in places if not place.startswith("ps")]
    starts = {place: _starts(cluster, place) for place in trainers}
    for place in places:
        cluster.kill(place)
    for place in places:
        cluster.start(place, *words, PYTHONWARNINGS="ignore")
    end = began + _SECS
    goes_on = _wait_for_step(cluster, model_dir, before + _ENOUGH)
    while goes_on and any(_starts(cluster, place) == starts[place] for place in trainers):
        goes_on = time.monotonic() < end
        time.sleep(0.1)
    dead_places = [place for place in cluster.places if cluster.has_ended(place)]
    secs = round(time.monotonic() - began, 1)
    return {"killed": victims, "goes_on": goes_on, "ended": dead_places, "secs": secs}


def _starts(cluster: Cluster, place: str) -> int:
    """Returns how many processes of a place have begun to train."""
    return cluster.output(place).count(TRAINED)


def _step(model_dir: Path) -> int:
    """Returns the step of the newest checkpoint that is complete; 0 if there is none."""
    steps = [int(path.stem.rpartition("-")[2]) for path in model_dir.glob("model.ckpt-*.index")]
    return max(steps, default=0)


def _wait_for_step(cluster: Cluster, model_dir: Path, step: int) -> bool:
    end = time.monotonic() + _SECS
    while _step(model_dir) < step:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def _passes(outcome: Mapping[str, Any]) -> bool:
    return outcome["goes_on"] and not outcome["ended"]


def _describe(outcome: Mapping[str, Any]) -> str:
    if outcome["ended"]:
        return f"{', '.join(outcome['ended'])} ended too"
    return "trains on" if outcome["goes_on"] else f"no checkpoint within {_SECS:g} s"
