"""Makes canned.json by running the real canned estimators, both versions.

    pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
    cd tests && python -m goldens.canned.make_canned [CASE ...]

Each version runs in a process of its own. By version and case: what ``canned_cases.observe`` saw.
v2 behavior stays on, as the initial weights follow from the number of operations before them. The
checkpoint of tf.compat.v1's is one of a program that turned it off.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import tensorflow as tf
from goldens.canned.canned_cases import (
    CASES,
    FACES,
    RESUMED,
    build,
    input_of,
    observe,
    resumed,
    rounded,
)

GOLDEN = pathlib.Path(__file__).with_name("canned.json")


def main() -> None:
    """Writes canned.json beside this file, or what one version gave to the standard output."""
    if not tf.__version__.startswith("2.15."):
        raise SystemExit(f"Needs TensorFlow 2.15, the last with tf.estimator; got {tf.__version__}")
    if sys.argv[1:2] == ["--face"]:
        face, *cases = sys.argv[2:]
        est = tf.compat.v1.estimator if face == "v1" else tf.estimator
        results = {case: rounded(observe(est, face, case)) for case in cases}
        print(json.dumps(results))
        return
    if sys.argv[1:2] == ["--checkpoint"]:
        face = sys.argv[2]
        if face == "v1":
            tf.compat.v1.disable_v2_behavior()
        est = tf.compat.v1.estimator if face == "v1" else tf.estimator
        print(json.dumps({"resumed": _checkpoint(est, face)}))
        return
    cases = sys.argv[1:] or list(CASES)
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    for face in FACES:
        for arguments in (["--face", face, *cases], ["--checkpoint", face]):
            command = [sys.executable, "-m", "goldens.canned.make_canned", *arguments]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            golden.setdefault(face, {}).update(json.loads(done.stdout.splitlines()[-1]))
    GOLDEN.write_text(_lines(golden))


def _checkpoint(est: Any, face: str) -> dict[str, Any]:
    """Writes a checkpoint of three steps into a folder, and tells what three more come to."""
    folder = GOLDEN.with_name(f"{face}_checkpoint")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tempfile.TemporaryDirectory() as work:
        build(est, face, RESUMED, work).train(input_of(RESUMED), steps=3)
        for file in pathlib.Path(work).glob("model.ckpt-3.*"):
            if file.suffix != ".meta":
                shutil.copy(file, folder)
        shutil.copy(pathlib.Path(work, "checkpoint"), folder)
        return rounded(resumed(est, face, work))


def _lines(golden: dict[str, Any]) -> str:
    """JSON with a line for each thing that was seen of a case."""
    faces = []
    for face, cases in golden.items():
        lines = []
        for case, seen in cases.items():
            parts = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in seen.items())
            lines.append(f"{json.dumps(case)}: {{\n{parts}\n}}")
        faces.append(f"{json.dumps(face)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(faces) + "\n}\n"


if __name__ == "__main__":
    main()
