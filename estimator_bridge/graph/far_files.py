"""Files that other machines are to read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import tensorflow as tf

__all__ = ["read_by"]


@contextlib.contextmanager
def read_by(devices: Sequence[str]) -> Iterator[None]:
    """Says whose files are meant, where one is missing that an input on other machines reads.

    Args:
      devices: those machines' CPUs; none where this process reads.
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
            "which do not see this machine's files (\"File system scheme '[local]' not "
            'implemented" means the same). Put the files where all of them can read, as '
            "gs://bucket/folder, or make the dataset with tf.data.Dataset.from_generator or from "
            "arrays.",
        ) from error
