"""What a program that is run as it stands does not need to be told by TensorFlow's log."""

from __future__ import annotations

import logging

__all__ = ["leave_out_old_news"]

# By a part of the message: that a name is deprecated, as the program will not be rewritten; and
# how the cores' sums are taken.
_NO_NEWS = ("is deprecated and will be removed", " then broadcast to (")


def leave_out_old_news() -> None:
    """Filters TensorFlow's log."""
    logging.getLogger("tensorflow").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not any(part in str(record.msg) for part in _NO_NEWS)
