"""Checkpoints by variable name: finding, checking, reading, writing and deleting them."""

from estimator_bridge.checkpoint.background_writer import Write, wait_for_abandoned
from estimator_bridge.checkpoint.contents import list_variables, load_variable, step_of
from estimator_bridge.checkpoint.deletion import (
    finish_deletion,
    note_deletion,
    remove_deletion_note,
)
from estimator_bridge.checkpoint.disk_problems import disk_problem
from estimator_bridge.checkpoint.error_types import (
    CheckpointMismatchError,
    DamagedCheckpointError,
    ForbiddenCheckpointError,
    FullDiskError,
    MissingCheckpointError,
    MissingVariableError,
    UnreadableCheckpointError,
)
from estimator_bridge.checkpoint.folder import (
    check_still_writable,
    check_writable,
    checkpoints_in,
    latest_checkpoint,
)
from estimator_bridge.checkpoint.full_disk import explained_full_disk, explained_full_disk_of
from estimator_bridge.checkpoint.integrity import explained_read_errors
from estimator_bridge.checkpoint.iterator_positions import InputPositionError, Positions
from estimator_bridge.checkpoint.lock import check_model_dir, check_own_training, only_training
from estimator_bridge.checkpoint.overwriting import (
    CheckpointingSession,
    complete_files,
    remove_leftovers,
    save_whole,
    saved_prefix,
)
from estimator_bridge.checkpoint.publishing import finish_publishing
from estimator_bridge.checkpoint.restore_checks import check_checkpoint, describe_variables
from estimator_bridge.checkpoint.saver_snapshot import SaverSnapshot, why_not_beside_steps
from estimator_bridge.checkpoint.saver_variables import restored_variables
from estimator_bridge.checkpoint.watched_folders import watched_folder

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
    "check_model_dir",
    "check_own_training",
    "check_still_writable",
    "check_writable",
    "checkpoints_in",
    "complete_files",
    "describe_variables",
    "disk_problem",
    "explained_full_disk",
    "explained_full_disk_of",
    "explained_read_errors",
    "finish_deletion",
    "finish_publishing",
    "latest_checkpoint",
    "list_variables",
    "load_variable",
    "note_deletion",
    "only_training",
    "remove_deletion_note",
    "remove_leftovers",
    "restored_variables",
    "save_whole",
    "saved_prefix",
    "step_of",
    "wait_for_abandoned",
    "watched_folder",
    "why_not_beside_steps",
]
