"""This process's place in a cluster, by the rules of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model import Cluster
from estimator_bridge_contrib.learn.keys import TaskType

__all__ = ["learn_place"]

_CLOUD = "cloud"


def learn_place(
    tf_config: Mapping[str, Any], master: str | None, evaluation_master: str | None
) -> Cluster:
    """Finds the place that TF_CONFIG describes; a cluster needs no chief.

    Args:
      tf_config: the content of TF_CONFIG.
      master: the training server, instead of this task's own; None for that.
      evaluation_master: the evaluation server.

    Returns:
      The place. Its task_type is None if TF_CONFIG has no task.

    Raises:
      ValueError: the cluster lacks the task.
    """
    task = tf_config.get("task", {})
    task_type, task_id = task.get("type"), int(task.get("index") or 0)
    spec = tf.train.ClusterSpec(tf_config.get("cluster", {}))
    if master is None:
        master = _address(spec, task_type, task_id)
    jobs = spec.as_dict()
    leader = TaskType.MASTER if tf_config.get("environment") == _CLOUD else TaskType.WORKER
    workers = len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(TaskType.MASTER, ()))
    return Cluster(
        cluster_spec=spec,
        task_type=task_type,
        task_id=task_id,
        is_chief=task_id == 0 and task_type in (None, leader),
        master=master,
        evaluation_master=evaluation_master or "",
        num_ps_replicas=len(jobs.get(TaskType.PS, ())),
        num_worker_replicas=workers,
    )


def _address(spec: tf.train.ClusterSpec, task_type: str | None, task_id: int) -> str:
    is_alone = len(spec.jobs) == 1 and spec.num_tasks(spec.jobs[0]) == 1
    if not spec or is_alone or not task_type:
        return ""
    if task_type not in spec.jobs:
        raise ValueError(
            f"{task_type} is not a valid task_type in the cluster_spec of TF_CONFIG, which has "
            f"{sorted(spec.jobs)}. Correct TF_CONFIG."
        )
    addresses = spec.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec of "
            f"TF_CONFIG, which has {len(addresses)} of them. Correct TF_CONFIG."
        )
    return f"grpc://{addresses[task_id]}"
