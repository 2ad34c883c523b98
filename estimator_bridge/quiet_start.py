"""Keeps what TensorFlow says of itself, while it is loaded, off the screen."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import sys
import tempfile
from collections.abc import Iterator

from estimator_bridge.tpu_presence import find_tpu

__all__ = ["quietly", "settle_devices"]

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
# What TensorFlow's own log shows without being asked: errors.
_ERRORS = 2
# How a line of TensorFlow's C++ side begins, today and in older releases; its letter is the level.
_LOGGED = re.compile(r"(?:([IWEF])\d{4} [\d:.]+ +\d+ |[\d-]+ [\d:.]+: ([IWEF]) )")
_LETTERS = "IWEF"
# Written where nothing is wrong, some of it as errors.
_CHATTER = re.compile(
    r"WARNING: All log messages before absl::InitializeLog\(\)|"
    r".*(oneDNN custom operations are on|Could not find cuda drivers|cuda_platform\.cc|"
    r"This TensorFlow binary is optimized|Unable to register cu|TF-TRT Warning|"
    r"computation_placer\.cc)|"
    r"To enable the following instructions:"
)
_GPU_FILES = ("/dev/nvidia*", "/dev/kfd", "/dev/dri")


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Context in which to load TensorFlow: of its own log, errors come through.

    All that others write to stderr meanwhile comes through too, at the context's end.
    TF_CPP_MIN_LOG_LEVEL, where a user has set it, decides in place of this: from 0 on nothing is
    held back, so that is also the way to see the last words of a TensorFlow that kills its process.
    """
    chosen = os.environ.get(_LEVEL)
    if chosen is not None and _level(chosen) == 0:
        yield
        return
    os.environ.setdefault(_LEVEL, str(_ERRORS))
    level = _level(os.environ[_LEVEL])
    try:
        stderr = os.dup(2)
    except OSError:  # closed
        yield
        return
    # Some lines come before TensorFlow has read its own setting: only the descriptor stops them.
    with tempfile.TemporaryFile() as said:
        sys.stderr.flush()
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            said.seek(0)
            for line in said.read().decode(errors="replace").splitlines():
                if line and not _is_chatter(line, level):
                    print(line, file=sys.stderr)


def settle_devices() -> None:
    """Lets TensorFlow look for GPUs now where there is none to find.

    It says so, as an error, when it first looks. Where there may be one, it looks when the program
    uses it: a program may choose its devices, or start processes, after TensorFlow is loaded.
    """
    if find_tpu(os.environ) is None and not any(map(glob.glob, _GPU_FILES)):
        import tensorflow as tf

        tf.config.list_physical_devices("GPU")


def _level(text: str) -> int:
    return int(text) if text.strip().isdecimal() else 0


def _is_chatter(line: str, level: int) -> bool:
    if level >= _ERRORS and _CHATTER.match(line):
        return True
    logged = _LOGGED.match(line)
    return logged is not None and _LETTERS.index(logged[1] or logged[2]) < level
