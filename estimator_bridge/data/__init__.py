"""Inputs: from an input_fn to the batches of steps.

``inputs`` makes one eager dataset of the return value of any ``input_fn``. Tensors are traced back
to their source (``lifted_inputs``). An iterator whose dataset is known becomes that dataset
(``graph_iterators``), and so do rows in memory (``row_queues``): they need no threads, and their
position can be saved. The graph's operations after them are mapped over the dataset. Other sources,
such as a queue or a reader, stay on the host, and each run of the graph computes one element. There
an ``OutOfRangeError`` ends the dataset, as it ended a session's run.

Queue runners are TensorFlow's own threads; they call the lifted session, which holds a lock while
it builds a function and none while one runs. They start just before the first batch is read, and
are stopped and joined when training, evaluation or prediction is over, fails, or is abandoned
(``graph.queue_threads``). The error of a thread is raised in the caller.
"""

from estimator_bridge.data.batch_input import BatchInput, placeholders
from estimator_bridge.data.host_datasets import HostDatasets, HostIterators
from estimator_bridge.data.input_fn import input_fn
from estimator_bridge.data.input_parts import DividedDatasets, drawing_nodes
from estimator_bridge.data.inputs import GraphInput, call_input_fn

__all__ = [
    "BatchInput",
    "DividedDatasets",
    "GraphInput",
    "HostDatasets",
    "HostIterators",
    "call_input_fn",
    "drawing_nodes",
    "input_fn",
    "placeholders",
]


def __dir__() -> list[str]:
    return sorted(__all__)
