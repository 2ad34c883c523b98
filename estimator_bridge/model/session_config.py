"""Default ConfigProtos for programs that set none."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.model.cluster import Cluster, TaskType

__all__ = ["cluster_session_config", "default_session_config"]


def default_session_config(device_filters: list[str] | None = None) -> tf.compat.v1.ConfigProto:
    """Makes the default session configuration.

    Args:
      device_filters: the devices visible to this process; all by default.

    Returns:
      A ConfigProto with soft placement and one pass of the graph optimizer, as in Estimator.
    """
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True, device_filters=device_filters)
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = type(rewrites).ONE
    return config


def cluster_session_config(cluster: Cluster) -> tf.compat.v1.ConfigProto | None:
    """Makes the default for a task in a cluster whose workers share only parameter servers.

    Args:
      cluster: this process's role.

    Returns:
      `default_session_config` with device filters; None for other jobs or without a cluster.
    """
    if not cluster.cluster_spec:
        return None
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{cluster.task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(cluster.task_type)
    return None if filters is None else default_session_config(filters)
