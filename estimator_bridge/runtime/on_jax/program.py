"""The JAX program of several steps on all replicas."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from estimator_bridge.compile_for import LoweredStep
from estimator_bridge.runtime.on_jax.lowered_module import LiftedPrimitive

__all__ = [
    "REPLICAS",
    "Results",
    "StepsProgram",
    "StepsShape",
    "on_devices",
    "whole_sharding",
    "with_x64",
]

REPLICAS = "replicas"  # the axis of the mesh


@dataclasses.dataclass(frozen=True)
class StepsShape:
    """The results wanted of the steps, as indices of a step's outputs.

    Attributes:
      loss: the scalar to watch; a NaN ends the steps. None if there is none.
      last: outputs wanted of the last step.
      each: outputs wanted of each step.
      axes: the batch dimension of each input; None for one that every replica gets whole.
      fed: the number of inputs after the batch's, which are the same in each step.
      is_random: whether the position in the random streams matters.
    """

    loss: int | None
    last: Sequence[int]
    each: Sequence[int]
    axes: Sequence[int | None]
    fed: int
    is_random: bool


@dataclasses.dataclass(frozen=True)
class Results:
    """The results of a call, on the devices.

    Attributes:
      steps: the number of steps that ran.
      loss: the last loss, the mean over the replicas.
      last: the outputs of the last step, [replicas, ...] each.
      each: the outputs of each step, [block, replicas, ...] each.
    """

    steps: Any
    loss: Any
    last: list[Any]
    each: list[Any]

    @property
    def is_started(self) -> bool:
        """Whether steps were started for them."""
        return not isinstance(self.steps, int)


class StepsProgram:
    """Steps as one JAX program, in which the updated variables keep their memory.

    It is compiled once for each size of a block of batches, and runs any number of them.

    Args:
      lowered: one replica's step; its outputs are the results, then the updated variables.
      updates: the updated variables, in the order of these outputs.
      shape: the results wanted.
      results: the number of outputs before the updated variables.
      devices: JAX's devices, one for each replica.
      target: the platform that it is lowered for (``for_tpu``); None if it is to be called.

    Attributes:
      shape: the results wanted.
      step: one replica's step.
      arguments: its arguments.
      mesh: the devices.
      parts: the shardings of the components of a block of batches.
      jitted: the function that JAX compiles.
      is_single: whether a call computes one step, without a loop: XLA computes convolutions ten
        times as slowly in a loop on a CPU. After a NaN its results are not used.
      fixed: the variables that it reads only, in the order of a call.
      updated: the variables that it updates, in the order of a call.
    """

    def __init__(
        self,
        lowered: LoweredStep,
        updates: Sequence[str],
        shape: StepsShape,
        results: int,
        devices: Sequence[Any],
        target: str | None = None,
    ):
        import jax
        from jax.sharding import NamedSharding, PartitionSpec

        self.arguments, self.shape, self._results = lowered.arguments, shape, results
        self.step = LiftedPrimitive(lowered.hlo, lowered.random_ops)
        shapes = [tuple(one.shape) for one in lowered.arguments]
        if [one for one, _ in self.step.parameters] != shapes:
            raise AssertionError(f"Parameters {self.step.parameters} of a step with {shapes}.")
        variables = [one.name for one in lowered.arguments if one.kind == "variable"]
        self.updated = list(updates)
        self.fixed = [name for name in variables if name not in self.updated]
        self.mesh, spec = whole_sharding(devices).mesh, PartitionSpec
        parts = [
            spec() if axis is None else spec(*[None] * (axis + 1), REPLICAS) for axis in shape.axes
        ]
        self.parts = [NamedSharding(self.mesh, part) for part in parts]
        run_on_replicas = jax.shard_map(
            self._many,
            mesh=self.mesh,
            in_specs=(
                spec(), spec(), spec(), spec(), [spec(REPLICAS)] * len(shape.last),
                parts, [spec()] * shape.fed,
                [spec()] * len(self.fixed), [spec()] * len(self.updated),
            ),
            out_specs=(
                spec(), spec(), [spec(REPLICAS)] * len(shape.last),
                [spec() if self._is_shared else spec(None, REPLICAS)] * len(shape.each),
                [spec()] * len(self.updated),
            ),
            check_vma=False,
        )  # fmt: skip
        platform = target or self.mesh.devices.flat[0].platform
        self.is_single = self.step.has_convolutions and platform == "cpu"
        # What is lowered for another platform has all arguments, so that each can be named.
        self.jitted = jax.jit(run_on_replicas, donate_argnums=8, keep_unused=target is not None)

    @property
    def _is_shared(self) -> bool:
        """Whether other processes have some of the devices."""
        return len({device.process_index for device in self.mesh.devices.flat}) > 1

    def output_shape(self, index: int) -> tuple[int, ...]:
        """Returns the shape of an output of a step, on one replica."""
        return self.step.outputs[index][0]

    def start(self) -> Results:
        """Returns the results before the first step."""
        from jax.sharding import NamedSharding, PartitionSpec

        replicas = self.mesh.size
        split = NamedSharding(self.mesh, PartitionSpec(REPLICAS))
        last = []
        for index in self.shape.last:
            shape, dtype = self.step.outputs[index]
            last.append(on_devices(np.zeros((replicas, *shape), dtype), split))
        whole = NamedSharding(self.mesh, PartitionSpec())
        return Results(0, on_devices(np.zeros((), np.float32), whole), last, [])

    def place(self, batches: Sequence[np.ndarray]) -> list[Any]:
        """Returns the components of a block of batches on the devices; of several processes, its.

        Args:
          batches: the components; of several processes, this one's part of each batch.
        """
        if self.mesh.size == 1 and self.mesh.devices.flat[0].platform == "cpu":
            return list(batches)  # a call takes them as they are, in a fifth of the time
        return [own_part(*pair) for pair in zip(batches, self.parts)]

    def __call__(
        self,
        block: tuple[int, int],
        position: int,
        before: Results,
        parts: Sequence[Any],
        fed: Sequence[np.ndarray],
        fixed: Sequence[Any],
        updated: Sequence[Any],
    ) -> tuple[Results, Sequence[Any]]:
        """Starts the steps and returns at once.

        Args:
          block: the number of batches, from the first one on, to run steps with, and the number of
            rows of ``parts``, for which the program is compiled.
          position: the number of earlier steps.
          before: the results of the steps before; after a NaN loss, none runs.
          parts: the components of a block of batches, as ``place`` returns them.
          fed: the fed values.
          fixed: the arrays of ``self.fixed``.
          updated: the arrays of ``self.updated``, whose memory is reused.
        """
        (count, rows), position = block, position if self.shape.is_random else 0
        step_count, loss, last, each, new = self.jitted(
            np.int64(count), np.zeros(rows, bool), np.int64(position), before.loss, before.last,
            list(parts), list(fed), list(fixed), list(updated),
        )  # fmt: skip
        return Results(step_count, loss, last, each), new

    def _many(
        self,
        count: Any,
        rows: Any,
        position: Any,
        loss: Any,
        last: list[Any],
        batches: list[Any],
        fed: list[Any],
        fixed: list[Any],
        updated: list[Any],
    ) -> Any:
        import jax
        import jax.numpy as jnp
        from jax import lax

        shape, fixed_values = self.shape, dict(zip(self.fixed, fixed))
        kinds = [self.step.outputs[i] for i in shape.each]
        each = [jnp.zeros((len(rows), *sizes), dtype) for sizes, dtype in kinds]

        def goes_on(state: Any) -> Any:
            index, loss = state[:2]
            is_left = index < count
            return is_left & (loss <= np.inf) if shape.loss is not None else is_left

        def body(state: Any) -> Any:
            index, loss, _, each, updated = state
            batch = [lax.dynamic_index_in_dim(part, index, 0, keepdims=False) for part in batches]
            outputs = self._one(position + index, [*batch, *fed], fixed_values, updated)
            if shape.loss is not None:
                mine = outputs[shape.loss].astype(jnp.float32).reshape(())
                loss = lax.pmean(mine, REPLICAS)
            each = [
                lax.dynamic_update_index_in_dim(column, outputs[i], index, 0)
                for column, i in zip(each, shape.each)
            ]
            new = outputs[self._results : self._results + len(updated)]
            return index + 1, loss, [outputs[i] for i in shape.last], each, list(new)

        start = (jnp.int64(0), loss, [one[0] for one in last], each, updated)
        if self.is_single:
            can_run = goes_on(start)
            end = [
                jax.tree.map(lambda new, old: jnp.where(can_run, new, old), *pair)
                for pair in zip(body(start), start)
            ]
        else:
            end = lax.while_loop(goes_on, body, start)
        step_count, loss, last, each, updated = end
        return (
            step_count,
            loss,
            [one[None] for one in last],
            [self._of_all(column) for column in each],
            updated,
        )

    def _of_all(self, column: Any) -> Any:
        """Returns an output of each step with a dimension for the replicas.

        The hosts of several processes need the replicas of all of them.
        """
        from jax import lax

        return lax.all_gather(column, REPLICAS, axis=1) if self._is_shared else column[:, None]

    def _one(
        self, position: Any, inputs: list[Any], fixed: dict[str, Any], updated: list[Any]
    ) -> list[Any]:
        """Runs one step on one replica."""
        values = {**fixed, **dict(zip(self.updated, updated))}
        waiting = iter(inputs)
        arguments = []
        for one in self.arguments:
            if one.kind == "position":
                arguments.append(position)
            elif one.kind == "input":
                arguments.append(next(waiting))
            else:
                arguments.append(values[one.name])
        return self.step(*arguments)


def whole_sharding(devices: Sequence[Any]) -> Any:
    """Returns the sharding of an array that every device has whole."""
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    return NamedSharding(Mesh(np.array(devices), (REPLICAS,)), PartitionSpec())


def on_devices(value: np.ndarray, sharding: Any) -> Any:
    """Returns an array of JAX; each process has the whole value, and places its devices' part."""
    import jax

    if sharding.is_fully_addressable:
        return jax.device_put(value, sharding)
    return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])


def own_part(batch: np.ndarray, sharding: Any) -> Any:
    """Returns an array of JAX, of which this process has the part of its own devices."""
    import jax

    if sharding.is_fully_addressable:
        return jax.device_put(batch, sharding)
    return jax.make_array_from_process_local_data(sharding, batch)


def with_x64() -> Any:
    """Returns a context in which JAX has 64-bit numbers: positions, labels, the global step."""
    import jax

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64(True)
