"""Records in a file system of TensorFlow other than the local one: ram://, in place of gs://."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge import records
from estimator_bridge.commands.cli import main
from estimator_bridge.errors import DataError

COUNT = 30


@pytest.fixture(scope="module")
def store():
    """Records in ram://, in five files."""
    folder = "ram://bucket/sets/numbers"
    values = np.arange(COUNT)
    source = records.from_arrays({"x": np.float32(values)[:, None], "label": values % 3})
    written = records.write(source, folder, shards=5)
    assert written.records == COUNT
    return folder


def numbers(input_fn):
    return sorted(int(x) for features, _ in input_fn() for x in features["x"][:, 0])


def test_the_written_folder_is_complete(store):
    names = sorted(tf.io.gfile.listdir(store))
    assert names == [*(f"data-{i:05d}-of-00005.tfrecord" for i in range(5)), "manifest.json"]
    assert records.read_manifest(store).records == COUNT
    source = records.from_arrays({"x": np.zeros([3, 1], np.float32)})
    with pytest.raises(DataError, match="holds 30 other records in 5 files"):
        records.write(source, store)


@pytest.mark.parametrize(
    ("paths", "count"),
    [
        ("", COUNT),
        ("/data-*", COUNT),
        ("/data-0000[12]-of-*", 12),
        ("/data-00003-of-00005.tfrecord", 6),
    ],
)
def test_folders_patterns_and_files_are_read(store, paths, count):
    features = {
        "x": tf.io.FixedLenFeature([1], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64),
    }  # fmt: skip
    input_fn = records.input_fn(store + paths, False, 4, features, label="label")
    assert len(numbers(input_fn)) == count
    training = records.input_fn(store + paths, True, count, features, label="label", cache=True)
    (features, _), *_ = training().take(1)
    assert len(set(features["x"].numpy().ravel())) == count


def test_the_commands_check_and_show(store, capsys):
    assert main(["data", "check", store, "--label", "label", "--classes", "3"]) == 0
    assert "30" in capsys.readouterr().out
    assert main(["data", "show", f"{store}/data-*", "--examples", "1"]) == 0
    assert "label" in capsys.readouterr().out


def test_damage_is_named_with_file_and_byte(store, capsys):
    path = f"{store}-damaged/data-00000-of-00001.tfrecord"
    with tf.io.gfile.GFile(f"{store}/data-00000-of-00005.tfrecord", "rb") as file:
        content = file.read()
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(content[:-20])
    assert main(["data", "check", f"{store}-damaged"]) == 1
    output = "".join(capsys.readouterr())
    assert path in output
    assert "cut short" in output


def test_a_csv_file_of_the_store_is_written_as_records(store, capsys):
    with tf.io.gfile.GFile("ram://bucket/table.csv", "w") as file:
        file.write("a,b\n1,0.5\n2,1.5\n")
    assert main(["data", "write", "ram://bucket/table.csv", "ram://bucket/sets/table"]) == 0
    input_fn = records.input_fn("ram://bucket/sets/table", False, 2, label="a")
    ((features, labels),) = input_fn()
    assert features["b"].numpy().ravel().tolist() == [0.5, 1.5]
    assert labels.numpy().ravel().tolist() == [1, 2]


@pytest.mark.parametrize("path", ["ram://bucket/none", "ram://bucket/none-*"])
def test_what_is_not_there_is_an_error(store, path):
    with pytest.raises(DataError, match="none"):
        records.input_fn(path, True, 2)
