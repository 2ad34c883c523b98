"""Helpers of the tests of several hosts: loops traced for described TPUs."""

from __future__ import annotations

import dataclasses

import estimator_bridge as eb
from estimator_bridge.graph import continue_trace
from estimator_bridge.testing import TPUGraph
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.tpu.global_batch import GlobalBatch
from estimator_bridge.training.trace_program import trace_program

__all__ = ["HOSTS", "TracedLoop", "trace_loop"]

HOSTS = [f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2)]
SLICED = eb.tpu.InputPipelineConfig.SLICED


@dataclasses.dataclass
class TracedLoop:
    """A loop under a described TPU.

    Attributes:
      graph: the TPU's graph.
      variables: number of variables of a replica.
      trainable: number of trainable variables of the model.
      calls: the params of each call of the input_fn.
    """

    graph: TPUGraph
    variables: int
    trainable: int
    calls: list[dict]


def trace_loop(strategy, model_fn, input_fn, mode, batch_size, params=None, **tpu_config):
    """Traces the loop of a mode as a TPUEstimator on this strategy would."""
    calls = []

    def watched(params, mode):
        calls.append(params)
        return input_fn(params, mode)

    tpu_config = eb.tpu.TPUConfig(**tpu_config)
    is_sliced = mode != eb.ModeKeys.TRAIN and tpu_config.eval_training_input_configuration == SLICED
    config = eb.tpu.RunConfig(tpu_config=tpu_config)
    batch = GlobalBatch.of(tpu_config, batch_size, is_sliced=is_sliced)
    execution = TPUExecution(strategy, config, batch)
    execution.check_hosts(mode)
    program = trace_program(execution, model_fn, watched, mode, params or {})
    with continue_trace(program.graph, execution.shards):
        program.scaffold.finalize()
    loop = program.make_loop([t.name for t in program.traced.outputs.values()])
    dataset = program.dataset()
    iterator = (
        dataset.traceable_iterators() if hasattr(dataset, "traceable_iterators") else iter(dataset)
    )
    graph = TPUGraph.of(loop.traced(iterator), strategy.num_replicas_in_sync)
    trainable = len(program.graph.get_collection("trainable_variables"))
    variables = len(loop.variables)
    program.close()
    return TracedLoop(graph, variables, trainable, calls)
