"""Runs programs with their steps on JAX's CPU devices and on emulated cores, and compares.

    python -m parity.on_jax [PROGRAM ...] [--replicas 1,8] [--models] [--docs]

The programs are those of ``parity/programs/`` on the cores of a TPUEstimator: each trains 100 steps
in loops of 20, evaluates 22 examples, whose last batch is short, and predicts them. ``--models``
takes those of ``models/`` instead, by `train.py --tpu=jax:cpu:2` beside `--tpu=emulated:2`.
A program that a TPU cannot run is refused before its first step; the table has the reason.
``--docs`` writes the table to docs/tpu.md; that needs all programs. The exit status is 1 if a
difference is too large, or if JAX refuses for a reason that is not in ``EXPECTED``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from estimator_bridge.errors import NotCompilableError
from parity import observe, rows
from parity.compiled.on_cores import emulate_cores, program_on_cores
from parity.page_tables import with_table
from parity.programs import PROGRAMS

__all__ = ["EXPECTED", "MODELS", "Outcome", "compare_program", "main", "table"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "tpu.md"
STEPS, STEPS_OF_LOOP = 100, 20
TOLERANCES = {"weights": 1e-5, "evaluation": 1e-6, "predictions": 1e-5}
_BEGIN, _END = "<!-- on jax: begin -->", "<!-- on jax: end -->"
_MODEL_SECS, _MODEL_STEPS = 900, 12

# Programs that no TPU can run as they are, with a phrase of the error that says why.
EXPECTED = {
    "encoder": "CrossShardOptimizer must be used",  # on several replicas
    "embedding_bag": "must be dense tensors in TPU mode",
    "partitioned": "The shape of its result is not static",
    "warm_start": "Tables are the host's: look up in input_fn",
    "accumulation": "maximum_iterations",  # on several replicas its weights would drift apart
    "feature_columns": "must have static shape",
}
_DRIFTS = "would drift apart"
# The models of train.py, each with further flags.
MODELS: dict[str, tuple[str, ...]] = {
    "mnist": (),
    "resnet": ("--warmup_steps=4",),
    "flowers": ("--train_steps=1",),
    "bert": (),
    "tabular": (),
    "lstm": (),
    "gan": (),
}


# Its gradients amplify rounding: XLA's differ from Eigen's by a fifth after one step, on emulated
# cores too. So only what the forward pass updates is compared.
_FORWARD_ONLY = {"flowers": ("moving_", 1e-4)}
# Runs train.py with batches that are prepared one after the other: models augment images in a
# parallel map, whose threads draw random numbers in the order in which they come.
_IN_ORDER = """
import runpy, sys
import tensorflow as tf
in_parallel = tf.data.Dataset.map
def in_order(data, function, num_parallel_calls=None, deterministic=None, **options):
    return in_parallel(data, function, **options)
tf.data.Dataset.map = in_order
sys.argv[0] = "train.py"
runpy.run_path("train.py", run_name="__main__")
"""


class Outcome(NamedTuple):
    """The comparison of one program.

    Attributes:
      rows: the largest differences; empty if the program was refused.
      refusal: the error on JAX; empty if it ran.
      elsewhere: whether emulated cores refuse the program with the same words.
    """

    rows: list[rows.Row]
    refusal: str = ""
    elsewhere: bool = False

    def holds(self, name: str) -> bool:
        """Returns whether all differences are small, or the refusal is one that is expected."""
        if self.refusal:
            phrases = EXPECTED.get(name, _DRIFTS), _DRIFTS
            return name in EXPECTED and any(phrase in self.refusal for phrase in phrases)
        return all(row.holds for row in self.rows)


def compare_program(name: str, replicas: int) -> Outcome:
    """Runs a program of ``parity/programs/`` on both runtimes.

    Args:
      name: the program.
      replicas: the number of replicas on each.
    """
    results, refusals = [], []
    for master in (f"emulated:{replicas}", f"jax:cpu:{replicas}"):
        refusal, result = "", None
        try:
            result = _results(name, replicas, master)
        except (ValueError, NotCompilableError) as error:
            refusal = str(error)
        results.append(result)
        refusals.append(refusal)
    if refusals[1]:
        return Outcome([], refusals[1], refusals[0] == refusals[1])
    if results[0] is None or results[1] is None:
        raise AssertionError(f"{name}: emulated cores refuse what JAX runs: {refusals[0]}")
    return Outcome(_rows(results[1], results[0]))


def _results(name: str, replicas: int, master: str) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        estimator, train, evaluate, predict = program_on_cores(
            name, folder, replicas, master, STEPS_OF_LOOP
        )
        estimator.train(train, steps=STEPS)
        return {
            "weights": observe.weights(str(estimator.latest_checkpoint())),
            "evaluation": dict(observe.flat(estimator.evaluate(evaluate))),
            "predictions": observe.predictions(estimator.predict(predict)),
        }


def _rows(here: dict[str, dict], there: dict[str, dict]) -> list[rows.Row]:
    return [
        rows.compare_numbers(kind, here[kind], there[kind], TOLERANCES[kind])
        for kind in TOLERANCES
        if kind in here
    ]


def compare_model(name: str, options: Sequence[str] = ()) -> Outcome:
    """Trains a model of ``models/`` by train.py on two replicas of both runtimes."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for runtime in ("emulated:2", "jax:cpu:2"):
            model_dir = Path(folder, runtime.partition(":")[0])
            command = [
                sys.executable, "-W", "ignore", "-c", _IN_ORDER, f"--model={name}",
                f"--tpu={runtime}",
                f"--model_dir={model_dir}", f"--train_steps={_MODEL_STEPS}", *options,
            ]  # fmt: skip
            process = subprocess.run(
                command, cwd=ROOT, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
                capture_output=True, text=True, timeout=_MODEL_SECS, check=False,
            )  # fmt: skip
            if process.returncode:
                return Outcome([], (process.stdout + process.stderr)[-1500:])
            states = sorted(model_dir.rglob("checkpoint"))
            results.append(_weights_below(states))
    part, tolerance = _FORWARD_ONLY.get(name, ("", TOLERANCES["weights"]))
    here, there = ({k: v for k, v in one.items() if part in k} for one in reversed(results))
    return Outcome([rows.compare_numbers("weights", here, there, tolerance)])


def _weights_below(states: Sequence[Path]) -> dict:
    import tensorflow as tf

    return {
        f"{state.parent.name}/{name}" if len(states) > 1 else name: value
        for state in states
        for name, value in observe.weights(str(tf.train.latest_checkpoint(state.parent))).items()
    }


def table(outcomes: dict[tuple[str, int], Outcome]) -> Iterator[str]:
    """Yields the lines of a table of all outcomes, in Markdown."""
    counts = sorted({replicas for _, replicas in outcomes})
    kinds = ("weights", "evaluation")
    heads = [f"{kind}, jax:cpu:{count}" for count in counts for kind in kinds]
    yield f"| program | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for name in dict.fromkeys(program for program, _ in outcomes):
        cells = [cell for count in counts for cell in _cells(outcomes[name, count], kinds)]
        yield f"| {name} | {' | '.join(cells)} |"


def _cells(outcome: Outcome, kinds: Sequence[str]) -> list[str]:
    if outcome.refusal:
        where = "TPU mode refuses it" if outcome.elsewhere else "refused"
        return [f"{where}: {_reason(outcome.refusal)}", *[""] * (len(kinds) - 1)]
    by_kind = {row.measure: row for row in outcome.rows}
    return [f"{by_kind[kind].difference:.1e}" for kind in kinds]


_REASONS = {
    _DRIFTS: "its replicas would drift apart",
    EXPECTED["embedding_bag"]: "sparse features",
    EXPECTED["partitioned"]: "shapes that depend on values",
    EXPECTED["warm_start"]: "looks words up in the model",
    EXPECTED["accumulation"]: "a loop without `maximum_iterations`",
    EXPECTED["feature_columns"]: "batches without a static size",
}


def _reason(refusal: str) -> str:
    reasons = [reason for phrase, reason in _REASONS.items() if phrase in refusal]
    return reasons[-1] if reasons else refusal.splitlines()[0][:100]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; see the module's docstring."""
    options = _parse(arguments)
    is_right = True
    outcomes: dict[tuple[str, int], Outcome] = {}
    counts = [2] if options.models else options.replicas
    emulate_cores(max(counts))
    for name in options.programs:
        for replicas in counts:
            if options.models:
                outcome = compare_model(name, MODELS[name])
            else:
                outcome = compare_program(name, replicas)
            outcomes[name, replicas] = outcome
            _print(name, replicas, outcome)
            is_right = is_right and outcome.holds(name)
    if options.docs:
        DOCS.write_text(
            with_table(DOCS.read_text(encoding="utf-8"), _BEGIN, _END, table(outcomes)), "utf-8"
        )
    return 0 if is_right else 1


def _print(name: str, replicas: int, outcome: Outcome) -> None:
    verdict = "" if outcome.holds(name) else "  TOO FAR, or not expected"
    print(f"{name} on jax:cpu:{replicas}{verdict}", flush=True)
    for row in outcome.rows:
        place = "" if row.holds else f"  at most {row.tolerance:g}; {row.worst}"
        print(f"  {row.measure:12} {row.difference:8.2g}{place}", flush=True)
    if outcome.refusal:
        print(f"  refused: {outcome.refusal}", flush=True)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity.on_jax", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--replicas", default="1,8", help="numbers of replicas, by commas")
    parser.add_argument("--models", action="store_true", help=", ".join(MODELS))
    parser.add_argument("--docs", action="store_true", help="write the table to docs/tpu.md")
    options = parser.parse_args(arguments)
    choices = list(MODELS if options.models else PROGRAMS)
    unknown = sorted(set(options.programs) - set(choices))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(choices)}")
    if options.docs and (options.programs or options.models):
        parser.error("--docs covers all programs: leave out their names and --models")
    try:
        options.replicas = [int(number) for number in options.replicas.split(",")]
    except ValueError:
        parser.error(f"--replicas={options.replicas}: numbers, by commas, such as 1,8")
    options.programs = options.programs or choices
    return options


if __name__ == "__main__":
    sys.exit(main())
