"""Hides TensorFlow's startup messages."""

from __future__ import annotations

import contextlib
import glob
import importlib.metadata
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator

from estimator_bridge.base.tpu_presence import find_tpu
from estimator_bridge.base.tpu_wheels import TENSORFLOW_TPU

__all__ = ["quietly", "settle_devices"]

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
# The level shown by default: errors.
_ERRORS = 2
# The start of TensorFlow's C++ log lines, in current and older releases; the letter is the level.
_LOGGED = re.compile(r"(?:([IWEF])\d{4} [\d:.]+ +\d+ |[\d-]+ [\d:.]+: ([IWEF]) )")
_LETTERS = "IWEF"
# Messages without a problem behind them, some of them logged as errors.
_CHATTER = re.compile(
    r"WARNING: All log messages before absl::InitializeLog\(\)|"
    r".*(oneDNN custom operations are on|Could not find cuda drivers|cuda_platform\.cc|"
    r"This TensorFlow binary is optimized|Unable to register cu|TF-TRT Warning|"
    r"computation_placer\.cc)|"
    r"To enable the following instructions:"
)
_CPU_INFO = "/proc/cpuinfo"
_GPU_FILES = ("/dev/nvidia*", "/dev/kfd", "/dev/dri")


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Hides TensorFlow's log while it is loaded, except for errors.

    Other output to stderr is shown at the end of the context. A TF_CPP_MIN_LOG_LEVEL set by the
    user takes precedence: 0 hides nothing. Nor is anything hidden where TensorFlow may kill its
    process, since its last messages would be lost.
    """
    setting = os.environ.get(_LEVEL)
    if (setting is not None and _level(setting) == 0) or _may_abort():
        yield
        return
    os.environ.setdefault(_LEVEL, str(_ERRORS))
    level = _level(os.environ[_LEVEL])
    try:
        stderr = os.dup(2)
    except OSError:  # closed
        yield
        return
    # TensorFlow logs some lines before it reads its setting: redirecting stderr is the only way.
    with tempfile.TemporaryFile() as log_file:
        sys.stderr.flush()
        os.dup2(log_file.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            log_file.seek(0)
            for line in log_file.read().decode(errors="replace").splitlines():
                if line and not _is_chatter(line, level):
                    print(line, file=sys.stderr)


def settle_devices() -> None:
    """Makes TensorFlow look for GPUs now if the machine has none.

    TensorFlow logs an error when it first looks. If a GPU may exist, TensorFlow looks when the
    program first uses it: a program may choose its devices, or start processes, after the import.
    """
    if find_tpu(os.environ) is None and not any(map(glob.glob, _GPU_FILES)):
        import tensorflow as tf

        # What fails here fails again when the program uses TensorFlow.
        with contextlib.suppress(RuntimeError, tf.errors.OpError):
            tf.config.list_physical_devices("GPU")


def _may_abort() -> bool:
    """Whether TensorFlow may end the process: one for TPUs with another libtpu, or without AVX."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version(TENSORFLOW_TPU)
        return True
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        with open(_CPU_INFO, encoding="utf-8", errors="replace") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), None)
    except OSError:  # another system than Linux
        return False
    return flags is not None and "avx" not in flags


def _level(text: str) -> int:
    return int(text) if text.strip().isdecimal() else 0


def _is_chatter(line: str, level: int) -> bool:
    if level >= _ERRORS and _CHATTER.match(line):
        return True
    match = _LOGGED.match(line)
    return match is not None and _LETTERS.index(match[1] or match[2]) < level
