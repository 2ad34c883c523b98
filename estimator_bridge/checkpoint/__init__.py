"""Checkpoints by the names of their variables: found, checked, read."""

from estimator_bridge.checkpoint.check import (
    CheckpointMismatchError,
    check_checkpoint,
    describe_variables,
)
from estimator_bridge.checkpoint.folder import check_writable, latest_checkpoint
from estimator_bridge.checkpoint.reading import list_variables, load_variable, reading

__all__ = [
    "CheckpointMismatchError",
    "check_checkpoint",
    "check_writable",
    "describe_variables",
    "latest_checkpoint",
    "list_variables",
    "load_variable",
    "reading",
]
