"""Texts as rows of numbers: of words or of bytes."""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge_contrib.learn.vocabulary import CategoricalVocabulary

__all__ = ["ByteProcessor", "VocabularyProcessor", "tokenizer"]

# A token: capitals, or a capitalized part of a word before another capital, or a run of letters,
# digits, apostrophes and hyphens.
_TOKEN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|['\w\-]+")
_ORIGINAL = "tensorflow.contrib.learn.python.learn.preprocessing."


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Splits texts into words.

    Args:
      iterator: the texts.

    Yields:
      The words of each text.
    """
    for text in iterator:
        yield _TOKEN.findall(text)


class ByteProcessor:
    """Represents a text by its bytes.

    Args:
      max_document_length: the number of bytes of a row; longer texts are cut, and shorter ones
        filled with 0.
    """

    def __init__(self, max_document_length: int):
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Does nothing: bytes need no vocabulary."""

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """Returns `transform` of the texts."""
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """Yields each text as uint8 [max_document_length]; characters are encoded as UTF-8."""
        for text in x:
            encoded = text.encode() if isinstance(text, str) else text
            row = np.zeros(self.max_document_length, np.uint8)
            codes = np.frombuffer(encoded[: self.max_document_length], np.uint8)
            row[: len(codes)] = codes
            yield row

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """Yields the text of each row; an empty one if its bytes are not UTF-8."""
        for row in x:
            try:
                yield np.trim_zeros(row.astype(np.uint8), trim="b").tobytes().decode()
            except UnicodeDecodeError:
                yield ""


class VocabularyProcessor:
    """Represents a text by the numbers of its words.

    Args:
      max_document_length: the number of words of a row; longer texts are cut, and shorter ones
        filled with 0.
      min_frequency: after `fit`, words that are not more frequent than this are unknown.
      vocabulary: a `CategoricalVocabulary`; by default an empty one.
      tokenizer_fn: a function of texts that yields the list of words of each; by default
        `tokenizer`.

    Attributes:
      max_document_length: as given.
      min_frequency: as given.
      vocabulary_: the vocabulary.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Adds the words of texts to the vocabulary, and freezes it.

        Args:
          raw_documents: the texts.
          unused_y: ignored.

        Returns:
          The processor.
        """
        del unused_y
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> Iterator[np.ndarray]:
        """Calls `fit`, and returns `transform` of the same texts.

        Args:
          raw_documents: the texts, which are iterated over twice.
          unused_y: ignored.
        """
        return self.fit(raw_documents, unused_y).transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """Yields the numbers of the words of each text, int64 [max_document_length]."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for position, word in enumerate(itertools.islice(words, self.max_document_length)):
                row[position] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yields the words of each row of numbers, separated by spaces."""
        for row in documents:
            yield " ".join(str(self.vocabulary_.reverse(number)) for number in row)

    def save(self, filename: str) -> None:
        """Pickles the processor into a file."""
        with tf.io.gfile.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Returns the processor of a file that `save` wrote, here or in TensorFlow 1.

        As with any pickle, the file can run code: read only files that you trust.
        """
        check_is_no_pipe(filename)
        with tf.io.gfile.GFile(filename, "rb") as file:
            return _Unpickler(file).load()


class _Unpickler(pickle.Unpickler):
    """Finds the classes that TensorFlow 1 pickled here."""

    def find_class(self, module: str, name: str) -> Any:
        own = {"CategoricalVocabulary": CategoricalVocabulary, "tokenizer": tokenizer}
        own |= {"ByteProcessor": ByteProcessor, "VocabularyProcessor": VocabularyProcessor}
        if module.startswith(_ORIGINAL) and name in own:
            return own[name]
        return super().find_class(module, name)
