"""Random bytes, cut ends and flipped bits in each small file that a reader takes from anybody.

Each is read, or refused with an error that the reader documents, within 2 s of processor time. A
signal would end this process, and the file of tests with it.
"""

import gzip
import io
import json
import os
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from absl import flags as absl_flags
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from processor_time import least_secs

import estimator_bridge as eb
import flags
from estimator_bridge.checkpoint import Positions, checkpoints_in, latest_checkpoint, load_variable
from estimator_bridge.checkpoint.any_checkpoints import reader_of
from estimator_bridge.commands.cli import main
from estimator_bridge.errors import CheckpointError, DataError
from estimator_bridge.legacy.mnist import IMAGES, decode
from estimator_bridge.legacy.running.notebooks import NotebookError, read_notebook
from estimator_bridge.own_files import lies_at
from estimator_bridge.prediction.rows import BadRow, Row
from estimator_bridge.prediction.text_rows import csv_rows, header_of, json_rows
from estimator_bridge.records.manifest import read_manifest
from estimator_bridge.records.npz_arrays import read_npz
from estimator_bridge.training.monitoring.run_record import RunRecord, read_record
from estimator_bridge.weights import list_weights, read_table
from flags.config_file import with_config
from flags.validate import FlagsError
from models.bert.config import read_config
from models.bert.labeled import read_labeled
from models.bert.tokenization import read_vocabulary
from models.common.errors import UserError
from models.mnist.idx import read_idx
from models.tabular.values import read_values

v1 = tf.compat.v1
MOST_SECS = 2
# Times as many examples, each time others: for a longer search.
FACTOR = int(os.environ.get("CHANGED_FILES_FACTOR", "1"))
# Bare, these tell a user nothing.
BARE = (UnicodeError, json.JSONDecodeError)


@st.composite
def changed(draw, content):
    """Draws random bytes, or a content with its end cut off, bits flipped or parts moved."""
    way = draw(st.sampled_from(["bytes", "cut", "flip", "insert", "repeat"]))
    if way == "bytes":
        return draw(st.binary(max_size=200))
    if way == "cut":
        return content[: draw(st.integers(0, max(0, len(content) - 1)))]
    result = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(result) - 1))
        if way == "flip":
            result[place] ^= 1 << draw(st.integers(0, 7))
        elif way == "insert":
            odd = [b"\0", b"\xff", b"[" * 300, b'"', b"{", b"\n", b"9" * 5000, b"\x1b[2J", b"\\"]
            result[place:place] = draw(st.sampled_from(odd))
        else:
            end = draw(st.integers(place, len(result)))
            result[place:place] = result[place:end]
    return bytes(result)


def small(examples):
    health = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(
        max_examples=examples * FACTOR, deadline=None, suppress_health_check=health, database=None,
        derandomize=FACTOR == 1,
    )  # fmt: skip


def is_read_or_refused(read, refusals, path):
    def read_once():
        try:
            read(path)
        except refusals as error:
            assert not isinstance(error, BARE) or isinstance(error, (DataError, CheckpointError))
            assert str(error).strip()

    assert least_secs(read_once) < MOST_SECS


def no_bad_rows(rows):
    def read(path):
        for row in rows(path):
            assert isinstance(row, (Row, BadRow))

    return read


def config_read(path):
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_integer("steps", 1, "", flag_values=values)
    absl_flags.DEFINE_string("name", "", "", flag_values=values)
    values(["p"])
    with_config(["p", f"--config={path}"], values)


def flags_read(path):
    values = absl_flags.FlagValues()
    flags.define_flags(values)
    try:
        flags.parse_flags(["p", f"--flagfile={path}"], values)
    except SystemExit as error:
        assert error.code == 2
        raise FlagsError(["refused"]) from None


def record_read(path):
    folder = os.path.dirname(path)
    for name in os.listdir(folder):
        if "set_aside" in name:
            os.unlink(os.path.join(folder, name))
    assert isinstance(read_record(folder), RunRecord)
    eb.training.write_report(folder)


def checked(path):
    assert main(["check", path]) in (0, 1)


def labeled_read(path):
    read_labeled(os.path.dirname(path))


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


IDX = struct.pack(">HBB3I", 0, 8, 3, 2, 3, 3) + bytes(range(18))
LABELS = struct.pack(">HBBI", 0, 8, 1, 5) + b"\1\2\3\4\5"
MANIFEST = json.dumps({
    "format": 1, "records": 3, "bytes": 48, "source": 1,
    "features": {"x": {"dtype": "int64", "shape": [2]}, "y": {"dtype": "string", "shape": []}},
    "classes": ["a", "b"],
    "shards": [{"file": "a.tfrecord", "records": 3, "bytes": 48, "crc32": zlib.crc32(b"x")}],
}).encode()  # fmt: skip
MONITOR = json.dumps({
    "points": [{"step": 3, "loss": 0.5}], "notes": ["a note"], "configuration": {"steps": "3"},
    "samples": [{"a": "b"}],
}).encode()  # fmt: skip
NOTEBOOK = json.dumps({
    "nbformat": 4, "metadata": {"kernelspec": {"name": "python3"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# A"]},
        {"cell_type": "code", "source": ["import tensorflow as tf\n", "%time f(1)\n", "!ls"]},
        {"cell_type": "code", "source": "tf.logging.info('x')"},
    ],
}).encode()  # fmt: skip
CONFIG = json.dumps({
    "vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 8, "max_position_embeddings": 16, "type_vocab_size": 2,
}).encode()  # fmt: skip
# Of each kind: the file's name, its whole content, what reads it, and the documented errors.
READERS = {
    "idx of images": ("a-idx3-ubyte", IDX, lambda p: read_idx(p, 3), UserError),
    "idx of labels": ("a-idx1-ubyte", LABELS, lambda p: read_idx(p, 1), UserError),
    "packed idx": ("a.gz", gzip.compress(IDX, mtime=0), lambda p: read_idx(p, 3), UserError),
    "idx of the contrib reader": (
        "a.gz",
        gzip.compress(IDX, mtime=0),
        lambda p: decode(Path(p).read_bytes(), IMAGES, p),
        ValueError,
    ),
    "vocabulary": (
        "vocab.txt",
        b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\xc3\xa4\n",
        read_vocabulary,
        UserError,
    ),
    "sizes of a model": ("bert_config.json", CONFIG, read_config, UserError),
    "labelled texts": ("train.tsv", b"label\ttext\na\tx y\nb\tz\n", labeled_read, UserError),
    "table of numbers": ("train.csv", b"a,b\n1,2\n3,4.5e3\n", read_values, UserError),
    "rows of CSV": (
        "rows.csv",
        b'x,y\n1,"a\nb"\n2,\xc3\xa4\n',
        no_bad_rows(csv_rows),
        DataError,
    ),
    "rows of JSON": (
        "rows.jsonl",
        b'{"x": 1.5, "y": ["a"]}\n{"x": 2}\n',
        no_bad_rows(json_rows),
        DataError,
    ),
    "manifest": ("manifest.json", MANIFEST, lambda p: read_manifest(os.path.dirname(p)), DataError),
    "run.yaml": ("run.yaml", b"# Run again\nsteps: 3\nname: 'a b'\n", config_read, FlagsError),
    "flag file": ("flags.txt", b"# c\n--train_steps=3\n--nouse_tpu\n", flags_read, FlagsError),
    "monitor.json": ("monitor.json", MONITOR, record_read, ()),
    "notebook to run": ("a.ipynb", NOTEBOOK, read_notebook, NotebookError),
    "notebook to check": ("a.ipynb", NOTEBOOK, checked, ()),
    "source to check": ("a.py", b"import tensorflow as tf\ntf.app.run()\n", checked, ()),
    "archive": ("a.npz", npz(a=np.ones([2, 3]), b=np.arange(3)), read_npz, DataError),
    "table of weights": ("names.txt", b"dense/kernel  fc.w  1,0\na/b -\n", read_table, DataError),
}


@pytest.mark.parametrize("kind", READERS)
def test_the_whole_file_is_read(kind, tmp_path):
    name, content, read, _ = READERS[kind]
    path = tmp_path / name
    path.write_bytes(content)
    if kind == "labelled texts":
        shutil.copy(path, tmp_path / "test.tsv")
    read(str(path))
    assert lies_at(str(path))


@pytest.mark.parametrize("kind", READERS)
def test_a_changed_file_is_read_or_refused(kind, tmp_path, capsys):
    name, content, read, refusals = READERS[kind]
    path = tmp_path / name
    (tmp_path / "test.tsv").write_bytes(b"a\tx\n")

    @small(60)
    @given(changed(content))
    def try_one(some):
        path.write_bytes(some)
        is_read_or_refused(read, refusals, str(path))

    try_one()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with two checkpoints and the positions of their input."""
    folder = tmp_path_factory.mktemp("saved")
    with tf.Graph().as_default():
        step = v1.train.create_global_step()
        v1.get_variable("dense/kernel", [3, 4])
        v1.get_variable("words", initializer=["a", "bc"])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            saver = v1.train.Saver()
            for _ in range(2):
                session.run(step.assign_add(1))
                saver.save(session, str(folder / "model.ckpt"), step, write_meta_graph=False)
    positions = Positions(str(folder), "input", f"{folder}/model.ckpt")
    for number in (1, 2):
        positions.save(iter(numbers()), number, {"loop/counters": np.ones([2, 3], np.int64)})
    return folder


def numbers():
    return tf.data.Dataset.range(40).shuffle(16, seed=3).repeat().batch(4)


def with_changed_file(saved, tmp_path, name, read, refusals, examples):
    folder = tmp_path / "changed"
    content = (saved / name).read_bytes() if (saved / name).exists() else STATE

    @small(examples)
    @given(changed(content))
    def try_one(some):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(saved, folder)
        (folder / name).write_bytes(some)
        is_read_or_refused(read, refusals, str(folder))

    try_one()


STATE = b'model_checkpoint_path: "model.ckpt-2"\nall_model_checkpoint_paths: "model.ckpt-2"\n'


def all_values(folder):
    path = f"{folder}/model.ckpt-2"
    for variable in list_weights(path):
        load_variable(path, variable.key)


def test_a_changed_list_of_checkpoints(saved, tmp_path):
    def read(folder):
        path = latest_checkpoint(folder)
        assert path and path.endswith(("model.ckpt-2", "model.ckpt-1"))
        checkpoints_in(folder)
        reader_of(f"{folder}/model.ckpt-2")

    with_changed_file(saved, tmp_path, "checkpoint", read, CheckpointError, 60)


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_a_changed_file_of_a_checkpoint(ending, saved, tmp_path):
    def read(folder):
        assert latest_checkpoint(folder)
        all_values(folder)

    with_changed_file(saved, tmp_path, f"model.ckpt-2{ending}", read, CheckpointError, 60)


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_a_changed_position(ending, saved, tmp_path):
    def read(folder):
        positions = Positions(folder, "input", f"{folder}/model.ckpt")
        if positions.damage(2) is None:
            positions.restore(iter(numbers()), 2)

    with_changed_file(saved, tmp_path, f"input.ckpt-2{ending}", read, eb.errors.CheckpointError, 40)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["", ".", "..", "/", "../../etc/passwd", "a\0b", "[", "*", "model.ckpt-*", "model.ckpt-2\n",
     "//", "gs://", "x://y", "model.ckpt-" + "9" * 400, "model.ckpt--1", "a" * 5000, "\x1b[2J"]
)  # fmt: skip


def test_any_name_of_a_checkpoint(saved):
    @small(60)
    @given(NAMES)
    def try_one(name):
        for read in (
            lambda path: load_variable(path, "dense/kernel"),
            lambda path: load_variable(f"{saved}/{path}", "dense/kernel"),
            list_weights,
            lambda path: load_variable(f"{saved}/model.ckpt-2", path),
        ):
            if "://" not in name:  # object stores are asked over the network
                is_read_or_refused(read, CheckpointError, name)

    try_one()


def test_any_name_in_the_list_of_checkpoints(saved, tmp_path):
    folder = tmp_path / "named"
    shutil.copytree(saved, folder)

    @small(60)
    @given(NAMES)
    @example("\0")
    def try_one(name):
        if "://" in name:
            return
        escaped = "".join(f"\\{byte:03o}" for byte in name.encode())
        text = f'model_checkpoint_path: "{escaped}"\nall_model_checkpoint_paths: "{escaped}"\n'
        (folder / "checkpoint").write_text(text)

        def read(path):
            assert latest_checkpoint(path) in (f"{folder}/model.ckpt-2", f"{folder}/./model.ckpt-2")

        is_read_or_refused(read, CheckpointError, str(folder))

    try_one()


def test_a_csv_header_with_a_carriage_return_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a\rb,c\n1,2\n")
    with pytest.raises(DataError, match=r"rows\.csv, line 1: not CSV: new-line character"):
        header_of(str(path))
