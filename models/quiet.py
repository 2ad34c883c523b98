"""Keeps TensorFlow's start-up messages off a program's screen."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator

__all__ = ["quiet_start"]

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
# How messages of TensorFlow's C++ side begin: I0000, W0000, or E0000, or in older style
# a date and a time before the letter.
_NOISE = re.compile(
    rb"WARNING: All log messages before absl|[IWE]\d{4} [\d:.]+ +\d+ |[\d-]+ [\d:.]+: [IWE] "
)


@contextlib.contextmanager
def quiet_start() -> Iterator[None]:
    """Context in which to import TensorFlow, and modules that import it, without its chatter.

    Of what is written to stderr meanwhile, TensorFlow's messages are dropped and the rest is
    passed on. A user who sets TF_CPP_MIN_LOG_LEVEL gets every message that it lets through.
    """
    if _LEVEL in os.environ:
        yield
        return
    os.environ[_LEVEL] = "3"
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module=r"tf_keras\.")
    # Some messages come before TensorFlow has read its own setting, so only the file
    # descriptor can stop them.
    sys.stderr.flush()
    screen = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(screen, 2)
            os.close(screen)
            kept.seek(0)
            for line in kept:
                if not _NOISE.match(line):
                    os.write(2, line)
