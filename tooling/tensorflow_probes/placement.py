"""Probes of eager execution and of strategies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.cores import (
    ExtendedOnCores,
    OnCores,
    runs_on_cores,
    stop_tuning_device_datasets,
    validate_run_function,
    without_jit,
)
from estimator_bridge.tensorflow_private.eager import flat_call, host_address
from estimator_bridge.tensorflow_private.names import eager_context, eager_mode
from estimator_bridge.tensorflow_private.strategies import (
    cores_per_replica,
    device_assignment,
    in_multi_worker_mode,
    merges_replicas,
    server_runs,
    tpu_metadata,
    wrap_variable_creation,
)
from tooling.tensorflow_probes.registry import check, names_of, probe

v1 = tf.compat.v1


@probe("eager_execution", "flat_call")
def _flat_call() -> None:
    with eager_mode():
        double = tf.function(lambda x: [x * 2]).get_concrete_function(tf.TensorSpec([], tf.float32))
        check(float(flat_call(double)(tf.constant(3.0))[0]) == 6, "another number")


@probe("host_address")
def _host_address() -> None:
    check(host_address() == "/job:localhost/replica:0/task:0", host_address())


@probe("bound_wait_for_workers")
def _bound_wait() -> None:
    config = v1.ConfigProto().experimental.coordination_config
    config.coordinated_job_list.add(name="worker", num_tasks=1)
    names = eager_context().configure_coordination_service.__code__.co_varnames
    check({"service_type", "cluster_register_timeout_in_ms"} <= set(names), "other arguments")


@probe("server_runs", "communication_options", "merges_replicas", "device_assignment",
        "cores_per_replica", "tpu_metadata", "in_multi_worker_mode")  # fmt: skip
def _strategies() -> None:
    with eager_mode():
        mirrored = tf.distribute.MirroredStrategy(["CPU:0"])
    check(merges_replicas(mirrored), "a MirroredStrategy of CPUs does not merge")
    check(not in_multi_worker_mode(mirrored.extended), "one process is said to be more")
    check(not server_runs(mirrored), "a server is said to run")
    check(device_assignment(mirrored) is tpu_metadata(mirrored) is None, "a TPU's")
    check(cores_per_replica(mirrored) == 1, "cores per replica")
    source = tf.distribute.TPUStrategy.__init__.__globals__["TPUExtended"].__init__.__code__
    check({"_device_assignment", "_tpu_metadata"} <= set(source.co_names), "TPUStrategy's own")
    workers = tf.distribute.MultiWorkerMirroredStrategy.__init__.__globals__
    extended = workers["CollectiveAllReduceExtended"]
    names = set(extended.__init__.__code__.co_names)
    check("_communication_options" in names, "communication options")
    check(hasattr(extended, "_std_server_started") or "_std_server_started" in names_of(extended),
           "whether a server runs")  # fmt: skip


@probe("stop_tuning_device_datasets")
def _device_datasets() -> None:
    stop_tuning_device_datasets()
    data = tf.data.Dataset.range(8).batch(2)
    spread = tf.distribute.MirroredStrategy(["CPU:0"]).experimental_distribute_dataset(data)
    check([int(batch[0]) for batch in spread] == [0, 2, 4, 6], "a strategy's batches")


@probe("ExtendedOnCores", "OnCores", "runs_on_cores", "validate_run_function", "without_jit")
def _strategy_on_cores() -> None:
    class Strategy(OnCores, tf.distribute.TPUStrategy):
        def __init__(self) -> None:
            extended = ExtendedOnCores(self, None, ["CPU:0"])
            super(tf.distribute.TPUStrategy, self).__init__(extended)

    with eager_mode():
        strategy = Strategy.__new__(Strategy)
        strategy.__init__()  # type: ignore[misc]
        check(runs_on_cores(strategy), "the inner part is of another class")
        check(strategy.num_replicas_in_sync == 1, "the number of replicas")
        with strategy.scope():
            variable = tf.Variable(1.0)
        doubled = tf.function(lambda: 2 * variable, jit_compile=True)
        check(without_jit(doubled) is not doubled, "a compiled function is not known")
        run = super(tf.distribute.TPUStrategy, strategy).run
        check(float(run(without_jit(doubled))) == 2.0, "a step's result")
        try:
            validate_run_function(lambda: None)
        except NotImplementedError:
            return
    raise AssertionError("an eager function is allowed on a TPU")


@probe("wrap_variable_creation")
def _variable_creation() -> None:
    with eager_mode():
        strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        calls: list[Any] = []

        def wrapped(creator: Callable[..., Any]) -> Callable[..., Any]:
            def noted(**keywords: Any) -> Any:
                calls.append(keywords)
                return creator(**keywords)

            return noted

        wrap_variable_creation(strategy, wrapped)
        with strategy.scope():
            tf.Variable(1.0)
        check(len(calls) == 1, f"a variable of one copy was made by {len(calls)} calls")
