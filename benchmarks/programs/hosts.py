"""The trace of a training step for a TPU of several hosts, which this process only describes."""

from __future__ import annotations

import time

import estimator_bridge as eb
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from estimator_bridge.testing import described_tpu
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.tpu.global_batch import GlobalBatch
from estimator_bridge.training.trace_program import trace_program

__all__ = ["serve"]

_CORES = 8  # of each host


def serve(way: str, orders: Orders) -> None:
    """Executes one order: traces the loop of all hosts' input and cores.

    Args:
      way: 'xN': N hosts.
      orders: one order.
    """
    hosts = int(way[1:])
    model = MLP(32, 1)
    model_fn = model.spec(eb)
    execution = TPUExecution(
        described_tpu(_CORES, hosts), eb.tpu.RunConfig(),
        GlobalBatch.of(eb.tpu.TPUConfig(), 32 * hosts * _CORES, is_sliced=False),
    )  # fmt: skip

    def for_cores(features, labels, mode):
        spec = model_fn(features, labels, mode)
        return eb.tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)

    for _ in orders:
        start = time.perf_counter()
        execution.check_hosts(eb.ModeKeys.TRAIN)
        program = trace_program(
            execution, for_cores, lambda params: model.dataset(1024), eb.ModeKeys.TRAIN, {}
        )
        program.scaffold.finalize()
        dataset = program.dataset()
        program.make_loop([]).traced(dataset.traceable_iterators())
        orders.tell(**{"trace, s": time.perf_counter() - start})
        program.close()
