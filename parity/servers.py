"""Runs one program on parameter servers under TensorFlow 2.15.1 and here, several times a side.

    python -m parity.servers --original PYTHON [--runs N] [--steps N] [--docs]

One chief, two workers and two servers train without waiting for each other, so no two runs end
alike. The sides take turns. Of each run it looks at the last checkpoint's loss over all examples,
its names and shapes, and each role's log lines. ``--docs`` writes the table to docs/workers.md. The
exit status is 1 if the ranges of the losses do not overlap, or if the rest is not equal.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from parity.clusters import Cluster, log_lines
from parity.page_tables import with_table

__all__ = ["Run", "are_alike", "loss_of", "main", "table"]

_ROOT = Path(__file__).parents[1]
_DOCS = _ROOT / "docs" / "workers.md"
_BEGIN, _END = "<!-- ranges: begin -->", "<!-- ranges: end -->"
_PROGRAM = _ROOT / "tests" / "goldens" / "servers" / "servers_program.py"
_COUNTS = {"ps": 2, "worker": 2, "chief": 1}
_ROWS, _PARTS, _EXAMPLES = 20, 2, 64  # of the program's table, and of its input
_ORIGINAL, _HERE = "TensorFlow 2.15.1", "here"
_SECS = 300.0


class Run(NamedTuple):
    """What one run left.

    Attributes:
      loss: the last checkpoint's loss.
      step: its global step.
      shapes: its names and shapes.
      lines: the log lines of each role, without those that only one side writes.
    """

    loss: float
    step: int
    shapes: Mapping[str, tuple[int, ...]]
    lines: Mapping[str, tuple[str, ...]]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m parity.servers", description=__doc__)
    parser.add_argument("--original", required=True, metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--docs", action="store_true")
    arguments = parser.parse_args(argv)
    sides = {_ORIGINAL: arguments.original, _HERE: sys.executable}
    runs: dict[str, list[Run]] = {side: [] for side in sides}
    for _ in range(arguments.runs):
        for side, python in sides.items():
            runs[side].append(_run(python, arguments.steps))
            own = runs[side][-1]
            print(f"{side}: loss {own.loss:.6f} at step {own.step}", file=sys.stderr, flush=True)
    lines = list(table(runs))
    print("\n".join(lines))
    if arguments.docs:
        _DOCS.write_text(with_table(_DOCS.read_text(), _BEGIN, _END, lines))
    sys.exit(not are_alike(runs))


def loss_of(value_of: Callable[[str], Any]) -> float:
    """Returns the program's loss over all of its examples, the mean cross entropy.

    Args:
      value_of: returns a variable's value by its name in the checkpoint.
    """
    number = np.arange(_EXAMPLES)
    row = number % _ROWS
    # embedding_lookup deals rows out to the table's parts by turns.
    place = row % _PARTS * (_ROWS // _PARTS) + row // _PARTS
    table_of_rows, weights, bias = map(value_of, ("embedding/table", "weights", "bias"))
    logits = (table_of_rows[place] @ weights + bias)[:, 0].astype(np.float64)
    return float(np.mean(np.logaddexp(0, logits) - number % 2 * logits))


def are_alike(runs: Mapping[str, Sequence[Run]]) -> bool:
    """Returns whether both sides' losses overlap, and whether all else is equal."""
    here, original = runs[_HERE], runs[_ORIGINAL]
    lowest = max(min(run.loss for run in own) for own in (here, original))
    highest = min(max(run.loss for run in own) for own in (here, original))
    return lowest <= highest and not _differing(runs)


def table(runs: Mapping[str, Sequence[Run]]) -> Iterator[str]:
    """Yields the lines of the page's table."""
    count = len(runs[_HERE])
    yield f"| {count} runs a side | loss, median (range) | last global step |"
    yield "| --- | --- | --- |"
    for side, own in runs.items():
        losses, steps = [run.loss for run in own], [run.step for run in own]
        spread = f"{statistics.median(losses):.6f} ({min(losses):.6f} to {max(losses):.6f})"
        yield f"| {side} | {spread} | {min(steps)} to {max(steps)} |"
    differing = _differing(runs)
    yield ""
    if differing:
        yield f"Not equal in all {2 * count} runs: {', '.join(differing)}."
    else:
        yield (
            f"In all {2 * count} runs the checkpoint's names and shapes are equal, and so are the "
            "log lines of the chief, the workers and the servers."
        )


def _differing(runs: Mapping[str, Sequence[Run]]) -> list[str]:
    """Returns what is not equal in all runs of both sides: the shapes, or a role's log lines."""
    every = [run for own in runs.values() for run in own]
    names = [] if len({str(sorted(run.shapes.items())) for run in every}) == 1 else ["shapes"]
    roles = every[0].lines
    return names + [role for role in roles if len({run.lines[role] for run in every}) > 1]


def _run(python: str, steps: int) -> Run:
    """Runs the cluster once, until all that train have ended."""

    def start(words: Sequence[str], environment: Mapping[str, str], log: Path) -> Any:
        with log.open("ab") as output:
            return subprocess.Popen(
                [python, *words], env=dict(environment), stdout=output, stderr=output
            )

    with tempfile.TemporaryDirectory() as name, Cluster(Path(name), _COUNTS, start) as cluster:
        model_dir = Path(name, "model")
        cluster.start_all(str(_PROGRAM), str(model_dir), str(steps), TF_CPP_MIN_LOG_LEVEL="3")
        for place in cluster.places:
            if not place.startswith("ps") and cluster.wait(place, _SECS):
                raise RuntimeError(cluster.outputs())
        return _look_at(model_dir, cluster)


def _look_at(model_dir: Path, cluster: Cluster) -> Run:
    import tensorflow as tf

    checkpoint = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(model_dir)))
    shapes = checkpoint.get_variable_to_shape_map()
    return Run(
        loss_of(checkpoint.get_tensor),
        int(checkpoint.get_tensor("global_step")),
        {name: tuple(shape) for name, shape in shapes.items()},
        {place: _common_lines(cluster.output(place), place) for place in cluster.places},
    )


def _common_lines(text: str, place: str) -> tuple[str, ...]:
    """Returns a role's log lines; a server's up to its start, as the original's never ends."""
    lines = log_lines(text)
    return tuple(lines[:2] if place.startswith("ps") else lines)


if __name__ == "__main__":
    main()
