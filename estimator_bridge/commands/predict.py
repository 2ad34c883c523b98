"""The command `estimator-bridge predict`: predictions for files of records, without a TPU."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Optional

from estimator_bridge.base.compatibility import check_versions
from estimator_bridge.base.quiet_start import quietly, settle_devices
from estimator_bridge.base.terminal_text import printable, printable_text
from estimator_bridge.errors import CheckpointError, DataError
from estimator_bridge.prediction.input_files import KINDS, InputFiles, find_inputs
from estimator_bridge.prediction.model_folder import ModelFolder, find_model
from estimator_bridge.prediction.output import check_output
from estimator_bridge.prediction.text_rows import header_of

__all__ = ["Exporting", "add_predict_arguments", "run_predict"]

_BATCH_SIZE = 64
_INTERRUPTED = 130

# Writes a SavedModel of a checkpoint into a folder, and returns its path.
Export = Callable[[str], str]
# Returns how a folder's checkpoint is exported; None if its model is unknown.
Exporting = Callable[[argparse.Namespace, ModelFolder], Optional[Export]]


def add_predict_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `predict`."""

    def add(name: str, *others: str, **settings: object) -> None:
        spellings = dict.fromkeys([name, name.replace("_", "-")])
        parser.add_argument(*spellings, *others, **settings)  # type: ignore[arg-type]

    add(
        "--model_dir", required=True, metavar="FOLDER",
        help="a SavedModel, a folder of exports, or a model_dir with exports in it",
    )  # fmt: skip
    add(
        "--input", required=True, nargs="+", metavar="PATH",
        help="files, folders or patterns of images, TFRecords (.tfrecord), CSV or JSON lines",
    )  # fmt: skip
    add(
        "--output", metavar="FILE",
        help="a file that ends in .jsonl or .csv; by default, JSON lines to standard output",
    )  # fmt: skip
    add("--input_format", choices=sorted(KINDS), help="the kind of all input files")
    add("--signature", metavar="NAME", help="the model's signature (default: serving_default)")
    add("--outputs", metavar="NAMES", help="the outputs to write, such as class,probabilities")
    add("--keep", metavar="NAMES", help="input values to write beside them, such as id,label")
    add(
        "--batch_size", type=int, default=_BATCH_SIZE, metavar="N",
        help=f"records in one call of the model (default: {_BATCH_SIZE})",
    )  # fmt: skip
    add(
        "--skip_bad_records", action="store_true",
        help="report records that cannot be read or predicted, and leave them out; without it, the "
        "first one ends the command",
    )  # fmt: skip


def run_predict(
    arguments: argparse.Namespace, exporting: Exporting | None = None, program: str = ""
) -> int:
    """Runs `predict`.

    Args:
      arguments: those of `add_predict_arguments`.
      exporting: returns how a checkpoint of a known model is exported; None: there is none.
      program: the program's name, for errors.

    Returns:
      0 for success, 1 for a problem in files or the model, 2 for wrong usage, 130 after Ctrl-C.
    """
    program = program or "estimator-bridge predict"
    if arguments.batch_size < 1:
        print(f"{program}: --batch_size {arguments.batch_size}: want 1 or more", file=sys.stderr)
        return 2
    try:
        check_versions()
        inputs = _checked_inputs(arguments)
        check_output(arguments.output)
        folder = find_model(arguments.model_dir)
        export = exporting(arguments, folder) if exporting and folder.has_checkpoint else None
        if export is None and folder.saved_model is None:
            raise CheckpointError(
                f"{folder.path}: a checkpoint has weights and no model. Name a SavedModel "
                "(estimator.export_saved_model writes one), or a model of this repository: "
                "python predict.py --model=NAME."
            )
    except (ImportError, OSError, ValueError) as error:
        return _fail(program, error)
    with quietly():
        import tensorflow as tf

        settle_devices()
    try:
        with _saved_model(folder, export) as path:
            _predict(arguments, inputs, path)
    except (OSError, ValueError, tf.errors.OpError) as error:
        return _fail(program, error)
    except KeyboardInterrupt:
        print("\nstopped: no output file was written", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _checked_inputs(arguments: argparse.Namespace) -> InputFiles:
    inputs = find_inputs(arguments.input, arguments.input_format)
    for path in inputs.paths if inputs.kind == "csv" else ():
        header = header_of(path)
        missing = [name for name in _names(arguments.keep) if name not in header]
        if missing:
            raise DataError(
                f"{path}: no column {missing[0]!r} for --keep; it has {', '.join(header)}."
            )
    return inputs


@contextlib.contextmanager
def _saved_model(folder: ModelFolder, export: Export | None) -> Iterator[str]:
    """Gives the SavedModel to predict with; that of a checkpoint exists within the context."""
    if export is None:
        assert folder.saved_model is not None
        if folder.saved_model != folder.path:
            print(f"SavedModel: {printable(folder.saved_model)}", file=sys.stderr)
        yield folder.saved_model
        return
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        yield export(temporary)


def _predict(arguments: argparse.Namespace, inputs: InputFiles, path: str) -> None:
    from estimator_bridge.prediction.running import Settings, predict
    from estimator_bridge.prediction.served_model import load_model

    model = load_model(path, arguments.signature, _names(arguments.outputs))
    settings = Settings(arguments.batch_size, _names(arguments.keep), arguments.skip_bad_records)
    predict(model, inputs, arguments.output, settings)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (text or "").split(",")))


def _fail(program: str, error: Exception) -> int:
    message = printable_text(getattr(error, "message", None) or error)
    print(f"{program}: {message}", file=sys.stderr)
    return 1
