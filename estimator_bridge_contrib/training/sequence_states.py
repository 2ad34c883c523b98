"""Batches of parts of sequences, with a state that is carried from one part to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import Barrier
from estimator_bridge_contrib.training.sequence_checks import (
    check_divisible,
    check_first_sizes,
    check_rank,
    check_shape,
    named_tensors,
)

__all__ = ["NextQueuedSequenceBatch", "SequenceQueueingStateSaver"]

_v1 = tf.compat.v1
_FIXED = ("length", "total_length", "next_key", "sequence", "sequence_count")
_FIXED_TYPES = (tf.int32, tf.int32, tf.string, tf.int32, tf.int32)


class SequenceQueueingStateSaver:
    """Cuts sequences into parts of equal length, which are batched when their state is known.

    A part waits in a barrier until the part before it was in a batch and its states were saved by
    `NextQueuedSequenceBatch.save_state`.

    Args:
      batch_size: the number of parts of a batch.
      num_unroll: the length of a part.
      input_length: the length of a sequence without padding, an int32 scalar.
      input_key: the sequence's key, a string scalar; the keys of waiting sequences differ.
      input_sequences: tensors [padded length, ...] by name; the length is a multiple of num_unroll.
      input_context: tensors by name that belong to all parts.
      initial_states: the states of the first part by name.
      capacity: the number of sequences that may wait; by default any.
      allow_small_batch: whether batches may be smaller once the saver is closed.
      name: the operations' scope.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: the capacity is below batch_size, there are no sequences or states, a name has a
        colon, or a shape is not fully defined.
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: Mapping[str, Any],
        input_context: Mapping[str, Any],
        initial_states: Mapping[str, Any],
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ):
        input_key = _with_capacity(input_key, capacity, batch_size)
        most = capacity if capacity is not None else -1
        self._tokens = _v1.FIFOQueue(most, [tf.int32], [[]])  # one for each waiting sequence
        self._batch_size, self._unroll = batch_size, num_unroll
        self._is_small_allowed = allow_small_batch
        with _v1.name_scope(name, "InputQueueingStateSaver") as self._scope:
            self._inputs = {
                "sequence": named_tensors("sequence", input_sequences),
                "context": named_tensors("context", input_context),
                "state": named_tensors("state", initial_states),
            }
            self._key = check_rank(tf.convert_to_tensor(input_key, name="key"), 0)
            length = check_rank(tf.convert_to_tensor(input_length, name="length"), 0)
            for label, tensor, dtype in (
                ("length", length, tf.int32),
                ("key", self._key, tf.string),
            ):
                if tensor.dtype != dtype:
                    raise TypeError(f"{label} dtype must be {dtype.name}, got {tensor.dtype.name}")
            sequences = self._inputs["sequence"]
            padded = tf.identity(tf.shape(next(iter(sequences.values())))[0], "padded_length")
            padded = check_divisible(padded, num_unroll)
            self._inputs["sequence"] = check_first_sizes(sequences, padded)
            check = _v1.assert_less_equal(
                length, padded, message="Input length should be <= than length from sequences."
            )
            with tf.control_dependencies([check]):
                self._length = tf.identity(length)
            self._parts = padded // num_unroll
            self._fields = [
                *_FIXED,
                *(f"{kind}:{one}" for kind, tensors in self._inputs.items() for one in tensors),
            ]
            self._barrier = self._make_barrier()
        self._prefetch: tf.Operation | None = None
        self._batch: NextQueuedSequenceBatch | None = None

    @property
    def name(self) -> str:
        """The operations' scope."""
        return self._scope

    @property
    def barrier(self) -> Any:
        """The barrier in which parts wait."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """The number of parts of a batch."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """The length of a part."""
        return self._unroll

    @property
    def prefetch_op(self) -> tf.Operation:
        """The operation that puts the parts of a sequence into the barrier."""
        if self._prefetch is None:
            with _v1.name_scope(self._scope):
                self._prefetch = self._put()
        return self._prefetch

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next batch."""
        assert self.prefetch_op is not None  # its operations come first
        if self._batch is None:
            with _v1.name_scope(self._scope):
                self._batch = self._take_batch()
        return self._batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Returns the operation that closes the saver.

        Args:
          cancel_pending_enqueues: whether to cancel the insertion of parts that are not complete.
          name: the operation's name.
        """
        with _v1.name_scope(name, "SQSSClose") as scope:
            parts = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            tokens = self._tokens.close(cancel_pending_enqueues, "FIFOClose")
            return tf.group(parts, tokens, name=scope)

    def save(self, state: str, keys: tf.Tensor, values: tf.Tensor, name: str) -> tf.Operation:
        """Puts values of a state into the barrier.

        Args:
          state: the state's name.
          keys: the keys of the parts that wait for them, [parts].
          values: the values, [parts, ...].
          name: the operation's name.
        """
        return self._insert(f"state:{state}", keys, values, name)

    def _make_barrier(self) -> Any:
        types, shapes = list(_FIXED_TYPES), [()] * len(_FIXED)
        for kind, tensors in self._inputs.items():
            for tensor in tensors.values():
                is_sequence = kind == "sequence"
                own = tensor.shape[1:] if is_sequence else tensor.shape
                types.append(tensor.dtype)
                shapes.append(((self._unroll,) if is_sequence else ()) + tuple(own))
        return Barrier(types=types, shapes=shapes)

    def _insert(self, field: str, keys: Any, values: Any, name: str) -> tf.Operation:
        return self._barrier.insert_many(self._fields.index(field), keys, values, name)

    def _put(self) -> tf.Operation:
        number = tf.range(self._parts)
        keys = tf.strings.join([_padded(number), "_of_", _padded(self._parts), ":", self._key])
        stop = tf.strings.join(["STOP:", self._key])
        rest = tf.clip_by_value(self._length - self._unroll * number, 0, self._unroll)
        values: dict[str, Any] = {
            "length": rest,
            "total_length": tf.fill([self._parts], self._length),
            "next_key": tf.concat([keys[1:], [stop]], 0),
            "sequence": number,
            "sequence_count": tf.fill([self._parts], self._parts),
        }
        for one, tensor in self._inputs["sequence"].items():
            shape = [self._parts, self._unroll, *tensor.shape[1:]]
            values[f"sequence:{one}"] = tf.reshape(tensor, shape)
        for one, tensor in self._inputs["context"].items():
            repeated = tf.broadcast_to(tensor, tf.concat([[self._parts], tf.shape(tensor)], 0))
            values[f"context:{one}"] = repeated
        inserts = {
            field: self._insert(field, keys, value, f"BarrierInsert_{_plain(field)}")
            for field, value in values.items()
        }
        token = self._tokens.enqueue([0])
        # A sequence whose number is known gets its place in the order, before it can be complete.
        with tf.control_dependencies([inserts["sequence"], token]):
            first = [
                self.save(one, keys[:1], tf.expand_dims(value, 0), f"BarrierInitialState_{one}")
                for one, value in self._inputs["state"].items()
            ]
        return tf.group(token, *inserts.values(), *first, name="StateSaverPrefetchGroup")

    def _take_batch(self) -> NextQueuedSequenceBatch:
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._is_small_allowed, name="BarrierTakeMany"
        )
        components = dict(zip(self._fields, values))
        is_last = components["sequence"] + 1 >= components["sequence_count"]
        ended = self._tokens.dequeue_many(tf.reduce_sum(tf.cast(is_last, tf.int32)))
        with tf.control_dependencies([ended]):
            states = {one: tf.identity(components[f"state:{one}"]) for one in self._inputs["state"]}
        tensors = {field: components[field] for field in _FIXED}
        tensors.update(key=keys, insertion_index=indices, is_last=is_last)
        named = {
            kind: {one: components[f"{kind}:{one}"] for one in self._inputs[kind]}
            for kind in ("sequence", "context")
        }
        return NextQueuedSequenceBatch(self.save, tensors, named, states)


class NextQueuedSequenceBatch:
    """A batch of parts of sequences.

    Args:
      save: a function of a state's name, keys, values and the operation's name, that saves them.
      tensors: the parts' tensors by name.
      named: the tensors of sequences and of contexts by name.
      states: the states by name.
    """

    def __init__(
        self,
        save: Callable[[str, tf.Tensor, tf.Tensor, str], tf.Operation],
        tensors: Mapping[str, tf.Tensor],
        named: dict[str, dict[str, Any]],
        states: dict[str, tf.Tensor],
    ):
        self._save, self._tensors, self._named, self._states = save, tensors, named, states

    @property
    def total_length(self) -> tf.Tensor:
        """The lengths of the parts' sequences, [batch]."""
        return self._tensors["total_length"]

    @property
    def length(self) -> tf.Tensor:
        """The lengths of the parts without padding, [batch]."""
        return self._tensors["length"]

    @property
    def batch_size(self) -> tf.Tensor:
        """The number of parts."""
        return tf.squeeze(tf.shape(self.length))

    @property
    def insertion_index(self) -> tf.Tensor:
        """Numbers in the order of insertion, int64 [batch]; the first is the smallest int64."""
        return self._tensors["insertion_index"]

    @property
    def key(self) -> tf.Tensor:
        """The parts' keys, such as ``00000_of_00002:KEY``, [batch]."""
        return self._tensors["key"]

    @property
    def next_key(self) -> tf.Tensor:
        """The keys of the parts after them; ``STOP:KEY`` for the last."""
        return self._tensors["next_key"]

    @property
    def sequence(self) -> tf.Tensor:
        """The parts' numbers in their sequences, [batch]."""
        return self._tensors["sequence"]

    @property
    def sequence_count(self) -> tf.Tensor:
        """The numbers of parts of their sequences, [batch]."""
        return self._tensors["sequence_count"]

    @property
    def context(self) -> dict[str, Any]:
        """The contexts by name, [batch, ...]."""
        return self._named["context"]

    @property
    def sequences(self) -> dict[str, Any]:
        """The parts by name, [batch, num_unroll, ...]."""
        return self._named["sequence"]

    def state(self, state_name: str) -> tf.Tensor:
        """Returns a state, [batch, ...].

        Raises:
          KeyError: there is no such state.
        """
        return self._states[state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> tf.Operation:
        """Returns the operation that saves a state for the parts after these.

        Args:
          state_name: the state's name.
          value: its value, [batch, ...].
          name: the operation's name.

        Raises:
          KeyError: there is no such state.
          ValueError: the value has another rank.
        """
        if state_name not in self._states:
            raise KeyError(
                f"state was not declared: {state_name}. Use one of {list(self._states)}."
            )
        with _v1.name_scope(name, "InputQueueingStateSaver_SaveState"):
            goes_on = tf.logical_not(self._tensors["is_last"])
            value = tf.identity(value, name=f"convert_{state_name}")
            value = check_shape(value, self._states[state_name])
            rows = tf.boolean_mask(value, goes_on), tf.boolean_mask(self.next_key, goes_on)
            return self._save(state_name, rows[1], rows[0], f"BarrierInsertState_{state_name}")


def _with_capacity(key: Any, capacity: int | None, batch_size: Any) -> Any:
    """Checks that a batch fits, when the key is read if the size is a tensor."""
    if capacity is None:
        return key
    if not tf.is_tensor(batch_size):
        if capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}.")
        return key
    check = _v1.assert_greater_equal(
        tf.cast(capacity, tf.int64),
        tf.cast(batch_size, tf.int64),
        message="capacity needs to be >= batch_size.",
    )
    with tf.control_dependencies([check]):
        return tf.identity(key)


def _padded(number: tf.Tensor) -> tf.Tensor:
    return tf.strings.as_string(number, width=5, fill="0")


def _plain(field: str) -> str:
    return field.replace(":", "_")
