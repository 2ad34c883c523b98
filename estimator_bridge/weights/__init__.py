"""A checkpoint's weights, for other libraries: listed, renamed, and written in their formats."""

from estimator_bridge.weights.contents import Kind, Variable, find_checkpoint, list_weights
from estimator_bridge.weights.conversion import FORMATS, Converted, convert
from estimator_bridge.weights.renaming import Renaming, read_table

__all__ = [
    "FORMATS",
    "Converted",
    "Kind",
    "Renaming",
    "Variable",
    "convert",
    "find_checkpoint",
    "list_weights",
    "read_table",
]


def __dir__() -> list[str]:
    return sorted(__all__)
