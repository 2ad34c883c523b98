import collections
import os

import numpy as np
import pytest
from test_mnist_idx import write_mnist

from models.mnist import dataset, records
from models.mnist.digits import split_digits
from models.mnist.errors import DataError


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return dataset.open_data(str(tmp_path_factory.mktemp("data")))


@pytest.fixture
def shards(tmp_path):
    folder = tmp_path / "shards"
    rows = {"train": [b"a" * 40, b"b" * 40, b"c" * 40], "test": [b"d" * 40]}
    records.write_records(str(folder), rows, {"train": 2, "test": 1}, {"height": 8})
    return folder


def test_splits_hold_every_digit_once_and_each_class_in_proportion():
    splits = split_digits()
    assert {split: len(labels) for split, (_, labels) in splits.items()} == {
        "train": 1437,
        "test": 360,
    }
    for _, labels in splits.values():
        shares = np.bincount(labels, minlength=10) / len(labels)
        assert shares.min() > 0.09
        assert shares.max() < 0.11


def test_digits_come_back_as_they_were_written(digits):
    assert (digits.name, digits.height, digits.width) == ("digits", 8, 8)
    for split, (images, labels) in split_digits().items():
        read_images, read_labels = dataset.examples(digits, split, 10_000)
        assert len(read_labels) == digits.sizes[split]
        # Shards take turns, so the order differs; compare as multisets.
        got = collections.Counter(
            (np.rint(image * 255).astype(np.uint8).tobytes(), label)
            for image, label in zip(read_images, read_labels)
        )
        want = collections.Counter((image.tobytes(), label) for image, label in zip(images, labels))
        assert got == want


def test_second_opening_writes_nothing(digits):
    def times():
        return {entry.name: entry.stat().st_mtime_ns for entry in os.scandir(digits.folder)}

    before = times()
    again = dataset.open_data(os.path.dirname(digits.folder))
    assert again.sizes == digits.sizes
    assert times() == before
    assert os.listdir(os.path.dirname(digits.folder)) == ["digits"]


def training_batches(digits, seed, count):
    rows = dataset.make_dataset(digits, "train", shuffle_seed=seed).batch(digits.sizes["train"])
    return list(rows.take(count).as_numpy_iterator())


def test_training_is_shuffled_by_the_seed_without_end(digits):
    # Nine batches of the training set's size are an epoch: each digit and its eight shifts.
    labels = [labels for _, labels in training_batches(digits, 3, 18)]
    again = [labels for _, labels in training_batches(digits, 3, 18)]
    np.testing.assert_array_equal(labels, again)
    assert (labels[0] != training_batches(digits, 4, 1)[0][1]).any()
    first, second = np.concatenate(labels[:9]), np.concatenate(labels[9:])
    assert (first != second).any()
    np.testing.assert_array_equal(np.bincount(first), np.bincount(second))


def test_few_images_are_also_shifted_to_all_sides(digits):
    image = dataset.examples(digits, "train", 1)[0][0]
    padded = np.pad(image, 1)
    shifts = {padded[y : y + 8, x : x + 8].tobytes() for y in range(3) for x in range(3)}
    assert len(shifts) == 9
    epoch = np.concatenate([images for images, _ in training_batches(digits, 3, 9)])
    assert shifts <= {image.tobytes() for image in epoch}


def test_elements_are_what_the_model_takes(digits):
    image, label = dataset.make_dataset(digits, "test").element_spec
    assert (image.shape, image.dtype.name) == ((8, 8, 1), "float32")
    assert (label.shape, label.dtype.name) == ((), "int64")
    images, _ = dataset.examples(digits, "test", 50)
    assert images.shape == (50, 8, 8)
    assert images.min() == 0.0
    assert images.max() == 1.0


@pytest.mark.parametrize("end", ["", ".gz"])
def test_mnist_files_are_used_where_they_are(tmp_path, end):
    written = write_mnist(tmp_path, end=end)
    data = dataset.open_data(str(tmp_path))
    assert (data.name, data.height, data.width) == ("mnist", 6, 5)
    assert data.sizes == {"train": 12, "test": 5}
    for split, (images, labels) in written.items():
        read_images, read_labels = dataset.examples(data, split, 100)
        np.testing.assert_array_equal(np.rint(read_images * 255), images)
        np.testing.assert_array_equal(read_labels, labels)


def test_mnist_splits_of_different_size_images_are_refused(tmp_path):
    write_mnist(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    content = (tmp_path / "t10k-images-idx3-ubyte").read_bytes()
    swapped = content[:8] + content[12:16] + content[8:12] + content[16:]
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(swapped)
    with pytest.raises(DataError, match=r"t10k.*\(5, 6\) pixels, want \(6, 5\)"):
        dataset.open_data(str(tmp_path))


@pytest.mark.parametrize("at", [0, 30, -1])
def test_a_flipped_bit_in_a_shard_is_seen(shards, at):
    shard = shards / "train-00001-of-00002.tfrecord"
    content = bytearray(shard.read_bytes())
    content[at] ^= 1
    shard.write_bytes(content)
    with pytest.raises(DataError, match=f"{shard}: damaged TFRecord: checksum .*Remove {shards}"):
        records.open_records(str(shards))


def test_a_shard_cut_short_or_missing_is_named(shards):
    shard = shards / "test-00000-of-00001.tfrecord"
    shard.write_bytes(shard.read_bytes()[:-5])
    with pytest.raises(DataError, match=f"{shard}: damaged TFRecord: 51 bytes, want 56"):
        records.open_records(str(shards))
    shard.unlink()
    with pytest.raises(DataError, match=f"{shard}: missing TFRecord file of 1 records"):
        records.open_records(str(shards))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"splits": {"train": [{}]}, "about": {}}'])
def test_a_damaged_manifest_is_named(shards, content):
    (shards / records.MANIFEST).write_text(content)
    with pytest.raises(DataError, match=r"manifest\.json: damaged manifest"):
        records.open_records(str(shards))


def test_a_folder_without_manifest_is_not_trusted(shards):
    (shards / records.MANIFEST).unlink()
    with pytest.raises(DataError, match=r"manifest\.json: missing"):
        records.open_records(str(shards))


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    rows = {"train": [b"good", 7]}
    with pytest.raises((TypeError, ValueError)):
        records.write_records(str(tmp_path / "shards"), rows, {"train": 1}, {})
    assert os.listdir(tmp_path) == []


def test_a_writer_that_comes_second_keeps_what_is_there(shards):
    before = records.open_records(str(shards))
    records.write_records(str(shards), {"train": [b"other"]}, {"train": 1}, {})
    assert records.open_records(str(shards)) == before
    assert os.listdir(shards.parent) == ["shards"]
