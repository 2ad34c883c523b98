"""Inputs: from an input_fn to the batches of steps."""

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
