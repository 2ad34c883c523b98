"""Runs third-party programs, as published, with their steps on JAX and on emulated cores.

    python -m parity.on_jax_fetched --checkouts FOLDER [PROGRAM ...] [--replicas 1,2] [--docs]

Each program is run twice by `estimator-bridge run`, with `--cores N` and `--runtime jax:cpu:N`, on
small data that is written for it. The weights of the two last checkpoints are compared. FOLDER has
the repositories, as ``parity.compiled.fetched`` and ``parity.fetched_further`` describe. ``--docs``
writes the table to docs/tpu.md; that needs all programs. Programs that set no seed get one, so that
both runs start from the same weights. Where the difference is larger than 1e-5, the program is run
once more on emulated cores without oneDNN, whose rounding differs: the difference from that run
shows how far rounding alone leads. The exit status is 1 if a run ends with an error on one runtime
alone, unless JAX refuses the program by an error of this project, or if a difference is larger than
1e-5 and three times the one by rounding.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from parity import observe, rows
from parity.compiled.data import write_data
from parity.compiled.fetched import FETCHED, Fetched, command, import_path
from parity.compiled.further_data import write_further_data
from parity.fetched_further import FURTHER, PACKAGES
from parity.page_tables import with_table

__all__ = ["PROGRAMS", "Outcome", "compare_program", "main", "table"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "tpu.md"
_BEGIN, _END = "<!-- fetched on jax: begin -->", "<!-- fetched on jax: end -->"
_SECS, _TOLERANCE = 900, 1e-5
_SEEDED = """
import random, runpy, sys
import numpy as np
import tensorflow as tf
random.seed(1)
np.random.seed(1)
own = tf.estimator.RunConfig.tf_random_seed
tf.estimator.RunConfig.tf_random_seed = property(lambda self: own.__get__(self, type(self)) or 1)
in_parallel = tf.data.Dataset.map
def in_order(data, function, num_parallel_calls=None, deterministic=None, **options):
    return in_parallel(data, function, **options)
tf.data.Dataset.map = in_order  # threads would draw random numbers in any order
def both_in_order(function, batch_size, num_batches=None, drop_remainder=False, *others, **_):
    return lambda data: in_order(data, function).batch(batch_size, drop_remainder)
interleave = tf.data.experimental.parallel_interleave
def interleaved_in_order(*arguments, sloppy=False, **others):
    return interleave(*arguments, sloppy=False, **others)
tf.data.experimental.map_and_batch = both_in_order
tf.data.experimental.parallel_interleave = interleaved_in_order
if hasattr(tf, "contrib"):
    tf.contrib.data.map_and_batch = both_in_order
    tf.contrib.data.parallel_interleave = interleaved_in_order
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

# Those that take many minutes on a CPU are left out, and those that only compile.
_LARGE = ("bert: run_classifier, BERT-base", "tpu: resnet_main, ResNet-50", "tpu: amoeba_net")
_COMPILED_ONLY = ("bert: run_classifier, predicts",)
ALL = {**FETCHED, **FURTHER}
PROGRAMS = [name for name in ALL if name not in (*_LARGE, *_COMPILED_ONLY)]
_OWN_ERROR = re.compile(r"^[\w.]*\b(?:NotOnJaxError|NotCompilableError): (.*?)(?:\. |\n|$)", re.M)
_OBSTACLE = re.compile(r"^  (\w+) \(", re.M)
_ADDED = {
    "bert: run_classifier": ["--num_train_epochs=2"],
    # In bfloat16, rounding decides after a few steps.
    "tpu: resnet_main": ["--precision=float32"],
    # The normalization of images of zeros makes anything of rounding.
    "tpu: mnasnet_main": ["--precision=float32", "--data_dir={data}/imagenet"],
    "tpu: efficientnet": ["--use_bfloat16=false", "--data_dir={data}/imagenet"],
}


class Outcome(NamedTuple):
    """The comparison of one program.

    Attributes:
      row: the largest difference of a weight; None if a run ended with an error.
      by_rounding: that of emulated cores without oneDNN; None if it was not needed.
      errors: the last lines of each run's output, by runtime, if it ended with an error.
    """

    row: rows.Row | None
    errors: Mapping[str, str] = MappingProxyType({})
    by_rounding: float | None = None

    @property
    def refusal(self) -> str:
        """Returns why JAX refuses what emulated cores run; '' if it does not."""
        error = self.errors.get("jax", "") if len(self.errors) == 1 else ""
        own = _OWN_ERROR.search(error)
        if not own:
            return ""
        operations = dict.fromkeys(_OBSTACLE.findall(error))
        return f"XLA cannot compile {', '.join(operations)}" if operations else own[1]

    @property
    def holds(self) -> bool:
        """Returns whether the difference is small, JAX refuses it, or both end with an error."""
        if self.row is None:
            return len(self.errors) == 2 or bool(self.refusal)
        return self.row.holds or self.row.difference <= 3 * (self.by_rounding or 0)


def compare_program(name: str, replicas: int, checkouts: Path, data: Path) -> Outcome:
    """Runs a program on both runtimes, and compares what it has trained."""
    errors: dict[str, str] = {}

    def weights_of(runtime: str, folder: str, environment: Mapping[str, str]) -> dict:
        out = Path(tempfile.mkdtemp(dir=folder))
        error = _run(name, runtime, replicas, checkouts, data, out, environment)
        if error:
            errors[runtime] = error
        return {} if error else _weights(out)

    with tempfile.TemporaryDirectory() as folder:
        on_cores, on_jax = (weights_of(runtime, folder, {}) for runtime in ("emulated", "jax"))
        if errors:
            return Outcome(None, errors)
        row = rows.compare_numbers("weights", on_jax, on_cores, _TOLERANCE)
        if row.holds:
            return Outcome(row)
        rounded = weights_of("emulated", folder, {"TF_ENABLE_ONEDNN_OPTS": "0"})
        by_rounding = rows.compare_numbers("weights", rounded, on_cores, _TOLERANCE)
    return Outcome(row, errors, by_rounding.difference)


def _run(
    name: str,
    runtime: str,
    replicas: int,
    checkouts: Path,
    data: Path,
    out: Path,
    further_environment: Mapping[str, str],
) -> str:
    """Returns the last lines of the output if the program ends with an error; '' otherwise."""
    program: Fetched = ALL[name]
    code = checkouts / program.repository.replace("/", "+")
    where = (
        ["--cores", str(replicas)]
        if runtime == "emulated"
        else ["--runtime", f"jax:cpu:{replicas}"]
    )
    words = command(program, replicas, data=str(data), out=str(out / "model"), code=str(code))
    further = [word.replace("{data}", str(data)) for word in _ADDED.get(name, [])]
    path = str(Path(words[0]).parent) + os.pathsep + import_path(program, code, out)
    for package, repository in PACKAGES.get(name, {}).items():
        (out / "packages").mkdir(exist_ok=True)
        (out / "packages" / package).symlink_to(checkouts / repository.replace("/", "+"))
    (out / "model").mkdir()
    script = out / "seeded.py"
    script.write_text(_SEEDED)
    environment = {
        **os.environ, **program.environment, **further_environment, "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": path,
    }  # fmt: skip
    try:
        process = subprocess.run(
            [
                *(sys.executable, "-W", "ignore", "-m", "estimator_bridge", "run", *where),
                *(str(script), *words, *further),
            ],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_SECS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it did not end in {_SECS} s"
    if not process.returncode:
        return ""
    output = (process.stdout + process.stderr).strip()
    own = list(_OWN_ERROR.finditer(output))
    # An error of this project names each operation, which takes many lines.
    return output[own[-1].start() :] if own else "\n".join(output.splitlines()[-8:])


def _weights(out: Path) -> dict:
    import tensorflow as tf

    states = sorted((out / "model").rglob("checkpoint"))
    paths = [tf.train.latest_checkpoint(state.parent) for state in states]
    return {
        f"{Path(path).name}: {name}": value
        for path in filter(None, paths)
        for name, value in observe.weights(str(path)).items()
    }


def table(outcomes: dict[tuple[str, int], Outcome]) -> Iterator[str]:
    """Yields the lines of a table of all outcomes, in Markdown."""
    counts = sorted({replicas for _, replicas in outcomes})
    yield f"| program | {' | '.join(f'weights, jax:cpu:{count}' for count in counts)} |"
    yield "|---" * (len(counts) + 1) + "|"
    for name in dict.fromkeys(program for program, _ in outcomes):
        cells = [_cell(name, outcomes[name, count]) for count in counts]
        yield f"| {name} | {' | '.join(cells)} |"


def _cell(name: str, outcome: Outcome) -> str:
    if outcome.refusal:
        return f"refused: {outcome.refusal}"
    if outcome.row is None:
        both = len(outcome.errors) > 1
        last = next(iter(outcome.errors.values())).splitlines()[-1][:100].rstrip()
        return f"{'ends with the same error on emulated cores' if both else 'error'}: {last}"
    rounding = f" (by rounding: {outcome.by_rounding:.1e})" if outcome.by_rounding else ""
    return f"{outcome.row.difference:.1e}{rounding}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; see the module's docstring."""
    options = _parse(arguments)
    outcomes: dict[tuple[str, int], Outcome] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        write_further_data(Path(folder))
        for name in options.programs:
            for replicas in options.replicas:
                outcome = compare_program(name, replicas, options.checkouts, Path(folder))
                outcomes[name, replicas] = outcome
                verdict = "" if outcome.holds else "  TOO FAR"
                print(f"{name} on jax:cpu:{replicas}: {outcome}{verdict}", flush=True)
    if options.docs:
        page = with_table(DOCS.read_text(encoding="utf-8"), _BEGIN, _END, table(outcomes))
        DOCS.write_text(page, "utf-8")
    return 0 if all(outcome.holds for outcome in outcomes.values()) else 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity.on_jax_fetched", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="; ".join(PROGRAMS))
    parser.add_argument("--checkouts", type=Path, required=True, help="folders OWNER+NAME")
    parser.add_argument("--replicas", default="1,2", help="numbers of replicas, by commas")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/tpu.md")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.programs) - set(PROGRAMS))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {'; '.join(PROGRAMS)}")
    if options.docs and options.programs:
        parser.error("--docs covers all programs: leave out their names")
    options.checkouts = options.checkouts.resolve()
    options.programs = options.programs or PROGRAMS
    for name in options.programs:
        folder = options.checkouts / ALL[name].repository.replace("/", "+")
        if not folder.is_dir():
            parser.error(f"{name}: no folder {folder}. Clone {ALL[name].repository} there.")
    try:
        options.replicas = [int(number) for number in options.replicas.split(",")]
    except ValueError:
        parser.error(f"--replicas={options.replicas}: numbers, by commas, such as 1,2")
    return options


if __name__ == "__main__":
    sys.exit(main())
