"""Waits for the checkpoints of a training that runs elsewhere."""

from __future__ import annotations

import time

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.any_checkpoints import newest_listed

__all__ = ["checkpoints_iterator", "wait_for_new_checkpoint"]

checkpoints_iterator = tf.compat.v1.train.checkpoints_iterator


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Polls a folder until it has a checkpoint that differs from the last one.

    Args:
      checkpoint_dir: the folder.
      last_checkpoint: the known checkpoint, or None.
      seconds_to_sleep: the seconds between polls.
      timeout: the seconds after which to give up; None for no limit.

    Returns:
      The path of the latest checkpoint; None after the timeout.
    """
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        latest = newest_listed(checkpoint_dir)
        if latest is not None and latest != last_checkpoint:
            logging.info("Found new checkpoint at %s", latest)
            return latest
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)
