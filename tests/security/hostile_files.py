"""Reads hostile files of each kind in the folder of its argument, and prints what came of each."""

import json
import os
import random
import shutil
import struct
import sys
import time
import zipfile
import zlib
from pathlib import Path

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.checkpoint import load_variable
from estimator_bridge.errors import CheckpointError, DataError
from estimator_bridge.prediction.binary_rows import record_rows
from estimator_bridge.prediction.rows import BadRow
from estimator_bridge.records.framing import _crc32c, _mask
from estimator_bridge.records.images import decoded_image
from estimator_bridge.records.npz_arrays import read_npz
from estimator_bridge.training.event_files import scalars_by_step
from estimator_bridge.weights import list_weights

v1 = tf.compat.v1
TRIES = int(os.environ.get("HOSTILE_TRIES", "60"))
REFUSALS = (DataError, CheckpointError, tf.errors.InvalidArgumentError)
folder = Path(sys.argv[1])


def report(case, reads):
    """Calls each function; one that raises an error of the library has refused."""
    counts = {"case": case, "tried": 0, "refused": 0, "read": 0, "others": []}
    start, slowest = time.process_time(), 0.0
    for read in reads:
        counts["tried"] += 1
        began = time.process_time()
        try:
            read()
            counts["read"] += 1
        except REFUSALS:
            counts["refused"] += 1
        except Exception as error:
            counts["others"].append(repr(error)[:300])
        slowest = max(slowest, time.process_time() - began)
    counts["slowest"] = round(slowest, 2)
    counts["seconds"] = round(time.process_time() - start, 2)
    print(json.dumps(counts), flush=True)


def checksum(content):
    return struct.pack("<I", _mask(_crc32c(content)))


def write(name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def another(byte, chance):
    return chance.choice([0, 0x7F, 0x80, 0xFF, byte ^ 1 << chance.randrange(8)])


def changed(content, chance):
    """Returns bytes with some of them changed, removed, or the end cut off."""
    result = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 4])):
        place = chance.randrange(len(result))
        result[place] = chance.choice(
            [0, 0x7F, 0x80, 0xFF, result[place] ^ 1 << chance.randrange(8)]
        )
    return bytes(result[: chance.randrange(len(result))] if not chance.randrange(8) else result)


def predicted(path):
    bad = [row for row in record_rows(path) if isinstance(row, BadRow)]
    if bad:
        raise DataError(str(bad[0]))


def checked(path):
    report = eb.records.check(path)
    if not report.is_good:
        raise DataError(str(report.findings[0]))


def trained(path):
    data = eb.records.input_fn(path, False, 2, {"x": tf.io.FixedLenFeature([], tf.int64)})()
    try:
        for _ in data:
            pass
    except tf.errors.DataLossError as error:
        raise DataError(error.message) from error


def described(path):
    from estimator_bridge.records.listing import describe

    list(describe(path).lines())


READERS = (predicted, checked, trained, described)


def example(value):
    feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def framed(content, length=None):
    head = struct.pack("<Q", len(content) if length is None else length)
    return head + checksum(head) + content + checksum(content)


def raising(path):
    def read():
        scalars = scalars_by_step(path)
        if len(scalars) < 2:
            raise DataError("a part of it was skipped, with a warning")

    return read


for power in (36, 62):
    path = write(f"long-{power}.tfrecord", framed(example(1)) + framed(b"x" * 50, 1 << power))
    report(
        f"a length of 2^{power}", [lambda read=r, path=path: read(path) for r in (*READERS[:3],)]
    )
event = v1.Event(step=1, summary=v1.Summary(value=[v1.Summary.Value(tag="a", simple_value=1.0)]))
path = write("e.tfevents.1", framed(event.SerializeToString()) + framed(b"x", 1 << 40))
report("a length in event files", [raising(path)])
os.mkfifo(folder / "pipe.tfrecord")
report("a pipe as records", [lambda r=r: r(str(folder / "pipe.tfrecord")) for r in READERS[1:]])

whole = b"".join(framed(example(n)) for n in range(3))
write("secret.tfrecord", whole)
SHARD = {"file": "part.tfrecord", "records": 3, "bytes": len(whole), "crc32": zlib.crc32(whole)}
MANIFEST = {
    "format": 1, "records": 3, "bytes": len(whole), "source": 1,
    "features": {"x": {"dtype": "int64", "shape": []}}, "classes": [], "shards": [SHARD],
}  # fmt: skip


def with_manifest(name, text):
    write(f"{name}/part.tfrecord", whole)
    write(f"{name}/manifest.json", text if isinstance(text, bytes) else json.dumps(text).encode())
    return [lambda r=r: r(str(folder / name)) for r in READERS[1:]]


def naming(name):
    return {**MANIFEST, "shards": [{**SHARD, "file": name}]}


report("a manifest's ../name", with_manifest("up", naming("../secret.tfrecord")))
report("a manifest's absolute name", with_manifest("root", naming(f"{folder}/secret.tfrecord")))
report("a deep manifest", with_manifest("deep", b"[" * 200_000))
os.makedirs(folder / "piped")
os.mkfifo(folder / "piped" / "manifest.json")
report("a pipe as manifest", [lambda r=r: r(str(folder / "piped")) for r in READERS[1:]])
twice = json.dumps(MANIFEST)[:-1] + ', "format": 1}'
report("a manifest with a name twice", with_manifest("twice", twice.encode()))
huge = {**MANIFEST, "features": {"x": {"dtype": "int64", "shape": [1 << 40]}}}
report("a manifest's huge shape", with_manifest("huge", huge))


def png(width, height):
    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 1000)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 20


jpeg = bytearray(tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)).numpy())
place = jpeg.find(b"\xff\xc0")
jpeg[place + 5 : place + 9] = struct.pack(">HH", 1 << 14, 1 << 14)
side = 1 << 14
images = [png(side, side), gif(side, side), bytes(jpeg)]
report("an image of 2^28 pixels", [lambda one=one: decoded_image(one) for one in images])


def archive(name, shape, content, declared=None, dtype="<f4"):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}) + " " * 20 + "\n"
    entry = b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + content
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x.npy", entry)
    if declared:
        data = bytearray((folder / name).read_bytes())
        at = data.rfind(b"PK\x01\x02")
        data[at + 24 : at + 28] = struct.pack("<I", declared)
        (folder / name).write_bytes(data)
    return str(folder / name)


# 16 entries of 4 GiB each, as their directory says; 64 GiB is more than machines of tests have.
bomb = archive("bomb.npz", (1,), b"\0" * 4)
with zipfile.ZipFile(bomb, "a") as file:
    for number in range(512):
        file.writestr(f"{number}.npy", b"")
data = bytearray(Path(bomb).read_bytes())
at = data.find(b"PK\x01\x02")
while at >= 0:
    data[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFFE)
    at = data.find(b"PK\x01\x02", at + 4)
Path(bomb).write_bytes(data)
report("an archive larger than memory", [lambda: read_npz(bomb)])
other = archive("other.npz", (1 << 50,), b"\0" * 40)
report("an array of another size", [lambda: read_npz(other)])
np.savez(folder / "objects.npz", x=np.array([{}], dtype=object))
report("an archive of objects", [lambda: read_npz(str(folder / "objects.npz"))])

# A checkpoint, and its index with changed bytes and right checksums.
with tf.Graph().as_default():
    v1.set_random_seed(1)  # the changes below hit the same bytes each time
    v1.get_variable("dense/kernel", [3, 4])
    v1.get_variable("words", initializer=["a", "bc"])
    v1.get_variable("table", [6, 2], partitioner=v1.fixed_size_partitioner(2))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        saved = v1.train.Saver().save(session, str(folder / "saved" / "m"), write_meta_graph=False)
index = Path(saved + ".index").read_bytes()
DATA = "m.data-00000-of-00001"


def number_at(content, place):
    value = shift = 0
    while True:
        byte = content[place]
        value, place, shift = value | (byte & 127) << shift, place + 1, shift + 7
        if byte < 128:
            return value, place


def handles(content):
    """Returns the blocks of the table: of the entries, and of their list."""
    numbers, place = [], len(content) - 48
    for _ in range(4):
        number, place = number_at(content, place)
        numbers.append(number)
    return (0, numbers[0] - 5), (numbers[2], numbers[3])


def with_checksums(content):
    result = bytearray(content)
    for offset, size in handles(index):
        end = offset + size + 1
        result[end : end + 4] = checksum(bytes(result[offset:end]))
    return bytes(result)


def reading(content, data=None):
    def read():
        target = folder / "changed"
        target.mkdir(exist_ok=True)
        (target / "m.index").write_bytes(content)
        if data is None:
            shutil.copy(folder / "saved" / DATA, target)
        else:
            (target / DATA).write_bytes(data)
        for variable in list_weights(str(target / "m")):
            load_variable(str(target / "m"), variable.key)

    return read


def changed_within(content, start, size, chance):
    result = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 4])):
        place = start + chance.randrange(size)
        result[place] = chance.choice(
            [0, 0x7F, 0x80, 0xFF, result[place] ^ 1 << chance.randrange(8)]
        )
    return with_checksums(result)


entries, listing = handles(index)
second = index.index(b"\x08\x03\x10\x03")  # the part of three rows from row 3 on
twice = with_checksums(index[: second + 1] + b"\0" + index[second + 2 :])
report("an index with a part twice", [reading(twice)])
chance = random.Random(1)
report(
    "indexes with changed bytes",
    [reading(changed_within(index, *entries, chance)) for _ in range(TRIES * 5)],
)
tables = [reading(changed_within(index, *listing, chance)) for _ in range(TRIES)]
footers = [reading(changed_within(index, len(index) - 48, 40, chance)) for _ in range(TRIES)]
report("indexes with changed tables", tables + footers)
values = Path(saved + ".data-00000-of-00001").read_bytes()
lengths = values.find(b"\x01\x02")
long = values[:lengths] + b"\x7f\x7f" + values[lengths + 2 :]
report("strings longer than their file", [reading(index, long)])

reads = []
for number in range(TRIES):
    path = write(f"fuzzed/{number}.tfrecord", changed(whole, chance))
    reads += [lambda r=r, path=path: r(path) for r in READERS]
report("changed record files", reads)
text = json.dumps(MANIFEST).encode()
reads = []
for number in range(TRIES):
    reads += with_manifest(f"fuzzed-{number}", changed(text, chance))
report("changed manifests", reads)
