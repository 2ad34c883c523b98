"""The models' data in an object store: TensorFlow's ram:// stands for gs://."""

import gzip
import json

import numpy as np
import pytest
import tensorflow as tf
from record_files import write_flowers
from task_runs import open_task, parsed
from test_hosts import small_cifar, small_labels, small_table, small_text
from test_mnist_idx import write_mnist

from estimator_bridge.base.any_files import exists, files_below, matching, open_bytes, open_text
from models.bert.config import read_config
from models.common.errors import UserError
from models.common.registry import entry_of
from models.common.task import InputRequest


def copied(folder, name):
    """Copies a local folder into ram:// and returns its path there."""
    target = f"ram://bucket/{name}"
    for path in folder.rglob("*"):
        if path.is_file():
            place = f"{target}/{path.relative_to(folder)}"
            tf.io.gfile.makedirs(place.rpartition("/")[0])
            with tf.io.gfile.GFile(place, "wb") as file:
                file.write(path.read_bytes())
    return target


def small_flowers(folder):
    for split in ("train", "test"):
        write_flowers(folder / split / "a.tfrec", [0, 1, 2])


@pytest.mark.parametrize(
    ("model", "make", "others", "sizes"),
    [
        ("bert", small_labels, ("--max_seq_length=16",), {"train": 31, "test": 7}),
        ("lstm", small_text, ("--text_length=16",), None),
        ("tabular", small_table, ("--table=mine",), {"train": 23, "test": 5}),
        ("resnet", small_cifar, (), {"train": 15, "test": 3}),
        ("mnist", write_mnist, (), {"train": 12, "test": 5}),
        ("gan", write_mnist, (), {"train": 12, "test": 5}),
        ("flowers", small_flowers, ("--image_size=32",), {"train": 3, "test": 3}),
    ],
)
def test_a_model_reads_its_data_from_there(tmp_path, monkeypatch, model, make, others, sizes):
    """And nothing of the small data that ships, nor is anything written on this machine."""
    make(tmp_path)
    remote = copied(tmp_path, model)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    task = open_task(parsed(f"--model={model}", f"--data_dir={remote}", "--nouse_tpu", *others))
    local = open_task(parsed(f"--model={model}", f"--data_dir={tmp_path}", "--nouse_tpu", *others))
    assert task.data.sizes == local.data.sizes == (sizes or local.data.sizes)
    request = InputRequest("test", False, 4)
    actual, expected = (
        [tf.nest.flatten(batch) for batch in one.data.input_fn(request)().as_numpy_iterator()]
        for one in (task, local)
    )
    tf.nest.map_structure(np.testing.assert_array_equal, actual, expected)
    assert list(here.iterdir()) == []


def test_errors_name_the_remote_file(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tone\nb\ttwo\n")
    remote = copied(tmp_path, "half")
    values = parsed("--model=bert", f"--data_dir={remote}")
    with pytest.raises(UserError, match=r"ram://bucket/half: has train\.tsv and no test\.tsv"):
        entry_of("bert").check(values)
    with pytest.raises(UserError, match=r"ram://bucket/half/none\.json: not the configuration"):
        read_config(f"{remote}/none.json")


def test_a_configuration_is_read(tmp_path):
    (tmp_path / "bert_config.json").write_text(json.dumps({"hidden_size": 24}))
    assert read_config(f"{copied(tmp_path, 'sizes')}/bert_config.json").hidden_size == 24


def test_files_are_read_as_python_reads_them(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_bytes("\ufeffone\r\ntwö\n".encode())
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"packed" * 1000))
    remote = copied(tmp_path, "files")
    for place in (str(tmp_path), remote):
        with open_text(f"{place}/folder/a.txt", "utf-8-sig") as file:
            assert list(file) == ["one\n", "twö\n"]
        with open_bytes(f"{place}/b.gz") as file, gzip.open(file) as unpacked:
            assert unpacked.read() == b"packed" * 1000
        assert files_below(place) == [f"{place}/b.gz", f"{place}/folder/a.txt"]
        assert matching(f"{place}/*.gz") == [f"{place}/b.gz"]
        assert matching(f"{place}/*.none") == []
        assert exists(f"{place}/folder")
        with pytest.raises(FileNotFoundError):
            open_bytes(f"{place}/none")
