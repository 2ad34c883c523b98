"""Makes the datasets of graphs that hold nothing else, by functions that are compiled once.

Each evaluation calls its ``input_fn`` in a new graph, which often differs from the last one in its
arrays alone. Compiling a function for it takes longer than a small model's evaluation. So functions
are kept, and take the arrays as arguments.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.graph import Lifted, LiftedSession, Snapshot, host_device
from estimator_bridge.graph.dataset_rewrites import OWN_FUNCTIONS, with_datasets_rewritten
from estimator_bridge.graph.gathered_rows import joins_rows
from estimator_bridge.tensorflow_private.eager import flat_call
from estimator_bridge.tensorflow_private.names import eager_context, eager_mode

__all__ = ["as_it_is", "dataset_of_plain_graph"]

# TensorFlow may run another operation, such as the read of a file, once, while it compiles.
# The comparisons are those of a shuffle's seeds.
_PLAIN = re.compile(r"\w+Dataset(V\d+)?|Const|Identity|Reshape|Slice|Equal|LogicalAnd|SelectV2")
# With rows gathered. The optimizer would fuse a shuffle of numbers with a repetition, which takes
# as long as the two; autotuning takes a third of a small batch's time.
_BEST = frozenset(
    {
        *("ConcatenateDataset", "MapDataset", "PrefetchDataset", "RangeDataset"),
        *("RebatchDatasetV2", "RepeatDataset", "SkipDataset", "TakeDataset"),
        *("ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"),
        *("TensorDataset", "TensorSliceDataset", "BatchDatasetV2"),
        *("Const", "Identity", "Reshape", "Slice", "Equal", "LogicalAnd", "SelectV2"),
    }
)
# Datasets of these hold nothing that an iterator changes, as the seeds of a shuffle are.
_CONSTANT = frozenset(
    {
        *("BatchDatasetV2", "ConcatenateDataset", "PrefetchDataset", "RangeDataset"),
        *("SkipDataset", "TakeDataset", "TensorDataset", "TensorSliceDataset"),
        *("Const", "Identity", "Reshape", "Slice"),
    }
)
_KEPT = 8
_FEW_NODES = 300  # of a whole graph, which is read in less time than the dataset's part is found

_lock = threading.Lock()


class _Maker(NamedTuple):
    """A function that makes a graph's dataset.

    Attributes:
      make: returns the dataset, from arrays.
      refs: the references of the arrays.
      is_best: whether tf.data's optimizer cannot improve the dataset.
      dataset: the dataset, if it is the same whenever it is made.
    """

    make: Callable[..., list[tf.Tensor]]
    refs: Sequence[str]
    is_best: bool
    dataset: tf.Tensor | None = None


_makers: OrderedDict[object, _Maker] = OrderedDict()  # oldest use first


def dataset_of_plain_graph(
    session: LiftedSession, variant: str, spec: Any = None
) -> tuple[tf.Tensor | None, bool]:
    """Returns a graph's dataset as an eager variant tensor.

    Args:
      session: the session of the graph.
      variant: the reference of the tensor that holds the dataset.
      spec: the TypeSpecs of an element, if tf.data is to leave the dataset as it is where its
        optimizer cannot improve it; None for a dataset that becomes part of another.

    Returns:
      The tensor; None if the dataset needs more than dataset operations and constants: functions,
      such as that of ``map``, resources, random numbers. Then, whether tf.data's optimizer cannot
      improve the dataset.
    """
    snapshot = Snapshot.of(session.graph)
    specs = [(ref, array.shape, array.dtype) for ref, array in snapshot.constants.items()]
    is_rewritten = not session.resources.inputs.keeps_positions
    content = snapshot.content if len(snapshot.nodes) <= _FEW_NODES else _content(session, variant)
    # A process that joins a cluster gets another context, which knows none of these functions.
    key = (
        *(eager_context(), host_device(), variant, is_rewritten, spec is None),
        *(*content, *specs),
    )
    with eager_mode(), tf.device(host_device()):
        with _lock:
            maker = _makers.get(key)
            if maker is None:
                lifted = _lifted(session, snapshot, variant)
                if not lifted.input_refs <= snapshot.constants.keys():
                    return None, False
                if is_rewritten:
                    snapshot = with_datasets_rewritten(snapshot, session.graph)
                    lifted = _lifted(session, snapshot, variant)
                maker = _maker(lifted, snapshot, spec)
                if maker is None:
                    return None, False
                _makers[key] = maker
                if len(_makers) > _KEPT:
                    _makers.popitem(last=False)
            _makers.move_to_end(key)
        if maker.dataset is not None:
            return maker.dataset, maker.is_best
        return maker.make(*(snapshot.constants[ref] for ref in maker.refs))[0], maker.is_best


def _lifted(session: LiftedSession, snapshot: Snapshot, variant: str) -> Lifted:
    owners = session.resources.owners
    return Lifted(snapshot, [variant], {f"{name}:0" for name in owners}, owners)


def _content(session: LiftedSession, variant: str) -> Iterable[bytes]:
    """Returns the dataset's part of a graph: see ``Snapshot.content``."""
    lifted = _lifted(session, Snapshot.of(session.graph), variant)
    return [graph_def.SerializeToString(deterministic=True) for graph_def in lifted.graph_defs]


def as_it_is() -> tf.data.Options:
    """Returns options by which tf.data runs a dataset as it was made."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return options


def _maker(lifted: Lifted, snapshot: Snapshot, spec: Any) -> _Maker | None:
    """Returns what makes a dataset, or None if it needs more than operations and constants."""
    if not (
        lifted.input_refs <= snapshot.constants.keys()
        and all(_PLAIN.fullmatch(snapshot.nodes[name].op) for name in lifted.names)
        and not any(map(_has_functions, lifted.graph_defs))
    ):
        return None
    refs = sorted(lifted.input_refs)
    arrays = [snapshot.constants[ref] for ref in refs]

    nodes = [snapshot.nodes[name] for name in lifted.names]
    is_best = all(node.op in _BEST and not joins_rows(node) for node in nodes)

    def make(*arrays: tf.Tensor) -> list[tf.Tensor]:
        values = lifted(dict(zip(refs, arrays)), lambda sums: [value for value, _ in sums])
        if spec is None or not is_best:
            return values
        dataset = tf.data.experimental.from_variant(values[0], spec).with_options(as_it_is())
        return [tf.data.experimental.to_variant(dataset)]

    specs = [tf.TensorSpec(array.shape, array.dtype) for array in arrays]
    function = flat_call(tf.function(make, autograph=False).get_concrete_function(*specs))
    is_constant = not refs and all(node.op in _CONSTANT for node in nodes)
    return _Maker(function, refs, is_best, function()[0] if is_constant else None)


def _has_functions(graph_def: tf.compat.v1.GraphDef) -> bool:
    """Whether a graph calls functions besides those that rewrites made, named by what they do."""
    names = [function.signature.name for function in graph_def.library.function]
    return any(not name.startswith(OWN_FUNCTIONS) for name in names)
