"""tf.contrib.data.LMDBDataset, on files that the package lmdb wrote."""

import gzip
import os
import tempfile

import tensorflow as tf
from contrib_goldens.observe import Case

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.mkdtemp()


def written(name):
    """The path of one of lmdb_files, unpacked."""
    path = os.path.join(FOLDER, name + ".mdb")
    if not os.path.exists(path):
        packed = os.path.join(HERE, os.pardir, "lmdb_files", name + ".mdb.gz")
        with gzip.open(packed) as source, open(path, "wb") as file:
            file.write(source.read())
    return path


def read(*names, **options):
    def build():
        paths = [name if "/" in name else written(name) for name in names]
        dataset = tf.contrib.data.LMDBDataset(options.get("make", lambda each: each)(paths))
        dataset = options.get("then", lambda each: each)(dataset)
        return tf.data.experimental.get_single_element(dataset)

    return Case(build, has_gradients=False)


def whole(dataset):
    return dataset.batch(2000)


def described():
    dataset = tf.contrib.data.LMDBDataset(written("letters"))
    types = tf.data.get_output_types(dataset)
    return [tf.data.get_output_shapes(dataset)[0].ndims, types[0], types[1]]


def digests(dataset):
    """The keys, and the sizes and hashes of values, which are long."""

    def digest(key, value):
        return key, tf.strings.length(value), tf.strings.to_hash_bucket_fast(value, 2**30)

    return dataset.map(digest).batch(2000)


def no_file():
    path = os.path.join(FOLDER, "text")
    with open(path, "wb") as file:
        file.write(b"x" * 10000)
    return path


def in_folder():
    folder = os.path.join(FOLDER, "folder")
    os.makedirs(folder)
    os.rename(written("letters"), os.path.join(folder, "data.mdb"))
    return folder


CASES = {
    "data.LMDBDataset": read("letters", then=whole),
    "data.LMDBDataset: changed": read("changed", then=digests),
    "data.LMDBDataset: described": Case(described, has_gradients=False),
    "data.LMDBDataset: folder": read("letters", make=lambda _: in_folder(), then=whole),
    "data.LMDBDataset: many": read("many", then=digests),
    "data.LMDBDataset: missing": read("/none/data.mdb"),
    "data.LMDBDataset: no file": read("letters", make=lambda _: no_file(), then=whole),
    "data.LMDBDataset: numbers": read("letters", make=lambda _: 3),
    "data.LMDBDataset: repeated": read("letters", then=lambda each: whole(each.repeat(2))),
    "data.LMDBDataset: named": read("named", then=digests),
    "data.LMDBDataset: two": read(
        "letters", "changed", make=tf.constant, then=lambda each: whole(each.take(12))
    ),
}
