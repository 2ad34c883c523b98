"""The command `estimator-bridge` and its subcommands."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence

from estimator_bridge.base.compatibility import check_versions
from estimator_bridge.base.version import __version__
from estimator_bridge.commands.check_and_rewrite import (
    add_check_arguments,
    add_rewrite_arguments,
    run_check,
    run_rewrite,
)
from estimator_bridge.commands.data import add_data_arguments, run_data
from estimator_bridge.commands.docs import add_docs_arguments, run_docs
from estimator_bridge.commands.predict import add_predict_arguments, run_predict
from estimator_bridge.commands.weights import add_weights_arguments, run_weights
from estimator_bridge.legacy.running import command

__all__ = ["help_of", "main", "parse"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments without the program's name; by default those of this process.

    Returns:
        The process's exit code: 0 for success, 1 for a problem found, 2 for wrong usage.
    """
    arguments = parse(argv)
    if arguments.run is None:
        _parser()[0].print_help(sys.stderr)
        return 2
    return arguments.run(arguments)


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parses a command line as `main` does; ``run`` of the result is the command's function.

    Raises:
        SystemExit: wrong usage, or a request for help.
    """
    parser, commands = _parser()
    words = sys.argv[1:] if argv is None else argv
    if words and not words[0].startswith("-") and words[0] not in commands:
        close = difflib.get_close_matches(words[0], commands, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the commands are {', '.join(commands)}"
        parser.error(f"there is no command {words[0]!r}; {hint}")
    arguments, unknown = parser.parse_known_args(words)
    if unknown:  # reported with the usage of the called command
        command_parser = commands.get(arguments.command, parser)
        command_parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def help_of(name: str) -> str:
    """Returns the help of one command, and of its actions."""
    command = _parser()[1][name]
    groups = (a for a in command._actions if isinstance(a, argparse._SubParsersAction))
    actions = [action for group in groups for action in group.choices.values()]
    return "\n".join(parser.format_help() for parser in [command, *actions])


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Returns the parser, and the commands' parsers by name."""
    parser = argparse.ArgumentParser(
        prog="estimator-bridge",
        description="Runs tf.estimator and TPUEstimator programs on today's TensorFlow.",
        epilog="`estimator-bridge COMMAND --help` explains one command.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.set_defaults(run=None, command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    doctor = commands.add_parser(
        "doctor",
        help="check this installation: versions, devices, what --tpu would do",
        description="Shows the versions of estimator_bridge and of the packages that it needs, the "
        "devices that TensorFlow sees, the environment variables that name a TPU or a cluster, and "
        "what each value of a program's flag --tpu would do on this machine. Connects to nothing. "
        "The exit code is 1 if something must be fixed first.",
    )
    doctor.set_defaults(run=_doctor, command="doctor")
    run = commands.add_parser(
        "run",
        help="run an old script, module or notebook, unmodified",
        description="Runs a tf.estimator or TPUEstimator program that was written for TensorFlow 1 "
        "on\ntoday's TensorFlow, as `python SCRIPT` ran it then.",
    )
    command.add_arguments(run)
    run.set_defaults(run=_run, command="run")
    check = commands.add_parser(
        "check",
        help="report what an old program needs, before anything runs",
        description="Reads the sources of a tf.estimator or TPUEstimator program and reports what "
        "works, what `rewrite` rewrites, and what is left for a person. Nothing is imported or "
        "run. The exit code is 1 if something needs to be done.",
    )
    add_check_arguments(check)
    check.set_defaults(run=run_check, command="check")
    rewrite = commands.add_parser(
        "rewrite",
        help="rewrite an old program for plain Python, with estimator_bridge",
        description="Rewrites sources so that plain `python` runs them with estimator_bridge, and "
        "writes a comment where a person has to look. What is not rewritten keeps its text.",
    )
    add_rewrite_arguments(rewrite)
    rewrite.set_defaults(run=run_rewrite, command="rewrite")
    data = commands.add_parser(
        "data",
        help="write, check and show data sets as TFRecord files",
        description="Writes data sets as TFRecord files, and checks and shows such files.",
    )
    add_data_arguments(data)
    data.set_defaults(run=run_data, command="data")
    predict = commands.add_parser(
        "predict",
        help="predict images, TFRecords, CSV or JSON lines with a SavedModel",
        description="Predicts the records of files with a SavedModel, without a TPU, and writes a "
        "row for each, in order.",
    )
    add_predict_arguments(predict)
    predict.set_defaults(run=run_predict, command="predict")
    weights = commands.add_parser(
        "weights",
        help="list a checkpoint's weights, and convert them for other libraries",
        description="Lists the weights of a checkpoint or a SavedModel, and writes them for "
        "PyTorch, JAX, NumPy or Keras.",
    )
    add_weights_arguments(weights)
    weights.set_defaults(run=run_weights, command="weights")
    docs = commands.add_parser(
        "docs",
        help="show the pages about a subject, such as workers or differences",
        description="Shows a page of this version's documentation, or lists all pages.",
    )
    add_docs_arguments(docs)
    docs.set_defaults(run=run_docs, command="docs")
    return parser, {
        "check": check,
        "data": data,
        "docs": docs,
        "doctor": doctor,
        "predict": predict,
        "rewrite": rewrite,
        "run": run,
        "weights": weights,
    }


def _run(arguments: argparse.Namespace) -> int:
    try:
        check_versions()
    except ImportError as error:
        print(f"estimator-bridge: {error}", file=sys.stderr)
        return 1
    return command.run(arguments)


def _doctor(_: argparse.Namespace) -> int:
    from estimator_bridge.commands.doctor import examine

    try:
        code = examine()
        sys.stdout.flush()
    except BrokenPipeError:  # of `doctor | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
