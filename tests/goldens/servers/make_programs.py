"""Makes programs.json by running other programs on parameter servers under the real tf.estimator.

    pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
    cd tests && PYTHONPATH=.. python -m goldens.servers.make_programs [NAME...]

For each program: on one chief and two servers, the devices of variables and tables, the number of
steps, and the variables of the checkpoint.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from goldens.servers.make_servers import shapes_in
from goldens.servers.programs_on_servers import NAMES

from parity.clusters import Cluster

__all__ = ["MASTER", "PROGRAM", "SERVERS"]

PROGRAM = Path(__file__).with_name("programs_on_servers.py")
SERVERS = {"chief": 1, "ps": 2}
MASTER = {"master": 1, "ps": 1}
# SyncReplicasOptimizer's chief ends two minutes after its last step.
_SECS = 200


def _run(name: str, counts: dict[str, int]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, Cluster(Path(folder), counts) as cluster:
        model_dir = Path(folder, "model")
        cluster.start_all(str(PROGRAM), name, str(model_dir), TF_CPP_MIN_LOG_LEVEL="3")
        chief = cluster.places[0]  # the servers never end
        assert cluster.wait(chief, _SECS) == 0, cluster.outputs()
        return {**cluster.results(chief), "shapes": shapes_in(model_dir)}


def main() -> None:
    """Writes programs.json beside this file: all programs, or those on the command line."""
    path = Path(__file__).with_name("programs.json")
    golden = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or NAMES:
        golden[name] = _run(name, SERVERS)
        print(f"made {name}")
        path.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
