"""Small data by hand, in the formats that the fetched programs read."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import tensorflow as tf

__all__ = ["example", "jpeg", "write_data"]

_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"word{i}" for i in range(92))]
_TINY = {
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 16,
    "initializer_range": 0.02,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": len(_WORDS),
}
_BASE = {  # google-research/bert's BERT-Base, Uncased
    **_TINY,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "vocab_size": 30522,
}
_ALBERT = {**_TINY, "embedding_size": 8, "inner_group_num": 1, "num_hidden_groups": 1}
_LENGTH, _MASKED = 32, 5


def write_data(folder: Path) -> None:
    """Writes all of it below a folder, which is made."""
    random = np.random.RandomState(0)
    for below in ("mrpc", "electra/pretrain_tfrecords", "mnist", "imagenet"):
        (folder / below).mkdir(parents=True, exist_ok=True)
    for place in ("vocab.txt", "electra/vocab.txt"):
        (folder / place).write_text("\n".join(_WORDS) + "\n")
    for name, config in (("bert_tiny", _TINY), ("bert_base", _BASE), ("albert_tiny", _ALBERT)):
        (folder / f"{name}.json").write_text(json.dumps(config))
    for name, count in (("train", 40), ("dev", 21), ("test", 13)):
        (folder / "mrpc" / f"{name}.tsv").write_text(_sentences(random, count))
    _write(folder / "pretraining.tfrecord", (_pretraining(random) for _ in range(40)))
    records = folder / "electra" / "pretrain_tfrecords" / "pretrain_data.tfrecord-0-of-1"
    _write(records, (_pretraining(random) for _ in range(40)))
    for name in ("train", "validation", "test"):
        _write(folder / "mnist" / f"{name}.tfrecords", (_digit(random) for _ in range(400)))
    for split in ("train", "validation"):
        for part in range(4):
            pictures = (_picture(random) for _ in range(16))
            _write(folder / "imagenet" / f"{split}-0000{part}-of-00004", pictures)


def _write(path: Path, examples: Iterable[tf.train.Example]) -> None:
    with tf.io.TFRecordWriter(str(path)) as writer:
        for one in examples:
            writer.write(one.SerializeToString())


def example(**values: list) -> tf.train.Example:
    """Returns an example with these features; two underscores stand for a slash."""
    features = {}
    for key, items in values.items():
        name = key.replace("__", "/")
        if isinstance(items[0], bytes):
            features[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=items))
        elif isinstance(items[0], float):
            features[name] = tf.train.Feature(float_list=tf.train.FloatList(value=items))
        else:
            features[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=items))
    return tf.train.Example(features=tf.train.Features(feature=features))


def _sentences(random: np.random.RandomState, count: int) -> str:
    lines = ["quality\tid1\tid2\tsentence1\tsentence2"]
    for i in range(count):
        one, two = (" ".join(random.choice(_WORDS[5:], 8)) for _ in range(2))
        lines.append(f"{random.randint(2)}\t{i}\t{i}\t{one}\t{two}")
    return "\n".join(lines) + "\n"


def _pretraining(random: np.random.RandomState) -> tf.train.Example:
    ids = random.randint(5, len(_WORDS), _LENGTH).tolist()
    return example(
        input_ids=ids,
        input_mask=[1] * _LENGTH,
        segment_ids=[0] * (_LENGTH // 2) + [1] * (_LENGTH // 2),
        masked_lm_positions=sorted(random.choice(_LENGTH, _MASKED, replace=False).tolist()),
        masked_lm_ids=random.randint(5, len(_WORDS), _MASKED).tolist(),
        masked_lm_weights=[1.0] * _MASKED,
        next_sentence_labels=[int(random.randint(2))],
    )


def _digit(random: np.random.RandomState) -> tf.train.Example:
    pixels = random.randint(0, 256, 784).astype(np.uint8)
    return example(image_raw=[pixels.tobytes()], label=[int(random.randint(10))])


def _picture(random: np.random.RandomState) -> tf.train.Example:
    return example(
        image__encoded=[jpeg(random, 64)],
        image__class__label=[int(random.randint(1, 11))],
        image__format=[b"JPEG"],
    )


def jpeg(random: np.random.RandomState, side: int) -> bytes:
    """Returns a square picture of noise."""
    from PIL import Image

    content = io.BytesIO()
    pixels = random.randint(0, 256, (side, side, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(content, "JPEG")
    return content.getvalue()
