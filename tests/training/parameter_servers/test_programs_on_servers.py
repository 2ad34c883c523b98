"""Kinds of programs on parameter servers, beside what the real tf.estimator made of them."""

import json
import os

import pytest
from forking import start_python
from goldens.servers.make_programs import MASTER, PROGRAM, SERVERS
from goldens.servers.make_servers import shapes_in
from goldens.servers.programs_on_servers import NAMES, STEPS

from parity.clusters import Cluster

GOLDEN = json.loads(PROGRAM.with_name("programs.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_variables_and_tables_are_where_the_original_put_them(name, tmp_path):
    with Cluster(tmp_path, SERVERS, start_python) as cluster:
        cluster.start_all(str(PROGRAM), name, str(tmp_path / "model"))
        ends = cluster.places[:1] if name == "own_servers" else cluster.places
        assert [cluster.wait(place) for place in ends] == [0] * len(ends), cluster.outputs()
        seen = cluster.results("chief 0")
    shapes = {key: list(shape) for key, shape in shapes_in(tmp_path / "model").items()}
    golden = GOLDEN[name]
    assert seen["variables"] == golden["variables"]
    assert seen["tables"] == golden["tables"]
    assert shapes == golden["shapes"]
    assert (seen["steps"], seen["last"]) == (golden["steps"], golden["last"])


def test_a_master_evaluates_its_checkpoints_and_returns_the_last_metrics(tmp_path):
    with Cluster(tmp_path, MASTER, start_python) as cluster:
        cluster.start_all(str(PROGRAM), "baseline", str(tmp_path / "model"))
        assert [cluster.wait(place) for place in cluster.places] == [0, 0], cluster.outputs()
        metrics = cluster.results("master 0")["metrics"]
    assert metrics["global_step"] == STEPS
    assert metrics["label/mean"] == 0.5
    assert list((tmp_path / "model" / "eval").glob("events*"))


def test_under_a_server_strategy_the_chief_does_not_wait_for_workers(tmp_path):
    counts = {"chief": 1, "worker": 1, "ps": 1}
    with Cluster(tmp_path, counts, start_python) as cluster:
        for place in ("chief 0", "ps 0"):
            cluster.start(place, str(PROGRAM), "server_strategy", str(tmp_path / "model"))
        assert cluster.wait("chief 0", 50) == 0, cluster.outputs()
        assert cluster.results("chief 0")["steps"] == STEPS


def test_a_server_of_googles_environment_starts_by_itself(tmp_path):
    """tf-yarn says "google" to processes that train, whose servers it has started."""
    with Cluster(tmp_path, {"chief": 1, "ps": 1}, start_python) as cluster:
        tf_config = {"cluster": cluster.jobs, "environment": "google"}
        for job in ("ps", "chief"):
            own = {**tf_config, "task": {"type": job, "index": 0}}
            own["environment"] = "google" if job == "ps" else "cloud"
            words = (str(PROGRAM), "baseline", str(tmp_path / "model"))
            cluster.start(f"{job} 0", *words, TF_CONFIG=json.dumps(own))
        assert [cluster.wait(place) for place in cluster.places] == [0, 0], cluster.outputs()


OWN_EXECUTOR = """
import sys
import goldens.servers.programs_on_servers as program
from estimator_bridge.legacy.library.training import OriginalExecutor

class Executor(OriginalExecutor):
    def run_worker(self):
        return self._start_distributed_training()

train_spec = program.api.TrainSpec(program._input_fn, program.STEPS, hooks=[program._Sight()])
eval_spec = program.api.EvalSpec(program._eval_input_fn)
Executor(program.baseline(sys.argv[1]), train_spec, eval_spec).run()
"""


def test_an_executor_that_a_library_derives_starts_its_own_server(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PROGRAM.parents[2]), prepend=os.pathsep)
    with Cluster(tmp_path, {"chief": 1, "worker": 1, "ps": 1}, start_python) as cluster:
        cluster.start_all("-c", OWN_EXECUTOR, str(tmp_path / "model"))
        assert [cluster.wait(place) for place in cluster.places] == [0] * 3, cluster.outputs()
        steps = sum(cluster.results(place)["steps"] for place in ("chief 0", "worker 0"))
        assert STEPS <= steps <= STEPS + 2
