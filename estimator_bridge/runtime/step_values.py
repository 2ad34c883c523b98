"""The parts of a step loop as values: the step, the request, the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import StateCut
from estimator_bridge.runtime.step_outputs import StepOutputs

__all__ = [
    "FETCHES_NOTHING",
    "HostStage",
    "LoopRequest",
    "LoopResult",
    "Step",
]


@dataclasses.dataclass(frozen=True)
class HostStage:
    """The host's computation after each step, on the replicas' gathered values.

    Attributes:
      inputs: for each placeholder that the host's operations read, the tensor of the step whose
        per-replica values are concatenated into it.
      operations: the operations to run, '^name' each.
      first_replica_only: whether the first replica's values are taken instead of all.
      every_n_steps: the host runs every N steps of a loop, from its first step on.
      counter_cut: operations that the host runs next, once for each replica with its values.
    """

    inputs: Mapping[str, str]
    operations: tuple[str, ...]
    first_replica_only: bool = False
    every_n_steps: int = 1
    counter_cut: StateCut | None = None


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a traced graph.

    Attributes:
      inputs: the graph's tensors that a batch's flat components stand for, in their order.
      operations: the operations that a step runs, '^name' each.
      loss: the scalar to watch; a NaN in it ends the loop after that step. None if there is none.
      host: the work of the host after each step; None if there is none.
      counter: an integer variable (the global step); the loop ends when it has reached the limit
        of the call. None if there is none.
    """

    inputs: Sequence[str] = ()
    operations: Sequence[str] = ()
    loss: str | None = None
    host: HostStage | None = None
    counter: str | None = None


@dataclasses.dataclass(frozen=True)
class LoopRequest:
    """The results wanted of a loop besides running the step.

    Attributes:
      fetches: references, computed in the last step of a call. Those that change state
        (``StepLoop.has_effects``) may be fetched in calls of one step only.
      fed: references whose values each call supplies, for all its steps and replicas.
      sums: CrossReplicaSum nodes to compute in any case, as hooks of another worker fetch them.
      needs: what the replicas compute in any case, as hooks of another process need it:
        references, and '^name' for operations. Only steps on JAX have these.
      jit_compile: whether XLA compiles the replicas' part, from one sum over them to the next. The
        input, the sums and the host's part stay outside.
      in_blocks: with ``jit_compile``, whether XLA may compile several steps as one function; see
        ``BlockBody``. Loops of the graph have to be traced for XLA.
      draws_alike: see ``RandomStreams``; for comparing numbers of replicas.
      outputs: keeps the fetches of each step, which a call returns as ``outputs`` then.
    """

    fetches: Sequence[str] = ()
    fed: Sequence[str] = ()
    sums: Sequence[str] = ()
    needs: Sequence[str] = ()
    jit_compile: bool = False
    in_blocks: bool = False
    draws_alike: bool = False
    outputs: StepOutputs | None = None


class LoopResult(NamedTuple):
    """The result of a call of a loop.

    Attributes:
      steps: the number of steps that ran.
      input_ended: whether the input had no batch for the next one.
      loss: the loss of the last step, averaged over the replicas; None if no step ran or no loss
        is watched.
      fetch_values: the extra fetches by reference, of the first replica at the last step; None if
        fewer steps ran than were asked for.
      short_batch: the flat components of a batch that is smaller than the others, for which no
        step ran; None if there was none.
      limit_value: the limit variable's value afterwards; None if there is no such variable.
      left_over: the input's last elements, each as its flat components, where they were too few
        to give one to each replica, and no step was run.
      outputs: the fetches of each step, where the loop keeps them.
    """

    steps: int
    input_ended: bool
    loss: float | None
    fetch_values: dict[str, tf.Tensor] | None
    short_batch: list[Any] | None
    limit_value: int | None = None
    left_over: Sequence[list[Any]] = ()
    outputs: Sequence[list[np.ndarray]] = ()


FETCHES_NOTHING = LoopRequest()
