"""Makes servers.json by running clusters with parameter servers under the real tf.estimator.

    pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
    cd tests && PYTHONPATH=.. python -m goldens.servers.make_servers

By 'v2' and 'v2off': one chief and two servers, whose losses no other process disturbs; and the log
lines of one chief, one worker and one server, each once, with numbers as N.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf

from parity.clusters import Cluster, log_lines

__all__ = ["ALONE", "STEPS", "TOGETHER", "shapes_in"]

PROGRAM = Path(__file__).with_name("servers_program.py")
STEPS = 24
ALONE = {"chief": 1, "ps": 2}
TOGETHER = {"chief": 1, "worker": 1, "ps": 1}


def shapes_in(folder: Path) -> dict[str, list[int]]:
    """Returns the names and shapes of the latest checkpoint."""
    return dict(tf.train.list_variables(tf.train.latest_checkpoint(str(folder))))


def _run(counts: dict[str, int], mode: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name, Cluster(Path(name), counts) as cluster:
        model_dir = Path(name, "model")
        words = [str(PROGRAM), str(model_dir), str(STEPS), *mode]
        cluster.start_all(*words, TF_CPP_MIN_LOG_LEVEL="3")
        trainers = [place for place in cluster.places if not place.startswith("ps")]
        for place in trainers:  # the servers never end
            assert cluster.wait(place) == 0, cluster.outputs()
        return {
            "results": {place: cluster.results(place) for place in trainers},
            "shapes": shapes_in(model_dir),
            "lines": {place: log_lines(cluster.output(place)) for place in cluster.places},
        }


def main() -> None:
    """Writes servers.json beside this file."""
    golden = {}
    for name, mode in (("v2", []), ("v2off", ["--v2off"])):
        alone, together = _run(ALONE, mode), _run(TOGETHER, mode)
        golden[name] = {
            "losses": alone["results"]["chief 0"]["losses"],
            "devices": alone["results"]["chief 0"]["devices"],
            "shapes": alone["shapes"],
            "lines": together["lines"],
        }
        print(f"made {name}")
    path = Path(__file__).with_name("servers.json")
    path.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
