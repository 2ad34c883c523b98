"""Records are written whole or not at all, and a stopped write continues to the same bytes."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import records
from estimator_bridge.records import writing

COUNT = 40


def arrays(count=COUNT):
    return {
        "image": np.arange(count * 6, dtype=np.uint8).reshape(count, 2, 3),
        "weight": np.linspace(0, 1, count * 2, dtype=np.float32).reshape(count, 2),
        "name": np.array([f"n{i}" for i in range(count)]),
        "label": np.arange(count) % 7,
    }


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def read(folder):
    """All records, in order, as arrays by feature."""
    (batch,) = records.input_fn(str(folder), False, 1000)().as_numpy_iterator()
    return batch


def same(columns, expected):
    assert set(columns) == set(expected)
    for name, value in expected.items():
        as_read = value.astype(bytes) if value.dtype.kind == "U" else value
        np.testing.assert_array_equal(columns[name], as_read)


def test_arrays_come_back(tmp_path):
    manifest = records.write(records.from_arrays(arrays()), tmp_path / "out", shards=4)
    same(read(tmp_path / "out"), arrays())
    assert [shard.records for shard in manifest.shards] == [10] * 4
    assert sorted(contents(tmp_path / "out")) == [
        *(f"data-0000{n}-of-00004.tfrecord" for n in range(4)),
        "manifest.json",
    ]


def test_the_manifest_tells_records_bytes_checksums_and_features(tmp_path):
    records.write(records.from_arrays(arrays()), tmp_path, shards=3, name="train")
    content = json.loads((tmp_path / "manifest.json").read_text())
    assert content["records"] == COUNT
    assert content["features"] == {
        "image": {"dtype": "uint8", "shape": [2, 3]},
        "weight": {"dtype": "float32", "shape": [2]},
        "name": {"dtype": "string", "shape": []},
        "label": {"dtype": "int64", "shape": []},
    }
    for shard in content["shards"]:
        file = tmp_path / shard["file"]
        assert shard["bytes"] == file.stat().st_size
        assert shard["file"].startswith("train-")
    assert content["bytes"] == sum(shard["bytes"] for shard in content["shards"])
    assert len({shard["crc32"] for shard in content["shards"]}) == 3


def test_a_seed_shuffles_and_loses_nothing(tmp_path):
    records.write(records.from_arrays(arrays(), seed=3), tmp_path, shards=2)
    names = read(tmp_path)["name"].tolist()
    assert names != arrays()["name"].astype(bytes).tolist()
    assert sorted(names) == sorted(arrays()["name"].astype(bytes).tolist())


def test_any_dataset(tmp_path):
    pairs = tf.data.Dataset.range(10).map(lambda i: ({"x": tf.cast(i, tf.float32)}, 2 * i))
    records.write(records.from_dataset(pairs), tmp_path / "pairs")
    same(read(tmp_path / "pairs"), {"x": np.arange(10.0), "labels": 2 * np.arange(10)})
    some = tf.data.Dataset.range(10).filter(lambda i: i % 2 == 0)  # of unknown length
    records.write(records.from_dataset(some), tmp_path / "some", shards=2)
    same(read(tmp_path / "some"), {"features": np.arange(0, 10, 2)})
    uneven = tf.data.Dataset.range(3).map(lambda i: {"words": tf.range(i)})
    records.write(records.from_dataset(uneven), tmp_path / "uneven")
    same(read(tmp_path / "uneven"), {"words": np.array([[0, 0], [0, 0], [0, 1]])})


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (tf.data.Dataset.range(3).repeat, r"infinite. Leave out repeat\(\)"),
        (lambda: tf.data.Dataset.range(3).take(0), "the dataset is empty"),
        (lambda: tf.data.Dataset.range(3).map(lambda i: {"a": {"b": i}}), "one flat dict"),
        (lambda: tf.data.Dataset.range(3).map(lambda i: tf.complex(1.0, 2.0)), "type complex64"),
        (lambda: [1, 2], "takes a tf.data.Dataset, got list"),
    ],
)
def test_datasets_that_cannot_be_written(dataset, message):
    with pytest.raises(ValueError, match=message):
        records.from_dataset(dataset())


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "got no array"),
        ({"a": np.zeros(3), "b": np.zeros(4)}, r"\{'a': 3, 'b': 4\}"),
        ({"a": np.zeros(0)}, "at least one"),
        ({"a": np.array(5)}, "at least one"),
        ({"a": np.zeros(3, np.uint64)}, "'a' has the type uint64"),
    ],
)
def test_arrays_that_cannot_be_written(arrays, message):
    with pytest.raises(ValueError, match=message):
        records.from_arrays(arrays)


class Stopped(Exception):
    pass


def stop_at(record):
    def progress(state):
        if state.records == record:
            raise Stopped

    return progress


@pytest.mark.parametrize("record", [1, 9, 10, 11, 25, COUNT])
def test_a_stopped_write_continues_to_the_same_bytes(tmp_path, record):
    source = records.from_arrays(arrays(), seed=1)
    records.write(source, tmp_path / "whole", shards=4)
    folder = tmp_path / "stopped"
    with pytest.raises(Stopped):
        records.write(source, folder, shards=4, progress=stop_at(record))
    left = sorted(contents(folder))
    assert not [name for name in left if name.endswith(".part")]
    assert "manifest.json" not in left
    with pytest.raises(eb.errors.DataError, match="not written to its end"):
        records.input_fn(str(folder), True)
    begun = []
    records.write(source, folder, shards=4, progress=begun.append)
    assert contents(folder) == contents(tmp_path / "whole")
    assert begun[0].records == (record - 1) // 10 * 10 + 1  # whole files stay


KILLED = """
    import os, signal, sys
    import numpy as np
    from estimator_bridge import records

    def progress(state):
        if state.records == 15:
            os.kill(os.getpid(), signal.SIGKILL)

    x = np.arange(40)
    records.write(records.from_arrays({"x": x}), sys.argv[1], shards=4, progress=progress)
"""


def test_a_killed_write_continues_to_the_same_bytes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "killed")], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "killed" / "unfinished.json").exists()
    source = records.from_arrays({"x": np.arange(40)})
    for folder in ("killed", "whole"):
        records.write(source, tmp_path / folder, shards=4)
    continued, whole = contents(tmp_path / "killed"), contents(tmp_path / "whole")
    assert {name: continued[name] for name in whole} == whole
    assert set(continued) - set(whole) == set()


def test_a_finished_write_is_left_alone(tmp_path):
    source = records.from_arrays(arrays())
    records.write(source, tmp_path, shards=4)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert records.write(source, tmp_path, shards=4).records == COUNT
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_a_damaged_file_of_a_stopped_write_is_written_again(tmp_path):
    source = records.from_arrays(arrays())
    with pytest.raises(Stopped):
        records.write(source, tmp_path, shards=4, progress=stop_at(25))
    (tmp_path / "data-00001-of-00004.tfrecord").write_bytes(b"other")
    records.write(source, tmp_path, shards=4)
    same(read(tmp_path), arrays())


def test_another_source_does_not_continue_it(tmp_path):
    with pytest.raises(Stopped):
        records.write(records.from_arrays(arrays()), tmp_path, shards=4, progress=stop_at(25))
    with pytest.raises(eb.errors.DataError, match=r"in another order: 2 of 4 files\. Remove it"):
        records.write(records.from_arrays(arrays(), seed=1), tmp_path, shards=4)


def test_finished_records_and_other_files_are_not_overwritten(tmp_path):
    records.write(records.from_arrays(arrays()), tmp_path / "a", shards=4)
    with pytest.raises(eb.errors.DataError, match="holds 40 other records in 4 files"):
        records.write(records.from_arrays(arrays(20)), tmp_path / "a", shards=4)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "notes.txt").write_text("mine")
    with pytest.raises(eb.errors.DataError, match=r"not empty, .*notes\.txt"):
        records.write(records.from_arrays(arrays()), tmp_path / "b")
    assert os.listdir(tmp_path / "b") == ["notes.txt"]


def test_two_writers_of_one_folder(tmp_path):
    source = records.from_arrays(arrays())

    def again(state):
        if state.records == 5:
            records.write(source, tmp_path, shards=4)

    with pytest.raises(eb.errors.DataError, match="another process writes records there"):
        records.write(source, tmp_path, shards=4, progress=again)


def test_a_full_disk_leaves_no_half_file_and_the_write_continues(tmp_path, monkeypatch):
    source = records.from_arrays(arrays())
    staged = writing.staged

    @contextlib.contextmanager
    def full(folder, name):
        with staged(folder, name) as path:  # writes to this device fail as those to a full disk
            yield "/dev/full" if name.startswith("data-00002") else path

    with monkeypatch.context() as patch:
        patch.setattr(writing, "staged", full)
        with pytest.raises(eb.errors.DiskFullError, match="No space left on device") as raised:
            records.write(source, tmp_path, shards=4)
    assert f"A part of the records in {tmp_path} was not written" in str(raised.value)
    left = sorted(contents(tmp_path))
    assert left == [
        "data-00000-of-00004.tfrecord",
        "data-00001-of-00004.tfrecord",
        "unfinished.json",
    ]
    records.write(source, tmp_path, shards=4)
    same(read(tmp_path), arrays())


def test_a_disk_that_is_too_small_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    usage = writing.shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(writing.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(eb.errors.DiskFullError, match="the records need about"):
        records.write(records.from_arrays(arrays()), tmp_path)
    assert not list(tmp_path.glob("*.tfrecord*"))


@pytest.mark.parametrize("shards", [0, -1, COUNT + 1, 2.0, True, "4"])
def test_a_wrong_number_of_shards(tmp_path, shards):
    with pytest.raises(ValueError, match="shards must be"):
        records.write(records.from_arrays(arrays()), tmp_path / "out", shards=shards)
    assert not (tmp_path / "out").exists()


def test_the_progress_line_of_a_terminal_tells_what_is_left():
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal, now = Terminal(), iter(range(0, 100, 2))
    line = records.ProgressLine(terminal, lambda: next(now))
    line(records.Progress(0, 100, 0, 2, 0))
    line(records.Progress(50, 100, 1, 2, 8_000_000))
    line(records.Progress(100, 100, 2, 2, 12_000_000))
    shown = terminal.text.split("\r")
    assert shown[2] == "50 of 100 records, 1 of 2 files, 2.0 MB/s, 4 s left\x1b[K"
    assert shown[3] == "100 of 100 records, 2 of 2 files, 2.0 MB/s\x1b[K\n"
