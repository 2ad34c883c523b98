"""A Session over a traced graph, executed by TF2 functions.

``run`` lifts exactly the fetches into a tf.function, once for each set of fetches and feeds, and
calls it. Savers, scaffolds, hooks, ``variable.load`` and ``tensor.eval`` work through it.

A session runs on the host and sees the first replica's variables. What it writes is copied to the
other replicas, so that an initializer or a restore reaches all of them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.fetches import Fetches, flat_feed
from estimator_bridge.graph.host_function import HostFunction
from estimator_bridge.graph.op_errors import with_user_line
from estimator_bridge.graph.profiling import asks_for_trace, profile_run
from estimator_bridge.graph.queue_threads import QueueThreads
from estimator_bridge.graph.random_positions import RandomPositions
from estimator_bridge.graph.resources import Resources
from estimator_bridge.graph.session_input import SessionInput
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.variable_fetches import fetched_variables
from estimator_bridge.tensorflow_private.names import SessionInterface

__all__ = ["LiftedSession"]

# References, names of what is fed, names of added nodes.
_Key = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


class LiftedSession(SessionInterface):
    """Runs parts of a tf.Graph on the TF2 side.

    Args:
      graph: the traced graph; it may grow between runs.
      strategy: the strategy that places the variables.
      shared: resources of another trace of the same model, whose variables are used.

    Attributes:
      resources: the variables and tables behind the graph.
      queues: the threads of the graph's queue runners.
      input: the input of the program's steps, from which a run draws if its fetches need the batch;
        None if there is no input.
      random: the positions of random operations, which continue after the loop's steps.
      host_values: values by tensor reference, returned unchanged until something is computed.
    """

    input: SessionInput | None = None

    def __init__(
        self,
        graph: tf.Graph,
        strategy: tf.distribute.Strategy,
        shared: Resources | None = None,
    ):
        self._graph = graph
        self.resources = Resources(graph, strategy, shared)
        self._functions: dict[_Key, HostFunction] = {}
        self._reads: dict[_Key, list[str] | None] = {}  # variables of fetches that only read them
        # The parts of the input that fetches draw.
        self._drawn_parts: dict[_Key, frozenset[int]] = {}
        self.random = RandomPositions()
        self._contexts: list[tuple[Any, Any]] = []
        self.host_values: Mapping[str, Any] = {}
        self._lock = threading.Lock()  # queue runners call from their own threads
        self.queues = QueueThreads()

    @property
    def graph(self) -> tf.Graph:
        """The graph whose elements can be fetched."""
        return self._graph

    @property
    def sess_str(self) -> str:
        """The target: always this process."""
        return ""

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Computes fetches, as tf.compat.v1.Session.run does.

        Args:
          fetches: any nesting of tensors, operations, variables, names and composite tensors.
          feed_dict: values by tensor (or name, or SparseTensor), used instead of computing them.
          options: RunOptions. A trace level fills run_metadata; the other options have no TF2
            counterpart and are ignored.
          run_metadata: a RunMetadata that receives the trace.

        Returns:
          The same structure with numpy values; None for operations.

        Raises:
          TypeError: a fetch has a wrong type, or a fed value cannot be converted.
          ValueError: a fetch is not of this graph, or a fed value has a wrong shape.
          RuntimeError: the session is closed.
        """
        self._check_open()
        if self.host_values and isinstance(fetches, tf.Tensor) and fetches.graph is self._graph:
            value = self.host_values.get(fetches.name)  # the global step, which every hook fetches
            if value is not None and not feed_dict:
                return value
        is_traced = asks_for_trace(options) and run_metadata is not None
        with profile_run(run_metadata) if is_traced else contextlib.nullcontext():
            return self._compute(Fetches(self._graph, fetches), feed_dict or {})

    def evaluate(
        self,
        refs: list[str],
        feeds: dict[str, np.ndarray] | None = None,
        extra_nodes: Sequence[tf.compat.v1.NodeDef] = (),
    ) -> list[Any]:
        """Computes references and returns the eager tensors of those that are not operations.

        Args:
          refs: tensor references ('a:0') and operations ('^a').
          feeds: values by tensor reference.
          extra_nodes: NodeDefs to compute as if they were part of the graph.

        Raises:
          OutOfRangeError: the references need the next batch of the input, which has ended.
          FailedPreconditionError: they need the next batch, and it cannot be drawn here.
        """
        self._check_open()
        feeds = feeds or {}
        key = (tuple(refs), tuple(sorted(feeds)), tuple(node.name for node in extra_nodes))
        if key not in self._reads:
            is_plain = not (feeds or extra_nodes)
            self._reads[key] = fetched_variables(self._graph, refs) if is_plain else None
        variables = self._reads[key]
        if variables is not None:
            with self._lock:
                have_values = self.resources.have_values(variables)
            if have_values:
                return self.resources.values(variables)
            extra_nodes = Snapshot.of(self._graph).step_branches  # TF1 reads its initial value
        if self.input is not None:
            if key not in self._drawn_parts:
                self._drawn_parts[key] = self._parts_drawn(self.input, refs, feeds)
            if self._drawn_parts[key]:
                feeds = {**self.input.draw(self._drawn_parts[key], refs), **feeds}
                key = (key[0], tuple(sorted(feeds)), key[2])
        with self._lock:  # not while the function runs: an enqueue waits for a dequeue
            function = self._function(key, refs, feeds, extra_nodes)
            rng_step = self.random.take(function.random_names)
        try:
            return function(feeds, rng_step)
        except tf.errors.OpError as error:
            raise with_user_line(error, self._graph) from None

    def function(self, refs: Sequence[str], feeds: Iterable[str]) -> HostFunction:
        """Returns the function that computes references, for threads that share nothing with steps.

        Args:
          refs: see `evaluate`.
          feeds: tensor references. They cut off all variables that the references read.
        """
        self._check_open()
        key = (tuple(refs), tuple(sorted(feeds)), ())
        with self._lock:
            return self._function(key, list(refs), feeds, ())

    def _function(
        self,
        key: _Key,
        refs: Sequence[str],
        feeds: Iterable[str],
        extra_nodes: Sequence[tf.compat.v1.NodeDef],
    ) -> HostFunction:
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = HostFunction(
                self._graph, self.resources, refs, sorted(feeds), extra_nodes
            )
        return function

    def _parts_drawn(
        self, program_input: SessionInput, refs: Sequence[str], feeds: Collection[str]
    ) -> frozenset[int]:
        """Returns the parts of the input that a run draws, and opens the input if there are any."""
        parts = program_input.drawn_by(Snapshot.of(self._graph), refs, feeds)
        if parts:
            program_input.check(parts, refs)
            _ = program_input.iterator
        return parts

    @property
    def given_to_functions(self) -> set[str]:
        """The references whose values the compiled functions take or hold."""
        return {ref for function in self._functions.values() for ref in function.input_refs}

    def as_default(self) -> contextlib.AbstractContextManager[Any]:
        """Returns a context in which this session and its graph are the defaults."""
        return tf.compat.v1.Session.as_default(self)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """Returns a function of the values of ``feed_list`` that returns ``run``'s result."""
        del accept_options
        self._check_open()
        feed_list, parsed = feed_list or [], Fetches(self._graph, fetches)
        return lambda *values, **_: self._compute(parsed, dict(zip(feed_list, values)))

    def list_devices(self) -> list[Any]:
        """Returns the devices of this process."""
        return tf.config.list_logical_devices()

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> NoReturn:
        """Not available: a function runs whole. Use ``run`` with all feeds."""
        raise NotImplementedError("partial_run is not available; call run() with all feeds.")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> NoReturn:
        """Not available: see ``partial_run_setup``."""
        raise NotImplementedError("partial_run is not available; call run() with all feeds.")

    def end_input(self) -> None:
        """Stops the input's threads, and lets iterators be initialized again."""
        if self._graph is not None:
            if self.input is not None:
                self.input.close()
            self.queues.stop(self.resources)
            self.resources.inputs.iterators_read.clear()

    def close(self) -> None:
        """Stops the threads and frees the variables and tables."""
        if self._graph is not None:
            self.end_input()
            self._functions.clear()
            self.resources.close()
            self._graph = None

    def should_stop(self) -> bool:
        """Returns whether the session is closed."""
        return self._graph is None

    def __enter__(self) -> LiftedSession:
        self._check_open()
        graph, session = self._graph.as_default(), self.as_default()
        graph.__enter__()
        session.__enter__()
        self._contexts.append((graph, session))
        return self

    def __exit__(self, *error: Any) -> None:
        graph, session = self._contexts.pop()
        session.__exit__(*error)
        graph.__exit__(*error)

    def _compute(self, parsed: Fetches, feed_dict: Mapping[Any, Any]) -> Any:
        self._check_open()
        self.host_values = {}  # the computation may change these values
        tensors = iter(self.evaluate(parsed.refs, self.feeds(feed_dict)))
        values = [None if r.startswith("^") else _to_numpy(next(tensors)) for r in parsed.refs]
        return parsed.build(values)

    def _check_open(self) -> None:
        if self._graph is None:
            raise RuntimeError("Attempted to use a closed Session.")

    def feeds(self, feed_dict: Mapping[Any, Any]) -> dict[str, np.ndarray]:
        """Returns the checked values of a feed_dict by tensor reference.

        Raises:
          TypeError: a key is not a tensor of the graph, or a value cannot be converted.
          ValueError: a value has a wrong shape.
        """
        feeds = {}
        for key, value in feed_dict.items():
            for target, part in flat_feed(key, value):
                try:
                    tensor = self._graph.as_graph_element(
                        target, allow_tensor=True, allow_operation=False
                    )
                except (TypeError, ValueError, KeyError) as error:
                    raise TypeError(
                        f"Cannot interpret feed_dict key {target!r} as a tensor of this "
                        f"session's graph: {error}"
                    ) from error
                feeds[tensor.name] = _fed_value(tensor, part)
        return feeds


def _fed_value(tensor: tf.Tensor, value: Any) -> Any:
    if isinstance(value, tf.Tensor) and not hasattr(value, "numpy"):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object of a graph. Got "
            f"{value!r} for {tensor.name!r}; feed a numpy array, a number or a string."
        )
    if tensor.dtype in (tf.resource, tf.variant):
        return value
    array = np.asarray(value, dtype=tensor.dtype.as_numpy_dtype)
    if not tensor.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name!r}, which has "
            f"shape {tensor.shape}."
        )
    return array


def _to_numpy(tensor: tf.Tensor) -> Any:
    if tensor.dtype in (tf.resource, tf.variant):
        return tensor
    return tensor.numpy()
