"""Folders of images and CSV files become records; what is wrong with them is said first."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge import records
from estimator_bridge.errors import DataError


def picture(value, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = tf.fill([4, 4, 3], tf.constant(value, tf.uint8))
    encode = tf.io.encode_png if path.suffix == ".png" else tf.io.encode_jpeg
    path.write_bytes(encode(pixels).numpy())
    return path


@pytest.fixture
def flowers(tmp_path):
    folder = tmp_path / "flowers"
    for number in range(6):
        picture(10 * number, folder / "daisy" / f"{number}.png")
        picture(100 + number, folder / "tulip" / f"{number}.jpg")
    (folder / ".DS_Store").write_text("ignored")
    return folder


def examples(folder):
    return list(records.input_fn(str(folder), False, 1, label="label")().as_numpy_iterator())


def test_sub_folders_are_classes_and_files_stay_as_they_are(flowers, tmp_path):
    manifest = records.write(records.from_images(flowers), tmp_path / "out", shards=2)
    assert manifest.classes == ("daisy", "tulip")
    pairs = [
        (features["image"][0], int(labels[0])) for features, labels in examples(tmp_path / "out")
    ]
    expected = [
        (path.read_bytes(), label)
        for label, name in enumerate(manifest.classes)
        for path in sorted((flowers / name).iterdir())
    ]
    assert sorted(pairs) == sorted(expected)
    assert [label for _, label in pairs] != sorted(label for _, label in pairs)  # shuffled
    source = records.from_images(flowers, seed=None)
    records.write(source, tmp_path / "sorted")
    assert [image for image, _ in expected] == [
        f["image"][0] for f, _ in examples(tmp_path / "sorted")
    ]
    estimated = source.bytes / (tmp_path / "sorted" / "data-00000-of-00001.tfrecord").stat().st_size
    assert 0.9 < estimated < 1.1


def spoil(flowers, how):
    if how == "beside":
        picture(1, flowers / "rose.jpg")
    elif how == "other":
        (flowers / "daisy" / "notes.txt").write_text("x")
    elif how == "deeper":
        picture(1, flowers / "daisy" / "more" / "1.png")
    elif how == "class":
        (flowers / "rose").mkdir()
    elif how == "all":
        for path in sorted(flowers.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("beside", r"mixed: 2 sub-folders of classes, and also rose\.jpg"),
        ("other", r"mixed: .*notes\.txt are not images. Want files that end in \.jpg"),
        ("deeper", r"mixed: .*daisy/more are not images"),
        ("class", r"flowers/rose: empty: a class without images"),
        ("all", r"flowers: empty. Put the images of each class"),
    ],
)
def test_empty_and_mixed_folders(flowers, how, message):
    spoil(flowers, how)
    with pytest.raises(DataError, match=message):
        records.from_images(flowers)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder"):
        records.from_images(tmp_path / "nowhere")


def test_a_damaged_image_is_named(flowers, tmp_path):
    path = flowers / "tulip" / "3.jpg"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match=r"tulip/3\.jpg: not an image that TensorFlow can decode"):
        records.write(records.from_images(flowers), tmp_path / "out")


def csv(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def table(source, folder):
    records.write(source, folder)
    (batch,) = records.input_fn(str(folder), False, 100)().as_numpy_iterator()
    return batch


def test_columns_have_the_type_that_all_of_their_cells_fit(tmp_path):
    path = csv(tmp_path, '\ufeffage,pay,name,code\n1,2,x,1_0\n\n-3,,"a, ""b""\nc",7\n')
    columns = table(records.from_csv(path), tmp_path / "out")
    assert {name: value.dtype.name for name, value in columns.items()} == {
        "age": "int64", "pay": "float32", "name": "object", "code": "object",
    }  # fmt: skip
    np.testing.assert_array_equal(columns["age"], [1, -3])
    np.testing.assert_array_equal(columns["pay"], [2, np.nan])
    assert columns["name"].tolist() == [b"x", b'a, "b"\nc']
    assert columns["code"].tolist() == [b"1_0", b"7"]


def test_types_can_be_given(tmp_path):
    path = csv(tmp_path, "a,b\n1,2\n3,4\n")
    columns = table(records.from_csv(path, {"a": "float32", "b": "string"}), tmp_path / "out")
    assert columns["a"].tolist() == [1.0, 3.0]
    assert columns["b"].tolist() == [b"2", b"4"]


@pytest.mark.parametrize(
    ("text", "types", "message"),
    [
        ("", None, r"table\.csv: empty. Want a header"),
        ("a,b\n", None, "no rows below the header"),
        ("a,a\n1,2\n", None, r"line 1: the header needs a different name for each column"),
        ("a,b\n1,2\n3\n", None, r"line 3: 1 cells, want 2"),
        ("a,b\n1,2\n3,x\n", {"b": "int64"}, r"line 3: column 'b' has 'x', want int64"),
        ("a\n1\n9223372036854775808\n", {"a": "int64"}, r"line 3: column 'a' has '9223372"),
        ("a\n1\n", {"b": "int64"}, r"want columns of \['a'\]"),
        ("a\n1\n", {"a": "int32"}, "int64, float32, string. Got 'a': 'int32'"),
        ('a\n"1\n', None, "not a CSV file"),
    ],
)
def test_wrong_csv_files(tmp_path, text, types, message):
    with pytest.raises(DataError, match=message):
        records.from_csv(csv(tmp_path, text), types)


def test_a_csv_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        records.from_csv(str(tmp_path / "none.csv"))
    (tmp_path / "latin.csv").write_bytes("a\nä\n".encode("latin-1"))
    with pytest.raises(DataError, match="not a CSV file in UTF-8"):
        records.from_csv(str(tmp_path / "latin.csv"))
