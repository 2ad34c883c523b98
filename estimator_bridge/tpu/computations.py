"""tpu.rewrite, replicate, shard and batch_parallel, for programs that use a TPU directly.

With a TPU, they are TensorFlow's own functions. Without one, the program's graph contains the
function's operations once for each replica, and any session runs them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.compile_for import refuse_uncovered
from estimator_bridge.graph.trace import shard_count_scope
from estimator_bridge.model.cross_shard import number_of_shards
from estimator_bridge.model.replaced_functions import original_tpu_function
from estimator_bridge.runtime import tpu_present
from estimator_bridge.tpu.emulated_feeds import core_is
from estimator_bridge.tpu.replicas_in_one_graph import JoinedReplicas

__all__ = ["batch_parallel", "replicate", "rewrite", "shard"]

_NOT_COMPILED = (
    "a function that a session runs is not compiled here, only the steps of a TPUEstimator. "
    "eb.testing.compile_for_tpu compiles the same computation as a model_fn."
)
_v1 = tf.compat.v1
_replicate = original_tpu_function("replicate")


def rewrite(
    computation: Callable,
    inputs: Sequence[Any] | None = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    xla_options: Any = None,
) -> Any:
    """Runs a function on one core.

    Args:
      computation: a function that takes tensors and builds operations.
      inputs: the arguments of ``computation``.
      infeed_queue: a ``tf.contrib.tpu.InfeedQueue``; its tensors are passed after ``inputs``.
      device_assignment: the core of each replica, by which infeed and outfeed address it.
      name: passed to TensorFlow's function, which ignores it.
      xla_options: ignored without a TPU.

    Returns:
      The outputs of ``computation``: a list of tensors for a flat list, a tuple or a single
      tensor; the same structure for a nested one; an operation that runs ``computation`` if it
      returns no tensor.

    Raises:
      NotImplementedError: see ``replicate``.
    """
    return replicate(
        computation,
        None if inputs is None else [inputs],
        infeed_queue,
        device_assignment,
        name,
        xla_options=xla_options,
    )[0]


def replicate(
    computation: Callable,
    inputs: Sequence[Sequence[Any]] | None = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    maximum_shapes: Any = None,
    padding_spec: Any = None,
    xla_options: Any = None,
) -> list[Any]:
    """Runs a function on several cores, each with its own arguments.

    Args:
      computation: a function that takes tensors and builds operations.
      inputs: a list of arguments for each core; by default, one core without arguments.
      infeed_queue: a ``tf.contrib.tpu.InfeedQueue``; its tensors are passed after ``inputs``.
      device_assignment: the core of each replica, by which infeed and outfeed address it.
      name: passed to TensorFlow's function, which ignores it.
      maximum_shapes: ignored without a TPU.
      padding_spec: ignored without a TPU.
      xla_options: ignored without a TPU.

    Returns:
      A list with the outputs of each core, each in the form that ``rewrite`` returns.

      All cores run together: fetching an output of one core runs all of them.

    Raises:
      NotImplementedError: the function is called inside a TPUEstimator's model_fn, or the cores
        exchange values other than by sums.
    """
    if tpu_present():
        return _replicate(
            computation,
            inputs,
            infeed_queue,
            device_assignment,
            name,
            maximum_shapes,
            padding_spec,
            xla_options,
        )
    _check()
    refuse_uncovered("tpu.rewrite, replicate, shard or batch_parallel", _NOT_COMPILED)
    per_core = [[]] if inputs is None else [list(arguments) for arguments in inputs]
    replicas, results = JoinedReplicas(_v1.get_default_graph(), len(per_core)), []
    if infeed_queue is not None:
        infeed_queue.set_number_of_shards(len(per_core))
    for number, arguments in enumerate(per_core):
        # The second core finds the first one's variables, by the same names of layers.
        reuse = _v1.AUTO_REUSE if number else _v1.get_variable_scope().reuse
        scope = _v1.variable_scope(_v1.get_variable_scope(), reuse=reuse, use_resource=True)
        core = number
        if device_assignment is not None:
            core = device_assignment.tpu_ordinal(replica=number)
        with scope, shard_count_scope(len(per_core)), core_is(core), replicas.replica():
            tensors = [tf.convert_to_tensor(argument) for argument in arguments]
            if infeed_queue is not None:
                tensors += infeed_queue.generate_dequeue_op()
            results.append(_as_returned(computation(*tensors)))
    replicas.join()
    return _together(results) if len(per_core) > 1 else results


def shard(
    computation: Callable,
    inputs: list[Any] | None = None,
    num_shards: int = 1,
    input_shard_axes: Sequence[int] | None = None,
    outputs_from_all_shards: bool | Sequence[bool] = True,
    output_shard_axes: Sequence[int] | None = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    xla_options: Any = None,
) -> Any:
    """Runs a function on several cores, each with a part of the arguments.

    Args:
      computation: a function that takes tensors and builds operations.
      inputs: the arguments of ``computation``, for all cores together; each is split evenly.
      num_shards: the number of cores.
      input_shard_axes: the dimension along which each argument is split; 0 by default.
      outputs_from_all_shards: True to concatenate the outputs of all cores, False to return those
        of the first core; one value, or one for each output.
      output_shard_axes: the dimension along which each output is concatenated; 0 by default.
        Scalars are stacked.
      infeed_queue: see ``replicate``.
      device_assignment: see ``replicate``.
      name: see ``replicate``.
      xla_options: see ``replicate``.

    Returns:
      The outputs.

    Raises:
      ValueError: num_shards is not positive, or the number of axes differs from the number of
        tensors.
      TypeError: inputs is not a list.
      NotImplementedError: see ``replicate``.
    """
    if num_shards <= 0:
        raise ValueError(f"num_shards must be a positive integer. Received {num_shards}")
    if inputs is not None and not isinstance(inputs, list):
        raise TypeError(
            f"tpu.shard()'s inputs must be a list of Tensors or None. Received {type(inputs)}"
        )
    tensors = [tf.convert_to_tensor(x) for x in inputs or []]
    axes = _one_each("input_shard_axes", input_shard_axes, 0, len(tensors), "inputs")
    parts = [tf.split(x, num_shards, axis=axis) for x, axis in zip(tensors, axes)]
    per_core = [list(each) for each in zip(*parts)] if parts else [[]] * num_shards
    outputs = replicate(
        computation, per_core, infeed_queue, device_assignment, name, xla_options=xla_options
    )
    if isinstance(outputs[0], tf.Operation):
        return [outputs[0]]
    count = len(outputs[0])
    axes = _one_each("output_shard_axes", output_shard_axes, 0, count, "outputs")
    if isinstance(outputs_from_all_shards, bool):
        outputs_from_all_shards = [outputs_from_all_shards] * count
    joins = _one_each("outputs_from_all_shards", outputs_from_all_shards, True, count, "outputs")
    results = []
    for each, axis, is_joined in zip(zip(*outputs), axes, joins):
        if not is_joined:
            results.append(each[0])
        else:
            is_scalar = each[0].shape.rank == 0
            results.append(tf.stack(each) if is_scalar else tf.concat(each, axis=axis))
    return results


def batch_parallel(
    computation: Callable,
    inputs: list[Any] | None = None,
    num_shards: int = 1,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    xla_options: Any = None,
) -> Any:
    """Runs ``shard`` along the first dimension of all arguments and outputs."""
    return shard(
        computation,
        inputs,
        num_shards,
        infeed_queue=infeed_queue,
        device_assignment=device_assignment,
        name=name,
        xla_options=xla_options,
    )


def _one_each(name: str, arguments: Iterable | None, usual: Any, count: int, of: str) -> list:
    values = [usual] * count if arguments is None else list(arguments)
    if len(values) != count:
        raise ValueError(
            f"Length of {name} must be equal to the number of {of}. Received {count} {of} and "
            f"{len(values)} {name}."
        )
    return values


def _check() -> None:
    if number_of_shards() is not None:
        raise NotImplementedError(
            "tpu.rewrite, replicate, shard and batch_parallel cannot be called inside a "
            "TPUEstimator's model_fn, which already runs on the TPU's cores. Call the function "
            "directly."
        )
    if tf.executing_eagerly():
        raise RuntimeError(
            "tpu.rewrite, replicate, shard and batch_parallel build a graph for a session. Call "
            "them inside tf.Graph().as_default(), or call the function directly."
        )


def _as_returned(outputs: Any) -> Any:
    """Returns a function's outputs in the form of TensorFlow's own function."""
    is_nested = isinstance(outputs, dict) or (
        isinstance(outputs, (list, tuple))
        and any(isinstance(x, (list, tuple, dict)) for x in outputs)
    )
    flat = [] if outputs is None else tf.nest.flatten(outputs)
    operations = [x for x in flat if isinstance(x, tf.Operation)]
    if is_nested and operations:
        raise ValueError(
            "tpu.rewrite does not support Operation as return value in non-flat output structure: "
            f"{operations[0].name!r}. Return it in a flat list, after the tensors."
        )
    with tf.control_dependencies(operations) if operations else contextlib.nullcontext():
        tensors = [tf.identity(x) for x in flat if not isinstance(x, tf.Operation)]
        if is_nested:
            return tf.nest.pack_sequence_as(outputs, tensors)
        return tensors or tf.no_op()


def _together(results: list[Any]) -> list[Any]:
    """Returns outputs that each run all cores; one core alone would wait for the others forever."""
    with tf.control_dependencies(tf.nest.flatten(results)):
        return tf.nest.map_structure(
            lambda x: tf.no_op() if isinstance(x, tf.Operation) else tf.identity(x), results
        )
