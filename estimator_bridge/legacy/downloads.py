"""Files of data sets: in a folder, or downloaded to it."""

from __future__ import annotations

import os
import urllib.error
import urllib.request

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.own_files import replace_file

__all__ = ["local_copy"]

_TIMEOUT_SECS = 60


def local_copy(name: str, folder: str, url: str, advice: str) -> str:
    """Returns the path of a file, which is downloaded if the folder lacks it.

    Args:
      name: the file's name in the folder.
      folder: the folder; it is created if it is missing.
      url: where to download the file from.
      advice: the end of the error's text: which files to put where.

    Raises:
      FileNotFoundError: the file is missing and cannot be downloaded.
    """
    path = os.path.join(folder, name)
    if tf.io.gfile.exists(path):
        return path
    tf.io.gfile.makedirs(folder)
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECS) as answer:
            content = answer.read()
    except (urllib.error.URLError, OSError) as error:
        raise FileNotFoundError(
            f"{path} is missing, and {url} cannot be downloaded ({error}). {advice}"
        ) from error
    replace_file(path, content)
    logging.info("Downloaded %s, %d bytes.", path, len(content))
    return path
