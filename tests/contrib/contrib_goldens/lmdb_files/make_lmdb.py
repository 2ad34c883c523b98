"""Writes the files of this folder, with the package lmdb.

    cd tests/contrib && python -m contrib_goldens.lmdb_files.make_lmdb

It needs `pip install lmdb`. Values are functions of keys, so tests can compute them.
"""

import gzip
import os
import tempfile

import lmdb

__all__ = ["FILES", "main"]

HERE = os.path.dirname(os.path.abspath(__file__))


def letters():
    """What TensorFlow's own test reads."""
    return [(str(i).encode(), chr(ord("a") + i).encode()) for i in range(10)]


def many():
    """So many keys that there are branches, and values of every size up to several pages."""
    return [
        (b"key-%06d" % i, (b"%d " % i) * (3000 if i % 100 == 7 else i % 30)) for i in range(600)
    ]


def changed(transaction):
    """Keys that were deleted and replaced in a later transaction than the first."""
    for i in range(50):
        transaction.delete(b"key-%06d" % i)
    transaction.put(b"key-000100", b"new\0\0")


def main():
    """Writes the files."""
    for name, (pairs, options) in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            _write(folder, pairs, **options)
            with open(os.path.join(folder, "data.mdb"), "rb") as file:
                content = file.read()
        with open(os.path.join(HERE, name + ".mdb.gz"), "wb") as file:
            file.write(gzip.compress(content, 9, mtime=0))


def _write(folder, pairs, change=None, **options):
    with lmdb.open(folder, map_size=2**24, max_dbs=1) as environment:
        database = environment.open_db(b"named", **options) if options else None
        with environment.begin(write=True, db=database) as transaction:
            for key, value in pairs:
                transaction.put(key, value)
        if change:
            with environment.begin(write=True) as transaction:
                change(transaction)


FILES = {
    "letters": (letters(), {}),
    "many": (many(), {}),
    "changed": (many(), {"change": changed}),
    "empty": ([], {}),
    "named": (letters(), {"dupsort": True}),
}

if __name__ == "__main__":
    main()
