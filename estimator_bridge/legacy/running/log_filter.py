"""Filters irrelevant messages from TensorFlow's log while an unmodified program runs."""

from __future__ import annotations

import logging

__all__ = ["filter_startup_messages"]

# By part of the message: deprecation warnings, as the program will not be rewritten, and details
# of summing over the cores.
_NO_NEWS = ("is deprecated and will be removed", " then broadcast to (")


def filter_startup_messages() -> None:
    """Filters TensorFlow's log."""
    logging.getLogger("tensorflow").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not any(part in str(record.msg) for part in _NO_NEWS)
