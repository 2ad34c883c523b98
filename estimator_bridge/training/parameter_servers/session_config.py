"""The ConfigProto of sessions on a cluster with parameter servers."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.model import RunConfig, default_session_config
from estimator_bridge.training.parameter_servers.placement import is_server_strategy

__all__ = ["cluster_session_config"]


def cluster_session_config(config: RunConfig) -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto of a process that trains.

    It is RunConfig's, whose default shows this process the servers and itself alone. Under TF1's
    ParameterServerStrategy RunConfig has no such default, and the strategy replaced the device
    filters of any other: without them, a session waits for processes that it does not use.

    Args:
      config: of the estimator.
    """
    session_config = tf.compat.v1.ConfigProto()
    session_config.CopyFrom(config.session_config or default_session_config())
    if is_server_strategy(config.train_distribute):
        own = f"/job:{config.task_type}/task:{config.task_id}"
        session_config.device_filters[:] = [own, "/job:ps"]
        session_config.isolate_session_state = False
    return session_config
