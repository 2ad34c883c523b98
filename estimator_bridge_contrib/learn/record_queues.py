"""Batches of records in files, by TensorFlow 1's readers and queues.

Start the queue runners of the graph; an Estimator starts those of its input_fn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "queue_parsed_features",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_features",
]

_v1 = tf.compat.v1
_KEY = "__key__"  # the name of records' keys among parsed features
_CLOSED = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def read_keyed_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[tf.Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[tf.Tensor, Any]:
    """Reads batches of records with their keys.

    Args:
      file_pattern: a pattern of the files' names, or a list of patterns.
      batch_size: the number of records of a batch.
      reader: makes a reader, such as tf.compat.v1.TFRecordReader.
      randomize_input: whether to shuffle the files, and records among those that wait.
      num_epochs: how often to read the files; None for no end.
      queue_capacity: how many records may wait.
      num_threads: the number of threads that read.
      read_batch_size: how many records a thread reads at once.
      parse_fn: a function of records, whose result is batched instead: a tensor, or tensors by
        name.
      name: the operations' name.
      seed: the seed of the shuffling.

    Returns:
      The keys, and the records, [batch_size] or, in the last batch of num_epochs, fewer.

    Raises:
      ValueError: there are no files, or a number is out of range.
    """
    _check_sizes(batch_size, queue_capacity, num_threads, read_batch_size, num_epochs)
    files = _file_names(file_pattern, randomize_input)
    with _v1.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with _v1.name_scope("file_name_queue") as queue_scope:
            queue = _v1.train.string_input_producer(
                tf.constant(files, name="input"),
                shuffle=randomize_input,
                num_epochs=num_epochs,
                name=queue_scope,
                seed=seed,
            )
        with _v1.name_scope("read"):
            tensors_list = [
                _read(reader(), queue, read_batch_size, parse_fn) for _ in range(num_threads)
            ]
        options: dict[str, Any] = {
            "capacity": queue_capacity,
            "enqueue_many": read_batch_size > 1,
            "name": scope,
            "allow_smaller_final_batch": num_epochs is not None,
        }
        if randomize_input:
            min_after_dequeue = int(queue_capacity * 0.4)
            if not tf.is_tensor(batch_size):
                min_after_dequeue = max(queue_capacity - 3 * batch_size, batch_size)
            batch = _v1.train.shuffle_batch_join(
                tensors_list, batch_size, min_after_dequeue=min_after_dequeue, seed=seed, **options
            )
        else:
            batch = _v1.train.batch_join(tensors_list, batch_size, **options)
        if isinstance(batch, dict):
            keys = batch.pop(_KEY)
            return keys, batch
        keys, records = batch
        return keys, records


def read_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[tf.Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Reads batches of records; see `read_keyed_batch_examples`, of which it returns the second."""
    return read_keyed_batch_examples(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )[1]


def read_keyed_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[tf.Tensor], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[tf.Tensor, dict[str, Any]]:
    """Reads batches of serialized examples, and parses them.

    Args:
      file_pattern: see `read_keyed_batch_examples`.
      batch_size: as well.
      features: what tf.io.parse_example takes.
      reader: see `read_keyed_batch_examples`.
      randomize_input: as well.
      num_epochs: as well.
      queue_capacity: as well.
      reader_num_threads: the number of threads that read.
      feature_queue_capacity: how many parsed batches may wait.
      num_enqueue_threads: the number of threads that parse; with several, batches may change
        places.
      parse_fn: a function of records that returns serialized examples.
      name: the operations' name.
      read_batch_size: how many records a thread reads at once; by default batch_size.

    Returns:
      The keys, and the features by name.

    Raises:
      ValueError: see `read_keyed_batch_examples`.
    """
    with _v1.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            scope,
        )
        parsed = _v1.parse_example(examples, features)
        return queue_parsed_features(
            parsed, keys, feature_queue_capacity, num_enqueue_threads, scope
        )


def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[tf.Tensor], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:
    """Reads features; see `read_keyed_batch_features`, of which it returns the second."""
    return read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads,
        feature_queue_capacity,
        num_enqueue_threads,
        parse_fn,
        name,
        read_batch_size,
    )[1]


def read_batch_record_features(
    file_pattern: str | Sequence[str],
    batch_size: Any,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """Reads features of TFRecord files; see `read_batch_features`."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        _v1.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


def queue_parsed_features(
    parsed_features: Mapping[str, Any],
    keys: tf.Tensor | None = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[tf.Tensor | None, dict[str, Any]]:
    """Puts parsed batches into a queue, so that threads parse ahead.

    Args:
      parsed_features: tensors and sparse tensors by name.
      keys: a tensor that goes with them.
      feature_queue_capacity: how many batches may wait.
      num_enqueue_threads: the number of threads.
      name: the operations' name.

    Returns:
      The keys, or None, and the features by name.
    """
    ordered: Any = [{key: parsed_features[key] for key in sorted(parsed_features)}]
    ordered += [] if keys is None else [keys]
    tensors = tf.nest.flatten(ordered, expand_composites=True)
    with _v1.name_scope(name, "queue_parsed_features", tensors):
        queue = tf.queue.FIFOQueue(feature_queue_capacity, [each.dtype for each in tensors])
        _v1.summary.scalar(
            f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            tf.cast(queue.size(), tf.float32) * (1.0 / feature_queue_capacity),
        )
        enqueues = [queue.enqueue(tensors) for _ in range(num_enqueue_threads)]
        _v1.train.add_queue_runner(
            _v1.train.QueueRunner(queue, enqueues, queue_closed_exception_types=_CLOSED)
        )
        components = queue.dequeue()
        components = components if isinstance(components, list) else [components]
        for here, there in zip(components, tensors):
            here.set_shape(there.shape)
        features, *key = tf.nest.pack_sequence_as(ordered, components, expand_composites=True)
        return (key[0] if key else None), features


def _read(reader: Any, queue: Any, at_once: int, parse_fn: Callable[..., Any] | None) -> Any:
    keys, records = reader.read_up_to(queue, at_once) if at_once > 1 else reader.read(queue)
    examples = records if parse_fn is None else parse_fn(records)
    return {**examples, _KEY: keys} if isinstance(examples, dict) else (keys, examples)


def _file_names(pattern: str | Sequence[str], is_shuffled: bool) -> list[str]:
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    if not patterns:
        raise ValueError("No files given to dequeue_examples. Pass a pattern in file_pattern.")
    names = [name for each in patterns for name in tf.io.gfile.glob(each)]
    if not names:
        raise ValueError(f"No files match {pattern}.")
    return names if is_shuffled else sorted(names)


def _check_sizes(
    batch_size: Any, capacity: Any, threads: Any, at_once: Any, epochs: int | None
) -> None:
    if not capacity or capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {capacity}.")
    if batch_size is None or (not tf.is_tensor(batch_size) and not 0 < batch_size < capacity):
        raise ValueError(
            f"Invalid batch_size {batch_size}, with queue_capacity {capacity}. It must be positive "
            "and smaller."
        )
    if at_once is None or at_once <= 0:
        raise ValueError(f"Invalid read_batch_size {at_once}.")
    if not threads or threads <= 0:
        raise ValueError(f"Invalid num_threads {threads}.")
    if epochs is not None and epochs <= 0:
        raise ValueError(f"Invalid num_epochs {epochs}. Use None for no end.")
