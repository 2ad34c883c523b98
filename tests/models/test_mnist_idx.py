import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.mnist.errors import DataError
from models.mnist.idx import IdxPair, find_mnist, read_idx, read_pair

NAMES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


def idx_bytes(values):
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


def write_mnist(folder, *, end="", counts=(12, 5)):
    rng = np.random.RandomState(0)
    written = {}
    for (split, (images_name, labels_name)), count in zip(NAMES.items(), counts):
        images = rng.randint(0, 256, (count, 6, 5)).astype(np.uint8)
        labels = rng.randint(0, 10, count).astype(np.uint8)
        for name, values in ((images_name, images), (labels_name, labels)):
            content = idx_bytes(values)
            (folder / (name + end)).write_bytes(gzip.compress(content) if end else content)
        written[split] = images, labels
    return written


@pytest.mark.parametrize("end", ["", ".gz"])
def test_plain_and_gz_files_read_alike(tmp_path, end):
    written = write_mnist(tmp_path, end=end)
    pairs = find_mnist(str(tmp_path))
    for split, (images, labels) in written.items():
        read_images, read_labels = read_pair(pairs[split])
        np.testing.assert_array_equal(read_images, images)
        np.testing.assert_array_equal(read_labels, labels)


def test_names_with_a_dot_are_found(tmp_path):
    write_mnist(tmp_path)
    for path in tmp_path.iterdir():
        path.rename(tmp_path / path.name.replace("-idx", ".idx"))
    assert find_mnist(str(tmp_path))["test"].labels.endswith("t10k-labels.idx1-ubyte")


def test_no_files_is_no_mnist(tmp_path):
    assert find_mnist(str(tmp_path)) is None
    assert find_mnist(str(tmp_path / "gone")) is None


def test_a_missing_file_is_named(tmp_path):
    write_mnist(tmp_path)
    (tmp_path / NAMES["test"][1]).unlink()
    with pytest.raises(DataError, match="not t10k-labels-idx1-ubyte"):
        find_mnist(str(tmp_path))


@given(cut=st.integers(0, 45))
def test_a_file_cut_short_anywhere_is_refused(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "images"
    content = idx_bytes(np.zeros((5, 3, 2), np.uint8))
    assert len(content) == 46
    path.write_bytes(content[:cut])
    with pytest.raises(DataError, match=str(path)):
        read_idx(str(path), 3)


@given(cut=st.integers(0, 60))
def test_a_gz_file_cut_short_anywhere_is_refused(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "images.gz"
    content = gzip.compress(idx_bytes(np.arange(60, dtype=np.uint8).reshape(5, 3, 4)))
    assert len(content) > 61
    path.write_bytes(content[:cut])
    with pytest.raises(DataError, match=str(path)):
        read_idx(str(path), 3)


def test_a_flipped_bit_in_a_gz_file_is_seen(tmp_path):
    path = tmp_path / "images.gz"
    content = bytearray(gzip.compress(idx_bytes(np.zeros((5, 30, 20), np.uint8))))
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"images\.gz"):
        read_idx(str(path), 3)


def test_what_is_wrong_is_said_with_numbers(tmp_path):
    path = tmp_path / "labels"
    path.write_bytes(idx_bytes(np.zeros(7, np.uint8)) + b"xy")
    with pytest.raises(DataError, match=r"too long: at least 16 bytes, .* \[7\] wants 15"):
        read_idx(str(path), 1)
    with pytest.raises(DataError, match="starts with 00 00 08 01, want 00 00 08 03"):
        read_idx(str(path), 3)
    path.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(DataError, match="starts with 89 50 4e 47"):
        read_idx(str(path), 1)


def test_images_and_labels_have_to_agree(tmp_path):
    write_mnist(tmp_path)
    mixed = IdxPair(str(tmp_path / NAMES["train"][0]), str(tmp_path / NAMES["test"][1]))
    with pytest.raises(DataError, match=r"12 images, .* 5 labels"):
        read_pair(mixed)


def test_a_label_that_is_no_digit_is_named(tmp_path):
    write_mnist(tmp_path)
    labels = tmp_path / NAMES["test"][1]
    labels.write_bytes(idx_bytes(np.array([1, 2, 3, 11, 4], np.uint8)))
    with pytest.raises(DataError, match="label 3 is 11, want 0 to 9"):
        read_pair(find_mnist(str(tmp_path))["test"])
