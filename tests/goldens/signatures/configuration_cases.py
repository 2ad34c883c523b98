"""Configurations that the real tf.estimator and estimator_bridge both make."""

from __future__ import annotations

import dataclasses
from typing import Any

_CLUSTER = {
    "chief": ["host0:1"],
    "ps": ["host1:1", "host2:1"],
    "worker": ["host3:1", "host4:1", "host5:1"],
}
_WITH_MASTER = {"master": ["host0:1"], "ps": ["host1:1"], "worker": ["host3:1", "host4:1"]}


@dataclasses.dataclass(frozen=True)
class Case:
    """Arguments for one constructor, under one TF_CONFIG."""

    name: str
    target: str  # "RunConfig", "tpu.RunConfig" or "tpu.TPUConfig"
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    tf_config: dict[str, Any] | None = None
    replace: dict[str, Any] | None = None


def _task(task_type: str, index: int, cluster: dict | None = None, **others: Any) -> dict:
    cluster = _CLUSTER if cluster is None else cluster
    return {"cluster": cluster, "task": {"type": task_type, "index": index}, **others}


def _run(name: str, *args: Any, **kwargs: Any) -> Case:
    return Case(name, "RunConfig", *args, **kwargs)


CASES = [
    _run("defaults"),
    _run("by steps", {"save_checkpoints_steps": 5}),
    _run("by secs", {"save_checkpoints_secs": 5}),
    _run("steps and no secs", {"save_checkpoints_steps": 5, "save_checkpoints_secs": None}),
    _run("steps None", {"save_checkpoints_steps": None}),
    _run("secs None", {"save_checkpoints_secs": None}),
    _run("steps and secs", {"save_checkpoints_steps": 5, "save_checkpoints_secs": 5}),
    _run("steps 0", {"save_checkpoints_steps": 0}),
    _run("model_dir", {"model_dir": "a/b"}),
    _run("empty model_dir", {"model_dir": ""}),
    _run("negative summary steps", {"save_summary_steps": -1}),
    _run("text summary steps", {"save_summary_steps": "3"}),
    _run("negative steps", {"save_checkpoints_steps": -1}),
    _run("negative secs", {"save_checkpoints_secs": -1}),
    _run("negative keep", {"keep_checkpoint_max": -1}),
    _run("keep None", {"keep_checkpoint_max": None}),
    _run("keep hours 0", {"keep_checkpoint_every_n_hours": 0}),
    _run("log steps 0", {"log_step_count_steps": 0}),
    _run("log steps None", {"log_step_count_steps": None}),
    _run("float seed", {"tf_random_seed": 1.5}),
    _run("text session_config", {"session_config": "x"}),
    _run("text device_fn", {"device_fn": "x"}),
    _run("protocol", {"protocol": "grpc+verbs"}),
    _run("bad protocol", {"protocol": "http"}),
    _run("float delay", {"experimental_max_worker_delay_secs": 1.5}),
    _run("timeout 0", {"session_creation_timeout_secs": 0}),
    _run("no graph", {"checkpoint_save_graph_def": False}),
    _run("replace steps", replace={"save_checkpoints_steps": 7}),
    _run("replace secs", {"save_checkpoints_steps": 7}, replace={"save_checkpoints_secs": 9}),
    _run("replace steps by None", replace={"save_checkpoints_steps": None}),
    _run("replace both", replace={"save_checkpoints_steps": 1, "save_checkpoints_secs": 1}),
    _run(
        "replace both, one None",
        replace={"save_checkpoints_steps": 1, "save_checkpoints_secs": None},
    ),
    _run("replace by bad", replace={"keep_checkpoint_max": -3}),
    _run("replace model_dir by empty", replace={"model_dir": ""}),
    _run("replace master", replace={"master": "x"}),
    _run("replace nonsense", replace={"colour": "red"}),
    _run("chief", {}, _task("chief", 0)),
    _run("worker", {}, _task("worker", 1)),
    _run("ps", {}, _task("ps", 1)),
    _run("evaluator", {}, _task("evaluator", 12)),
    _run("evaluator's master", {}, _task("evaluator", 0, eval_session_master="grpc://x:1")),
    _run("session master", {}, _task("worker", 0, session_master="grpc://x:1")),
    _run("job of another name", {}, _task("artist", 0, {**_CLUSTER, "artist": ["host9:1"]})),
    _run("service", {}, _task("worker", 0, service={"key": "value"})),
    _run("bad service", {}, _task("worker", 0, service=6)),
    _run("one chief alone", {}, _task("chief", 0, {"chief": ["host0:1"]})),
    _run("no chief", {}, _task("worker", 0, {"worker": ["host0:1"]})),
    _run("two chiefs", {}, _task("chief", 0, {"chief": ["host0:1", "host1:1"]})),
    _run("no task type", {}, {"cluster": _CLUSTER, "task": {"index": 0}}),
    _run("no task index", {}, {"cluster": _CLUSTER, "task": {"type": "worker"}}),
    _run("negative index", {}, _task("worker", -1)),
    _run("index too high", {}, _task("worker", 3)),
    _run("unknown job", {}, _task("painter", 0)),
    _run("master", {}, _task("master", 0, _WITH_MASTER)),
    _run("worker of a master", {}, _task("worker", 1, _WITH_MASTER)),
    _run("master and chief", {}, _task("master", 0, {**_WITH_MASTER, "chief": ["host9:1"]})),
    _run("evaluator of a master", {}, _task("evaluator", 0, _WITH_MASTER)),
    _run("task without cluster", {}, {"task": {"type": "worker", "index": 0}}),
    _run("chief without cluster", {}, {"task": {"type": "chief", "index": 0}}),
    _run("worker 1 without cluster", {}, {"task": {"type": "worker", "index": 1}}),
    _run("masters without cluster", {}, {"session_master": "a", "eval_session_master": "b"}),
    _run("TF_CONFIG's model_dir", {}, {"model_dir": "there"}),
    _run("the same model_dir", {"model_dir": "there"}, {"model_dir": "there"}),
    _run("another model_dir", {"model_dir": "here"}, {"model_dir": "there"}),
    _run("TF_CONFIG's empty model_dir", {}, {"model_dir": ""}),
    Case("TPU defaults", "tpu.RunConfig"),
    Case("TPU master", "tpu.RunConfig", {"master": "grpc://t:1"}),
    Case("TPU empty master", "tpu.RunConfig", {"master": ""}, _task("worker", 1)),
    Case("TPU both masters", "tpu.RunConfig", {"master": "m", "evaluation_master": "e"}),
    Case("TPU master in a cluster", "tpu.RunConfig", {"master": "m"}, _task("worker", 1)),
    Case("TPU worker", "tpu.RunConfig", {}, _task("worker", 1)),
    Case("TPU evaluator", "tpu.RunConfig", {"master": "m"}, _task("evaluator", 0)),
    Case("TPU bad setting", "tpu.RunConfig", {"keep_checkpoint_max": -1}),
    Case("TPU replace", "tpu.RunConfig", {"master": "m"}, replace={"tf_random_seed": 3}),
    Case("TPU replace master", "tpu.RunConfig", {"master": "m"}, replace={"master": "n"}),
    *(
        Case(f"TPUConfig({kwargs})", "tpu.TPUConfig", kwargs)
        for kwargs in (
            {},
            {"iterations_per_loop": 100},
            {"iterations_per_loop": "30s"},
            {"iterations_per_loop": "5m"},
            {"iterations_per_loop": "1h"},
            {"iterations_per_loop": "7"},
            {"iterations_per_loop": 0},
            {"iterations_per_loop": -1},
            {"iterations_per_loop": 2.0},
            {"iterations_per_loop": "0s"},
            {"iterations_per_loop": "5d"},
            {"num_shards": 8},
            {"num_shards": 0},
            {"num_shards": 2.0},
            {"num_cores_per_replica": 2},
            {"num_cores_per_replica": 3},
            {"per_host_input_for_training": True},
            {"per_host_input_for_training": False},
            {"per_host_input_for_training": 1},
            {"per_host_input_for_training": 4},
            {"initial_infeed_sleep_secs": 10},
            {"initial_infeed_sleep_secs": -10},
            {"initial_infeed_sleep_secs": 0.5},
            {"eval_training_input_configuration": 5},
            {"eval_training_input_configuration": 3},
            {"tpu_job_name": "j"},
            {"input_partition_dims": [[1, 2]], "num_cores_per_replica": 2},
            {"input_partition_dims": [[1, 2]], "per_host_input_for_training": 3},
            {"input_partition_dims": [], "per_host_input_for_training": 3},
            {"input_partition_dims": [1, 2, 3], "per_host_input_for_training": 3},
            {
                "input_partition_dims": [[1, 2], None],
                "per_host_input_for_training": 3,
                "num_cores_per_replica": 2,
            },
        )
    ),
    Case("TPU job in TF_CONFIG", "tpu.TPUConfig", {}, {"service": {"tpu_worker_job_name": "w"}}),
]
