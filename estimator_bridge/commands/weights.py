"""The command `estimator-bridge weights`: lists a checkpoint's weights and converts them."""

from __future__ import annotations

import argparse
import collections
import math
import sys
from collections.abc import Callable

from estimator_bridge.base.compatibility import check_versions
from estimator_bridge.base.quiet_start import quietly, settle_devices
from estimator_bridge.base.terminal_text import printable, printable_text

__all__ = ["add_weights_arguments", "run_weights"]

_FORMATS = ("safetensors", "npz", "keras")


def add_weights_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `weights`."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list",
        help="list a checkpoint's variables: shapes, types, and which are weights",
        description="Lists a checkpoint's variables with their shapes, types and kinds.",
    )
    _add_model_dir(listing)
    listing.set_defaults(action=_list)
    convert = actions.add_parser(
        "convert",
        help="write a checkpoint's weights as safetensors, npz or for Keras",
        description="Writes a checkpoint's weights into a file, and reads it back to compare. "
        "Optimizers' variables and the step are left out.",
    )
    _add_model_dir(convert)
    convert.add_argument("--to", choices=_FORMATS, required=True, help="format of the file")
    convert.add_argument(
        "--output", metavar="FILE", help="the file; by default the checkpoint's name, here"
    )
    convert.add_argument(
        "--table", metavar="FILE",
        help="a table of names: in each line the old name, the new one (- leaves it out), and the "
        "order of dimensions if it changes, such as 1,0",
    )  # fmt: skip
    convert.add_argument(
        "--everything", action="store_true", help="also optimizers' variables and the step"
    )
    convert.set_defaults(action=_convert)


def _add_model_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model_dir",
        metavar="MODEL_DIR",
        help="a model_dir, a SavedModel's folder, or a checkpoint such as model_dir/model.ckpt-100",
    )


def run_weights(arguments: argparse.Namespace) -> int:
    """Runs `weights`.

    Returns:
      0 for success, 1 if the checkpoint cannot be read or the file cannot be written.
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
    except (ImportError, OSError, ValueError, tf.errors.OpError) as error:
        return _fail(error)


def _fail(error: Exception) -> int:
    message = printable_text(getattr(error, "message", None) or error)
    print(f"estimator-bridge weights: {message}", file=sys.stderr)
    return 1


def _list(arguments: argparse.Namespace) -> int:
    from estimator_bridge.weights import Kind, find_checkpoint, list_weights

    checkpoint = find_checkpoint(arguments.model_dir)
    variables = list_weights(checkpoint)
    names = [printable(variable.name) for variable in variables]
    width = max(map(len, names), default=0)
    print(printable(checkpoint))
    for name, variable in zip(names, variables):
        shape = f"{variable.dtype.name} {list(variable.shape)}"
        print(f"  {name:{width}}  {shape:24}  {variable.kind.value}")
    weights = [variable for variable in variables if variable.kind is Kind.WEIGHT]
    numbers = sum(math.prod(variable.shape) for variable in weights)
    print(f"{len(weights)} weights of {numbers:,} numbers, {len(variables)} variables")
    return 0


def _convert(arguments: argparse.Namespace) -> int:
    from estimator_bridge.weights import convert, read_table

    table = read_table(arguments.table) if arguments.table else ()
    conversion = convert(
        arguments.model_dir, arguments.to, arguments.output, table, arguments.everything
    )
    numbers = sum(value.size for value in conversion.values.values())
    print(
        f"{printable(conversion.path)}: {len(conversion.values)} variables of {numbers:,} numbers "
        f"from {printable(conversion.checkpoint)}, read back and equal"
    )
    if conversion.left_out:
        kinds = collections.Counter(variable.kind.value for variable in conversion.left_out)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        print(f"left out: {counts}")
    if conversion.widened:
        print(f"bfloat16 written as float32: {printable(', '.join(conversion.widened))}")
    return 0
