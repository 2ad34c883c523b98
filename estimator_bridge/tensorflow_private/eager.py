"""Functions, devices and the start of TensorFlow, outside of graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import eager_context

__all__ = [
    "bound_wait_for_workers",
    "flat_call",
    "host_address",
]


def flat_call(function: Any) -> Callable[..., list[tf.Tensor]]:
    """A concrete function that takes and returns flat lists of tensors, in graph mode too.

    A public call packs and checks structures, looks for a gradient tape and has to be made in eager
    mode, which together take a quarter of the time of a small model's step. The function is to
    return a list, and no tape may watch it.
    """
    inner, captured = function.inference_fn, list(function.captured_inputs)
    context, count = inner._bound_context, len(inner.function_type.flat_outputs)
    # TensorFlow forgets a function that nobody holds, so this holds it, not its name alone.
    return lambda *args: context.call_function(inner.name, [*args, *captured], count) or []


def host_address() -> str:
    """The job and task by which this process knows its own devices.

    It is localhost's until the process starts a server for collectives: from then on the server's
    ('/job:worker/replica:0/task:1'). A public listing of devices would initialize TensorFlow.
    """
    server = eager_context()._collective_ops_server_def
    if server is None:
        return "/job:localhost/replica:0/task:0"
    return f"/job:{server.job_name}/replica:0/task:{server.task_index}"


def bound_wait_for_workers(cluster: tf.train.ClusterSpec, seconds: float) -> None:
    """Bounds the wait for the other workers while MultiWorkerMirroredStrategy is made.

    It waits an hour otherwise. Only what is configured before TensorFlow starts counts.
    """
    jobs = [job for job in ("chief", "worker") if job in cluster.jobs]
    # The message's own module has moved between releases; a ConfigProto holds it everywhere.
    listed = tf.compat.v1.ConfigProto().experimental.coordination_config.coordinated_job_list
    for job in jobs:
        listed.add(name=job, num_tasks=cluster.num_tasks(job))
    eager_context().configure_coordination_service(
        service_type="standalone",
        service_leader=f"/job:{jobs[0]}/replica:0/task:0",
        coordinated_jobs=list(listed),
        cluster_register_timeout_in_ms=int(seconds * 1000),
    )
