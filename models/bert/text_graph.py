"""Splits texts into pieces in TensorFlow, so that an exported model takes texts.

It does what `models.bert.tokenization` does in Python, with operations of TensorFlow alone: a table
of characters, a split at spaces, and a loop that takes the longest piece of each word. One
character differs: a capital sigma at a word's end becomes the small one of other places.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

import tensorflow as tf

from models.bert.tokenization import (
    INSIDE,
    LONGEST_WORD,
    PAD,
    SEPARATOR,
    START,
    UNKNOWN,
    words_of,
)

__all__ = ["TextReader"]

# Other characters are unchanged, or are ideographs, surrogates, unassigned, or for private use.
_CHANGED = (
    range(0x3400),
    range(0xA000, 0xD800),
    range(0xE000, 0x20000),
    range(0x2F800, 0x2FA20),
    range(0xE0000, 0xE1000),
)
_IDEOGRAPHS = (
    r"[\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2CEAF}"
    r"\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}]"
)
_SAME = "\0"  # no character becomes this one


class TextReader:
    """Turns texts into the inputs of a BERT model, in a graph.

    Args:
      vocabulary: the pieces; a piece's number is its place.
      lower_case: whether letters are made small and lose their accents.
      length: the length of a sequence.
    """

    def __init__(self, vocabulary: Sequence[str], lower_case: bool, length: int):
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._lower_case, self._length = lower_case, length
        self._longest = max(len(piece.removeprefix(INSIDE)) for piece in vocabulary)

    def features(self, text: tf.Tensor, second: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        """Returns what `models.bert.examples.sequence` returns, of a batch.

        Args:
          text: strings [batch].
          second: the second text of each pair, strings [batch]; empty ones are none.

        Returns:
          `input_ids`, `input_mask` and `segment_ids`, int32 [batch, length].
        """
        parts = [self._pieces(text)]
        is_pair = tf.zeros_like(text, tf.int32)
        if second is not None:
            parts.append(self._pieces(second))
            is_pair = tf.cast(tf.not_equal(second, ""), tf.int32)
        parts = self._truncate(parts, self._length - 2 - is_pair)
        start, separator = (self._column(text, piece) for piece in (START, SEPARATOR))
        first = tf.concat([start, parts[0], separator], axis=1)
        pieces = first
        if second is not None:
            end = tf.RaggedTensor.from_tensor(separator, lengths=is_pair)
            pieces = tf.concat([first, parts[1], end], axis=1)
        size, first_size = pieces.row_lengths(), first.row_lengths()
        mask = tf.sequence_mask(size, self._length, tf.int32)
        shape = [None, self._length]
        return {
            "input_ids": tf.cast(pieces.to_tensor(self._numbers[PAD], shape=shape), tf.int32),
            "input_mask": mask,
            "segment_ids": mask - tf.sequence_mask(first_size, self._length, tf.int32),
        }

    def _column(self, text: tf.Tensor, piece: str) -> tf.Tensor:
        number = tf.constant(self._numbers[piece], tf.int64)
        return tf.fill([tf.shape(text)[0], 1], number)

    def _truncate(self, parts: Sequence[tf.RaggedTensor], room: tf.Tensor) -> list[tf.RaggedTensor]:
        """Cuts the longer part at its end until both fit."""
        sizes = [tf.cast(part.row_lengths(), tf.int32) for part in parts]
        other = sizes[1] if len(parts) > 1 else tf.zeros_like(sizes[0])
        first = tf.minimum(sizes[0], tf.maximum(room - other, room // 2))
        lengths = [first, tf.minimum(other, room - first)]
        shape = [None, self._length]
        return [
            tf.RaggedTensor.from_tensor(part.to_tensor(0, shape=shape), lengths=size)
            for part, size in zip(parts, lengths)
        ]

    def _pieces(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Returns the numbers of the pieces of texts, int64 [batch, (pieces)]."""
        words = self._words(text)
        pieces = words.with_values(self._split(words.flat_values))
        return pieces.merge_dims(1, 2)

    def _words(self, text: tf.Tensor) -> tf.RaggedTensor:
        text_with_spaces = tf.strings.regex_replace(text, _IDEOGRAPHS, r" \0 ")
        characters = tf.strings.unicode_split(text_with_spaces, "UTF-8")
        changes = _changes(self._lower_case)
        table = _table(list(changes), list(changes.values()), _SAME)
        flat = characters.flat_values
        replacements = table.lookup(flat)
        characters_to_split = characters.with_flat_values(
            tf.where(tf.equal(replacements, _SAME), flat, replacements)
        )
        return tf.strings.split(tf.strings.reduce_join(characters_to_split, axis=-1))

    def _split(self, words: tf.Tensor) -> tf.RaggedTensor:
        """Takes the longest piece that fits, again and again, of all words at once.

        Args:
          words: strings [count].

        Returns:
          Numbers, int64 [count, (pieces)].
        """
        table = _table(list(self._numbers), list(self._numbers.values()), -1)
        unknown = tf.constant(self._numbers[UNKNOWN], tf.int64)
        sizes = tf.range(1, self._longest + 1)
        is_long = tf.strings.length(words, "UTF8_CHAR") > LONGEST_WORD
        pieces = tf.TensorArray(tf.int64, 0, dynamic_size=True, element_shape=[None])

        def goes_on(step: tf.Tensor, rest: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
            return tf.equal(step, 0) | tf.reduce_any(tf.not_equal(rest, ""))

        def take(step: tf.Tensor, rest: tf.Tensor, is_bad: tf.Tensor, pieces: tf.TensorArray):
            length = tf.strings.length(rest, "UTF8_CHAR")
            every = tf.repeat(rest[:, tf.newaxis], self._longest, axis=1)
            ends = tf.zeros_like(length)[:, tf.newaxis] + sizes
            starts = tf.strings.substr(every, tf.zeros_like(ends), ends, "UTF8_CHAR")
            prefix = tf.where(tf.equal(step, 0), "", INSIDE)
            numbers = table.lookup(tf.strings.join([prefix, starts]))
            fits = (numbers >= 0) & (ends <= length[:, tf.newaxis])
            size = tf.reduce_max(tf.where(fits, ends, 0), axis=1)
            number = tf.gather(numbers, tf.maximum(size - 1, 0), batch_dims=1)
            is_open = length > 0
            is_bad |= is_open & tf.equal(size, 0)
            pieces = pieces.write(step, tf.where(is_open & (size > 0), number, -1))
            is_done = is_bad | (size >= length)
            begin = tf.where(is_done, 0, size)
            after = tf.strings.substr(rest, begin, length, "UTF8_CHAR")
            return step + 1, tf.where(is_done, "", after), is_bad, pieces

        rest = tf.where(is_long, "", words)
        _, _, is_bad, pieces = tf.while_loop(goes_on, take, (0, rest, is_long, pieces))
        numbers = tf.transpose(pieces.stack())
        no_more = tf.fill([tf.shape(words)[0], tf.shape(numbers)[1] - 1], tf.constant(-1, tf.int64))
        alone = tf.concat([tf.fill([tf.shape(words)[0], 1], unknown), no_more], axis=1)
        numbers = tf.where(is_bad[:, tf.newaxis], alone, numbers)
        return tf.ragged.boolean_mask(numbers, numbers >= 0)


@functools.cache
def _changes(lower_case: bool) -> Mapping[str, str]:
    """Returns what becomes of the characters that change; spaces divide words."""
    changes = {}
    for code in itertools.chain(*_CHANGED):
        character = chr(code)
        # Between letters, so that a space or a mark divides them.
        (first, *inner) = words_of(f"a{character}a", lower_case)
        replacement = " ".join([first, *inner])[1:-1]
        if replacement != character:
            changes[character] = replacement
    return changes


def _table(keys: list[str], values: list, default: str | int) -> tf.lookup.StaticHashTable:
    dtype = tf.string if isinstance(default, str) else tf.int64
    content = tf.lookup.KeyValueTensorInitializer(keys, values, tf.string, dtype)
    return tf.lookup.StaticHashTable(content, default)
