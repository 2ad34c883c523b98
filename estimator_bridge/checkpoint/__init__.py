"""Checkpoints by variable name: finding, checking, reading, writing and deleting them."""

from estimator_bridge.checkpoint.background import Write, wait_for_abandoned
from estimator_bridge.checkpoint.check import check_checkpoint, describe_variables
from estimator_bridge.checkpoint.deletion import (
    finish_deletion,
    note_deletion,
    remove_deletion_note,
)
from estimator_bridge.checkpoint.error_types import (
    CheckpointMismatchError,
    DamagedCheckpointError,
    ForbiddenCheckpointError,
    FullDiskError,
    MissingCheckpointError,
    MissingVariableError,
    UnreadableCheckpointError,
)
from estimator_bridge.checkpoint.folder import check_writable, checkpoints_in, latest_checkpoint
from estimator_bridge.checkpoint.full_disk import explained_full_disk, explained_full_disk_of
from estimator_bridge.checkpoint.lock import is_running, only_training
from estimator_bridge.checkpoint.overwriting import CheckpointingSession, remove_leftovers
from estimator_bridge.checkpoint.position import InputPositionError, Positions
from estimator_bridge.checkpoint.reading import list_variables, load_variable, step_of
from estimator_bridge.checkpoint.restored import restored_variables
from estimator_bridge.checkpoint.snapshot import SaverSnapshot, why_not_beside_steps
from estimator_bridge.checkpoint.whole import reading

__all__ = [
    "CheckpointMismatchError",
    "CheckpointingSession",
    "DamagedCheckpointError",
    "ForbiddenCheckpointError",
    "FullDiskError",
    "InputPositionError",
    "MissingCheckpointError",
    "MissingVariableError",
    "Positions",
    "SaverSnapshot",
    "UnreadableCheckpointError",
    "Write",
    "check_checkpoint",
    "check_writable",
    "checkpoints_in",
    "describe_variables",
    "explained_full_disk",
    "explained_full_disk_of",
    "finish_deletion",
    "is_running",
    "latest_checkpoint",
    "list_variables",
    "load_variable",
    "note_deletion",
    "only_training",
    "reading",
    "remove_deletion_note",
    "remove_leftovers",
    "restored_variables",
    "step_of",
    "wait_for_abandoned",
    "why_not_beside_steps",
]
