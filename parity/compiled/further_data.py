"""More small data by hand: what the programs of ``parity.fetched_further`` read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import tensorflow as tf

from parity.compiled import data

__all__ = ["write_further_data"]

_TAGS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"]
_DECODER = {
    "decoder_filter_size": 32,
    "decoder_hidden_size": 16,
    "decoder_num_attention_heads": 2,
    "decoder_num_hidden_layers": 1,
    "use_full_attention": True,
}
_WORDS = [f"word{i}" for i in range(92)]
_LENGTH, _SIDE = 32, 16


def write_further_data(folder: Path) -> None:
    """Writes all of it below the folder that ``write_data`` has filled."""
    random = np.random.RandomState(1)
    for below in ("lcqmc", "ner", "unet", "coco", "first", "electra/finetuning_data/mrpc"):
        (folder / below).mkdir(parents=True, exist_ok=True)
    for name, count in (("train", 40), ("dev", 21), ("test", 13)):
        (folder / "lcqmc" / f"{name}.txt").write_text(_pairs(random, count))
        (folder / "ner" / f"{name}.txt").write_text(_tagged(random, count))
        rows = (folder / "mrpc" / f"{name}.tsv").read_text()
        (folder / "electra/finetuning_data/mrpc" / f"{name}.tsv").write_text(rows)
    (folder / "squad.json").write_text(json.dumps(_questions(random, 16)))
    tiny = json.loads((folder / "bert_tiny.json").read_text())
    grover = {name: value for name, value in tiny.items() if name != "type_vocab_size"}
    (folder / "grover.json").write_text(json.dumps(grover))
    for name, decodes in (("lasertagger", False), ("lasertagger_decoder", True)):
        config = {**tiny, **_DECODER, "use_t2t_decoder": decodes}
        (folder / f"{name}.json").write_text(json.dumps(config))
    (folder / "label_map.txt").write_text("KEEP\nDELETE\nKEEP|word1\nSWAP\n")
    _write(folder / "tokens.tfrecord", (_tokens(random) for _ in range(40)))
    _write(folder / "edits.tfrecord", (_edits(random) for _ in range(40)))
    for name, count in (("train-0", 16), ("val-0", 8)):
        _write(folder / "unet" / name, (_volume(random) for _ in range(count)), "GZIP")
    for part in range(2):
        scenes = (_scene(random, 8 * part + i + 1) for i in range(8))
        _write(folder / "coco" / f"train-{part}", scenes)
    _save(folder / "first" / "bert.ckpt", "bert/embeddings/word_embeddings", random.rand(97, 16))
    _save(folder / "first" / "electra.ckpt", "electra/embeddings_project/bias", random.rand(16))


def _save(path: Path, name: str, value: np.ndarray) -> None:
    """Writes a checkpoint of one variable."""
    tf.raw_ops.SaveV2(
        prefix=str(path),
        tensor_names=[name],
        shape_and_slices=[""],
        tensors=[(value / 50).astype(np.float32)],
    )


def _write(path: Path, examples: Iterable[tf.train.Example], compression: str = "") -> None:
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for example in examples:
            writer.write(example.SerializeToString())


def _sentence(random: np.random.RandomState, count: int) -> str:
    return " ".join(random.choice(_WORDS, count))


def _pairs(random: np.random.RandomState, count: int) -> str:
    lines = ["one\ttwo\tlabel"]
    lines += [
        f"{_sentence(random, 8)}\t{_sentence(random, 8)}\t{random.randint(2)}" for _ in range(count)
    ]
    return "\n".join(lines) + "\n"


def _tagged(random: np.random.RandomState, count: int) -> str:
    """Returns sentences as in CoNLL-2003: a word and its tag a line, an empty line at the end."""
    sentences = []
    for _ in range(count):
        pairs = zip(random.choice(_WORDS, 8), random.choice(_TAGS, 8), strict=True)
        sentences.append("".join(f"{word} {tag}\n" for word, tag in pairs) + ". O\n")
    return "\n".join(sentences) + "\n"


def _questions(random: np.random.RandomState, count: int) -> dict:
    paragraphs = []
    for i in range(count):
        words = random.choice(_WORDS, 16)
        context = " ".join(words)
        start = len(" ".join(words[:5])) + 1
        answer = {"text": " ".join(words[5:8]), "answer_start": start}
        question = {"id": str(i), "question": _sentence(random, 6), "answers": [answer]}
        paragraphs.append({"context": context, "qas": [question]})
    return {"version": "1.1", "data": [{"title": "words", "paragraphs": paragraphs}]}


def _tokens(random: np.random.RandomState) -> tf.train.Example:
    return data.example(input_ids=random.randint(1, 97, _LENGTH + 1).tolist())


def _edits(random: np.random.RandomState) -> tf.train.Example:
    return data.example(
        input_ids=random.randint(5, 97, _LENGTH).tolist(),
        input_mask=[1] * _LENGTH,
        segment_ids=[0] * _LENGTH,
        labels=random.randint(0, 4, _LENGTH).tolist(),
        labels_mask=[1] * (_LENGTH - 4) + [0] * 4,
    )


def _volume(random: np.random.RandomState) -> tf.train.Example:
    image = random.rand(_SIDE, _SIDE, _SIDE, 1).astype(np.float32)
    label = np.eye(3, dtype=np.float32)[random.randint(0, 3, (_SIDE, _SIDE, _SIDE))]
    return data.example(image__ct_image=[image.tobytes()], image__label=[label.tobytes()])


def _scene(random: np.random.RandomState, number: int) -> tf.train.Example:
    """Returns a picture of COCO with three boxes."""
    low = random.uniform(0.0, 0.5, (2, 3))
    high = low + random.uniform(0.2, 0.5, (2, 3))
    side = 128
    return data.example(
        image__encoded=[data.jpeg(random, side)],
        image__format=[b"jpeg"],
        image__filename=[b"%d.jpg" % number],
        image__source_id=[b"%d" % number],
        image__height=[side],
        image__width=[side],
        image__object__bbox__ymin=low[0].tolist(),
        image__object__bbox__xmin=low[1].tolist(),
        image__object__bbox__ymax=high[0].tolist(),
        image__object__bbox__xmax=high[1].tolist(),
        image__object__class__label=random.randint(1, 5, 3).tolist(),
        image__object__area=((high - low).prod(axis=0) * side * side).tolist(),
        image__object__is_crowd=[0, 0, 0],
    )
