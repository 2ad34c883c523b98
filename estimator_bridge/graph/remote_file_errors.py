"""Errors of input files that other machines read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import tensorflow as tf

__all__ = ["explained_remote_file_errors"]


@contextlib.contextmanager
def explained_remote_file_errors(devices: Sequence[str]) -> Iterator[None]:
    """Explains a missing file by naming the machines that read the input.

    Args:
      devices: the CPU devices of those machines; empty if this process reads the input.
    """
    try:
        yield
    except (tf.errors.NotFoundError, tf.errors.UnimplementedError) as error:
        if not devices:
            raise
        raise type(error)(
            error.node_def,
            error.op,
            f"{error.message}\nThe input is read by the TPU's own hosts ({', '.join(devices)}), "
            "which cannot see this machine's files (\"File system scheme '[local]' not "
            'implemented" means the same). Put the files where every host can read them, such as '
            "gs://bucket/folder, or make the dataset with tf.data.Dataset.from_generator or from "
            "arrays.",
        ) from error
