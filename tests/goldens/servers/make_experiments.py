"""Makes experiments.json by running an Experiment in a cluster under TensorFlow 1.15.5.

    cd tests && PYTHONPATH=.. python -m goldens.servers.make_experiments PYTHON

PYTHON is a Python 3.7 with tensorflow-cpu==1.15.5; the one that runs this needs any TensorFlow. By
the kind of estimator: on one master, one worker and one server, the log lines of each, the devices
of variables, what the master's schedule returned, and the variables of the checkpoint. And the
errors of `run_std_server` without a cluster.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldens.servers.make_servers import shapes_in

from parity.clusters import Cluster, log_lines

__all__ = ["COUNTS", "KINDS", "PROGRAM", "STEPS", "place_of"]

PROGRAM = Path(__file__).with_name("experiment_program.py")
COUNTS = {"master": 1, "worker": 1, "ps": 1}
KINDS = ("core", "learn")
STEPS = 300
_ERROR = """
from tensorflow.contrib import learn
import tensorflow as tf
estimator = tf.estimator.Estimator(lambda features: None, config=learn.RunConfig(model_dir="none"))
try:
    learn.Experiment(estimator, None, None).run_std_server()
except Exception as error:
    print(type(error).__name__, error, sep=": ")
"""


def place_of(cluster: Cluster, place: str, environment: str = "cloud") -> str:
    """Returns a process's TF_CONFIG, as AI Platform set it."""
    job, index = place.split()
    task = {"type": job, "index": int(index)}
    return json.dumps({"cluster": cluster.jobs, "task": task, "environment": environment})


def _start(
    python: str, words: Sequence[str], environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            [python, *words], env=dict(environment), stdout=output, stderr=output
        )


def _run(python: str, kind: str) -> dict[str, Any]:
    start = functools.partial(_start, python)
    with tempfile.TemporaryDirectory() as name, Cluster(Path(name), COUNTS, start) as cluster:
        words = [str(PROGRAM), kind, str(Path(name, "model")), str(STEPS)]
        for place in cluster.places:
            tf_config = place_of(cluster, place)
            cluster.start(place, *words, TF_CONFIG=tf_config, TF_CPP_MIN_LOG_LEVEL="3")
        trainers = [place for place in cluster.places if not place.startswith("ps")]
        for place in trainers:  # the server never ends
            assert cluster.wait(place) == 0, cluster.outputs()
        results = {place: cluster.results(place) for place in trainers}
        steps = {place: seen.pop("steps") for place, seen in results.items()}
        last = {place: seen.pop("last") for place, seen in results.items()}
        print(kind, steps, last, flush=True)
        return {
            "results": results,
            "shapes": shapes_in(Path(name, "model")),
            "lines": {place: log_lines(cluster.output(place)) for place in cluster.places},
        }


def main() -> None:
    """Writes experiments.json beside this file."""
    python = sys.argv[1]
    output = subprocess.run([python, "-c", _ERROR], capture_output=True, text=True, check=True)
    golden: dict[str, Any] = {"error": output.stdout.strip()}
    golden.update({kind: _run(python, kind) for kind in KINDS})
    path = Path(__file__).with_name("experiments.json")
    path.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
