"""Makes rest.json by running the real estimators of rest_cases.

    pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
    cd tests && python -m goldens.canned.make_rest [CASE ...]

The original's losses with SDCA are, by a race, now and then those after a step's update: make a
case again until they are those before it.

By case: "start", where both sides go on from, and what ``rest_cases.observe`` saw.
"""

from __future__ import annotations

import json
import pathlib
import sys

import tensorflow as tf
from goldens.canned.canned_cases import rounded
from goldens.canned.make_canned import _lines
from goldens.canned.rest_cases import CASES, observe, start

GOLDEN = pathlib.Path(__file__).with_name("rest.json")


def main() -> None:
    """Writes rest.json beside this file."""
    if not tf.__version__.startswith("2.15."):
        raise SystemExit(f"Needs TensorFlow 2.15, the last with tf.estimator; got {tf.__version__}")
    faces = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    for case in sys.argv[1:] or CASES:
        face = CASES[case][0]
        begin = rounded(start(faces[face], case))
        seen = rounded(observe(faces[face], case, begin))
        golden.setdefault(face, {})[case] = {"start": begin, **seen}
    GOLDEN.write_text(_lines(golden))


if __name__ == "__main__":
    main()
