"""Which process of a cluster holds which operation of the graph, and which part of the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput, call_input_fn
from estimator_bridge.model import RunConfig, TaskType
from estimator_bridge.training.execution import Execution

__all__ = ["ServerExecution", "device_function", "has_servers", "is_server_strategy"]

_Strategy = tf.compat.v1.distribute.experimental.ParameterServerStrategy


def has_servers(config: RunConfig) -> bool:
    """Returns whether this process trains, or serves, in a cluster with parameter servers."""
    spec = config.cluster_spec
    return bool(spec) and TaskType.PS in spec.jobs


def is_server_strategy(strategy: Any) -> bool:
    """Returns whether a strategy is TF1's of parameter servers."""
    return isinstance(strategy, _Strategy)


def device_function(config: RunConfig) -> Any:
    """Returns the device, or the function from an operation to its device, of a training graph.

    RunConfig's ``device_fn`` counts. Otherwise variables and tables are dealt out to the servers by
    turns, and all else is on this process, as ``tf.train.replica_device_setter`` has it.
    """
    if config.device_fn is not None:
        return config.device_fn
    return tf.compat.v1.train.replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        merge_devices=True,
        cluster=config.cluster_spec,
    )


class ServerExecution(Execution):
    """The layout of a model that RunConfig puts under TF1's ParameterServerStrategy.

    An input_fn that takes ``input_context`` gets this process's part of the input.
    """

    def _call_input_fn(
        self,
        input_fn: Callable[..., Any],
        graph: tf.Graph,
        mode: str,
        params: Mapping[str, Any],
    ) -> BatchInput:
        config = self.config
        context = tf.distribute.InputContext(
            num_input_pipelines=max(config.num_worker_replicas, 1),
            input_pipeline_id=config.global_id_in_cluster or 0,
            num_replicas_in_sync=1,
        )
        return call_input_fn(
            input_fn, graph, mode=mode, params=params, config=config, input_context=context
        )
