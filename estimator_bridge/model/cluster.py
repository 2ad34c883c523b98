"""This process's role in a cluster, as set by the TF_CONFIG environment variable."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.redaction import redacted

__all__ = ["Cluster", "TaskType", "parse_cluster"]

_SPARSE = "sparseCluster"


class TaskType:
    """The job names of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A process's role: its task, its cluster and its servers.

    The defaults are those of a program that runs alone.
    """

    cluster_spec: tf.train.ClusterSpec = dataclasses.field(
        default_factory=lambda: tf.train.ClusterSpec({})
    )
    task_type: str = TaskType.WORKER
    task_id: int = 0
    is_chief: bool = True
    master: str = ""
    evaluation_master: str = ""
    num_ps_replicas: int = 0
    num_worker_replicas: int = 1
    global_id_in_cluster: int | None = 0
    service: dict[str, Any] | None = None


def parse_cluster(tf_config: Mapping[str, Any], collective: bool = False) -> Cluster:
    """Finds this process's role in the cluster of `tf_config`.

    Args:
      tf_config: the content of TF_CONFIG.
      collective: whether the workers train by all-reduce under a ``tf.distribute`` strategy. Such a
        cluster needs no chief: without one, worker 0 is the chief.

    Returns:
      The role. An evaluator does not see the training cluster, since it is not part of it. A
      process without a task gets that of a collective cluster's only node.

    Raises:
      ValueError: the cluster has no chief or more than one, or lacks this task; or the task is not
        a dict, or its index is not a number.
      TypeError: the service or the cluster is not a dict.
    """
    service = tf_config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}: '
            f"{service!r}."
        )
    task = tf_config.get("task", {})
    if not isinstance(task, Mapping):
        raise ValueError(
            f"The \"task\" in TF_CONFIG must be a dict with 'type' and 'index', such as "
            f"{{'type': 'worker', 'index': 0}}. Given {type(task).__name__}: {task!r}."
        )
    spec = _cluster_spec(tf_config.get("cluster", {}))
    if not spec:
        return _alone(tf_config, task, service)

    chief = _chief_job(spec, task, collective)
    if collective and "type" not in task and sum(map(spec.num_tasks, spec.jobs)) == 1:
        task = {"type": spec.jobs[0], "index": spec.task_indices(spec.jobs[0])[0]}
    task_type, task_id = _task(spec, task)
    if task_type == TaskType.EVALUATOR:
        if chief == TaskType.MASTER:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not supported. "
                "Name the job `chief` in TF_CONFIG to have an evaluator beside it."
            )
        return Cluster(
            task_type=task_type,
            task_id=task_id,
            is_chief=False,
            evaluation_master=tf_config.get("eval_session_master", ""),
            num_worker_replicas=0,
            global_id_in_cluster=None,
            service=service,
        )
    jobs = spec.as_dict()
    workers = {TaskType.WORKER, chief}
    return Cluster(
        cluster_spec=spec,
        task_type=task_type,
        task_id=task_id,
        is_chief=task_type == chief and task_id == 0,
        master=tf_config.get("session_master", _address(spec, task_type, task_id)),
        num_ps_replicas=len(jobs.get(TaskType.PS, ())),
        num_worker_replicas=sum(len(jobs.get(job, ())) for job in workers),
        global_id_in_cluster=_global_id(spec, chief, task_type, task_id),
        service=service,
    )


def _cluster_spec(cluster: Any) -> tf.train.ClusterSpec:
    try:
        return tf.train.ClusterSpec(cluster)
    except (TypeError, ValueError) as error:
        raise type(error)(
            'The "cluster" in TF_CONFIG must be a dict from jobs to lists of addresses, as '
            "{'chief': ['host:2222'], 'worker': ['host:2223', 'host:2224']}. Given "
            f"{type(cluster).__name__}: {redacted(repr(cluster))}. {error}"
        ) from None


def _index(index: Any) -> int:
    """Converts a task's index to a number.

    Raises:
      ValueError: it is a string that is not a number.
      TypeError: it is of another type.
    """
    try:
        return int(index)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The task index in TF_CONFIG must be a whole number, which counts from 0 within the "
            f"job. Given {type(index).__name__}: {index!r}."
        ) from None


def _alone(
    tf_config: Mapping[str, Any], task: Mapping[str, Any], service: dict[str, Any] | None
) -> Cluster:
    task_type, task_id = task.get("type", TaskType.WORKER), _index(task.get("index", 0))
    fix = "add the cluster, or leave the task out."
    if _SPARSE in tf_config:
        fix = (
            f"it has {_SPARSE!r}, which Kubeflow writes for a TFJob with enableDynamicWorker, and "
            "which Estimator does not read. Leave enableDynamicWorker out of the job."
        )
    if task_type != TaskType.WORKER:
        raise ValueError(
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER. '
            f"Given task type {task_type!r}: {fix}"
        )
    if task_id != 0:
        raise ValueError(
            'If "cluster" is not set in TF_CONFIG, task index must be 0. '
            f"Given task index {task_id}: {fix}"
        )
    if _SPARSE in tf_config:
        logging.warning("TF_CONFIG names no 'cluster', so this process trains alone: %s", fix)
    return Cluster(
        master=tf_config.get("session_master", ""),
        evaluation_master=tf_config.get("eval_session_master", ""),
        service=service,
    )


def _chief_job(spec: tf.train.ClusterSpec, task: Mapping[str, Any], collective: bool) -> str:
    """Returns the leading job: TensorFlow before 1.4 called the `chief` job `master`."""
    if TaskType.MASTER in spec.jobs:
        if TaskType.CHIEF in spec.jobs:
            raise ValueError(
                "If `master` node exists in `cluster`, job `chief` is not supported. "
                "Name the leading node in TF_CONFIG once, as `chief`."
            )
        chief = TaskType.MASTER
    elif TaskType.CHIEF not in spec.jobs and collective:
        if TaskType.WORKER not in spec.jobs and task.get("type") != TaskType.EVALUATOR:
            raise ValueError(
                f"The cluster in TF_CONFIG has neither chief nor worker: {spec.as_dict()}."
            )
        return TaskType.WORKER
    else:
        chief = TaskType.CHIEF
    if chief not in spec.jobs:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node. '
            f"Given jobs {sorted(spec.jobs)}: {_way_to_a_chief(spec)}."
        )
    if len(spec.job_tasks(chief)) > 1:
        raise ValueError(
            f'The "cluster" in TF_CONFIG must have only one "{chief}" node. '
            f"Given {spec.job_tasks(chief)}: list the others as workers."
        )
    return chief


def _way_to_a_chief(spec: tf.train.ClusterSpec) -> str:
    """Returns what to do in a cluster that has no chief."""
    if not set(spec.jobs) - {TaskType.PS, TaskType.EVALUATOR}:
        return "nobody trains; add the address of a process that does, as 'chief'"
    if TaskType.WORKER in spec.jobs and isinstance(spec.as_dict()[TaskType.WORKER], dict):
        return (
            "this looks like a cluster in which each process sees a part of the others (a TFJob "
            "with enableDynamicWorker); Estimator needs the address of the chief in each process"
        )
    return (
        "list one process as 'chief' instead of 'worker' (a TFJob needs a replica of type Chief), "
        "in the 'cluster' of each process and in its own 'task'"
    )


def _task(spec: tf.train.ClusterSpec, task: Mapping[str, Any]) -> tuple[str, int]:
    task_type, index = task.get("type"), task.get("index")
    if not task_type:
        raise ValueError(
            'If "cluster" is set in TF_CONFIG, task type must be set. '
            f"Given task {dict(task)}: add 'type', one of {sorted(spec.jobs)} or 'evaluator'."
        )
    if index is None:
        raise ValueError(
            'If "cluster" is set in TF_CONFIG, task index must be set. '
            f"Given task {dict(task)}: add 'index', which counts from 0 within the job."
        )
    task_id = _index(index)
    if task_id < 0:
        raise ValueError(f"Task index must be non-negative number. Given {task_id} in TF_CONFIG.")
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    if task_type not in spec.jobs:
        raise ValueError(
            f"{task_type} is not a valid task_type in the cluster_spec: its jobs are "
            f"{sorted(spec.jobs)}. Both come from the TF_CONFIG environment variable."
        )
    if task_id not in spec.task_indices(task_type):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec: "
            f"its indices are {spec.task_indices(task_type)}. Both come from the TF_CONFIG "
            "environment variable."
        )
    return task_type, task_id


def _address(spec: tf.train.ClusterSpec, task_type: str, task_id: int) -> str:
    """Returns the address of a task's server; '' for a single-node cluster, which needs none."""
    if sum(spec.num_tasks(job) for job in spec.jobs) == 1:
        return ""
    return "grpc://" + spec.task_address(task_type, task_id)


def _global_id(spec: tf.train.ClusterSpec, chief: str, task_type: str, task_id: int) -> int:
    """Numbers the tasks: the chief first, parameter servers last, other jobs by name between."""
    between = sorted(set(spec.jobs) - {chief, TaskType.PS})
    before = 0
    for job in (chief, *between, TaskType.PS):
        if job == task_type:
            break
        before += len(spec.job_tasks(job))  # a sparse job counts the tasks that it does not list
    return before + task_id
