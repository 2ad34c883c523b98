"""tf.contrib.cloud: access to Google Cloud Storage."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["cloud"].opened()

_Hook: Any = tf.compat.v1.train.SessionRunHook
_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"  # from which TensorFlow reads credentials
_COLAB_FILE = "/content/adc.json"


class BlockCacheParams:
    """The settings of the cache of files' blocks.

    Args:
      block_size: bytes of a block; by default 128 MiB.
      max_bytes: bytes of the cache; by default two blocks.
      max_staleness: seconds that a block stays valid; by default 0.
    """

    def __init__(
        self,
        block_size: int | None = None,
        max_bytes: int | None = None,
        max_staleness: int | None = None,
    ):
        self._block_size = block_size or 128 * 1024 * 1024
        self._max_bytes = max_bytes or 2 * self._block_size
        self._max_staleness = max_staleness or 0

    @property
    def block_size(self) -> int:
        """Bytes of a block."""
        return self._block_size

    @property
    def max_bytes(self) -> int:
        """Bytes of the cache."""
        return self._max_bytes

    @property
    def max_staleness(self) -> int:
        """Seconds that a block stays valid."""
        return self._max_staleness


def configure_gcs(
    session: Any,
    credentials: str | dict[str, Any] | None = None,
    block_cache: BlockCacheParams | None = None,
    device: Any = None,
) -> None:
    """Sets the credentials and the cache of this process for gs:// paths.

    TensorFlow 2 reads both from environment variables when it first opens such a path, so call this
    before. The credentials are written to a file that only the user can read, and that is deleted
    when the process ends.

    Args:
      session: ignored: the settings are the process's.
      credentials: the JSON of a user or a service account, as text or as a dict.
      block_cache: the cache's settings.
      device: ignored; processes on other machines have their own settings.

    Raises:
      ValueError: an argument is not of the given form.
    """
    del session, device
    if credentials is not None:
        _set_credentials(_checked_credentials(credentials))
    if block_cache is not None:
        _set_cache(_checked_cache(block_cache))


class ConfigureGcsHook(_Hook):
    """Calls `configure_gcs` when a session is created.

    Args:
      credentials: see `configure_gcs`.
      block_cache: as well.

    Raises:
      ValueError: an argument is not of the given form.
    """

    def __init__(
        self,
        credentials: str | dict[str, Any] | None = None,
        block_cache: BlockCacheParams | None = None,
    ):
        self._credentials = None if credentials is None else _checked_credentials(credentials)
        self._block_cache = _checked_cache(block_cache) if block_cache else None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Sets the credentials and the cache."""
        del coord
        configure_gcs(session, self._credentials, self._block_cache)


def configure_colab_session(session: Any) -> None:
    """Sets the credentials of a notebook in Colab.

    Args:
      session: ignored.

    Raises:
      FileNotFoundError: Colab wrote no credentials.
    """
    path = os.environ.get(_VARIABLE, _COLAB_FILE)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"{path} is missing. Call google.colab.auth.authenticate_user() first, or set "
            f"{_VARIABLE} to the file of your credentials."
        )
    check_is_no_pipe(path)
    with open(path, encoding="utf-8") as file:
        configure_gcs(session, json.load(file))


class _WrongKind(TypeError, ValueError):
    """Raised as a ValueError by the original's hook, and as a TypeError by its function."""


def _checked_credentials(credentials: Any) -> str:
    if isinstance(credentials, str):
        try:
            fields = json.loads(credentials)
        except ValueError as error:
            raise ValueError("credentials was not a well formed JSON string.") from error
    elif isinstance(credentials, dict):
        fields = credentials
    else:
        raise _WrongKind(
            f"credentials is of an unknown type: {type(credentials).__name__}. Pass the JSON as "
            "text or as a dict."
        )
    if not isinstance(fields, dict) or not {"refresh_token", "private_key"} & set(fields):
        raise ValueError('credentials has neither a "refresh_token" nor a "private_key" field.')
    return json.dumps(fields)


def _checked_cache(block_cache: Any) -> BlockCacheParams:
    if not isinstance(block_cache, BlockCacheParams):
        raise ValueError(
            f"block_cache must be an instance of BlockCacheParams. Got {block_cache!r}."
        )
    return block_cache


@functools.cache
def _folder() -> tempfile.TemporaryDirectory:
    """Returns a folder that is deleted when the process ends."""
    return tempfile.TemporaryDirectory(prefix="estimator_bridge_gcs_")


def _set_credentials(text: str) -> None:
    path = os.path.join(_folder().name, "credentials.json")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    os.environ[_VARIABLE] = path
    logging.info("%s is %s.", _VARIABLE, path)


def _set_cache(cache: BlockCacheParams) -> None:
    # TensorFlow's variables count in MiB.
    mebibyte = 1024 * 1024
    os.environ["GCS_READ_CACHE_BLOCK_SIZE_MB"] = str(max(cache.block_size // mebibyte, 1))
    os.environ["GCS_READ_CACHE_MAX_SIZE_MB"] = str(max(cache.max_bytes // mebibyte, 1))
    os.environ["GCS_READ_CACHE_MAX_STALENESS"] = str(cache.max_staleness)
