"""Measures the reader and the writer of records: beside a serial reader, and in memory.

    python -m benchmarks.record_reading [--megabytes 200] [--rounds 3] [--folder FOLDER]

It writes examples of 784 bytes and a label, as of MNIST, and JPEG images of 64 by 64 pixels. A
serial reader is what programs wrote by hand: one file after the other, each record parsed alone,
then batches. The peak of memory is of a process that reads all records once, beside one that reads
a quarter of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

BATCH = 128
_IMAGE = 64


def main() -> None:
    """Measures, and prints a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where records are written; by default a temporary one")
    parser.add_argument("--read", help=argparse.SUPPRESS)  # in a process of its own
    parser.add_argument("--files", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        _read_once(arguments.read, arguments.files)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        arrays = _write(os.path.join(folder, "arrays"), arguments.megabytes * 10**6)
        _write_images(os.path.join(folder, "images"), 8000)
        _compare("arrays", arrays, arguments.rounds, None)
        _compare("JPEG", os.path.join(folder, "images"), arguments.rounds, _decode)
        _memory(arrays)


def _write(folder: str, size: int) -> str:
    from estimator_bridge import records

    count = size // 830
    images = np.random.RandomState(0).randint(0, 255, (count, 28, 28), np.uint8)
    labels = np.arange(count) % 10
    source = records.from_arrays({"image": images, "label": labels})
    start = time.perf_counter()
    manifest = records.write(source, folder)
    seconds = time.perf_counter() - start
    print(
        f"written: {manifest.bytes / 1e6:.0f} MB, {manifest.records:,} records in "
        f"{len(manifest.shards)} files of {manifest.bytes / len(manifest.shards) / 1e6:.1f} MB: "
        f"{manifest.bytes / seconds / 1e6:.0f} MB/s"
    )
    return folder


def _write_images(folder: str, count: int) -> None:
    import tensorflow as tf

    from estimator_bridge import records

    random = np.random.RandomState(0)
    coarse = random.randint(0, 255, (64, 8, 8, 3)).astype(np.float32)
    smooth = tf.cast(tf.image.resize(coarse, [_IMAGE, _IMAGE]), tf.uint8)
    encoded = np.array([tf.io.encode_jpeg(one).numpy() for one in smooth], object)
    arrays = {"image": encoded[np.arange(count) % 64], "label": np.arange(count) % 10}
    records.write(records.from_arrays(arrays), folder, shards=16)


def _decode(features, label):
    import tensorflow as tf

    image = tf.io.decode_jpeg(features["image"], channels=3)
    return tf.ensure_shape(tf.cast(image, tf.float32) / 255.0, [_IMAGE, _IMAGE, 3]), label


def _serial(folder: str, decode: Callable | None):
    """The reader that programs wrote by hand."""
    import tensorflow as tf

    spec = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(record):
        one = tf.io.parse_single_example(record, spec)
        if decode is not None:
            return decode(one, one["label"])
        pixels = tf.reshape(tf.io.decode_raw(one["image"], tf.uint8), [28, 28])
        return {"image": pixels}, one["label"]

    files = sorted(tf.io.gfile.glob(os.path.join(folder, "*.tfrecord")))
    dataset = tf.data.TFRecordDataset(files).shuffle(10_000).map(parse)
    return dataset.repeat().batch(BATCH, drop_remainder=True)


def _rate(dataset, examples: int) -> tuple[float, float]:
    """Returns examples a second and the processor time of one; the shuffle buffer is full."""
    iterator = iter(dataset)
    for _ in range(20):
        next(iterator)
    start, cpu_secs = time.perf_counter(), time.process_time()
    count = examples // BATCH * BATCH
    for _ in range(count // BATCH):
        next(iterator)
    cpu_secs = time.process_time() - cpu_secs
    return count / (time.perf_counter() - start), cpu_secs / count


def _compare(name: str, folder: str, rounds: int, decode: Callable | None) -> None:
    from estimator_bridge import records

    reader = records.input_fn(folder, True, BATCH, label="label", decode=decode)
    count = 200_000 if decode is None else 16_000
    rates: dict[str, list[tuple[float, float]]] = {"serial": [], "records.input_fn": []}
    for _ in range(rounds):  # alternating: other processes use the machine too
        rates["serial"].append(_rate(_serial(folder, decode), count // 4))
        rates["records.input_fn"].append(_rate(reader(), count))
    serial, ours = (max(rate for rate, _ in pairs) for pairs in rates.values())
    cpu_us, ours_used = (1e6 * min(secs for _, secs in pairs) for pairs in rates.values())
    print(
        f"{name}: serial {serial:,.0f} examples/s, records.input_fn {ours:,.0f} examples/s: "
        f"{ours / serial:.1f}x; processor time of an example {cpu_us:.1f} us and {ours_used:.1f} us"
    )


def _memory(folder: str) -> None:
    """Compares the peaks of processes that read a quarter of the files, and all of them."""
    files = len([name for name in os.listdir(folder) if name.endswith(".tfrecord")])
    for count in (max(1, files // 4), files):
        command = [sys.executable, "-m", "benchmarks.record_reading"]
        process = subprocess.run(
            [*command, "--read", folder, "--files", str(count)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        print(process.stdout.splitlines()[-1])


def _read_once(folder: str, count: int) -> None:
    from estimator_bridge import records

    manifest = records.read_manifest(folder)
    assert manifest is not None
    files = [os.path.join(folder, shard.file) for shard in manifest.shards[:count]]
    spec = {name: feature.parsing for name, feature in manifest.features.items()}
    dataset = records.input_fn(files, True, BATCH, spec, label="label")()
    iterator = iter(dataset)
    batches = sum(shard.records for shard in manifest.shards[:count]) // BATCH
    size = sum(shard.bytes for shard in manifest.shards[:count])
    peaks = []
    for number in range(1, batches + 1):
        next(iterator)
        if number in (batches // 4, batches // 2, batches):
            peaks.append(f"{_peak():.0f}")
    print(f"memory: {', '.join(peaks)} MB at most, after a quarter, half and all of {size:,} bytes")


def _peak() -> float:
    """Returns the peak of this process's memory in MB; ru_maxrss would include its parent's."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(float(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1000


if __name__ == "__main__":
    main()
