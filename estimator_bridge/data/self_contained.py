"""Decides whether an input is self-contained, so that nobody can notice when it is drawn from.

Drawing an element early is wrong if somebody can notice: a generator may answer what the caller
asked last, and a file may grow. So only self-contained inputs are read ahead, and then freely.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.graph.function_library import called_functions, reached
from estimator_bridge.graph.op_kinds import DEQUEUES
from estimator_bridge.graph.snapshot import is_stateful, node_name
from estimator_bridge.tensorflow_private import eager_mode, op_def

__all__ = ["is_dataset_self_contained", "is_self_contained"]

_IGNORE = 1  # tf.data's ExternalStatePolicy: the nodes are only looked at

# Stateful by type, and still the same whenever they run. Random numbers count as such: nobody
# outside can tell when they were drawn.
_CLOSED = re.compile(
    r"(Tensor|TensorSlice|SparseTensorSlice|Range|List|Cache|GroupByReducer|Reduce|GlobalShuffle"
    r"|(Experimental)?Random|ThreadPool|Shuffle(AndRepeat)?)Dataset(V\d)?"
    r"|(Anonymous|Dummy)(MemoryCache|SeedGenerator|RandomSeedGenerator|IterationCounter)"
    r"|(TensorArray|Stack)\w*|(Anonymous)?HashTable(V2)?|LookupTable(Find|Size|Export)V2"
    r"|Assert|CheckNumerics(V2)?|Empty|GuaranteeConst|NonDeterministicInts|StatelessRandomGetAlg"
    r"|ThreadPoolHandle|DatasetToSingleElement|_Arg|_Retval"
)
_CALLS = frozenset({"Case", "If", "StatefulPartitionedCall", "While"})  # judged by what they call
# Not stateful by type. A file may grow or change, or be a pipe.
_OPEN = re.compile(r"PyFuncStateless|ReadFile|MatchingFiles|\w*Snapshot\w*|ExperimentalSql\w*")
_ITERATORS = frozenset({"IteratorGetNext", "IteratorV2", "OneShotIterator"})


def is_self_contained(
    graph: tf.Graph, tensors: Sequence[tf.Tensor], queues: Collection[str]
) -> bool:
    """Whether the elements of an input depend on nothing outside of it, and change nothing there.

    Generators, Python functions, files, queues, variables, mutable tables, prints and iterators
    that a handle names are outside. Arrays, computations on them and random numbers are inside.

    Args:
      graph: the graph in which the input_fn was called.
      tensors: the dataset's variant tensor, or the tensors that the input_fn returned.
      queues: the names of queues whose rows are arrays in memory.
    """
    snapshot = Snapshot.of(graph)
    nodes = list(_behind(snapshot, [tensor.op.name for tensor in tensors], queues))
    is_closed = all(node.op in _ITERATORS or _is_closed(node, snapshot.library) for node in nodes)
    return is_closed and _are_functions_closed(reached(snapshot.library, nodes))


def is_dataset_self_contained(dataset: tf.data.Dataset) -> bool:
    """Whether the same is true of a dataset that was made outside of any graph."""
    try:
        with eager_mode():
            serialized = tf.raw_ops.DatasetToGraphV2(
                input_dataset=tf.data.experimental.to_variant(dataset),
                external_state_policy=_IGNORE,
            ).numpy()
    except (tf.errors.OpError, NotImplementedError):  # a generator or a resource
        return False
    graph_def = tf.compat.v1.GraphDef.FromString(serialized)
    is_closed = all(_is_closed(node, graph_def.library) for node in graph_def.node)
    return is_closed and _are_functions_closed(graph_def.library)


def _behind(snapshot: Snapshot, names: Sequence[str], queues: Collection[str]) -> Iterator[Any]:
    """Yields the nodes that an element is computed from, through iterators to their datasets."""
    datasets: dict[str, list[str]] = {}
    for node in snapshot.nodes.values():
        if node.op == "MakeIterator":
            datasets.setdefault(node_name(node.input[1]), []).append(node_name(node.input[0]))
    seen, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in snapshot.nodes:
            continue
        seen.add(name)
        node = snapshot.nodes[name]
        is_array = f"{name}:0" in snapshot.constants
        if is_array or (node.op in DEQUEUES and node_name(node.input[0]) in queues):
            continue
        yield node
        waiting += [*map(node_name, node.input), *datasets.get(name, ())]


def _are_functions_closed(library: Any) -> bool:
    return all(_is_closed(node, library) for f in library.function for node in f.node_def)


def _is_closed(node: Any, library: Any) -> bool:
    """Whether a node's own operation is the same whenever it runs."""
    op = node.op
    if _OPEN.fullmatch(op):
        return False
    if not is_stateful(op) or op in _CALLS or _CLOSED.fullmatch(op) or _is_random(op):
        return True
    definition = op_def(op)  # None for a function that is called by its name
    return definition is None and bool(
        called_functions(node) & {function.signature.name for function in library.function}
    )


def _is_random(op: str) -> bool:
    """Whether an op draws from a seed of its own."""
    definition = op_def(op)
    names = {attr.name for attr in definition.attr} if definition else set()
    return "Queue" not in op and bool(names & {"seed", "seed2"})
