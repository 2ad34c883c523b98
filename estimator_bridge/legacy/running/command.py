"""`estimator-bridge run`: its arguments, and what it does with them."""

from __future__ import annotations

import argparse
import os
import sys

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.tpu_presence import CHECKS_TPU, CORES

__all__ = ["add_arguments", "run"]

_EPILOG = """\
The program's own arguments come after it, and are its own:
  estimator-bridge run --cores 2 run_classifier.py --task_name=MRPC --use_tpu=true
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.usage = (
        "%(prog)s [--cores N [--check-tpu]] [--tpu NAME] [--tf1 | --tf2] [-v] SCRIPT "
        "[arguments of its own]\n"
        "       %(prog)s [...] -m MODULE [arguments of its own]\n"
        "       %(prog)s --list-supported"
    )
    parser.add_argument(
        "--cores",
        type=_count,
        metavar="N",
        help="give a program that asks for a TPU, by whatever name, N emulated cores of this CPU",
    )
    parser.add_argument(
        "--check-tpu",
        action="store_true",
        help="with --cores: before a step runs, let XLA compile it as for a TPU; what it cannot "
        "compile is an error that names the program's line",
    )
    parser.add_argument(
        "--tpu", metavar="NAME", help="the TPU of a program that asks for one and names none"
    )
    dialect = parser.add_mutually_exclusive_group()
    dialect.add_argument(
        "--tf1",
        dest="dialect",
        action="store_const",
        const=Dialect.TF1,
        help="the program means TF1 by `import tensorflow`; by default its source tells",
    )
    dialect.add_argument(
        "--tf2",
        dest="dialect",
        action="store_const",
        const=Dialect.TF2,
        help="it means TF2, as programs do that say tensorflow.compat.v1",
    )
    parser.add_argument(
        "--list-supported",
        action="store_true",
        help="list what of TF1's names outside of today's TensorFlow is there",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true",
        help="say which dialect was seen, and show this library's frames in tracebacks",
    )  # fmt: skip
    parser.add_argument(
        "-m", dest="is_module", action="store_true", help="SCRIPT is a module's name"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT", help="what to run")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"wanted a number of cores, 1 or more, got {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program that the arguments name.

    Returns:
      0 where the program came to its end, 2 for wrong usage. What the program raises is raised.
    """
    program = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if arguments.list_supported:
        from estimator_bridge.legacy.running.start import quietly
        from estimator_bridge.legacy.running.supported import table

        with quietly():
            lines = table()
        print(lines)
        return 0
    if not program:
        print(
            "estimator-bridge run: name the script, or -m and the module, that is to run "
            "(`estimator-bridge run --help`)",
            file=sys.stderr,
        )
        return 2
    if arguments.check_tpu and not arguments.cores:
        print(
            "estimator-bridge run: --check-tpu checks the steps that run on emulated cores: give "
            "--cores N too",
            file=sys.stderr,
        )
        return 2
    if arguments.check_tpu:
        os.environ[CHECKS_TPU] = "1"
    if arguments.cores:
        os.environ[CORES] = str(arguments.cores)
    if arguments.tpu:
        os.environ["TPU_NAME"] = arguments.tpu
    from estimator_bridge.legacy.running.program import find_module, find_script, run_main
    from estimator_bridge.legacy.running.tracebacks import show_program_only

    name, *own = program
    try:
        if arguments.is_module:
            _put_first(os.getcwd())
            main = find_module(name)
        else:
            main = find_script(name)
            _put_first(main.folder)
    except (FileNotFoundError, ModuleNotFoundError) as error:
        print(f"estimator-bridge run: {error}", file=sys.stderr)
        return 2 if isinstance(error, FileNotFoundError) else 1
    show_program_only(whole=arguments.verbose)
    run_main(main, own, arguments.dialect, arguments.verbose)
    return 0


def _put_first(folder: str) -> None:
    """Puts a folder where Python puts a script's: in the place of the command's own."""
    if getattr(sys.flags, "safe_path", False):  # then Python has put none
        sys.path.insert(0, folder)
    else:
        sys.path[0] = folder
