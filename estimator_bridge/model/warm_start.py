"""Initializes a model's variables from a checkpoint."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_no_pipe

__all__ = ["VocabInfo", "WarmStartSettings", "parse_warm_start", "warm_start"]

_train = tf.compat.v1.train

# It maps the rows or columns of a variable to the entries of a vocabulary file.
VocabInfo = _train.VocabInfo


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict[str, Any]
    var_name_to_prev_var_name: dict[str, str]


class WarmStartSettings(_Fields):
    """Selects the variables to initialize from a checkpoint.

    Ignored if the model already has its own checkpoint.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a folder to use its latest one.
      vars_to_warm_start: a regular expression for names of trainable variables; a list of regular
        expressions for names of all global variables (including slots and moving averages); a list
        of variables; or None for only those in ``var_name_to_vocab_info``.
      var_name_to_vocab_info: a `VocabInfo` by variable name, for variables whose rows or columns
        correspond to the entries of a vocabulary that has changed. A partitioned variable has the
        name of the whole.
      var_name_to_prev_var_name: the name in the checkpoint, by variable name.

    Raises:
      ValueError: ``ckpt_to_initialize_from`` is empty.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: dict[str, Any] | None = None,
        var_name_to_prev_var_name: dict[str, str] | None = None,
    ) -> WarmStartSettings:
        """Checks and stores the settings."""
        if not ckpt_to_initialize_from:
            raise ValueError(
                "`ckpt_to_initialize_from` MUST be set in WarmStartSettings, got "
                f"{ckpt_to_initialize_from!r}. Give a checkpoint (such as "
                "model_dir/model.ckpt-100) or a folder with one."
            )
        return super().__new__(
            cls,
            os.fsdecode(ckpt_to_initialize_from),
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def parse_warm_start(warm_start_from: Any) -> WarmStartSettings | None:
    """Converts an estimator's warm_start_from to settings.

    Args:
      warm_start_from: a checkpoint, a folder with one, the folder of a SavedModel,
        `WarmStartSettings`, or None.

    Returns:
      The settings; None for None.

    Raises:
      ValueError: `warm_start_from` is of another type.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes, os.PathLike)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}: {warm_start_from!r}. A string is the path of a checkpoint, "
            "of a folder of checkpoints, or of a SavedModel."
        )
    path = os.fsdecode(warm_start_from)
    saved_model = os.path.join(path, "variables", "variables")
    if path and tf.io.gfile.exists(saved_model + ".index"):
        logging.info("Warm-starting from a SavedModel")
        path = saved_model
    return WarmStartSettings(path)


class _NoSourceError(ValueError, tf.errors.NotFoundError):
    """There is no checkpoint to warm-start from."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


class _DamagedSourceError(ValueError, tf.errors.DataLossError):
    """The checkpoint to warm-start from cannot be read."""

    def __init__(self, message: str):
        tf.errors.DataLossError.__init__(self, None, None, message)


def warm_start(settings: WarmStartSettings) -> None:
    """Sets the initializers of the default graph's variables to a checkpoint's values.

    Args:
      settings: the variables and the checkpoint.

    Raises:
      ValueError: the checkpoint does not exist, it lacks a variable or has it in another shape, or
        the settings name variables that do not exist.
      OSError: a vocabulary is a pipe or a device.
      TypeError: a vocabulary's backup_initializer needs a static shape, and new rows have none.
    """
    logging.info("Warm-starting with WarmStartSettings: %s", settings)
    _check_vocabularies(settings)
    try:
        _check_columns(settings)
        _train.warm_start(*settings)
    except (tf.errors.NotFoundError, tf.errors.DataLossError) as error:
        kind = _NoSourceError if isinstance(error, tf.errors.NotFoundError) else _DamagedSourceError
        raise kind(
            f"There is nothing to warm-start from: {error.message}. ckpt_to_initialize_from must "
            f"be a checkpoint or a folder with one, got {settings.ckpt_to_initialize_from!r}."
        ) from error
    except TypeError as error:
        initializers = _backup_initializers(settings)
        if "int()" not in str(error) or "Tensor" not in str(error) or not initializers:
            raise
        raise TypeError(
            f"{error}. The backup_initializer of a VocabInfo fills a number of new rows that only "
            "the graph computes, and an initializer that scales by the shape (variance scaling, "
            f"Glorot, He, orthogonal) needs it before. Here they are {', '.join(initializers)}. "
            "Use one that does not, such as tf.compat.v1.truncated_normal_initializer(stddev=...) "
            "with stddev = sqrt(scale / fan), or None for zeros."
        ) from error


def _backup_initializers(settings: WarmStartSettings) -> list[str]:
    vocabularies = settings.var_name_to_vocab_info.items()
    return [
        f"{type(vocabulary.backup_initializer).__name__} of {name!r}"
        for name, vocabulary in vocabularies
        if vocabulary.backup_initializer is not None
    ]


def _check_vocabularies(settings: WarmStartSettings) -> None:
    for vocabulary in settings.var_name_to_vocab_info.values():
        for file in (vocabulary.old_vocab, vocabulary.new_vocab):
            check_is_no_pipe(os.fspath(file))


def _check_columns(settings: WarmStartSettings) -> None:
    """Checks that columns which follow a vocabulary are as many as its entries.

    TensorFlow does not check this (nor does it use old_vocab_size for columns), and would copy the
    memory after the values.
    """
    for name, vocabulary in settings.var_name_to_vocab_info.items():
        old = settings.var_name_to_prev_var_name.get(name, name)
        shapes = dict(tf.train.list_variables(settings.ckpt_to_initialize_from))
        if vocabulary.axis != 1 or old not in shapes:
            continue
        with tf.io.gfile.GFile(vocabulary.old_vocab, "rb") as file:
            entries = sum(1 for _ in file)
        if entries != shapes[old][1]:
            raise ValueError(
                f"The old_vocab of {name!r} ({vocabulary.old_vocab}) has {entries} entries, and "
                f"{old!r} in {settings.ckpt_to_initialize_from} has {shapes[old][1]} columns. With "
                "axis=1 there must be one entry for each column; cut the file to those."
            )
