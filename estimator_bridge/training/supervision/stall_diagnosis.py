"""Finds out from the stacks of Python's threads what a stalled training waits for."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from types import FrameType

import tensorflow as tf

from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS

__all__ = ["diagnose_stall"]

_OWN = LIBRARY_FOLDERS[0]  # that of estimator_bridge; the other one's code is called by it
_TENSORFLOW = os.path.join(os.path.dirname(tf.__file__), "")
_STDLIB = os.path.join(sysconfig.get_paths()["stdlib"], "")
_LIBRARIES = (*LIBRARY_FOLDERS, _TENSORFLOW, _STDLIB, "<")

# The reason to wait, by the innermost of these files on the stack of the training's thread.
_PLACES = {
    os.path.join("training", "model_call.py"): "model_fn",
    os.path.join("data", "inputs.py"): "input_fn",
    os.path.join("checkpoint", "background_writer.py"): "the disk: a checkpoint is being written",
    os.path.join("checkpoint", "overwriting.py"): "the disk: a checkpoint is being written",
    os.path.join(
        "checkpoint", "iterator_positions.py"
    ): "the disk: the input's position is being written",
    os.path.join("checkpoint", "integrity.py"): "the disk: a checkpoint is being read",
    os.path.join("checkpoint", "folder.py"): "the disk: model_dir is being looked through",
    os.path.join("training", "initialize.py"): "the disk: a checkpoint is being restored",
    os.path.join("runtime", "deadlines.py"): "a TPU or other workers to be connected",
    os.path.join("runtime", "workers.py"): "the other workers",
    os.path.join("training", "hook_requests.py"): "a hook",
    os.path.join("runtime", "batch_source.py"): "the input",
}
# The files in which Python functions of a graph are called.
_GENERATORS = (
    os.path.join("data", "ops", "from_generator_op.py"),
    os.path.join("graph", "example_batches.py"),
)
_CALLBACKS = os.path.join("ops", "script_ops.py")


def diagnose_stall(thread: int, is_first: bool) -> str:
    """Returns what a training waits for, as part of a sentence.

    Args:
      thread: the identifier of the training's thread.
      is_first: whether its first call of the compiled loop has not ended yet.
    """
    stacks = {number: list(_frames(frame)) for number, frame in sys._current_frames().items()}
    own = stacks.get(thread, [])
    in_python = [reason for frames in stacks.values() if (reason := _called_by_tensorflow(frames))]
    if in_python:
        return in_python[0]
    in_program = ""  # the innermost frame of user code that this library called
    for index, frame in enumerate(own):
        file = frame.f_code.co_filename
        if not file.startswith(_OWN):
            continue
        in_program = in_program or _where(own[:index])
        place = _PLACES.get(os.path.relpath(file, _OWN))
        if place:
            return place + in_program
        if file.endswith(os.path.join("runtime", "loop.py")):
            break
    if in_program:
        return "the program's own code" + in_program
    if is_first:
        return "the first step, which TensorFlow compiles, or for the first batch of its input"
    return "a step, or for the next batch of its input, inside TensorFlow"


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yields the frames of a stack, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _called_by_tensorflow(frames: list[FrameType]) -> str | None:
    """Describes a Python function that a step or an input calls; None if none is on this stack."""
    files = [frame.f_code.co_filename for frame in frames]
    callback = next((i for i, file in enumerate(files) if file.endswith(_CALLBACKS)), None)
    if callback is None:
        return None
    is_input = any(file.endswith(_GENERATORS) for file in files[:callback])
    kind = "the input: a generator" if is_input else "a Python function of the graph or a host call"
    return kind + _where(frames[:callback])


def _where(frames: list[FrameType]) -> str:
    """Returns the innermost line of the user's program, as part of a sentence."""
    for frame in frames:
        code = frame.f_code
        if not code.co_filename.startswith(_LIBRARIES):
            return f", in {code.co_name} ({code.co_filename}:{frame.f_lineno})"
    return ""
