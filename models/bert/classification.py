"""BERT's classification of labeled texts, or of pairs of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from models.bert.examples import labeled_arrays
from models.bert.initial_weights import warm_start
from models.bert.labeled import Labeled, by_subject, check_files, read_labeled
from models.bert.model import CLASSIFIER
from models.bert.text_graph import TextReader
from models.bert.vocabulary import config_of, open_tokenizer
from models.common.in_memory import Split, input_fn_of
from models.common.task import Task, TaskData
from models.common.text import read_texts, sentences

__all__ = ["open_classification"]

_SHOWN = 8


def open_classification(flag_values: absl_flags.FlagValues) -> Task:
    """Opens texts, vocabulary and initial weights; see `models.common.task.open_task`."""
    dataset, texts = _read(flag_values.data_dir)
    tokenizer = open_tokenizer(flag_values, texts)
    config = config_of(flag_values, len(tokenizer))
    length = flag_values.max_seq_length
    splits = {
        split: Split(*labeled_arrays(examples, tokenizer, length))
        for split, examples in dataset.splits.items()
    }
    reader = TextReader(tokenizer.vocabulary, flag_values.lower_case, length)
    checkpoint = flag_values.init_checkpoint
    return Task(
        model=CLASSIFIER,
        data=TaskData(
            name="bert-classify",
            folder=flag_values.data_dir,
            unit="texts",
            sizes={name: split.size for name, split in splits.items()},
            input_fn=functools.partial(input_fn_of, splits),
        ),
        receiver_fn=_receiver(reader, dataset.has_pairs),
        show=functools.partial(_show, dataset),
        shown_examples=_SHOWN,
        params={"config": config, "classes": len(dataset.classes)},
        warm_start=warm_start(checkpoint, config, pretraining=False) if checkpoint else None,
    )


def _read(data_dir: str) -> tuple[Labeled, list[list[str]]]:
    """Returns the examples, and the sentences of each text that a vocabulary is built from."""
    if check_files(data_dir):
        dataset = read_labeled(data_dir)
        return dataset, [list(texts) for _, texts in dataset.splits["train"]]
    texts = read_texts(data_dir)
    by_text = [text for part in texts.values() if (text := sentences(part))]
    return by_subject(texts), by_text


def _receiver(reader: TextReader, has_pairs: bool) -> Callable[[], Any]:
    """Returns a receiver of texts; its alternative "pieces" takes what the model trains on."""

    def receive() -> Any:
        names = ("text", "second") if has_pairs else ("text",)
        texts = {name: tf.compat.v1.placeholder(tf.string, [None], name) for name in names}
        features = reader.features(**texts)
        return eb.export.ServingInputReceiver(features, texts, {"pieces": features})

    return receive


def _show(dataset: Labeled, rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    del model_dir
    lines = []
    for row, (label, texts) in zip(rows, dataset.splits["test"]):
        answer = dataset.classes[int(row["class"])]
        mark = "right" if answer == dataset.classes[label] else f"is {dataset.classes[label]}"
        lines.append(f"{answer} ({mark}): {' | '.join(texts)[:70]}")
    return "\n".join(lines)
