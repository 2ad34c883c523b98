"""Functions, devices and TensorFlow's initialization, outside of graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import eager_context, eager_execution

__all__ = [
    "bound_wait_for_workers",
    "flat_call",
    "host_address",
]


def flat_call(function: Any) -> Callable[..., list[tf.Tensor]]:
    """Returns a concrete function over flat lists of tensors that also runs in graph mode.

    A public call packs and checks structures, looks for a gradient tape and requires eager mode,
    which together take a quarter of a small model's step time. The function must return a list, and
    no tape may watch it. The settings of its execution are those of the moment, and no
    ``CancellationManager`` can cancel a call.
    """
    inner, captured = function.inference_fn, list(function.captured_inputs)
    context, count = inner._bound_context, len(inner.function_type.flat_outputs)
    name = inner.name.decode()
    settings = context.function_call_options.as_attrs()  # call_function makes them at each call
    settings["config_proto"] = _optimized_once(settings["config_proto"])
    attributes = tuple(part for pair in settings.items() for part in pair)

    def call(*args: tf.Tensor, _inner: Any = inner) -> list[tf.Tensor]:
        # TensorFlow deletes an unreferenced function, so the name alone is not enough.
        return eager_execution.execute(name, count, [*args, *captured], attributes, context)

    return call


def _optimized_once(config_proto: bytes) -> bytes:
    """Returns a ConfigProto with one iteration of TensorFlow's graph optimizer, instead of two.

    So did Estimator's session. The second iteration takes nearly as long as the first one and
    removes one node in a thousand.
    """
    config = tf.compat.v1.ConfigProto.FromString(config_proto)
    rewrites = config.graph_options.rewrite_options
    if rewrites.meta_optimizer_iterations == type(rewrites).DEFAULT_NUM_ITERS:
        rewrites.meta_optimizer_iterations = type(rewrites).ONE
    return config.SerializeToString(deterministic=True)


def host_address() -> str:
    """The job and task in this process's own device names.

    They are localhost's until the process starts a server for collectives, and then the server's
    ('/job:worker/replica:0/task:1'). The public device list would initialize TensorFlow.
    """
    server = eager_context()._collective_ops_server_def
    if server is None:
        return "/job:localhost/replica:0/task:0"
    return f"/job:{server.job_name}/replica:0/task:{server.task_index}"


def bound_wait_for_workers(
    cluster: tf.train.ClusterSpec, seconds: float, heartbeat_secs: float
) -> None:
    """Limits the wait for other workers while MultiWorkerMirroredStrategy is created.

    The default is one hour. This has no effect after TensorFlow is initialized.

    Args:
      cluster: the workers.
      seconds: the longest wait.
      heartbeat_secs: the silence after which a worker that has met the others counts as lost.
    """
    jobs = [job for job in ("chief", "worker") if job in cluster.jobs]
    # The message's module has moved between releases; ConfigProto has it in all of them.
    job_list = tf.compat.v1.ConfigProto().experimental.coordination_config.coordinated_job_list
    for job in jobs:
        job_list.add(name=job, num_tasks=cluster.num_tasks(job))
    eager_context().configure_coordination_service(
        service_type="standalone",
        service_leader=f"/job:{jobs[0]}/replica:0/task:0",
        coordinated_jobs=list(job_list),
        cluster_register_timeout_in_ms=int(seconds * 1000),
        heartbeat_timeout_in_ms=int(heartbeat_secs * 1000),
    )
