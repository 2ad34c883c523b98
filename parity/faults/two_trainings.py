"""A folder is renamed or removed while a training runs in it; a second one starts under its name.

The first must end by itself with the error that says so, and write nothing to the second's folder.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults import foreign_entries
from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

NAMES = ["renamed", "removed"]
_TRIES = 25
_SECS = 120.0
_LOCK = ".estimator_bridge.lock"
_ERROR = "ModelDirLostError"


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `every` and `seed` have an effect.

    Returns:
      JSON by case: see `counts.summarize_case`.
    """
    from parity.faults import restarting
    from parity.faults.restarts import in_fork

    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = str(folder / "first"), str(folder / "undisturbed")
        weights = in_fork(folder, lambda: restarting.train_first(*places))["weights"]
        for case in names:
            outcomes = []
            for number in range(options.seed, options.seed + _TRIES)[:: options.every]:
                root = folder / f"{case}-{number}"
                root.mkdir()
                outcome = _try(root, case, random.Random(f"{case} {number}"), weights)
                outcomes.append(outcome)
                print(json.dumps({"case": case, "number": number, **outcome}), file=sys.stderr)
                shutil.rmtree(root)
            results[case] = summarize_case(
                outcomes, lambda outcome: not outcome["wrong"], _describe
            )
    return results


def _try(root: Path, case: str, chance: random.Random, weights: Sequence[float]) -> dict[str, Any]:
    from parity.faults import restarting
    from parity.faults.forks import Forked
    from parity.faults.restarts import in_fork

    model_dir, moved = root / "model", root / "moved"
    first = Forked(lambda ready: restarting.write_on(str(model_dir), ready), root / "first.log")
    try:
        if not first.wait_until_ready(_SECS):
            raise RuntimeError(f"the training did not start:\n{first.output[-3000:]}")
        time.sleep(chance.uniform(0, 0.5))
        model_dir.rename(moved)
        if case == "removed":
            _remove(moved)
        time.sleep(chance.choice([0.0, chance.uniform(0, 1)]))
        (second,) = in_fork(root, lambda: restarting.restart([str(model_dir)], list(weights)))
        before = foreign_entries.contents(root)
    finally:
        code = first.wait(_SECS)
    after = foreign_entries.contents(root)
    wrong = []
    if code != 1 or _ERROR not in first.output:
        wrong.append(f"the first ended with {code}")
    if second["error"] or second["began"] != 0 or not second["same"]:
        wrong.append(f"the second: {second}")
    wrong += [f"changed: {path}" for path in _in_model(before, after)]
    wrong += [f"left {path}" for path in root.glob(f"*/{_LOCK}")]
    if case == "renamed" and not in_fork(root, lambda: _is_whole(moved)):
        wrong.append("no whole checkpoint in the renamed folder")
    return {"wrong": wrong}


def _remove(folder: Path) -> None:
    """Removes a folder in which a training may still complete a file."""
    while folder.exists():
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)


def _in_model(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Returns the paths in the second's folder that changed after its end."""
    paths = sorted({*before, *after})
    return [p for p in paths if p.startswith("model/") and before.get(p) != after.get(p)]


def _is_whole(folder: Path) -> bool:
    from parity.environment import tf

    newest = tf.train.latest_checkpoint(str(folder))
    return bool(newest) and tf.train.load_checkpoint(newest).get_tensor("weights").size > 0


def _describe(outcome: Mapping[str, Any]) -> str:
    return "; ".join(outcome["wrong"]) or f"{_ERROR}, the second as undisturbed"
