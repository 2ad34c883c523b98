"""The log as TensorFlow 1 wrote it: one line for a message, 'INFO:tensorflow:loss = ...'.

tf.logging writes to Python's logger "tensorflow", which has a handler of its own. This library
writes by absl, whose verbosity TF1's programs do not know of.
"""

from __future__ import annotations

import logging
import os

from absl import logging as absl_logging

__all__ = ["log_as_tf1_did"]

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def log_as_tf1_did() -> None:
    """Joins the two logs. To be called once TensorFlow is loaded."""
    tf_logger, absl_logger = logging.getLogger("tensorflow"), absl_logging.get_absl_logger()
    set_level = tf_logger.setLevel

    def set_both_levels(level: int | str) -> None:
        set_level(level)
        absl_logger.setLevel(tf_logger.level)

    # tf.logging.set_verbosity() ends here.
    tf_logger.setLevel = set_both_levels  # type: ignore[method-assign]
    tf_logger.addFilter(_is_news)
    absl_logger.addFilter(_hand_over)
    if tf_logger.handlers:  # else TensorFlow leaves its messages to the root's, of which absl's is
        absl_logging.get_absl_handler().addFilter(lambda record: record.name != "tensorflow")


def _hand_over(record: logging.LogRecord) -> bool:
    """Writes this library's message by TensorFlow's logger, where that lets it through."""
    tf_logger = logging.getLogger("tensorflow")
    is_ours = record.pathname.startswith(_OURS)
    if not is_ours or not tf_logger.isEnabledFor(record.levelno):
        return True
    handed = logging.makeLogRecord({**vars(record), "name": "tensorflow"})
    tf_logger.handle(handed)
    return False


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a message is another one than that of a name's deprecation."""
    return "is deprecated and will be removed" not in str(record.msg)
