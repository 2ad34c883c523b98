"""TF_CONFIG as launchers of clusters write it, for each role of a job with parameter servers.

A comment names the file of the launcher that writes it. Names of hosts are examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldens.signatures.configuration_cases import Case


def _hosts(name: str, count: int, port: int = 2222) -> list[str]:
    return [f"{name}-{number}:{port}" for number in range(count)]


def _cases(
    launcher: str, cluster: dict[str, Any], roles: list[tuple[str, int]], **others: Any
) -> Iterator[Case]:
    """Yields a case for each role of one cluster."""
    for task, index in roles:
        tf_config = {"cluster": cluster, "task": {"type": task, "index": index}, **others}
        yield Case(f"{launcher}: {task} {index}", "RunConfig", {}, tf_config)


def _tf_job() -> Iterator[Case]:
    """Kubeflow's TFJob: pkg/controller.v1/tensorflow/tensorflow.go of kubeflow/training-operator.

    Types of replicas are lower-cased. `evaluator` was left out of the cluster in tf-operator up to
    1.0 and is a job of it since. The names of hosts are <job>-<type>-<index>.<namespace>.svc.
    """
    cluster = {
        job: [f"ctr-{job}-{number}.team.svc:2222" for number in range(count)]
        for job, count in (("chief", 1), ("ps", 2), ("worker", 2))
    }
    roles = [("chief", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("evaluator", 0)]
    yield from _cases("TFJob 1.0", cluster, roles, environment="cloud")
    listed = {**cluster, "evaluator": ["ctr-evaluator-0.team.svc:2222"]}
    yield from _cases("TFJob", listed, roles, environment="cloud")
    legacy = {"master": ["ctr-master-0.team.svc:2222"], "ps": cluster["ps"]}
    yield from _cases("TFJob Master", legacy, [("master", 0), ("ps", 0)], environment="cloud")
    headless = {"ps": cluster["ps"], "worker": cluster["worker"]}
    yield from _cases("TFJob without chief", headless, roles[1:4], environment="cloud")
    # enableDynamicWorker: each worker sees the servers and itself, a server itself alone, any other
    # type nothing. The key was `sparseCluster` up to 1.6. JSON makes the index a string.
    for key, launcher in (("sparseCluster", "TFJob 1.6"), ("cluster", "TFJob 1.7")):
        seen = {
            ("chief", 0): {"worker": {}, "ps": []},
            ("worker", 0): {"worker": {"0": cluster["worker"][0]}, "ps": cluster["ps"]},
            ("worker", 1): {"worker": {"1": cluster["worker"][1]}, "ps": cluster["ps"]},
            ("ps", 0): {"worker": {}, "ps": cluster["ps"][:1]},
            ("ps", 1): {"worker": {}, "ps": cluster["ps"][1:]},
        }
        for (task, index), part in seen.items():
            tf_config = {key: part, "task": {"type": task, "index": index}}
            name = f"{launcher} enableDynamicWorker: {task} {index}"
            yield Case(name, "RunConfig", {}, tf_config)


def _tf_yarn() -> Iterator[Case]:
    """criteo/tf-yarn: setup_tf_config in tf_yarn/tensorflow/cluster.py.

    All tasks of the job are in the cluster, TensorBoard's too. Except for evaluators and servers,
    the launcher has started TensorFlow's server, which "environment": "google" says.
    """
    cluster = {
        "chief": ["10.0.0.1:40001"],
        "evaluator": ["10.0.0.2:40002"],
        "ps": ["10.0.0.3:40003", "10.0.0.4:40004"],
        "tensorboard": ["10.0.0.5:40005"],
        "worker": ["10.0.0.6:40006", "10.0.0.7:40007"],
    }
    started = [("chief", 0), ("worker", 0), ("worker", 1)]
    yield from _cases("tf-yarn", cluster, started, environment="google")
    yield from _cases("tf-yarn", cluster, [("ps", 1), ("evaluator", 0)], environment="")


def _spark() -> Iterator[Case]:
    """yahoo/TensorFlowOnSpark: run in tensorflowonspark/TFSparkNode.py.

    It sets TF_CONFIG if there is a `master` or `chief`; master_node of TFCluster.run names it.
    """
    rest = {"ps": ["10.0.0.1:41001"], "worker": ["10.0.0.3:41003", "10.0.0.4:41004"]}
    roles = [("ps", 0), ("worker", 1)]
    with_chief = {**rest, "chief": ["10.0.0.2:41002"], "evaluator": ["10.0.0.5:41005"]}
    own = [("chief", 0), ("evaluator", 0)]
    yield from _cases("TensorFlowOnSpark", with_chief, own + roles, environment="cloud")
    with_master = {**rest, "master": ["10.0.0.2:41002"]}
    own = [("master", 0)]
    yield from _cases("TensorFlowOnSpark master", with_master, own + roles, environment="cloud")


def _ai_platform() -> Iterator[Case]:
    """AI Platform Training: its page "TF_CONFIG and distributed training" describes the fields.

    Up to runtime version 1.15 the first node is `master`, later `chief`. An evaluator is no job of
    the cluster. `job` repeats the request; `trial` counts the trials of a tuning job.
    """
    request = {
        "scale_tier": "CUSTOM",
        "master_type": "n1-standard-4",
        "python_module": "trainer.task",
        "args": ["--train-steps", "1000"],
        "region": "europe-west1",
        "runtime_version": "1.15",
    }
    rest = {"ps": _hosts("cmle-training-ps-0a", 1), "worker": _hosts("cmle-training-worker-0a", 2)}
    for first in ("master", "chief"):
        cluster = {first: _hosts(f"cmle-training-{first}-0a", 1), **rest}
        roles = [(first, 0), ("worker", 1), ("ps", 0), ("evaluator", 0)]
        for case in _cases(f"AI Platform {first}", cluster, roles):
            assert case.tf_config is not None
            case.tf_config["task"].update(trial="1", cloud="a1b2c3-ml")
            case.tf_config.update(environment="cloud", job=request)
            yield case
    # A job of one node, as each is until it asks for more.
    single = {"master": ["127.0.0.1:2222"]}
    yield from _cases("AI Platform of one node", single, [("master", 0)], environment="cloud")


def _by_hand() -> Iterator[Case]:
    """Sparse jobs: only the tasks that this process is to know, by their index."""
    cluster = {"chief": ["a:1"], "ps": ["b:1", "c:1"], "worker": {"1": "d:1"}}
    roles = [("chief", 0), ("worker", 1), ("worker", 0), ("ps", 0)]
    yield from _cases("sparse worker", cluster, roles)
    yield from _cases("sparse chief", {**cluster, "chief": {"0": "a:1"}}, roles[:2])
    yield from _cases("sparse servers", {"chief": ["a:1"], "ps": {"1": "c:1"}}, [("ps", 1)])
    yield from _cases("worker by a word", {**cluster, "worker": {"x": "d:1"}}, roles[:1])


def _mistakes() -> Iterator[Case]:
    """Clusters with parameter servers that no job can run in."""
    cluster = {"chief": ["a:1"], "ps": ["b:1", "c:1"], "worker": ["d:1"]}
    yield from _cases("two chiefs", {**cluster, "chief": ["a:1", "e:1"]}, [("ps", 0)])
    yield from _cases("two masters", {"master": ["a:1", "e:1"], "ps": ["b:1"]}, [("ps", 0)])
    yield from _cases("chief and master", {**cluster, "master": ["e:1"]}, [("ps", 0)])
    workers = {"ps": cluster["ps"], "worker": cluster["worker"]}
    yield from _cases("no chief", workers, [("ps", 0), ("worker", 0), ("evaluator", 0)])
    alone = {"ps": cluster["ps"]}
    yield from _cases("servers alone", alone, [("ps", 0), ("worker", 0), ("chief", 0)])
    yield from _cases("cluster", cluster, [("ps", 2), ("ps", -1), ("worker", 1), ("chief", 1)])
    yield from _cases("cluster", cluster, [("painter", 0), ("PS", 0), ("master", 0)])
    yield from _cases("an address for a list", {**cluster, "ps": "b:1"}, [("ps", 0)])
    yield from _cases("a number for a list", {**cluster, "ps": 1}, [("ps", 0)])
    yield from _cases("no servers in the job", {**cluster, "ps": []}, [("chief", 0), ("ps", 0)])
    yield Case("index by a word", "RunConfig", {}, _task(cluster, {"type": "ps", "index": "x"}))
    yield Case("index as text", "RunConfig", {}, _task(cluster, {"type": "ps", "index": "1"}))
    yield Case("no index", "RunConfig", {}, _task(cluster, {"type": "ps"}))
    yield Case("no task", "RunConfig", {}, {"cluster": cluster})


def _task(cluster: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    return {"cluster": cluster, "task": task}


CASES = [
    *_tf_job(),
    *_tf_yarn(),
    *_spark(),
    *_ai_platform(),
    *_by_hand(),
    *_mistakes(),
]
