"""Disks that are full, fail or are slow from an operation on; then another process continues."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.kills import Ground, describe_deviations, deviations_of
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

_PROGRAMS = ("train", "train_and_evaluate")
_ERRORS = {
    "full": errno.ENOSPC,
    "quota": errno.EDQUOT,
    "size-limited": errno.EFBIG,
    "read-only": errno.EROFS,
    "failing": errno.EIO,
}
_TOGETHER = 8  # see kills
_SLOW_SECS = 0.1  # a write, fsync or rename
NAMES = [f"{fault} disk, {name}" for name in _PROGRAMS for fault in (*_ERRORS, "slow")]
_RAISED = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception)): (.*)", re.MULTILINE)


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `every` and `seed` have an effect.

    Returns:
      JSON by case: see `counts.summarize_case`; `broken` lists the outcomes that did not hold.
    """
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        grounds = {
            name: Ground(Path(folder, name), name)
            for name in _PROGRAMS
            if any(case.endswith(f", {name}") for case in names)
        }
        for case in names:
            fault, _, name = case.partition(" disk, ")
            if fault == "slow":
                outcomes = [_slowed(grounds[name])]
            else:
                outcomes = _refuse(grounds[name], _ERRORS[fault], options)
            results[case] = summarize_case(outcomes, lambda outcome: outcome["held"], _describe)
            results[case]["broken"] = [outcome for outcome in outcomes if not outcome["held"]]
        shutil.rmtree(folder)
    return results


def _refuse(ground: Ground, error: int, options: Options) -> list[dict[str, Any]]:
    from parity.faults.operations import Action, Fault, Kind

    model_dir = ground.place("counted")
    count = len(ground.run_with(Fault(kinds=Kind.TAKES_SPACE), model_dir).operations)
    ground.clean(model_dir)
    places = random.Random(options.seed).sample(range(1, count + 1), count)[:: options.every]

    judgements = []
    for some in (places[start : start + _TOGETHER] for start in range(0, count, _TOGETHER)):
        model_dirs = [ground.place(f"refused-{error}-{at}") for at in some]
        faults = [Fault(Action.REFUSE, at, Kind.TAKES_SPACE, error) for at in some]
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(ground.run_with, faults, model_dirs))
        for outcome, deviations in zip(outcomes, deviations_of(ground, *model_dirs)):
            refusals = [one for one in outcome.operations if one.fate == "refused"]
            if refusals:
                judgements.append(_judged(outcome, refusals[0], deviations, error))
        for model_dir in model_dirs:
            ground.clean(model_dir)
    return judgements


def _judged(outcome: Any, first: Any, deviations: list[Any], error: int) -> dict[str, Any]:
    """Checks that an error names the reason or nothing is lost, and the next process recovers."""
    errors = list(_RAISED.finditer(outcome.output))
    name, reason = errors[-1].groups() if outcome.code and errors else ("", "")
    # TensorFlow's "Graph execution error" names the reason some lines further down.
    message = outcome.output[errors[-1].start() :] if errors else ""
    is_named = os.strerror(error) in message if outcome.code else outcome.code == 0
    return {
        "held": is_named and not deviations, "error": name, "reason": reason, "code": outcome.code,
        "told": deviations, "first": f"{first.name} {first.path}",
    }  # fmt: skip


def _slowed(ground: Ground) -> dict[str, Any]:
    from parity.faults.operations import Action, Fault, Kind
    from parity.faults.traces import differences

    model_dir = ground.place("slowed")
    fault = Fault(Action.DELAY, 1, Kind.WAITS_FOR_DISK, secs=_SLOW_SECS)
    outcome = ground.run_with(fault, model_dir)
    deviations: list[Any] = [("error", outcome.output[-300:])]
    if outcome.code == 0:
        ((traces, error),) = ground.look(model_dir)
        deviations = [("error", error)] if error else differences(ground.traces, traces)
    ground.clean(model_dir)
    return {"held": not deviations, "error": "", "code": outcome.code, "told": deviations}


def _describe(outcome: Mapping[str, Any]) -> str:
    if outcome["code"] is None:
        return "hangs"
    afterwards = describe_deviations(outcome)
    return f"{outcome['error']}, then {afterwards}" if outcome["code"] else afterwards
