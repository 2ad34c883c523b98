"""Makes the golden files by running the real tf.estimator.

    pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
    python tests/goldens/make_goldens.py      # all programs; or name some: ... mlp conv

Each program of ``programs.py`` trains 3 steps from nothing; the checkpoint is kept. From a copy of
it the program trains 10 steps more, evaluates and predicts. A folder per program holds

- ``model_dir/``: the files of ``model.ckpt-3`` as the original wrote them, and ``checkpoint``;
- ``golden.json``: losses step by step, evaluation, what the last checkpoint holds, the files left
  behind, the tags in the event files, the seeds of the random ops;
- ``golden.npz``: the last checkpoint's values as ``weights/NAME``, ``predictions/KEY``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import observe
import tensorflow.compat.v1 as tf
from programs import GRAPH_SEED, PROGRAMS, RESUME_SETTINGS, SCRATCH_STEPS, TRAIN_STEPS, build

HERE = Path(__file__).parent


def train_from_nothing(name: str, keep: Path) -> list[float]:
    """Trains the first steps and copies their checkpoint to ``keep``; returns the losses."""
    losses: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        # One checkpoint only, so that `checkpoint` does not list the one of step 0.
        estimator = build(name, tf.estimator, folder, losses, keep_checkpoint_max=1)
        estimator.train(PROGRAMS[name].train_input, steps=SCRATCH_STEPS)
        shutil.rmtree(keep, ignore_errors=True)
        keep.mkdir(parents=True)
        for path in Path(folder).glob("model.ckpt-*"):
            shutil.copy(path, keep)
        shutil.copy(Path(folder, "checkpoint"), keep)
    return losses


def random_ops(model_dir: Path) -> dict[str, dict[str, object]]:
    """The stateful random ops of the graph that was written: name to op and its two seeds."""
    graph = tf.MetaGraphDef.FromString(
        Path(tf.train.latest_checkpoint(str(model_dir)) + ".meta").read_bytes()
    ).graph_def
    return {
        node.name: {"op": node.op, "seed": node.attr["seed"].i, "seed2": node.attr["seed2"].i}
        for node in graph.node
        if "seed2" in node.attr
    }


def numbers_of(program, estimator) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """What a trained estimator evaluates to, its weights and its predictions."""
    evaluation = estimator.evaluate(program.test_input)
    predictions = observe.predictions(estimator.predict(program.predict_input))
    weights = observe.weights(estimator.latest_checkpoint())
    arrays = {f"weights/{key}": value for key, value in weights.items()}
    arrays.update({f"predictions/{key}": value for key, value in predictions.items()})
    return {key: value.item() for key, value in sorted(evaluation.items())}, arrays


def uninterrupted(name: str) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """The numbers of all steps in one run: losses after the first steps, evaluation, arrays."""
    losses: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        estimator = build(name, tf.estimator, folder, losses)
        steps = SCRATCH_STEPS + TRAIN_STEPS
        estimator.train(PROGRAMS[name].uninterrupted_input, steps=steps)
        evaluation, arrays = numbers_of(PROGRAMS[name], estimator)
    return {"losses": losses[SCRATCH_STEPS:], "evaluation": evaluation}, arrays


def make(name: str, out: Path) -> None:
    """Writes one program's folder."""
    program = PROGRAMS[name]
    scratch_losses = train_from_nothing(name, out / "model_dir")
    losses: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        model_dir = Path(folder, "model")
        shutil.copytree(out / "model_dir", model_dir)
        estimator = build(name, tf.estimator, str(model_dir), losses, **RESUME_SETTINGS)
        estimator.train(program.train_input, steps=TRAIN_STEPS)
        evaluation, arrays = numbers_of(program, estimator)
        last = estimator.latest_checkpoint()
        record = {
            "tensorflow": tf.__version__,
            "graph_seed": GRAPH_SEED,
            "random_ops": random_ops(model_dir),
            "scratch_losses": scratch_losses,
            "losses": losses,
            "evaluation": evaluation,
            "checkpoint_list": observe.checkpoint_list(model_dir),
            "variables": observe.shapes(last),
            "files": observe.files(model_dir),
            "event_tags": observe.event_tags(model_dir),
        }
    if program.is_random:
        numbers, arrays = uninterrupted(name)
        record.update(numbers)
    np.savez_compressed(out / "golden.npz", **arrays)
    (out / "golden.json").write_text(json.dumps(record, indent=1) + "\n")


def main() -> None:
    """Makes the programs named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    names = parser.parse_args().programs or list(PROGRAMS)
    unknown = sorted(set(names) - set(PROGRAMS))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    for name in names:
        make(name, HERE / name)
        print(f"made {name}")


if __name__ == "__main__":
    main()
