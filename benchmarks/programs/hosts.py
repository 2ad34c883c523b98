"""The trace of a training step for a TPU of several hosts, which this process only describes."""

from __future__ import annotations

import time

import estimator_bridge as eb
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from benchmarks.programs.steps import tpu_model_fn
from estimator_bridge.graph import continue_trace
from estimator_bridge.testing import described_tpu
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.tpu.global_batch import GlobalBatch
from estimator_bridge.training.trace_program import trace_program

__all__ = ["serve"]

TRAIN = eb.ModeKeys.TRAIN
_CORES = 8  # of each host


def serve(way: str, orders: Orders) -> None:
    """Executes one order: traces the loop of all hosts' input and cores.

    Args:
      way: 'xN': 2 N hosts.
      orders: one order.
    """
    hosts = 2 * int(way[1:])
    model = MLP(32, 1)
    execution = TPUExecution(
        described_tpu(_CORES, hosts), eb.tpu.RunConfig(),
        GlobalBatch.of(eb.tpu.TPUConfig(), 32 * hosts * _CORES, is_sliced=False),
    )  # fmt: skip

    for _ in orders:
        start = time.perf_counter()
        execution.check_hosts(TRAIN)
        program = trace_program(
            execution, tpu_model_fn(model), lambda params: model.dataset(), TRAIN, {}
        )
        with continue_trace(program.graph, execution.shards):
            program.scaffold.finalize()
        dataset = program.dataset()
        program.make_loop([]).traced(dataset.traceable_iterators())
        orders.tell(**{"trace, s": time.perf_counter() - start})
        program.close()
