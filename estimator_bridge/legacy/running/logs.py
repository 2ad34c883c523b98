"""The log as TensorFlow 1 wrote it: one line for a message, 'INFO:tensorflow:loss = ...'.

tf.logging writes to Python's logger "tensorflow", which has a handler of its own. This library
writes by absl, whose verbosity TF1's programs do not know of.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from absl import logging as absl_logging

__all__ = ["log_as_tf1_did"]

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def log_as_tf1_did() -> None:
    """Joins the two logs. To be called once TensorFlow is loaded."""
    tf_logger, absl_logger = logging.getLogger("tensorflow"), absl_logging.get_absl_logger()
    set_level, chosen = tf_logger.setLevel, []

    def set_both_levels(level: int | str) -> None:
        chosen.append(level)
        set_level(level)
        absl_logger.setLevel(tf_logger.level)

    def hand_over(record: logging.LogRecord) -> bool:
        """Writes this library's message by TensorFlow's logger; lets absl write all others.

        Where the program has never set tf.logging's verbosity, absl's own decides.
        """
        if not record.pathname.startswith(_OURS):
            return True
        if not tf_logger.isEnabledFor(record.levelno):
            return not chosen
        tf_logger.handle(logging.makeLogRecord({**vars(record), "name": "tensorflow"}))
        return False

    # tf.logging.set_verbosity() ends here.
    tf_logger.setLevel = set_both_levels  # type: ignore[method-assign]
    tf_logger.addFilter(_is_news)
    absl_logger.addFilter(hand_over)
    _leave_the_root_alone()
    if tf_logger.handlers:  # else TensorFlow leaves its messages to the root's, of which absl's is
        absl_logging.get_absl_handler().addFilter(lambda record: record.name != "tensorflow")


def _leave_the_root_alone() -> None:
    """Keeps absl from giving the root a handler for this library's messages.

    It does where a program has configured no logging: TensorFlow's would be written twice then.
    """
    log = absl_logging.log

    def log_without_root(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
        caller = sys._getframe(2).f_code.co_filename  # behind absl's info() or the like
        if logging.root.handlers or not caller.startswith(_OURS):
            log(level, msg, *args, **kwargs)
            return
        nobody = logging.NullHandler()
        logging.root.addHandler(nobody)
        try:
            log(level, msg, *args, **kwargs)
        finally:
            logging.root.removeHandler(nobody)

    absl_logging.ABSLLogger.register_frame_to_skip(__file__, log_without_root.__name__)
    absl_logging.log = log_without_root


# What is no news to the program's user, by a part of the message: that a name is deprecated, and
# how the cores' sums are taken.
_NO_NEWS = ("is deprecated and will be removed", " then broadcast to (")


def _is_news(record: logging.LogRecord) -> bool:
    return not any(part in str(record.msg) for part in _NO_NEWS)
