"""Proves that the real tf.estimator goes on from a folder that estimator_bridge wrote.

    python tests/goldens/read_checkpoint.py MODEL_DIR PROGRAM OUT.npz     # TF 2.15.1

PROGRAM is a name in ``programs.py``, and MODEL_DIR what ``programs.build(PROGRAM,
estimator_bridge, MODEL_DIR, ...)`` trained. The original restores the latest checkpoint by name
(a name or a shape that is not as it expects is an error), evaluates it, and trains one step more.
It works on a copy: MODEL_DIR stays as it is.

OUT.npz holds ``evaluation/KEY``, ``loss`` of that step, and ``weights/NAME`` after it. Where the
checkpoint is of the step at which the golden run ended, its evaluation must be the golden one's;
otherwise the script fails.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import observe
import tensorflow.compat.v1 as tf
from programs import PROGRAMS, build

HERE = Path(__file__).parent


def read(model_dir: Path, name: str, out: Path) -> dict[str, float]:
    """Resumes a copy of ``model_dir``, writes ``out``, and returns the evaluation."""
    losses: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "model")
        shutil.copytree(model_dir, copy)
        estimator = build(name, tf.estimator, str(copy), losses)
        evaluation = estimator.evaluate(PROGRAMS[name].test_input)
        estimator.train(PROGRAMS[name].train_input, steps=1)
        values = observe.weights(estimator.latest_checkpoint())
    arrays = {f"weights/{key}": value for key, value in values.items()}
    arrays.update({f"evaluation/{key}": value for key, value in evaluation.items()})
    np.savez_compressed(out, loss=np.float32(losses[0]), **arrays)
    return {key: value.item() for key, value in sorted(evaluation.items())}


def main() -> None:
    """Reads one folder; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    if tf.train.latest_checkpoint(str(args.model_dir)) is None:
        parser.error(f"{args.model_dir} holds no checkpoint: train the program there first")
    evaluation = read(args.model_dir, args.program, args.out)
    print(json.dumps(evaluation, indent=1))
    golden = json.loads((HERE / args.program / "golden.json").read_text())["evaluation"]
    if evaluation["global_step"] != golden["global_step"]:
        print(f"not compared: the golden run ended at step {golden['global_step']}")
        return
    off = [k for k in golden if not math.isclose(evaluation[k], golden[k], rel_tol=1e-5)]
    if off:
        sys.exit(f"differs from the golden evaluation in {', '.join(off)}: wanted {golden}")
    print("the same as the golden evaluation")


if __name__ == "__main__":
    main()
