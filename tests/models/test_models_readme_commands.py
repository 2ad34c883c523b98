"""The commands of the models' pages run one after the other, as they are but on less data.

Flags that make them small are added at their ends. Buckets become folders, and Xception and
MobileNetV2 a network of two layers: building them takes most of a minute.
"""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pydoc_data.topics import topics

import documents
import pytest
import tensorflow as tf
import tf_keras
from record_files import write_flowers, write_imagenet
from test_mnist_idx import write_mnist
from tpu_compiler import needs_libtpu
from train_here import ROOT, Ended, start, train

from estimator_bridge.commands import cli
from models.bert.config import SIZES, variable_shapes
from models.bert.tokenization import SPECIAL
from models.common.registry import model_names

v1 = tf.compat.v1
SMALL = (
    "--train_steps=2", "--train_batch_size=8", "--eval_batch_size=8", "--predict_batch_size=8",
    "--warmup_steps=0", "--eval_steps=2", "--tf_random_seed=1",
)  # fmt: skip
# Further flags, by model.
SMALLER = {
    "bert": ("--bert_size=nano", "--max_seq_length=16"),
    "flowers": ("--image_size=71",),
    "lstm": ("--lstm_units=8", "--text_length=16"),
    "resnet": ("--depth=8", "--train_batch_size=4", "--eval_batch_size=4", "--eval_steps=1"),
}
PAGES = {path.parent.name: path for path in documents.PAGES if path.parent.parent.name == "models"}


def backbone(input_shape, **others):
    layers = tf_keras.layers
    return tf_keras.Sequential(
        [
            layers.Conv2D(4, 3, 4, input_shape=input_shape, name="convolution"),
            layers.BatchNormalization(name="norm"),
            layers.GlobalAveragePooling2D(),
        ]
    )


def bert_data(folder):
    (folder / "texts.jsonl").write_text('{"text": "A list is mutable."}\n')
    reviews, released = folder / "reviews", folder / "uncased_L-12_H-768_A-12"
    reviews.mkdir()
    released.mkdir()
    for name in ("train.tsv", "test.tsv"):
        (reviews / name).write_text("good\tI like it a lot.\nbad\tI do not.\n" * 8)
    pieces = [*SPECIAL, *"abcdefghijklmnopqrstuvwxyz.", *(f"##{c}" for c in "abcdefghijklmnop")]
    (released / "vocab.txt").write_text("\n".join(pieces) + "\n")
    config = {"vocab_size": len(pieces), "hidden_size": 32, "num_hidden_layers": 1}
    config |= {"num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 128}
    (released / "bert_config.json").write_text(json.dumps(config))
    with tf.Graph().as_default(), v1.Session() as session:
        sizes = type(SIZES["nano"])(**config)
        for name, shape in variable_shapes(sizes).items():
            v1.get_variable(name, shape)
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(released / "bert_model.ckpt"), write_meta_graph=False)


def flowers_data(folder):
    for name in ("tfrecords-jpeg-192x192", "flowers"):
        for split in ("train", "val"):
            write_flowers(folder / "bucket" / name / split / "00-9.tfrec", [0, 1, 2] * 4)
    backbone((71, 71, 3)).save_weights(folder / "xception_notop.h5")


def resnet_data(folder):
    for name in ("train-00000-of-00001", "validation-00000-of-00001"):
        write_imagenet(folder / "bucket" / "imagenet" / name, [1, 7, 1000] * 4)
    (folder / "cifar").mkdir()
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        (folder / "cifar" / name).write_bytes(bytes(8 * 3073))


def lstm_data(folder):
    (folder / "books").mkdir()
    text = "\n\n".join(f"It was the {n}th of many short lines of text." for n in range(60))
    (folder / "books" / "one.txt").write_text(text)


def gan_data(folder):
    (folder / "mnist").mkdir()
    write_mnist(folder / "mnist")


def tabular_data(folder):
    tables = folder / "tables" / "houses"
    tables.mkdir(parents=True)
    rows = "".join(f"{n % 7},{n % 5},{n * 1.5}\n" for n in range(32))
    for name in ("train.csv", "test.csv"):
        (tables / name).write_text(f"rooms,floors,price\n{rows}")


def mnist_torch_data(folder):
    (folder / "models").symlink_to(ROOT / "models")  # its commands run in a clone


DATA = {
    "mnist_torch": mnist_torch_data,
    "bert": bert_data,
    "flowers": flowers_data,
    "gan": gan_data,
    "lstm": lstm_data,
    "resnet": resnet_data,
    "tabular": tabular_data,
}


def run(folder, words):
    """Runs one command of a page; None if it needs something that is not there."""
    words = [word.replace("gs://", "") for word in words]
    if words[:2] == ["python", "train.py"]:
        model = next(word.split("=")[1] for word in words if word.startswith("--model="))
        if "--compile_only" in words and needs_libtpu.args[0]:
            return None
        is_placed = any(word.startswith(("--tpu=", "--nouse_tpu", "--compile")) for word in words)
        cores = () if is_placed else ("--tpu=emulated:2",)
        flags = (*words[2:], *SMALL, *SMALLER.get(model, ()), *cores)
        return compiled(folder, flags) if "--compile_only" in words else train(folder, *flags)
    if words[:2] == ["python", "predict.py"]:
        path = str(ROOT / "predict.py")
        return start(folder, lambda: runpy.run_path(path, run_name="__main__"), *words[1:])
    if words[0] == "estimator-bridge":
        return start(folder, lambda: cli.main(words[1:]), *words)
    assert words[:2] == ["python", "-m"], words
    if words[2].startswith("models.mnist_torch"):
        needed = "torch_xla" if words[2].endswith("train_xla") else "torch"
        if not can_import(needed) or needed == "torch_xla":  # which tests/models have on their own
            return None
    return start(
        folder, lambda: runpy.run_module(words[2], run_name="__main__"), words[2], *words[3:]
    )


def compiled(folder, flags):
    """Runs train.py in a process of its own, which is one that compiles to its end."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "train.py"), *flags], cwd=folder, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


def can_import(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def test_every_model_has_a_page():
    assert set(PAGES) == {*model_names(), "mnist_torch"}


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_its_page_run(name, tmp_path, monkeypatch):
    for network in ("Xception", "MobileNetV2"):
        monkeypatch.setattr(tf_keras.applications, network, backbone)
    shorter = {topic: text[:2000] for topic, text in topics.items()}
    monkeypatch.setattr("pydoc_data.topics.topics", shorter)
    DATA.get(name, lambda folder: None)(tmp_path)
    commands = documents.commands(PAGES[name])
    assert commands
    for words in commands:
        done = run(tmp_path, words)
        if done is not None:
            assert done.code == 0, f"{' '.join(words)}\n{done.out}\n{done.err}"
            assert "Traceback" not in done.err
            assert "already at step" not in done.out, f"{words}: continues the command before it"
    shutil.rmtree(tmp_path / "runs")
