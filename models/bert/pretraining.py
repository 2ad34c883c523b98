"""BERT's pretraining: predicts hidden pieces, and whether a sentence follows another."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.bert.examples import pretraining_arrays
from models.bert.initial_weights import warm_start
from models.bert.model import PRETRAINING
from models.bert.tokenization import Tokenizer
from models.bert.vocabulary import config_of, open_tokenizer
from models.common.errors import UserError
from models.common.in_memory import Split, input_fn_of
from models.common.task import Task, TaskData
from models.common.text import read_texts, sentences

__all__ = ["open_pretraining"]

_TEST_ONE_IN = 5
_SHOWN = 8
# Sentences in a part of a text, where there are fewer than five texts.
_SENTENCES = 20


def open_pretraining(flag_values: absl_flags.FlagValues) -> Task:
    """Opens texts, vocabulary and initial weights; see `models.common.task.open_task`."""
    data_dir = flag_values.data_dir
    texts = [text for part in read_texts(data_dir).values() if (text := sentences(part))]
    parts = _parts(texts, data_dir)
    tokenizer = open_tokenizer(flag_values, texts)
    config = config_of(flag_values, len(tokenizer))
    splits = {
        split: Split(*pretraining_arrays(part, tokenizer, flag_values.max_seq_length, seed))
        for seed, (split, part) in enumerate(parts.items())
    }
    checkpoint = flag_values.init_checkpoint
    return Task(
        model=PRETRAINING,
        data=TaskData(
            name="bert-pretrain",
            folder=data_dir,
            unit="pairs of sentences",
            sizes={name: split.size for name, split in splits.items()},
            input_fn=functools.partial(input_fn_of, splits),
        ),
        receiver_fn=_receiver(splits["test"].features),
        show=functools.partial(_show, tokenizer),
        shown_examples=_SHOWN,
        params={"config": config},
        warm_start=warm_start(checkpoint, config, pretraining=True) if checkpoint else None,
    )


def _parts(texts: Sequence[Sequence[str]], data_dir: str) -> dict[str, list[list[str]]]:
    """Returns the sentences of the texts by split: one text in five, or one part of few texts."""
    size = max(map(len, texts), default=1) if len(texts) >= _TEST_ONE_IN else _SENTENCES
    parts = [list(text[at : at + size]) for text in texts for at in range(0, len(text), size)]
    test = [part for part in parts[::_TEST_ONE_IN] if len(part) > 1]
    test_sentences = {sentence for part in test for sentence in part}
    train = [
        [sentence for sentence in part if sentence not in test_sentences]
        for at, part in enumerate(parts)
        if at % _TEST_ONE_IN
    ]
    train = [part for part in train if len(part) > 1]
    if not train or not test:
        raise UserError(
            f"{data_dir}: too little text to pretrain on: want some dozens of sentences of at "
            "least five words. Add .txt files."
        )
    return {"train": train, "test": test}


def _receiver(features: Mapping[str, Any]) -> Callable[[], Any]:
    """Returns a receiver of what the model trains on."""

    def receive() -> Any:
        tensors = {
            name: tf.compat.v1.placeholder(tf.int32, [None, *value.shape[1:]], name)
            for name, value in features.items()
        }
        return eb.export.ServingInputReceiver(tensors, tensors)

    return receive


def _show(tokenizer: Tokenizer, rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    del model_dir
    row = rows[0]
    pieces = [tokenizer.piece(number) for number in row["input_ids"] if number]
    predictions = [tokenizer.piece(number) for number in row["pieces"]]
    hidden = len({int(place) for place in row["positions"]} - {0})
    return f"{' '.join(pieces)}\nsaid of the hidden pieces: {', '.join(predictions[:hidden])}"
