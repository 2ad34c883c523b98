"""Decides whether anybody can notice when an input is drawn from.

Drawing an element early is wrong if somebody can notice: a generator may answer what the caller
asked last. So only self-contained inputs are read ahead, and then freely. Files are between the
two: the caller may rewrite one between two elements, if it gets control there.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.graph.function_library import called_functions, needed_functions
from estimator_bridge.graph.op_kinds import DEQUEUES
from estimator_bridge.graph.snapshot import is_stateful, node_name
from estimator_bridge.tensorflow_private.names import eager_mode, op_def

__all__ = ["Outside", "outside_of", "outside_of_dataset"]

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
# Readers of files, which TensorFlow reads at positions: of a pipe or a terminal, it cannot.
_FILES = re.compile(
    r"ReadFile|MatchingFiles|(Experimental)?MatchingFilesDataset"
    r"|(TFRecord|TextLine|FixedLengthRecord)Dataset(V\d)?"
)
_OPEN = re.compile(r"PyFuncStateless|\w*Snapshot\w*|ExperimentalSql\w*")  # not stateful by type
_ITERATORS = frozenset({"IteratorGetNext", "IteratorV2", "OneShotIterator"})


class Outside(enum.IntEnum):
    """What the elements of an input depend on, or change, outside of it."""

    NOTHING = 0  # arrays, computations on them and random numbers are inside
    FILES = 1
    MORE = 2  # Python, queues, variables, mutable tables, prints, iterators that a handle names


def outside_of(graph: tf.Graph, tensors: Sequence[tf.Tensor], queues: Collection[str]) -> Outside:
    """Returns what an input depends on outside of it.

    Args:
      graph: the graph in which the input_fn was called.
      tensors: the dataset's variant tensor, or the tensors that the input_fn returned.
      queues: the names of queues whose rows are arrays in memory.
    """
    snapshot = Snapshot.of(graph)
    nodes = list(_behind(snapshot, [tensor.op.name for tensor in tensors], queues))
    read = (node for node in nodes if node.op not in _ITERATORS)
    return max(
        _outside_of_nodes(read, snapshot.library),
        _outside_of_functions(needed_functions(snapshot.library, nodes)),
    )


def outside_of_dataset(dataset: tf.data.Dataset) -> Outside:
    """Returns the same of a dataset that was made outside of any graph."""
    try:
        with eager_mode():
            serialized = tf.raw_ops.DatasetToGraphV2(
                input_dataset=tf.data.experimental.to_variant(dataset),
                external_state_policy=_IGNORE,
            ).numpy()
    except (tf.errors.OpError, NotImplementedError):  # a generator or a resource
        return Outside.MORE
    graph_def = tf.compat.v1.GraphDef.FromString(serialized)
    return max(
        _outside_of_nodes(graph_def.node, graph_def.library),
        _outside_of_functions(graph_def.library),
    )


def _behind(snapshot: Snapshot, names: Sequence[str], queues: Collection[str]) -> Iterator[Any]:
    """Yields the nodes that an element is computed from, through iterators to their datasets."""
    datasets: dict[str, list[str]] = {}
    for node in snapshot.nodes.values():
        if node.op == "MakeIterator":
            datasets.setdefault(node_name(node.input[1]), []).append(node_name(node.input[0]))
    visited, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in visited or name not in snapshot.nodes:
            continue
        visited.add(name)
        node = snapshot.nodes[name]
        is_array = f"{name}:0" in snapshot.constants
        if is_array or (node.op in DEQUEUES and node_name(node.input[0]) in queues):
            continue
        yield node
        waiting += [*map(node_name, node.input), *datasets.get(name, ())]


def _outside_of_functions(library: Any) -> Outside:
    nodes = (node for function in library.function for node in function.node_def)
    return _outside_of_nodes(nodes, library)


def _outside_of_nodes(nodes: Iterable[Any], library: Any) -> Outside:
    return max((_outside_of_node(node, library) for node in nodes), default=Outside.NOTHING)


def _outside_of_node(node: Any, library: Any) -> Outside:
    """Returns what a node's own operation depends on."""
    op = node.op
    if _FILES.fullmatch(op):
        return Outside.FILES
    if _OPEN.fullmatch(op):
        return Outside.MORE
    if not is_stateful(op) or op in _CALLS or _CLOSED.fullmatch(op) or _is_random(op):
        return Outside.NOTHING
    # A function may be called by its name, without an op that has a definition.
    functions = {function.signature.name for function in library.function}
    is_call = op_def(op) is None and bool(called_functions(node) & functions)
    return Outside.NOTHING if is_call else Outside.MORE


def _is_random(op: str) -> bool:
    """Whether an op draws from a seed of its own."""
    definition = op_def(op)
    names = {attr.name for attr in definition.attr} if definition else set()
    return "Queue" not in op and bool(names & {"seed", "seed2"})
