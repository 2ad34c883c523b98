"""Kills at random times, several in one training, also during evaluations and exports."""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.kills import Ground, deviations_of
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

NAMES = ["train", "train_and_evaluate", "tpu"]
_TRAININGS, _KILLS = 6, 6


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `seed`, and `every=N` to run one training in N.

    Returns:
      JSON by case: see `counts.summarize_case`; a training counts once for each of its kills.
    """
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            ground = Ground(Path(folder, name), name)
            outcomes = []
            for seed in range(options.seed, options.seed + _TRAININGS)[:: options.every]:
                outcome = _training(ground, name, seed)
                print(json.dumps(outcome), file=sys.stderr, flush=True)
                outcomes += [outcome] * outcome["kills"]
            results[name] = summarize_case(outcomes, lambda outcome: not outcome["told"], _describe)
    return results


def _training(ground: Ground, name: str, seed: int) -> dict[str, Any]:
    chance = random.Random(f"{name} {seed}")
    model_dir = ground.place(f"seed-{seed}")
    kills, secs = 0, []
    for _ in range(_KILLS):
        after = chance.uniform(0.1, 1.1) * ground.secs
        process = ground.start(model_dir)
        end = time.monotonic() + after
        while time.monotonic() < end and not process.has_ended:
            time.sleep(0.002)
        process.send(signal.SIGKILL)
        if process.wait(30) == 128 + signal.SIGKILL:
            kills += 1
            secs.append(round(after, 2))
        else:
            break  # it finished
    (deviations,) = deviations_of(ground, model_dir)
    ground.clean(model_dir)
    return {"case": name, "seed": seed, "kills": kills, "after_secs": secs, "told": deviations}


def _describe(outcome: Mapping[str, Any]) -> str:
    return ", ".join(sorted({kind for kind, _ in outcome["told"]})) or "as undisturbed"
