"""Damage by byte: changes bytes of each file of a model_dir, and truncates it."""

from __future__ import annotations

import functools
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.options import Options
from parity.faults.restarts import describe_restart, in_fork, mended

__all__ = ["NAMES", "run", "table"]

_TRIES = 20
_NEWEST = 6  # see restarting.NEWEST
_SHARD = "data-00000-of-00001"
_FILES = [
    "checkpoint",
    f"model.ckpt-{_NEWEST}.index",
    f"model.ckpt-{_NEWEST}.{_SHARD}",
    f"model.ckpt-{_NEWEST}.meta",
    f"input.ckpt-{_NEWEST}.index",
    f"input.ckpt-{_NEWEST}.{_SHARD}",
    "checkpoint_input",
    "graph.pbtxt",
    "events.out.tfevents.*",
]
_HOW = ("a byte changed", "cut short")
NAMES = [f"{file.replace(f'-{_NEWEST}', '-N')}, {how}" for file in _FILES for how in _HOW]


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `every` and `seed` have an effect.

    Returns:
      JSON by case: see `counts.summarize_case`.
    """
    from parity.faults import restarting

    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first_dir, whole_dir = folder / "trained", folder / "undisturbed"
        first = in_fork(folder, lambda: restarting.train_first(str(first_dir), str(whole_dir)))
        for case in names:
            pattern, _, how = case.partition(", ")
            chance = random.Random(f"{case} {options.seed}")
            copies = [folder / f"copy-{number}" for number in range(_TRIES)[:: options.every]]
            for copy in copies:
                shutil.copytree(first_dir, copy)
                (path,) = copy.glob(pattern.replace("-N", f"-{_NEWEST}"))
                _damage(path, how, chance)
            places = [str(copy) for copy in copies]
            restart = functools.partial(restarting.restart, places, first["weights"])
            outcomes = in_fork(folder, restart)
            results[case] = summarize_case(outcomes, mended, describe_restart)
            for copy in copies:
                shutil.rmtree(copy)
    return results


def _damage(path: Path, how: str, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content))
    if how == "cut short":
        path.write_bytes(content[:place])
        return
    content[place] ^= chance.randrange(1, 256)
    path.write_bytes(content)
