"""Runs programs of ``parity/programs/`` in this environment, and records their results.

    python -m parity.run --out OUT [--starts GOLDENS] [PROGRAM ...]
    python -m parity.run --out OUT --go-on-from OTHER [PROGRAM ...]

It runs under TensorFlow 2.15 and 1.15, with the real tf.estimator, and here. Each program trains 3
steps from scratch. From their checkpoint (that of GOLDENS, if given) it trains 100 steps,
evaluates, predicts and exports. ``OUT/PROGRAM`` then holds the record, ``start/`` with the
checkpoint of step 3, and ``model_dir/``. With ``--go-on-from``, each program evaluates the last
checkpoint in ``OTHER/PROGRAM/model_dir`` and trains 5 steps from it. ``--v2-behavior-off`` calls
``tf.disable_v2_behavior()`` first, as most TF1 programs did. ``--without-outer-loop`` leaves
``train_and_evaluate`` out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from parity import record
from parity.programs import EVERY, PROGRAMS, RANDOM

__all__ = ["go_on", "main", "run"]

SCRATCH_STEPS = 3  # from scratch to the checkpoint from which both sides start
STEPS = 100
MORE_STEPS = 5  # from a checkpoint of the other side
UNOBSERVED = {"save_summary_steps": 0, "log_step_count_steps": None}
# Checkpoints at 3, 43, 83 and 103, of which the last three are kept.
SETTINGS = {
    "save_checkpoints_steps": 40,
    "keep_checkpoint_max": 3,
    "save_summary_steps": 25,
    "log_step_count_steps": 25,
}


def _train(
    program: ModuleType, folder: Path, steps: int, input_fn: Any = None, **settings: Any
) -> tuple[Any, np.ndarray]:
    """Trains in a folder, with a hook at each step; returns the estimator and the losses."""
    import tensorflow.compat.v1 as tf

    losses: list[float] = []

    class LossRecorder(tf.train.SessionRunHook):
        def begin(self):
            self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]  # the estimator's own

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self._loss)

        def after_run(self, run_context, run_values):
            losses.append(run_values.results)

    estimator = program.make_estimator(str(folder), **settings)
    estimator.train(input_fn or program.train_input, hooks=[LossRecorder()], steps=steps)
    return estimator, np.array(losses, np.float32)


def _start(program: ModuleType, out: Path) -> record.Record:
    """Trains the first steps, and keeps their checkpoint in ``out/start``."""
    from parity import observe

    results = record.Record({}, {})
    keep = out / "start"
    with tempfile.TemporaryDirectory() as folder:
        # One checkpoint only, so that `checkpoint` does not list the one of step 0.
        estimator, losses = _train(
            program, Path(folder, "model"), SCRATCH_STEPS, keep_checkpoint_max=1
        )
        last = estimator.latest_checkpoint()
        results.add("losses", {"from nothing": losses})
        results.add("start", observe.weights(last))
        shutil.rmtree(keep, ignore_errors=True)
        keep.mkdir(parents=True)
        for path in [*Path(last).parent.glob("model.ckpt-*"), Path(last).with_name("checkpoint")]:
            if path.suffix != ".meta":  # the graph: large, and no run reads it
                shutil.copy(path, keep)
    return results


def _add_numbers(
    results: record.Record, program: ModuleType, estimator: Any, losses: np.ndarray
) -> None:
    """Adds a trained estimator's variables, metrics, predictions and served results."""
    from parity import observe

    results.add("losses", {**results.under("losses"), "from the start": losses})
    results.add("weights", observe.weights(estimator.latest_checkpoint()))
    results.add("evaluation", observe.flat(estimator.evaluate(program.eval_input)))
    results.add("predictions", observe.predictions(estimator.predict(program.predict_input)))
    with tempfile.TemporaryDirectory() as folder:
        path = estimator.export_saved_model(folder, program.serving_input)
        export = Path(path.decode() if isinstance(path, bytes) else path)
        results.facts["export_files"] = observe.files(export)
        results.facts["signatures"] = observe.signatures(export)
        results.add("served", observe.served(export, program.SERVED))


def run(name: str, out: Path, starts: Path | None = None, outer_loop: bool = True) -> record.Record:
    """Runs one program and writes its results to ``out``.

    Args:
      name: one of ``EVERY``.
      out: the folder of the results.
      starts: the folder whose ``start/`` has the first checkpoint; None means this run's own.
      outer_loop: whether to run ``train_and_evaluate`` if the program has it.

    Returns:
      The record, which is also written.
    """
    import tensorflow as tf

    from parity import environment, observe

    program = environment.load(name)
    results = _start(program, out)
    model_dir = out / "model_dir"
    shutil.rmtree(model_dir, ignore_errors=True)
    shutil.copytree((starts or out) / "start", model_dir)
    estimator, losses = _train(program, model_dir, STEPS, **SETTINGS)
    _add_numbers(results, program, estimator, losses)
    results.facts.update(
        tensorflow=tf.__version__,
        variables=observe.shapes(estimator.latest_checkpoint()),
        checkpoints=observe.checkpoint_list(model_dir),
        files=observe.files(model_dir),
        event_tags=observe.event_tags(model_dir),
    )
    if outer_loop and hasattr(program, "train_and_evaluate"):
        _add_outer_loop(results, program)
    if not environment.IS_ORIGINAL:
        _add_looped(results, program, (starts or out) / "start")
    elif name in RANDOM:
        _add_uninterrupted(results, program)
    record.save(out, results)
    return results


def _add_looped(results: record.Record, program: ModuleType, start: Path) -> None:
    """Trains once more with all steps in one loop, without hooks.

    An explicit order that only the original needs is left out.
    """
    from parity import observe

    with tempfile.TemporaryDirectory() as folder:
        model_dir = Path(folder, "model")
        shutil.copytree(start, model_dir)
        more_settings = getattr(program, "UNORDERED", {})
        estimator = program.make_estimator(str(model_dir), **more_settings, **UNOBSERVED)
        estimator.train(program.train_input, steps=STEPS)
        results.add("looped", observe.weights(estimator.latest_checkpoint()))


def _add_outer_loop(results: record.Record, program: ModuleType) -> None:
    """Adds the results and files of the program's own train_and_evaluate."""
    from parity import observe

    with tempfile.TemporaryDirectory() as folder:
        model_dir = Path(folder, "model")
        metrics, exports = program.train_and_evaluate(str(model_dir))
        # An export's folder is named by the second in which it was written.
        files = [re.sub(r"/\d{10,}/", "/SECOND/", name) for name in observe.files(model_dir)]
        results.add("outer_loop", observe.flat(metrics))
        results.facts["outer_loop"] = {
            "files": files,
            "exports": len(exports),
            "event_tags": observe.event_tags(model_dir),
            "checkpoints": observe.checkpoint_list(model_dir),
        }


def _add_uninterrupted(results: record.Record, program: ModuleType) -> None:
    """Replaces the numbers by those of one run of all steps, on the same batches."""

    def batches(params):
        data = program.train_input(params)
        return data.take(SCRATCH_STEPS).concatenate(data)

    with tempfile.TemporaryDirectory() as folder:
        model_dir = Path(folder, "model")
        estimator, losses = _train(program, model_dir, SCRATCH_STEPS + STEPS, batches)
        _add_numbers(results, program, estimator, losses[SCRATCH_STEPS:])


def go_on(name: str, model_dir: Path, out: Path) -> record.Record:
    """Evaluates the last checkpoint of another run's folder, and continues training in a copy.

    Both sides restore by name: an unexpected name or shape is an error.

    Args:
      name: one of ``EVERY``.
      model_dir: that folder, which is not changed.
      out: the folder of the record.

    Returns:
      The record.
    """
    from parity import environment, observe

    program = environment.load(name)
    results = record.Record({}, {})
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "model")
        shutil.copytree(model_dir, copy)
        evaluation = program.make_estimator(str(copy)).evaluate(program.eval_input)
        results.add("evaluation", observe.flat(evaluation))
        estimator, losses = _train(program, copy, MORE_STEPS)
        results.add("losses", {"further": losses})
        results.add("weights", observe.weights(estimator.latest_checkpoint()))
    record.save(out, results)
    return results


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m parity.run", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(EVERY))
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--starts", type=Path, help="results whose checkpoints to start from")
    parser.add_argument("--go-on-from", type=Path, help="results whose last checkpoints to load")
    parser.add_argument("--v2-behavior-off", action="store_true", help="turn v2 behavior off first")
    parser.add_argument("--without-outer-loop", action="store_true", help="no train_and_evaluate")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.programs) - set(EVERY))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(EVERY)}")
    if options.v2_behavior_off:
        from parity import environment

        environment.turn_v2_behavior_off()
    for name in options.programs or PROGRAMS:
        if options.go_on_from:
            go_on(name, options.go_on_from / name / "model_dir", options.out / name)
        else:
            starts = options.starts and options.starts / name
            run(name, options.out / name, starts, not options.without_outer_loop)
        print(f"ran {name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
