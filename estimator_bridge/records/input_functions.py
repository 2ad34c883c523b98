"""An input_fn over record files: parallel, shuffled, and divided among hosts."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.data.input_errors import explain_input_errors_with
from estimator_bridge.data.input_fn import batch_size_for, check_batch_size
from estimator_bridge.data.reader_parts import reader_part
from estimator_bridge.errors import DataError
from estimator_bridge.model import ModeKeys
from estimator_bridge.records.explaining import first_unreadable
from estimator_bridge.records.features import Feature, parse
from estimator_bridge.records.files import Paths, RecordFiles, find_records
from estimator_bridge.records.framing import check_lengths
from estimator_bridge.records.left_out import Part, check_left_out, file_reader

__all__ = ["input_fn"]

# The number of files that one host reads at the same time.
_PARALLEL_FILES = 16
_SHUFFLED = 10_000
_ALL = tf.data.AUTOTUNE
_DECODED = "decoded"
# The number of examples decoded at the same time. AUTOTUNE begins with fewer and was slower on two
# busy cores.
_CORES = os.cpu_count() or 1


@dataclasses.dataclass(frozen=True)
class _Reading:
    """The options of reading records; see `input_fn`."""

    training: bool
    label: str | None
    decode: Callable | None
    transform: Callable | None
    shuffle: int
    seed: int | None
    cache: bool | str
    leave_out: Mapping[str, Sequence[int]]

    @property
    def is_ordered(self) -> bool:
        """True if the order of records is the same in each run."""
        return not self.training or self.seed is not None


def input_fn(
    paths: Paths,
    training: bool,
    batch_size: int | None = None,
    features: Mapping[str, Any] | None = None,
    label: str | None = None,
    decode: Callable[..., Any] | None = None,
    transform: Callable[..., Any] | None = None,
    shuffle: int = _SHUFFLED,
    seed: int | None = None,
    cache: bool | str = False,
    leave_out: Mapping[str, Sequence[int]] | None = None,
) -> Callable[..., tf.data.Dataset]:
    """Makes an input_fn for `Estimator` and `TPUEstimator` that reads records.

    ::

        train = eb.records.input_fn("gs://bucket/train", training=True, label="label")
        test = eb.records.input_fn("gs://bucket/test", training=False, label="label")

    In training, 16 files are read at once, records come in the order in which they are ready, and
    the input repeats. Each host reads different files or, if there are fewer files than hosts,
    different records. With a seed, the order is the same in each
    run. In evaluation and prediction, each record comes once, in the order of the files.

    Args:
      paths: a folder, a file or a pattern, local or on an object store; or a list of them.
      training: whether to shuffle, repeat, and drop a last batch that is not full.
      batch_size: the batch size if the estimator passes no ``params["batch_size"]``; `TPUEstimator`
        always passes one.
      features: the argument of ``tf.io.parse_example``; required if a folder has no manifest.
      label: the feature that becomes the labels; None for features only.
      decode: called with one example, before batching: ``decode(features)``, or
        ``decode(features, label)`` if there are labels, which prediction leaves out. Use it for
        images and augmentation. Without it, batches are parsed at once, which is faster.
      transform: called with a batch, in the same way.
      shuffle: the number of records in the buffer from which training draws.
      seed: the seed of the order of files and records in training; None for another order in each
        run.
      cache: what to keep in memory after the first pass over the records: True for the records,
        "decoded" for what `decode` returns. Then each image is decoded once. Random changes belong
        into `transform`, because those of `decode` would be the same in each epoch.
      leave_out: the numbers of records that are not read, by file, such as ``damaged_images`` of a
        `check`. A record that cannot be read and is not left out ends the training with a
        `DataError` that names its file and number.

    Returns:
      A function of ``params``, ``mode`` and ``input_context``, all optional, that returns a Dataset
      of batches: (features, labels), or features. A batch has ``params["batch_size"]`` examples: it
      is a host's batch or, with per-core input, a replica's.

    Raises:
      DataError: the files are missing, damaged or mixed; no feature has the label's name; the
        features are not known; or `leave_out` names another file.
      ValueError: `batch_size` or `shuffle` is not a positive whole number, or `cache` is another
        value. When called: there is no batch size.
    """
    if batch_size is not None:
        check_batch_size(batch_size, "input_fn(batch_size=...)")
    if isinstance(shuffle, bool) or not isinstance(shuffle, int) or shuffle < 1:
        raise ValueError(f"shuffle must be a positive whole number of records, got {shuffle!r}.")
    _check_cache(cache, decode)
    files = find_records(paths)
    parsing = _parser(files, features, label)
    check_left_out(leave_out or {}, files.paths)
    check_lengths(files.paths)
    reading = _Reading(
        training, label, decode, transform, shuffle, seed, cache, leave_out or {}
    )  # fmt: skip
    usual_mode = ModeKeys.TRAIN if training else ModeKeys.EVAL

    def batches(
        params: Any = None,
        mode: str | None = None,
        input_context: tf.distribute.InputContext | None = None,
    ) -> tf.data.Dataset:
        size = batch_size_for(params, batch_size)
        own_files, part = _files_of(files, *reader_part(params, input_context))
        return _batches(own_files, part, parsing, reading, size, mode or usual_mode)

    return batches


def _check_cache(cache: bool | str, decode: Callable | None) -> None:
    if cache not in (True, False, _DECODED):
        raise ValueError(f'input_fn(cache={cache!r}): want True, False or "{_DECODED}".')
    if cache == _DECODED and decode is None:
        raise ValueError(
            f'input_fn(cache="{_DECODED}") has no decode: it keeps what decode returns. Pass '
            "decode=..., or cache=True to keep the records."
        )


def _batches(
    paths: list[str],
    part: Part,
    parsing: Callable[[tf.Tensor], dict[str, tf.Tensor]],
    reading: _Reading,
    batch_size: int,
    mode: str,
) -> tf.data.Dataset:
    is_predicting = mode == ModeKeys.PREDICT

    def split(values: dict[str, Any]) -> Any:
        if reading.label is None:
            return values
        labels = values.pop(reading.label)
        return values if is_predicting else (values, labels)

    def example(record: tf.Tensor) -> Any:  # one call: each map costs as much as a small parse
        values = split(parsing(record))
        if reading.decode is None:
            return values
        return reading.decode(*values) if isinstance(values, tuple) else reading.decode(values)

    explain_input_errors_with(first_unreadable(paths, example, reading.leave_out))
    dataset = _records(paths, part, reading)
    if reading.decode is None:
        dataset = _kept_and_shuffled(dataset, reading)
        dataset = dataset.batch(batch_size, drop_remainder=reading.training)
        dataset = dataset.map(lambda records: split(parsing(records)), _ALL)
    else:

        def decoded(records: tf.data.Dataset) -> tf.data.Dataset:
            return records.map(example, _CORES, deterministic=reading.is_ordered)

        if reading.cache == _DECODED:
            dataset = _kept_and_shuffled(decoded(dataset), reading)
        else:
            dataset = decoded(_kept_and_shuffled(dataset, reading))
        dataset = dataset.batch(batch_size, drop_remainder=reading.training)
    if reading.transform is not None:
        dataset = dataset.map(reading.transform, _ALL)
    return dataset.prefetch(_ALL)


def _records(paths: list[str], part: Part, reading: _Reading) -> tf.data.Dataset:
    """Returns the serialized records of files."""
    files = tf.data.Dataset.from_tensor_slices(paths)
    read_file = file_reader(paths, reading.leave_out, part)
    if not reading.training:
        return files.interleave(read_file, 1, 1, num_parallel_calls=1, deterministic=True)
    if len(paths) > 1:
        files = files.shuffle(len(paths), seed=reading.seed)
    return files.interleave(
        read_file,
        min(_PARALLEL_FILES, len(paths)),
        1,
        num_parallel_calls=_ALL,
        deterministic=reading.is_ordered,
    )


def _kept_and_shuffled(dataset: tf.data.Dataset, reading: _Reading) -> tf.data.Dataset:
    """Returns a dataset, cached if asked for, and in training shuffled and repeated without end."""
    if reading.cache:
        dataset = dataset.cache()
    if not reading.training:
        return dataset
    return dataset.shuffle(reading.shuffle, seed=reading.seed).repeat()


def _parser(
    files: RecordFiles, user_features: Mapping[str, Any] | None, label: str | None
) -> Callable[[tf.Tensor], dict[str, tf.Tensor]]:
    """Returns the function that parses one record or a batch of them."""
    file_features: Mapping[str, Feature] | None = None if user_features else files.features
    if not user_features and file_features is None:
        raise DataError(
            f"{files.paths[0]}: the features of its records are not known: its folder was read "
            "without a manifest. Pass features={'name': tf.io.FixedLenFeature(...)}. "
            "`estimator-bridge data show` lists the features that records have."
        )
    names = sorted(user_features or file_features or ())
    if label is not None and label not in names:
        raise DataError(
            f"{files.paths[0]}: records have no feature {label!r} for label=, but "
            f"{', '.join(names)}."
        )
    if user_features:
        spec = dict(user_features)

        def parse_by_spec(records: tf.Tensor) -> dict[str, tf.Tensor]:
            if records.shape.rank == 1:
                return tf.io.parse_example(records, spec)
            return tf.io.parse_single_example(records, spec)

        return parse_by_spec
    features = dict(file_features or {})
    return lambda records: parse(features, records)


def _files_of(files: RecordFiles, part: int, parts: int) -> tuple[list[str], Part]:
    """Returns the files of a reader, and its part of the records of each.

    Readers have files of their own. If there are fewer files than readers, each reads all files
    and takes a part of the records.
    """
    paths = list(files.paths)
    if len(paths) >= parts:
        return paths[part::parts], Part()
    logging.warning(
        "%s: %d file(s) of records for %d readers (hosts, workers or cores). Each reads all files "
        "and takes each %d-th record. Write at least %d files, so that each reads its own: "
        "estimator-bridge data write ... --shards %d",
        os.path.dirname(paths[0]), len(paths), parts, parts, parts, max(parts, 8),
    )  # fmt: skip
    return paths, Part(part, parts)
