"""Contexts in which an old program's function is called to make its graph."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.keras_classes import graph_classes
from estimator_bridge.graph.reference_variables import (
    TracedGraph,
    add_reference,
    is_beside_reference,
    reference_variables,
    would_be_reference,
)
from estimator_bridge.tensorflow_private.cores import runs_on_cores
from estimator_bridge.tensorflow_private.graphs import (
    branches_in_name_scopes,
    loops_keep_what_gradients_need,
)
from estimator_bridge.tensorflow_private.keras import keras_seed_source
from estimator_bridge.tensorflow_private.names import get_tpu_context
from estimator_bridge.tensorflow_private.xla import xla_context, xla_context_of_cpus

__all__ = [
    "GlobalSteps",
    "continue_trace",
    "for_tpu",
    "is_on_tpu",
    "session_graph",
    "shard_count_scope",
    "trace_graph",
]


@contextlib.contextmanager
def trace_graph(seed: int | None = None, shards: int | None = None) -> Iterator[tf.Graph]:
    """Makes a new tf.Graph the default, with the settings that tracing relies on.

    Args:
      seed: the graph's random seed, for Keras layers too; None draws a new one in every trace.
      shards: number of replicas, for CrossShardOptimizer and cross_replica_sum; None outside
        TPU mode.

    Yields:
      The graph.
    """
    graph = TracedGraph()
    with continue_trace(graph, shards), _keras_seeds(seed), graph_classes(graph):
        tf.compat.v1.set_random_seed(seed)
        yield graph


@contextlib.contextmanager
def session_graph(seed: int | None) -> Iterator[tf.Graph]:
    """Makes a new tf.Graph for a real session the default; nothing of it is lifted.

    Its variables are of the kinds that the program chose. With TF1's kinds it is a TF1 graph, where
    a variable and its value have the same name.

    Args:
      seed: see ``trace_graph``.

    Yields:
      The graph.
    """
    if tf.compat.v1.resource_variables_enabled():
        with trace_graph(seed) as graph:
            yield graph
        return
    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.set_random_seed(seed)
        yield graph


@contextlib.contextmanager
def continue_trace(graph: tf.Graph, shards: int | None = None) -> Iterator[tf.Graph]:
    """Enters a traced graph again, under the conditions of ``trace_graph``."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(graph.as_default())
        stack.enter_context(_control_flow_v2())
        stack.enter_context(loops_keep_what_gradients_need())
        stack.enter_context(tf.variable_creator_scope(_resource_variable))
        stack.enter_context(shard_count_scope(shards))
        yield graph


def for_tpu(strategy: tf.distribute.Strategy) -> contextlib.AbstractContextManager[None]:
    """Returns a context for the computation of a TPU replica; emulated cores behave the same.

    Args:
      strategy: the strategy of a TPU, or of emulated cores or GPUs.
    """
    return xla_context() if is_on_tpu(strategy) else xla_context_of_cpus()


def is_on_tpu(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether the replicas are a TPU's."""
    return isinstance(strategy, _ON_TPU) and not runs_on_cores(strategy)


_ON_TPU = (
    tf.distribute.TPUStrategy,
    tf.distribute.experimental.TPUStrategy,
    tf.compat.v1.distribute.experimental.TPUStrategy,
)


class _Seeds:
    """Seeds for Keras. tf-keras asks for 1 to 1e9, a float, which Python 3.12 refuses."""

    def __init__(self, generator: random.Random):
        self._generator = generator

    def randint(self, a: float, b: float) -> int:
        return self._generator.randint(int(a), int(b))


@contextlib.contextmanager
def _keras_seeds(seed: int | None) -> Iterator[None]:
    # Layers and initializers of Keras 2 take their seeds from Python and ignore the graph's seed.
    if seed is None and "tf_keras" not in sys.modules:  # loading Keras takes a second
        yield
        return
    source = keras_seed_source()
    before = getattr(source, "generator", None)  # that of tf.keras.utils.set_random_seed
    generator = before if seed is None else random.Random(seed)
    if generator is None:
        yield
        return
    source.generator = _Seeds(generator)
    try:
        yield
    finally:
        source.generator = before


@contextlib.contextmanager
def shard_count_scope(number: int | None) -> Iterator[None]:
    """Sets the replica count for CrossShardOptimizer and cross_replica_sum; None for none."""
    # TensorFlow's tpu_shard_context cannot be nested, but a trace may start inside another.
    context = get_tpu_context()
    before = context.number_of_shards
    context.set_number_of_shards(number)
    try:
        yield
    finally:
        context.set_number_of_shards(before)


@contextlib.contextmanager
def _control_flow_v2() -> Iterator[None]:
    # Functional loops and branches lift as single nodes; Switch and Merge are islands at best.
    if tf.compat.v1.control_flow_v2_enabled():
        yield
        return
    tf.compat.v1.enable_control_flow_v2()
    try:
        with branches_in_name_scopes():  # v1's branches prefix the names of their variables
            yield
    finally:
        tf.compat.v1.disable_control_flow_v2()


def _resource_variable(next_creator: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
    # A reference variable is a buffer inside its graph; only a resource can be owned outside.
    is_reference = would_be_reference(kwargs)
    kwargs["use_resource"] = True
    if is_reference and kwargs.get("validate_shape") is False:
        kwargs["shape"] = tf.TensorShape(None)  # accepts values of other shapes
    variable = next_creator(**kwargs)
    is_of_graph = not tf.executing_eagerly()  # otherwise it belongs to a step and to no graph
    if is_of_graph and (is_reference or is_beside_reference(variable)):
        add_reference(variable)
    _add_initialized_value(variable)
    return variable


def _add_initialized_value(variable: tf.Variable) -> None:
    """Gives a variable a method of reference variables, which resource variables refuse."""

    def initialized_value() -> tf.Tensor:
        with tf.init_scope():
            return tf.cond(
                tf.compat.v1.is_variable_initialized(variable),
                variable.read_value,
                lambda: variable.initial_value,
            )

    variable.initialized_value = initialized_value


class GlobalSteps:
    """Makes the global step of graphs of the same kind, four times faster after the first.

    The operations and their number are the same: the seeds of random operations depend on it.
    """

    def __init__(self) -> None:
        self._template: tuple[tf.compat.v1.GraphDef, Any, bool] | None = None
        self._kind: Any = None

    def create(self, graph: tf.Graph) -> None:
        """Adds a global step to an empty graph, which is the default and is being traced."""
        if self._template is None:
            step = tf.compat.v1.train.create_global_step(graph)
            is_reference = step.op.name in reference_variables(graph)
            self._template, self._kind = (
                (graph.as_graph_def(), step.to_proto(), is_reference),
                type(step),
            )
            return
        definition, proto, is_reference = self._template
        tf.graph_util.import_graph_def(definition, name="")
        step = self._kind.from_proto(proto)
        for key in (tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, tf.compat.v1.GraphKeys.GLOBAL_STEP):
            graph.add_to_collection(key, step)
        _add_initialized_value(step)
        if is_reference:
            add_reference(step)
