"""Turns texts into the arrays that BERT trains on: masked pairs of sentences, or labeled texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from models.bert.tokenization import MASK, PAD, SEPARATOR, SPECIAL, START, Tokenizer

__all__ = ["Masking", "labeled_arrays", "pretraining_arrays", "sequence"]

Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Masking:
    """Settings for hiding pieces in pretraining.

    Attributes:
        share: the share of pieces that are predicted.
        masked: the share of these that become [MASK]; half of the others become another piece.
        copies: how often each pair of sentences is used, each time with other pieces hidden.
    """

    share: float = 0.15
    masked: float = 0.8
    copies: int = 4


def sequence(tokenizer: Tokenizer, parts: Sequence[Sequence[int]], length: int) -> Arrays:
    """Returns one sequence of one or two parts: [CLS] part [SEP] part [SEP], then padding.

    Args:
        tokenizer: of the pieces.
        parts: the numbers of the pieces of each part. The longer part is cut at its end until both
            fit.
        length: the length of the sequence.

    Returns:
        `input_ids`, `input_mask` and `segment_ids`, int32 [length].
    """
    pieces = [list(part) for part in parts]
    while sum(map(len, pieces)) > length - len(pieces) - 1:
        max(pieces, key=len).pop()
    ids, segments = [tokenizer.number(START)], [0]
    for segment, part in enumerate(pieces):
        ids += [*part, tokenizer.number(SEPARATOR)]
        segments += [segment] * (len(part) + 1)
    padding = length - len(ids)
    return {
        "input_ids": np.array(ids + [tokenizer.number(PAD)] * padding, np.int32),
        "input_mask": np.array([1] * len(ids) + [0] * padding, np.int32),
        "segment_ids": np.array(segments + [0] * padding, np.int32),
    }


def pretraining_arrays(
    texts: Iterable[Sequence[str]],
    tokenizer: Tokenizer,
    length: int,
    seed: int,
    masking: Masking = Masking(),
) -> tuple[Arrays, Arrays]:
    """Returns pairs of sentences with hidden pieces.

    In half of the pairs, the second sentence follows the first one in its text; in the others it
    is any sentence.

    Args:
        texts: the sentences of each text, in order.
        tokenizer: of the pieces.
        length: the length of a sequence.
        seed: of the choices.
        masking: how pieces are hidden.

    Returns:
        The features `input_ids`, `input_mask`, `segment_ids` [count, length] and
        `masked_lm_positions` [count, hidden]; the labels `masked_lm_ids`, `masked_lm_weights`
        [count, hidden] and `next_sentence_labels` [count], 0 where the second sentence follows.
    """
    random = np.random.RandomState(seed)
    texts_of_pieces = [[tokenizer.numbers(sentence) for sentence in text] for text in texts]
    every = [sentence for text in texts_of_pieces for sentence in text]
    max_hidden = max(1, round(length * masking.share))
    rows: list[Arrays] = []
    for text in texts_of_pieces:
        for first, following in zip(text, text[1:]):
            for _ in range(masking.copies):
                is_other = random.rand() < 0.5
                second = every[random.randint(len(every))] if is_other else following
                row = sequence(tokenizer, [first, second], length)
                row["next_sentence_labels"] = np.array(is_other, np.int32)
                rows.append(
                    {**row, **_hide(row["input_ids"], tokenizer, max_hidden, random, masking)}
                )
    columns = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    names = ("masked_lm_ids", "masked_lm_weights", "next_sentence_labels")
    labels = {name: columns.pop(name) for name in names}
    return columns, labels


def _hide(
    ids: np.ndarray,
    tokenizer: Tokenizer,
    max_hidden: int,
    random: np.random.RandomState,
    how: Masking,
) -> Arrays:
    """Hides pieces of a sequence, in place, and returns where they were."""
    special = [tokenizer.number(piece) for piece in (START, SEPARATOR, PAD)]
    open_places = np.flatnonzero(~np.isin(ids, special))
    count = min(max_hidden, max(1, round(len(open_places) * how.share)), len(open_places))
    places = np.sort(random.choice(open_places, count, replace=False))
    positions, answers = np.zeros(max_hidden, np.int32), np.zeros(max_hidden, np.int32)
    weights = np.zeros(max_hidden, np.float32)
    positions[:count], answers[:count], weights[:count] = places, ids[places], 1.0
    for place in places:
        draw = random.rand()
        if draw < how.masked:
            ids[place] = tokenizer.number(MASK)
        elif draw < (1.0 + how.masked) / 2:
            ids[place] = random.randint(len(SPECIAL), len(tokenizer))
    return {
        "masked_lm_positions": positions,
        "masked_lm_ids": answers,
        "masked_lm_weights": weights,
    }


def labeled_arrays(
    examples: Sequence[tuple[int, Sequence[str]]], tokenizer: Tokenizer, length: int
) -> tuple[Arrays, np.ndarray]:
    """Returns labeled texts as arrays.

    Args:
        examples: a label and one or two texts each.
        tokenizer: of the pieces.
        length: the length of a sequence.

    Returns:
        The features `input_ids`, `input_mask`, `segment_ids`, int32 [count, length], and the
        labels, int32 [count].
    """
    rows = [
        sequence(tokenizer, [tokenizer.numbers(text) for text in texts], length)
        for _, texts in examples
    ]
    features = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return features, np.array([label for label, _ in examples], np.int32)
