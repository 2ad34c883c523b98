"""Keeps log lines from appearing twice on the console.

This library writes to TensorFlow's logger, as the original did: `tf.compat.v1.logging` and
`tf.get_logger()` decide what is shown, and where. That logger gets its own handler when its first
line is written, unless the root logger already has one. A handler added to the root later would
repeat each line: absl adds one in `app.run`, and when any package first logs through absl.
"""

from __future__ import annotations

import logging
import sys

__all__ = ["drop_duplicate_lines"]

_TENSORFLOW = "tensorflow"


def drop_duplicate_lines() -> None:
    """Keeps root handlers from repeating TensorFlow's lines on the console.

    Handlers that write elsewhere, or in the program's own format, are left alone.
    """
    logger = logging.getLogger(_TENSORFLOW)
    if _hush_repeaters not in logger.filters:
        logger.addFilter(_hush_repeaters)


def _hush_repeaters(record: logging.LogRecord) -> bool:
    """Checks the root's handlers before each line, since handlers may have been added."""
    del record
    for handler in logging.root.handlers:
        if _repeat not in handler.filters and (_is_plain(handler) or _is_absls(handler)):
            handler.addFilter(_repeat)
    return True


class _Repeats(logging.Filter):
    """Filters out records that TensorFlow's own handler has already written."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Returns whether to write the record."""
        return record.name != _TENSORFLOW or not logging.getLogger(_TENSORFLOW).handlers


_repeat = _Repeats()


def _is_plain(handler: logging.Handler) -> bool:
    """Returns whether a handler is `logging.basicConfig()`'s and has TensorFlow's format."""
    return (
        type(handler) is logging.StreamHandler
        and handler.stream in (sys.stderr, sys.stdout)
        and getattr(handler.formatter, "_fmt", None) == logging.BASIC_FORMAT
    )


def _is_absls(handler: logging.Handler) -> bool:
    """Returns whether a handler is absl's console handler; absl's log files keep all lines."""
    module = sys.modules.get("absl.logging")  # never imported here
    if module is None or not isinstance(handler, module.ABSLHandler):
        return False
    return handler.python_handler.stream in (sys.stderr, sys.stdout)
