"""Log lines: where they go, and each of them once.

This library writes to TensorFlow's logger, as the original did: `tf.compat.v1.logging` and
`tf.get_logger()` decide what is shown, and where. That logger gets a handler of its own when its
first line is written, unless the root logger has one by then. A handler that the root gets later
would write each line once more: absl gives it one in `app.run`, and when any package writes its
first line by absl.
"""

from __future__ import annotations

import logging
import sys

__all__ = ["write_lines_once"]

_TENSORFLOW = "tensorflow"


def write_lines_once() -> None:
    """Keeps handlers of the root from repeating on the console what TensorFlow's own wrote there.

    Handlers that write elsewhere, or in a format that the program chose, are left alone.
    """
    logger = logging.getLogger(_TENSORFLOW)
    if _hush_repeaters not in logger.filters:
        logger.addFilter(_hush_repeaters)


def _hush_repeaters(record: logging.LogRecord) -> bool:
    """Looks at the root's handlers before each line, as they may have come since the last."""
    del record
    for handler in logging.root.handlers:
        if _repeat not in handler.filters and (_is_plain(handler) or _is_absls(handler)):
            handler.addFilter(_repeat)
    return True


class _Repeats(logging.Filter):
    """Lets a handler of the root write all but what TensorFlow's own handler has written."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        return record.name != _TENSORFLOW or not logging.getLogger(_TENSORFLOW).handlers


_repeat = _Repeats()


def _is_plain(handler: logging.Handler) -> bool:
    """Whether `logging.basicConfig()` made it: it has the format of TensorFlow's handler."""
    return (
        type(handler) is logging.StreamHandler
        and handler.stream in (sys.stderr, sys.stdout)
        and getattr(handler.formatter, "_fmt", None) == logging.BASIC_FORMAT
    )


def _is_absls(handler: logging.Handler) -> bool:
    """Whether it is absl's and writes to the console: a log file is to have all lines."""
    module = sys.modules.get("absl.logging")  # not loaded for this
    if module is None or not isinstance(handler, module.ABSLHandler):
        return False
    return handler.python_handler.stream in (sys.stderr, sys.stdout)
