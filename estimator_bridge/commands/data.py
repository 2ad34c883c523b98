"""The command `estimator-bridge data`: writes, checks and shows record files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from estimator_bridge.base.compatibility import check_versions
from estimator_bridge.base.quiet_start import quietly, settle_devices
from estimator_bridge.base.terminal_text import printable, printable_text

if TYPE_CHECKING:
    from estimator_bridge.records import Source

__all__ = ["add_data_arguments", "run_data"]

_ARRAYS = ".npz"
_TABLES = (".csv",)


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `data`."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    write = actions.add_parser(
        "write",
        help="write a data set as TFRecord files of 10 to 100 MB",
        description="Writes a data set as TFRecord files and a manifest. Run it again after it was "
        "stopped: it continues.",
    )
    write.add_argument(
        "source",
        help="a folder of images with a sub-folder for each class, a .csv file, or an .npz file of "
        "arrays",
    )
    write.add_argument("folder", help="the folder to write, local or gs://")
    write.add_argument(
        "--shards", type=int, metavar="N", help="number of files; by default, it follows the size"
    )
    write.add_argument(
        "--seed", type=int, metavar="N",
        help="seed of the order in which images and arrays are written; by default, images are "
        "shuffled with seed 0, and arrays keep their order",
    )  # fmt: skip
    write.set_defaults(action=_write)
    check = actions.add_parser(
        "check",
        help="read all records and report what is wrong with them",
        description="Reads all records and reports damage, with file and byte, images that cannot "
        "be decoded, records of other shapes, labels out of range, and too few or too small files. "
        "The exit code is 1 if a training would fail.",
    )
    _add_path(check)
    check.add_argument("--classes", type=int, metavar="N", help="labels must be from 0 to N-1")
    check.add_argument(
        "--label", default="label", metavar="NAME", help="the labels' feature (default: label)"
    )
    check.add_argument(
        "--skip_images", "--skip-images", action="store_true",
        help="do not decode images, which takes most of the time",
    )  # fmt: skip
    check.set_defaults(action=_check)
    show = actions.add_parser(
        "show",
        help="show the number of records, their features and the first of them",
        description="Shows the number of records, their features and the first of them.",
    )
    _add_path(show)
    show.add_argument("--examples", type=int, default=1, metavar="N", help="records to show")
    show.set_defaults(action=_show)
    bucket = actions.add_parser(
        "bucket",
        help="in a Kaggle notebook, print the gs:// address of a data set",
        description="Prints the gs:// address of a data set that is attached to a Kaggle notebook.",
    )
    bucket.add_argument("dataset", nargs="?", help="its folder in the notebook's input")
    bucket.set_defaults(action=_bucket)


def _add_path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a folder, a file or a pattern, local or gs://"
    )


def run_data(arguments: argparse.Namespace) -> int:
    """Runs `data`.

    Returns:
      0 for success, 1 if records are wrong or could not be written.
    """
    try:
        check_versions()
    except ImportError as error:
        return _fail(error)
    with quietly():
        import tensorflow as tf

        settle_devices()

    action: Callable[[argparse.Namespace], int] = arguments.action
    try:
        return action(arguments)
    except (OSError, ValueError, tf.errors.OpError) as error:
        return _fail(error)
    except KeyboardInterrupt:
        advice = ": run the same command again to continue" if action is _write else ""
        print(f"\nstopped{advice}", file=sys.stderr)
        return 130


def _fail(error: Exception) -> int:
    message = printable_text(getattr(error, "message", None) or error)
    print(f"estimator-bridge data: {message}", file=sys.stderr)
    return 1


def _write(arguments: argparse.Namespace) -> int:
    from estimator_bridge.records import ProgressLine, write

    source = _source(arguments.source, arguments.seed)
    manifest = write(source, arguments.folder, arguments.shards, progress=ProgressLine())
    print(
        f"{arguments.folder}: {manifest.records:,} records, {manifest.bytes / 1e6:,.1f} MB in "
        f"{len(manifest.shards)} files"
    )
    return 0


def _source(path: str, seed: int | None) -> Source:
    import tensorflow as tf

    from estimator_bridge.records import DataError, from_arrays, from_csv, from_images
    from estimator_bridge.records.npz_arrays import read_npz

    if tf.io.gfile.isdir(path):
        return from_images(path, 0 if seed is None else seed)
    ending = os.path.splitext(path)[1].lower()
    if ending in _TABLES:
        if seed is not None:
            raise DataError("--seed is for images and arrays: rows of a CSV file keep their order.")
        return from_csv(path)
    if ending == _ARRAYS:
        return from_arrays(read_npz(path), seed)
    raise DataError(
        f"{path}: no such folder, and no file that can be read as records: want a folder of images "
        f"with a sub-folder for each class, a file that ends in {', '.join(_TABLES)}, or "
        f"{_ARRAYS} for arrays. A program can write any tf.data.Dataset with "
        "eb.records.write(eb.records.from_dataset(dataset), folder)."
    )


def _check(arguments: argparse.Namespace) -> int:
    from estimator_bridge.records import Labels, check
    from estimator_bridge.records.listing import feature_lines

    if arguments.classes is not None and arguments.classes < 1:
        raise ValueError(f"--classes must be at least 1, got {arguments.classes}.")
    labels = None if arguments.classes is None else Labels(arguments.label, arguments.classes)
    is_terminal = sys.stderr.isatty()

    def reading(path: str) -> None:
        if is_terminal:
            print(f"\rreading {printable(path)}\x1b[K", end="", file=sys.stderr, flush=True)

    report = check(_paths(arguments), labels, reading, images=not arguments.skip_images)
    if is_terminal:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(f"{report.records:,} records, {report.bytes / 1e6:,.1f} MB in {report.files} files")
    for line in feature_lines(report.features):
        print(printable(line))
    if report.images:
        print(f"{report.images:,} images decoded")
    for finding in report.findings:
        print(printable(finding))
    if not report.findings:
        print("nothing is wrong")
    return 0 if report.is_good else 1


def _show(arguments: argparse.Namespace) -> int:
    from estimator_bridge.records.listing import describe

    if arguments.examples < 0:
        raise ValueError(f"--examples must be at least 0, got {arguments.examples}.")
    for line in describe(_paths(arguments), arguments.examples).lines():
        print(printable(line))
    return 0


def _paths(arguments: argparse.Namespace) -> list[str] | str:
    return arguments.paths[0] if len(arguments.paths) == 1 else arguments.paths


def _bucket(arguments: argparse.Namespace) -> int:
    from estimator_bridge.records import kaggle_bucket

    print(printable(kaggle_bucket(arguments.dataset)))
    return 0
