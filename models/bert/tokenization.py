"""Splits text into the pieces of words that BERT reads: WordPiece, and a vocabulary for it."""

from __future__ import annotations

import collections
import itertools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from estimator_bridge.base.any_files import open_text
from models.common.errors import UserError

__all__ = ["SPECIAL", "Tokenizer", "build_vocabulary", "read_vocabulary", "words_of"]

PAD, UNKNOWN, START, SEPARATOR, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL = (PAD, UNKNOWN, START, SEPARATOR, MASK)
INSIDE = "##"
LONGEST_WORD = 200
# ASCII characters other than letters and digits split words, although some are symbols in Unicode.
_ASCII_PUNCTUATION = ((33, 47), (58, 64), (91, 96), (123, 126))
# The blocks of ideographs, each of which is a word of its own.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class Tokenizer:
    """Splits text into pieces of a vocabulary.

    Args:
        vocabulary: the pieces; a piece's number is its place. Pieces that do not begin a word begin
            with ##.
        lower_case: whether letters are made small and lose their accents.
    """

    def __init__(self, vocabulary: Sequence[str], lower_case: bool = True):
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._pieces = tuple(vocabulary)
        self._lower_case = lower_case
        self._longest = max(map(len, vocabulary))

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def vocabulary(self) -> Sequence[str]:
        """The pieces, in the order of their numbers."""
        return self._pieces

    def pieces(self, text: str) -> list[str]:
        """Returns the pieces of a text; a word that none fit is [UNK]."""
        return [p for word in words_of(text, self._lower_case) for p in self._split(word)]

    def numbers(self, text: str) -> list[int]:
        """Returns the pieces' numbers."""
        return [self._numbers[piece] for piece in self.pieces(text)]

    def number(self, piece: str) -> int:
        """Returns the number of a piece, such as [CLS]."""
        return self._numbers[piece]

    def piece(self, number: int) -> str:
        """Returns the piece of a number."""
        return self._pieces[number]

    def _split(self, word: str) -> list[str]:
        """Takes the longest piece that fits, again and again."""
        if len(word) > LONGEST_WORD:
            return [UNKNOWN]
        pieces, start = [], 0
        while start < len(word):
            prefix = INSIDE if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = prefix + word[start:end]
                if piece in self._numbers:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return [UNKNOWN]
        return pieces


def words_of(text: str, lower_case: bool = True) -> Iterator[str]:
    """Yields words and punctuation marks.

    Args:
        text: any text; control characters are ignored.
        lower_case: whether letters are made small and lose their accents.
    """
    text_with_spaces = "".join(_with_spaces(character) for character in text)
    for word in text_with_spaces.split():
        if lower_case:
            parts = unicodedata.normalize("NFD", word.lower())
            word = "".join(c for c in parts if unicodedata.category(c) != "Mn")  # noqa: PLW2901
        for is_mark, group in itertools.groupby(word, _is_punctuation):
            if is_mark:
                yield from group
            else:
                yield "".join(group)


def _with_spaces(character: str) -> str:
    """Returns a character with spaces around it if it is a word of its own; "" for a control."""
    code = ord(character)
    if character.isspace():
        return " "
    if code in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf"):
        return ""
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {character} "
    return character


def _is_punctuation(character: str) -> bool:
    code = ord(character)
    if any(first <= code <= last for first, last in _ASCII_PUNCTUATION):
        return True
    return unicodedata.category(character).startswith("P")


def read_vocabulary(path: str) -> list[str]:
    """Reads a vocabulary: a piece in each line, as in the vocab.txt of released checkpoints.

    Raises:
        UserError: it cannot be read, or lacks a special piece.
    """
    try:
        with open_text(path) as file:
            pieces = [line.rstrip("\n") for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: the vocabulary cannot be read: {error}.") from error
    missing = [piece for piece in SPECIAL if piece not in pieces]
    if missing:
        raise UserError(
            f"{path}: not a vocabulary of BERT: it lacks {', '.join(missing)}. Want a piece in "
            "each line."
        )
    return pieces


def build_vocabulary(texts: Iterable[str], size: int, lower_case: bool = True) -> list[str]:
    """Builds a vocabulary by merging the most frequent neighbors, starting from characters.

    Args:
        texts: the texts to cover.
        size: the number of pieces.
        lower_case: whether letters are made small and lose their accents.

    Returns:
        The special pieces, the characters, and the merged pieces, at most `size`.
    """
    counts = collections.Counter(word for text in texts for word in words_of(text, lower_case))
    words = list(counts)
    split = [[word[0], *(INSIDE + letter for letter in word[1:])] for word in words]
    vocabulary = dict.fromkeys([*SPECIAL, *sorted({piece for word in split for piece in word})])
    pairs: collections.Counter[tuple[str, str]] = collections.Counter()
    places: dict[tuple[str, str], set[int]] = collections.defaultdict(set)

    def count(at: int, sign: int) -> None:
        for pair in zip(split[at], split[at][1:]):
            pairs[pair] += sign * counts[words[at]]
            places[pair].add(at)

    for at in range(len(words)):
        count(at, 1)
    while len(vocabulary) < size and pairs:
        # Of equal counts the first by name, so that the result does not depend on an order.
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        if pairs[best] < 2:
            break
        merged = best[0] + best[1].removeprefix(INSIDE)
        vocabulary[merged] = None
        for at in places.pop(best):
            count(at, -1)
            split[at] = _merge(split[at], best, merged)
            count(at, 1)
        pairs.pop(best, None)
    return list(vocabulary)[: max(size, len(SPECIAL))]


def _merge(pieces: list[str], pair: tuple[str, str], merged: str) -> list[str]:
    result: list[str] = []
    for piece in pieces:
        if result and (result[-1], piece) == pair:
            result[-1] = merged
        else:
            result.append(piece)
    return result
