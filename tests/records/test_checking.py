"""`estimator-bridge data`: each kind of wrong record is found, with its file and byte."""

import sys
import types

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge import records
from estimator_bridge.commands.cli import main
from estimator_bridge.errors import DataError
from estimator_bridge.records import sharding
from estimator_bridge.records.framing import Damage, records_in, walk

RECORD = 12 + 4  # bytes around a record's content


def write(folder, count=30, shards=3):
    labels = np.arange(count) % 4
    source = records.from_arrays({"x": np.ones([count, 2], np.float32), "label": labels})
    return records.write(source, folder, shards=shards)


def starts(path):
    """The byte at which each record of a file begins, and its end."""
    offsets = [0]
    for record in tf.data.TFRecordDataset(str(path)):
        offsets.append(offsets[-1] + RECORD + len(record.numpy()))
    return offsets


def change(path, offset, by=1):
    content = bytearray(path.read_bytes())
    content[offset] ^= by
    path.write_bytes(content)


@settings(deadline=None, max_examples=30)
@given(sizes=st.lists(st.integers(0, 50), max_size=6), cut=st.integers(0, 400))
def test_the_framing_is_tensorflows(tmp_path_factory, sizes, cut):
    path = tmp_path_factory.mktemp("framing") / "a.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for size in sizes:
            writer.write(b"x" * size)
    assert list(walk(str(path))) == sizes
    ends = np.cumsum([size + RECORD for size in sizes]).tolist()
    path.write_bytes(path.read_bytes()[:cut])
    whole, damage = records_in(str(path))
    assert whole == sum(end <= cut for end in ends)
    is_between = cut in [0, *ends] or not ends or cut >= ends[-1]
    assert damage is None if is_between else damage.offset == ([0, *ends])[whole]


def test_a_damaged_length_is_not_followed(tmp_path):
    write(tmp_path)
    path = tmp_path / "data-00001-of-00003.tfrecord"
    begin = starts(path)[4]
    change(path, begin + 7, by=0x40)  # a length of exabytes
    assert records_in(str(path)) == (4, Damage(begin, 4, _header(path, begin)))


def _header(path, begin):
    return f"the header {path.read_bytes()[begin : begin + 12].hex(' ')} is not that of a TFRecord"


@pytest.mark.parametrize("where", ["content", "checksum", "header"])
def test_a_flipped_bit_is_found_with_file_and_byte(tmp_path, where):
    write(tmp_path)
    path = tmp_path / "data-00001-of-00003.tfrecord"
    begin, end = starts(path)[6:8]
    change(path, {"content": begin + 20, "checksum": end - 1, "header": begin}[where])
    report = records.check(str(tmp_path))
    assert not report.is_good
    assert report.records == 26
    (finding,) = [finding for finding in report.findings if finding.is_error]
    assert (finding.path, finding.offset) == (str(path), begin)
    assert "damaged from record 6 on" in finding.message
    assert "4 records are lost" in finding.message


def test_a_truncated_file(tmp_path):
    write(tmp_path)
    path = tmp_path / "data-00002-of-00003.tfrecord"
    at = starts(path)
    path.write_bytes(path.read_bytes()[: at[3] + 5])
    finding = records.check(str(tmp_path)).findings[0]
    assert (finding.offset, finding.path) == (at[3], str(path))
    assert "cut short" in finding.message
    # Between two records nothing but the manifest tells.
    path.write_bytes(path.read_bytes()[: at[3]])
    finding = records.check(str(tmp_path)).findings[0]
    assert f"3 records and {at[3]} bytes, want 10 and {at[10]}" in finding.message
    path.unlink()
    report = records.check(str(tmp_path))
    assert "missing: 10 records" in report.findings[0].message
    assert (report.records, report.files, report.is_good) == (20, 2, False)


def put(path, *examples):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for features in examples:
            kinds = {
                name: tf.train.Feature(int64_list=tf.train.Int64List(value=value))
                if isinstance(value[0], int)
                else tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
                for name, value in features.items()
            }
            features = tf.train.Features(feature=kinds)  # noqa: PLW2901
            writer.write(tf.train.Example(features=features).SerializeToString())


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": [1, 2], "b": [b"x"]}, "feature 'a' has 2 values of int64, want 1 of int64"),
        ({"a": [b"1"], "b": [b"x"]}, "feature 'a' has 1 values of string, want 1 of int64"),
        ({"b": [b"x"]}, "feature 'a' is missing; it has b"),
    ],
)
def test_a_record_of_another_shape(tmp_path, other, message):
    path = tmp_path / "a.tfrecord"
    put(path, *[{"a": [1], "b": [b"x"]}] * 700, other, {"a": [1], "b": [b"x"]})
    report = records.check(str(path))
    (finding,) = report.findings
    assert finding.message.startswith(f"record 700: {message}")
    assert finding.offset == starts(path)[700]


def test_an_array_of_bytes_of_another_size(tmp_path):
    folder = tmp_path / "out"
    records.write(records.from_arrays({"image": np.zeros([3, 2, 2], np.uint8)}), folder)
    put(folder / "data-00000-of-00001.tfrecord", {"image": [b"1234"]}, {"image": [b"123"]})
    messages = [finding.message for finding in records.check(str(folder)).findings]
    assert any("feature 'image' has 3 bytes, want 4 for the shape [2, 2]" in m for m in messages)


def test_records_that_are_no_examples(tmp_path):
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write(b"\xff\xff\xff")
    with pytest.raises(DataError, match=r"its records are not tf\.train\.Example"):
        records.check(str(tmp_path))


def test_labels_out_of_range_have_file_and_byte(tmp_path, capsys):
    write(tmp_path)
    assert main(["data", "check", str(tmp_path), "--classes", "4"]) == 0
    assert main(["data", "check", str(tmp_path), "--classes", "3"]) == 1
    path = tmp_path / "data-00000-of-00003.tfrecord"
    output = capsys.readouterr().out
    assert f"error: {path}, byte {starts(path)[3]}: record 3: the label 'label' is 3" in output
    assert "want 0 to 2 for 3 classes" in output
    report = records.check(str(tmp_path), records.Labels("class", 3))
    assert "no feature 'class' to check labels of; records have x, label" in str(report.findings[0])
    report = records.check(str(tmp_path), records.Labels("x", 3))
    assert "the label 'x' is float32, want whole numbers" in str(report.findings[0])


def test_too_few_and_too_small_files_are_advice(tmp_path, monkeypatch):
    write(tmp_path)
    report = records.check(str(tmp_path))
    assert report.is_good
    assert "files are too small: 3 of 0.00" in report.findings[0].message
    assert "would make 1." in report.findings[0].message
    for module in (sharding, sys.modules["estimator_bridge.records.checking"]):
        monkeypatch.setattr(module, "SMALLEST", 50)
        monkeypatch.setattr(module, "LARGEST", 500)
    report = records.check(str(tmp_path))
    assert report.is_good
    assert "too few files: 3 of" in report.findings[0].message
    assert "would make 30." in report.findings[0].message


def test_the_command_writes_shows_and_checks(tmp_path, capsys):
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, x=np.ones([5, 3], np.float32), label=np.arange(5))
    out = str(tmp_path / "out")
    assert main(["data", "write", str(arrays), out, "--seed", "1"]) == 0
    assert f"{out}: 5 records, 0.0 MB in 1 files" in capsys.readouterr().out
    assert main(["data", "show", out + "/", "--examples", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "5 records, 0.0 MB in 1 files",
        "  x      float32 [3]",
        "  label  int64 []",
    ]
    assert lines.count("  x = [1.0, 1.0, 1.0]") == 2
    assert main(["data", "check", out]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    pattern = str(tmp_path / "out" / "*.tfrecord")
    assert main(["data", "show", pattern, "--examples", "0"]) == 0  # without the manifest
    assert capsys.readouterr().out.splitlines()[1:] == ["  label  int64 []", "  x      float32 [3]"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["write", "nowhere", "out"], "nowhere: no such folder, and no file"),
        (["write", "none.npz", "out"], "none.npz: no such file"),
        (["write", "bad.npz", "out"], "bad.npz: not a file that np.savez wrote"),
        (["write", "table.csv", "out", "--seed", "1"], "--seed is for images and arrays"),
        (["check", "nowhere"], "nowhere: no such file or folder"),
        (["check", ".", "--classes", "0"], "--classes must be at least 1, got 0"),
        (["show", ".", "--examples", "-1"], "--examples must be at least 0"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.npz").write_bytes(b"PK no zip")
    (tmp_path / "table.csv").write_text("a\n1\n")
    assert main(["data", *arguments]) == 1
    output = capsys.readouterr()
    assert output.err.startswith(f"estimator-bridge data: {message}")
    assert (output.out, output.err.count("\n")) == ("", 1)


def test_kaggles_lookup(monkeypatch, capsys):
    with pytest.raises(DataError, match="only Kaggle's notebooks have; this is not one"):
        records.kaggle_bucket("flowers", environ={})
    with pytest.raises(DataError, match="Read /kaggle/input/flowers instead"):
        records.kaggle_bucket("flowers", environ={"KAGGLE_KERNEL_RUN_TYPE": "Interactive"})

    class KaggleDatasets:
        def get_gcs_path(self, name=None):
            if name == "none":
                raise ValueError("404")
            return f"gs://kds-1/{name}"

    module = types.ModuleType("kaggle_datasets")
    module.KaggleDatasets = KaggleDatasets
    module.__spec__ = types.SimpleNamespace(name="kaggle_datasets")
    monkeypatch.setitem(sys.modules, "kaggle_datasets", module)
    assert main(["data", "bucket", "flowers"]) == 0
    assert capsys.readouterr().out == "gs://kds-1/flowers\n"
    with pytest.raises(DataError, match=r"no bucket for the data set 'none': 404\. Attach it"):
        records.kaggle_bucket("none")
