"""BERT as a task: pretraining on texts, or classification of labeled ones."""

from __future__ import annotations

import dataclasses
import functools
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from estimator_bridge.any_files import exists
from models.bert.config import SIZES, BertConfig, read_config
from models.bert.examples import labeled_arrays, pretraining_arrays
from models.bert.initial_weights import warm_start
from models.bert.labeled import Labeled, by_subject, check_files, read_labeled
from models.bert.model import CLASSIFIER, PRETRAINING
from models.bert.text_graph import TextReader
from models.bert.tokenization import Tokenizer, build_vocabulary, read_vocabulary
from models.errors import UserError
from models.in_memory import Split, input_fn_of
from models.saved_files import write_text
from models.task import Task, TaskData
from models.text import read_texts, sentences

__all__ = ["open_task"]

_VOCABULARY = os.path.join("bert", "vocab-{:08x}.txt")
_PIECES = 2000
_TEST_ONE_IN = 5
_SHOWN = 8
# Sentences in a part of a text, where there are fewer than five texts.
_SENTENCES = 20


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens texts, vocabulary and initial weights; see `models.task.open_task`."""
    is_pretraining = flag_values.bert_task == "pretrain"
    labeled = None if is_pretraining else _labeled(flag_values.data_dir)
    texts = _texts(flag_values.data_dir, labeled)
    parts = _parts(texts, flag_values.data_dir) if is_pretraining else None
    tokenizer = _tokenizer(flag_values, texts)  # writes a vocabulary: the texts are checked before
    config = _config(flag_values, len(tokenizer))
    length = flag_values.max_seq_length
    checkpoint = flag_values.init_checkpoint
    if labeled is None:
        assert parts is not None
        splits = _pretraining_splits(parts, tokenizer, length)
    else:
        splits = {
            split: Split(*labeled_arrays(part, tokenizer, length))
            for split, part in labeled.splits.items()
        }
    params: dict[str, Any] = {"config": config}
    if labeled is not None:
        params["classes"] = len(labeled.classes)
    data = TaskData(
        name=f"bert-{flag_values.bert_task}",
        folder=flag_values.data_dir,
        unit="pairs of sentences" if is_pretraining else "texts",
        sizes={split: part.size for split, part in splits.items()},
        input_fn=functools.partial(input_fn_of, splits),
    )
    show = (
        functools.partial(_show_pieces, tokenizer)
        if labeled is None
        else functools.partial(_show_classes, labeled)
    )
    start = warm_start(checkpoint, config, is_pretraining) if checkpoint else None
    return Task(
        model=PRETRAINING if is_pretraining else CLASSIFIER,
        data=data,
        receiver_fn=(
            _pieces_receiver(splits["test"].features)
            if labeled is None
            else _text_receiver(
                TextReader(tokenizer.vocabulary, flag_values.lower_case, length), labeled.has_pairs
            )
        ),
        show=show,
        shown_examples=_SHOWN,
        params=params,
        warm_start=start,
    )


def _labeled(data_dir: str) -> Labeled:
    return read_labeled(data_dir) if check_files(data_dir) else by_subject(read_texts(data_dir))


def _texts(data_dir: str, labeled: Labeled | None) -> list[list[str]]:
    """Returns the sentences of each text; of labeled files, those of the training set."""
    if labeled is not None and check_files(data_dir):
        return [list(texts) for _, texts in labeled.splits["train"]]
    return [parts for text in read_texts(data_dir).values() if (parts := sentences(text))]


def _tokenizer(flag_values: absl_flags.FlagValues, texts: Sequence[Sequence[str]]) -> Tokenizer:
    path = flag_values.vocab_file
    if path is None:
        every = [sentence for text in texts for sentence in text]
        checksum = zlib.crc32("\n".join(every).encode())  # other texts have another vocabulary
        path = os.path.join(flag_values.data_dir, _VOCABULARY.format(checksum))
        if not exists(path):
            pieces = build_vocabulary(every, _PIECES, flag_values.lower_case)
            write_text(path, "\n".join(pieces) + "\n")
    return Tokenizer(read_vocabulary(path), flag_values.lower_case)


def _config(flag_values: absl_flags.FlagValues, vocab_size: int) -> BertConfig:
    if flag_values.bert_config_file:
        return read_config(flag_values.bert_config_file)
    return dataclasses.replace(SIZES[flag_values.bert_size], vocab_size=vocab_size)


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


def _pretraining_splits(
    parts: Mapping[str, Sequence[Sequence[str]]], tokenizer: Tokenizer, length: int
) -> dict[str, Split]:
    return {
        split: Split(*pretraining_arrays(texts, tokenizer, length, seed))
        for seed, (split, texts) in enumerate(parts.items())
    }


def _text_receiver(reader: TextReader, has_pairs: bool) -> Callable[[], Any]:
    """Returns a receiver of texts; its alternative "pieces" takes what the model trains on."""

    def receive() -> Any:
        names = ("text", "second") if has_pairs else ("text",)
        texts = {name: tf.compat.v1.placeholder(tf.string, [None], name) for name in names}
        features = reader.features(**texts)
        return eb.export.ServingInputReceiver(features, texts, {"pieces": features})

    return receive


def _pieces_receiver(features: Mapping[str, Any]) -> Callable[[], Any]:
    def receive() -> Any:
        tensors = {
            name: tf.compat.v1.placeholder(tf.int32, [None, *value.shape[1:]], name)
            for name, value in features.items()
        }
        return eb.export.ServingInputReceiver(tensors, tensors)

    return receive


def _show_pieces(tokenizer: Tokenizer, rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    del model_dir
    row = rows[0]
    pieces = [tokenizer.piece(number) for number in row["input_ids"] if number]
    predicted = [tokenizer.piece(number) for number in row["pieces"]]
    hidden = len({int(place) for place in row["positions"]} - {0})
    return f"{' '.join(pieces)}\nsaid of the hidden pieces: {', '.join(predicted[:hidden])}"


def _show_classes(labeled: Labeled, rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    del model_dir
    lines = []
    for row, (label, texts) in zip(rows, labeled.splits["test"]):
        predicted = labeled.classes[int(row["class"])]
        mark = "right" if predicted == labeled.classes[label] else f"is {labeled.classes[label]}"
        lines.append(f"{predicted} ({mark}): {' | '.join(texts)[:70]}")
    return "\n".join(lines)
