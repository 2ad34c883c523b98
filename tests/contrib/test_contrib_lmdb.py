"""tf.contrib.data.LMDBDataset beyond its recorded cases."""

import gzip
import itertools
from pathlib import Path

import pytest
import tensorflow as tf

from estimator_bridge_contrib.data import LMDBDataset
from estimator_bridge_contrib.data.lmdb_files import LMDBFile

GOLDENS = Path(__file__).parent / "contrib_goldens" / "lmdb_files"


@pytest.fixture
def unpack(tmp_path):
    def unpacked(name):
        path = tmp_path / f"{name}.mdb"
        path.write_bytes(gzip.decompress((GOLDENS / f"{name}.mdb.gz").read_bytes()))
        return path

    return unpacked


def pairs(path):
    with LMDBFile(str(path)) as file:
        return list(itertools.chain.from_iterable(map(file.read, file.leaves())))


def test_values_of_every_size_are_whole(unpack):
    numbers = range(600)
    assert pairs(unpack("many")) == [
        (b"key-%06d" % i, (b"%d " % i) * (3000 if i % 100 == 7 else i % 30)) for i in numbers
    ]


def test_the_later_transaction_counts_and_zeros_at_the_end_stay(unpack):
    values = dict(LMDBDataset(str(unpack("changed"))).as_numpy_iterator())
    assert len(values) == 550 and b"key-000049" not in values
    assert values[b"key-000100"] == b"new\0\0"


def test_an_empty_file_has_no_elements(unpack):
    dataset = LMDBDataset([str(unpack("empty")), str(unpack("letters"))])
    assert len(list(dataset)) == 10


def test_an_iterator_goes_on_from_a_checkpoint(unpack, tmp_path):
    path = str(unpack("many"))

    def iterator():
        return iter(tf.data.Dataset.zip((LMDBDataset(path),)))

    first = iterator()
    keys = [next(first)[0][0].numpy() for _ in range(123)]
    saved = tf.train.Checkpoint(iterator=first).write(str(tmp_path / "position"))
    second = iterator()
    tf.train.Checkpoint(iterator=second).read(saved)
    keys += [key.numpy() for ((key, _),) in second]
    assert keys == [key for key, _ in pairs(path)]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda content: content[:9000], "ends before byte"),
        (lambda content: b"text" * 5000, "MDB_INVALID"),
        (lambda content: content[:20] + b"\7" + content[21:], "MDB_VERSION_MISMATCH"),
    ],
)
def test_a_damaged_file_is_an_error(unpack, change, text):
    path = unpack("many")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=text):
        pairs(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        list(LMDBDataset(str(path)))
