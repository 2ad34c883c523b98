"""Damaged folders, a second training in one folder, and readers beside a training."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "describe_restart", "in_fork", "mended", "run", "table"]

_TRIES = 5  # for each kind of damage, at as many places of the file
_WRITERS, _READERS = 20, 100
_SECS = 300.0
_SHARD = "data-00000-of-00001"
_STEPS = (0, 2, 4, 6)


def _delete(path: Path, part: float) -> None:
    del part
    path.unlink()


def _truncate(path: Path, part: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])


def _flip(path: Path, part: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(len(content) * part)] ^= 0x10
    path.write_bytes(content)


# The damage, and its files. `{}` stands for the newest step, `*` for all steps.
_DAMAGES: dict[str, tuple[Callable[[Path, float], None], str]] = {
    "`checkpoint` missing": (_delete, "checkpoint"),
    "`checkpoint` cut short": (_truncate, "checkpoint"),
    "index missing": (_delete, "model.ckpt-{}.index"),
    "index cut short": (_truncate, "model.ckpt-{}.index"),
    "index, a flipped bit": (_flip, "model.ckpt-{}.index"),
    "data missing": (_delete, "model.ckpt-{}." + _SHARD),
    "data cut short": (_truncate, "model.ckpt-{}." + _SHARD),
    "data, a flipped bit": (_flip, "model.ckpt-{}." + _SHARD),
    ".meta missing": (_delete, "model.ckpt-{}.meta"),
    "input position missing": (_delete, "input.ckpt-{}.*"),
    "input position cut short": (_truncate, "input.ckpt-{}." + _SHARD),
    "input position, a flipped bit": (_flip, "input.ckpt-{}." + _SHARD),
    "all data cut short": (_truncate, "model.ckpt-*." + _SHARD),
    "all data, a flipped bit": (_flip, "model.ckpt-*." + _SHARD),
    "all indexes missing": (_delete, "model.ckpt-*.index"),
}
NAMES = [*_DAMAGES, "second training", "readers"]


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: without effect.

    Returns:
      JSON by case: see `counts.summarize_case`.
    """
    del options
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        from parity.faults import restarting

        first_dir, whole_dir = folder / "trained", folder / "undisturbed"
        first = in_fork(folder, lambda: restarting.train_first(str(first_dir), str(whole_dir)))
        results = {}
        for case in names:
            if case in _DAMAGES:
                outcomes = _damage(folder, case, first_dir, first["weights"])
            else:
                outcomes = _beside_a_writer(folder, case)
            results[case] = summarize_case(outcomes, _HELD.get(case, mended), describe_restart)
        return results


def in_fork(folder: Path, program: Callable[[], Any], secs: float = _SECS) -> Any:
    """Runs a function in a fork, and returns its result."""
    from parity.faults.forks import Forked

    out = folder / "result.json"
    out.unlink(missing_ok=True)

    def write_result(ready: Callable[[], None]) -> None:
        del ready
        out.write_text(json.dumps(program()))

    process = Forked(write_result, folder / "log")
    code = process.wait(secs)
    if code != 0:
        raise RuntimeError(f"ended with {code} within {secs:g} s:\n{process.output[-3000:]}")
    return json.loads(out.read_text())


def _damage(folder: Path, case: str, first_dir: Path, weights: list[float]) -> list[dict[str, Any]]:
    from parity.faults import restarting

    damage, pattern = _DAMAGES[case]
    tries = 1 if damage is _delete else _TRIES
    copies = [folder / f"copy-{number}" for number in range(tries)]
    for number, copy in enumerate(copies):
        shutil.copytree(first_dir, copy)
        for path in copy.glob(pattern.format(_STEPS[-1])):
            damage(path, (number + 0.5) / tries)
    outcomes = in_fork(folder, lambda: restarting.restart(list(map(str, copies)), weights))
    for copy in copies:
        shutil.rmtree(copy)
    return outcomes


def _beside_a_writer(folder: Path, case: str) -> list[dict[str, Any]]:
    from parity.faults import restarting
    from parity.faults.forks import Forked

    model_dir = str(folder / "shared")
    writer = Forked(lambda ready: restarting.write_on(model_dir, ready), folder / "writer.log")
    try:
        if not writer.wait_until_ready(_SECS):
            raise RuntimeError(f"the training did not start:\n{writer.output[-3000:]}")
        if case == "readers":
            return in_fork(folder, lambda: restarting.read(model_dir, _READERS))
        return in_fork(folder, lambda: restarting.writers(model_dir, _WRITERS))
    finally:
        writer.wait(0)
        shutil.rmtree(model_dir, ignore_errors=True)


def mended(outcome: Mapping[str, Any]) -> bool:
    """Returns whether it continued from one of the last two checkpoints to the right weights."""
    return outcome["began"] in _STEPS[-2:] and outcome["same"]


def _is_refusal(outcome: Mapping[str, Any]) -> bool:
    """Returns whether it ended with an error about checkpoints, before it wrote anything."""
    return "Checkpoint" in outcome["error"] and outcome["began"] is None and outcome["kept"]


_HELD: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    **{case: _is_refusal for case in _DAMAGES if case.startswith("all ")},
    "second training": lambda outcome: outcome["error"] == "ModelDirInUseError",
    "readers": lambda outcome: not outcome["error"],
}


def describe_restart(outcome: Mapping[str, Any]) -> str:
    """Returns the outcome in a few words."""
    if outcome["error"]:
        return outcome["error"]
    if "began" not in outcome:
        return "done"
    if outcome["began"] == 0:
        return "began at 0"
    return f"from {outcome['began']}" + ("" if outcome["same"] else ", other weights")
