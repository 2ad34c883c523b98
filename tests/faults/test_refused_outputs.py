"""A disk that refuses a write, by each errno at each kind of output: named, nothing half done."""

import builtins
import errno
import json
import os
import shutil
import types
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.commands.cli import main
from estimator_bridge.compile_for import report_file
from estimator_bridge.errors import DiskError, DiskFullError
from estimator_bridge.migrate.atomic_writes import write_new
from estimator_bridge.own_files import write_note
from estimator_bridge.own_files.local_files import whole_file
from estimator_bridge.prediction.output import opened
from estimator_bridge.training.monitoring.run_record import RunRecord, write_record
from models.common.saved_files import saved_output

v1 = tf.compat.v1
NUMBERS = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO]
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
OLD_CODE = "import tensorflow as tf\nx = tf.contrib.layers.flatten(tf.placeholder(tf.float32))\n"


class Refusing:
    """A file that cannot be written to; all else is the file's own."""

    def __init__(self, file, number):
        self._file, self._number = file, number

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def write(self, content):
        raise OSError(self._number, os.strerror(self._number))

    writelines = write


@pytest.fixture(params=NUMBERS, ids=errno.errorcode.get)
def refused(request, tmp_path, monkeypatch):
    """Returns a function that makes the disk of tmp_path refuse writes, and the errno."""
    real = builtins.open

    def refuse():
        def refusing_open(file, mode="r", *args, **kwargs):
            opened_file = real(file, mode, *args, **kwargs)
            is_here = isinstance(file, (str, os.PathLike)) and str(tmp_path) in os.fspath(file)
            return (
                Refusing(opened_file, request.param) if is_here and mode[0] in "wx" else opened_file
            )

        class RefusingWriter:
            def __init__(self, path):
                self.path = path

            def __enter__(self):
                return self

            def __exit__(self, *error):
                pass

            def write(self, record):
                text = f"{self.path}; {os.strerror(request.param)}"
                raise tf.errors.OutOfRangeError(None, None, text)

        monkeypatch.setattr(builtins, "open", refusing_open)
        monkeypatch.setattr(tf.io, "TFRecordWriter", RefusingWriter)

    return refuse, request.param


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def report(folder):
    eb.training.write_report(folder)


def monitor(folder):
    write_record(str(folder), RunRecord())


def saved(folder):
    with saved_output(str(folder / "run.yaml")) as place, open(place, "w") as file:
        file.write("new")


def records(folder):
    dataset = tf.data.Dataset.from_tensor_slices({"x": np.arange(3)})
    eb.records.write(eb.records.from_dataset(dataset), folder / "records", shards=1)


def weights(folder):
    from estimator_bridge.weights import convert

    convert(str(folder / "model"), "npz", str(folder / "weights.npz"))


# The library's errors, for rooms that load TensorFlow: their output, and how it is written.
OUTPUTS = {
    "report.html": report,
    "monitor.json": monitor,
    "run.yaml": saved,
    "records": records,
    "weights.npz": weights,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "model"
    with tf.Graph().as_default():
        v1.get_variable("weights", [3])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, str(folder / "model.ckpt-1"))
    return folder


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output(name, tmp_path, trained, refused):
    refuse, number = refused
    if name == "weights.npz":
        shutil.copytree(trained, tmp_path / "model")
    elif name != "records":
        OUTPUTS[name](tmp_path)
    before = contents(tmp_path)
    refuse()
    with pytest.raises(DiskFullError if number in FULL else DiskError) as error:
        OUTPUTS[name](tmp_path)
    assert name in str(error.value)
    assert os.strerror(number) in str(error.value)
    after = contents(tmp_path)
    after.pop("records/.estimator_bridge.unfinished", None)
    assert after == before


def compile_report(folder):
    empty = types.SimpleNamespace(as_json=lambda: {})
    report_file.write_report(empty, str(folder / "compiled.json"))


def note(folder):
    write_note(str(folder / "note"), {"a": 1})


def new_files(folder):
    write_new({str(folder / "one.py"): b"1", str(folder / "two.py"): b"2"})


def predictions(folder):
    with opened(str(folder / "out.jsonl")) as write:
        write([{"y": 1.0}])


@pytest.mark.parametrize("write", [compile_report, note, new_files, predictions])
def test_an_output_without_tensorflow(write, tmp_path, refused):
    refuse, number = refused
    refuse()
    with pytest.raises(OSError, match=r".") as error:
        write(tmp_path)
    assert error.value.errno == number
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("name", ["program.py", "notebook.ipynb"])
def test_the_source_of_a_rewrite_is_untouched(name, tmp_path, capsys, refused):
    refuse, number = refused
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    notebook = {
        "cells": [{**cell, "source": OLD_CODE}],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    text = json.dumps(notebook) if name.endswith("ipynb") else OLD_CODE
    (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    refuse()
    status = main(["rewrite", "--write", str(tmp_path / name)])
    assert contents(tmp_path) == before
    assert status == 1
    shown = capsys.readouterr().err
    assert os.strerror(number) in shown
    assert name in shown
    assert "0 written" in shown


@pytest.mark.parametrize("number", NUMBERS)
def test_a_rename_that_is_refused(number, tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def refuse(source, target):
        raise OSError(number, os.strerror(number), source)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(OSError, match=r"out\.csv"), whole_file(str(path)) as temporary:
            Path(temporary).write_text("new")
    assert contents(tmp_path) == {"out.csv": b"old"}
