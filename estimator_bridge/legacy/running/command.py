"""Defines the arguments of `estimator-bridge run`, and runs it."""

from __future__ import annotations

import argparse
import os
import sys

from estimator_bridge.base.jax_names import parse_jax_name
from estimator_bridge.base.live_line import is_live
from estimator_bridge.base.shown_progress import MONITOR
from estimator_bridge.base.tpu_presence import CHECKS_TPU, CORES, RUNTIME
from estimator_bridge.compile_for import CompileError, CompileJob, start_job
from estimator_bridge.errors import MissingImportError
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.local_cluster.options import (
    add_cluster_arguments,
    options_of_processes,
    requested_cluster,
)
from estimator_bridge.legacy.running.notebooks import NotebookError

__all__ = ["add_arguments", "run"]

_OF_COMPILE_FOR = ("compile_only", "find_batch_size", "report")
_EPILOG = """\
Options of the command come before SCRIPT. Arguments after it are passed to the program:
  estimator-bridge run --cores 2 run_classifier.py --task_name=MRPC --use_tpu=true
  estimator-bridge run --cluster ps=1,worker=2,chief=1 train.py --model_dir=out
  estimator-bridge run -m pytest tests/
  estimator-bridge run --tf1 notebook.ipynb
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.usage = (
        "%(prog)s [OPTIONS] SCRIPT [ARGUMENTS OF THE PROGRAM]\n"
        "       %(prog)s [OPTIONS] -m MODULE [ARGUMENTS OF THE PROGRAM]\n"
        "       %(prog)s --list-supported"
    )
    parser.add_argument(
        "--cores",
        type=_count,
        metavar="N",
        help="run on N TPU cores emulated on this CPU whenever the program asks for a TPU, "
        "whatever its name",
    )
    parser.add_argument(
        "--runtime",
        type=_runtime,
        metavar="NAME",
        help="have JAX run the steps whenever a TPUEstimator asks for a TPU, whatever its name: "
        "'jax' (all devices of JAX's default platform), 'jax:N', or 'jax:cpu:N' (N CPU devices, "
        "for tests); needs estimator-bridge[jax]",
    )
    parser.add_argument(
        "--check-tpu",
        action="store_true",
        help="with --cores: have XLA compile each step as for a TPU before it runs; an operation "
        "that it cannot compile raises an error that names the program's line",
    )
    parser.add_argument(
        "--compile-for",
        metavar="SLICE",
        help="run as with --cores, and have the TPU's own compiler (libtpu, which needs no TPU) "
        "compile each step for this slice, such as v5e-8, before it runs; needs "
        "estimator-bridge[tpu-compile]",
    )
    parser.add_argument(
        "--compile-only",
        action="store_true",
        help="with --compile-for: run no step; the program ends when it needs the result of one",
    )
    parser.add_argument(
        "--find-batch-size",
        action="store_true",
        help="with --compile-only: find the largest global batch of each mode whose step fits "
        "the chip's memory; compiles the step about ten times",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="with --compile-for: write the compiler's results to FILE: FILE.json, or FILE.html "
        "for a readable page",
    )
    parser.add_argument(
        "--tpu", metavar="NAME", help="the TPU for a program that asks for one without naming it"
    )
    shows = parser.add_mutually_exclusive_group()
    shows.add_argument(
        "--monitor",
        action="store_true",
        default=None,
        help="show the progress of training, and write report.html into its model_dir: the default "
        "on a terminal; in a file or a pipe it is a line per tenth of a run",
    )
    shows.add_argument("--no-monitor", dest="monitor", action="store_false", help="show none")
    add_cluster_arguments(parser)
    dialect = parser.add_mutually_exclusive_group()
    dialect.add_argument(
        "--tf1",
        dest="dialect",
        action="store_const",
        const=Dialect.TF1,
        help="`import tensorflow` means TensorFlow 1 in all of the program's modules; by default "
        "each module's source decides",
    )
    dialect.add_argument(
        "--tf2",
        dest="dialect",
        action="store_const",
        const=Dialect.TF2,
        help="it means TensorFlow 2, as in programs that import tensorflow.compat.v1",
    )
    parser.add_argument(
        "--list-supported",
        action="store_true",
        help="list the supported names of tf.contrib and of old TensorFlow 1 modules",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true",
        help="report which TensorFlow the program was written for and why, and keep this library's "
        "frames in tracebacks",
    )  # fmt: skip
    parser.add_argument(
        "-m",
        dest="is_module",
        action="store_true",
        help="SCRIPT is the name of a module, as with `python -m`",
    )
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT",
        help="a Python file, a folder with a __main__.py, or a notebook (.ipynb)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"wanted a number of cores, 1 or more, got {text!r}")
    return int(text)


def _runtime(text: str) -> str:
    try:
        name = parse_jax_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if name is None:
        raise argparse.ArgumentTypeError(f"wanted jax, jax:N or jax:cpu:N, got {text!r}")
    return str(name)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program that the arguments name.

    Returns:
      0 if the program ran to its end, 2 for wrong usage; for a cluster, its exit status. The
      program's exceptions propagate.
    """
    program = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if arguments.list_supported:
        return _list_supported()
    wrong_usage = _wrong_usage(arguments, program)
    if wrong_usage:
        print(f"estimator-bridge run: {wrong_usage}", file=sys.stderr)
        return 2
    job = None
    if any(getattr(arguments, name) for name in ("compile_for", *_OF_COMPILE_FOR)):
        try:
            job = _compile_job(arguments)
        except (ValueError, CompileError) as error:
            print(f"estimator-bridge run: {error}", file=sys.stderr)
            return 2
    _set_variables(arguments)
    from estimator_bridge.legacy.running.main_module import find_module, find_script, is_tool
    from estimator_bridge.legacy.running.program import run_main
    from estimator_bridge.legacy.running.tracebacks import show_program_only

    name, *own = program
    try:
        if arguments.is_module:
            _put_first(os.getcwd())
            main = find_module(name)
        else:
            main = find_script(name)
            _put_first(main.folder)
    except (FileNotFoundError, ModuleNotFoundError, NotebookError) as error:
        print(f"estimator-bridge run: {error}", file=sys.stderr)
        return 1 if isinstance(error, ModuleNotFoundError) else 2
    cluster = requested_cluster(arguments)
    if cluster:
        from estimator_bridge.legacy.running.local_cluster.launcher import run_cluster

        return run_cluster(cluster, [*options_of_processes(arguments), *arguments.program])
    # The programs that a tool such as pytest runs may look at the files in their folders.
    if is_live(sys.stderr) and not is_tool(main):
        os.environ.setdefault(MONITOR, "1")
    show_program_only(whole=arguments.verbose, has_cells=main.notebook is not None)
    try:
        run_main(main, own, arguments.dialect, arguments.verbose)
    except SystemExit as end:
        if end.code or job is None:
            raise
    except Exception as error:
        # Before the first step, no file of a step can be missing.
        if job and job.request.only and job.report.steps:
            job.say(
                f"--compile-only: the program ended with {type(error).__name__}. No step ran, so "
                "the files of a run, such as checkpoints, are missing; that may be why."
            )
        raise
    return job.finish() if job else 0


def _set_variables(arguments: argparse.Namespace) -> None:
    """Sets the variables by which options reach the library, and processes of the program."""
    for name, value in (
        (CHECKS_TPU, arguments.check_tpu and "1"),
        (CORES, arguments.cores and str(arguments.cores)),
        (RUNTIME, None if arguments.compile_for else arguments.runtime),  # a job sets it
        ("TPU_NAME", arguments.tpu),
        (MONITOR, None if arguments.monitor is None else str(int(arguments.monitor))),
    ):
        if value:
            os.environ[name] = value


def _list_supported() -> int:
    from estimator_bridge.base.quiet_start import quietly
    from estimator_bridge.legacy.running.supported import table

    try:
        with quietly():
            lines = table()
    except MissingImportError as error:
        print(f"estimator-bridge run: {error}", file=sys.stderr)
        return 1
    print(lines)
    return 0


def _wrong_usage(arguments: argparse.Namespace, program: list[str]) -> str | None:
    """Returns what is missing or contradicts itself; None if nothing does."""
    if not program:
        return (
            "name the script to run, or -m and a module (`estimator-bridge run --help` explains "
            "the options)"
        )
    if arguments.check_tpu and not arguments.cores:
        return "--check-tpu checks the steps that run on emulated cores: give --cores N too"
    if arguments.runtime and arguments.cores:
        return "--runtime and --cores both say where steps run: give one of them"
    if arguments.compile_for and arguments.runtime not in (None, "jax"):
        return (
            f"--compile-for says how many devices there are: write --runtime jax, without the rest "
            f"of {arguments.runtime!r}"
        )
    try:
        requested_cluster(arguments)
    except ValueError as error:
        return str(error)
    return None


def _compile_job(arguments: argparse.Namespace) -> CompileJob:
    """Starts the compile job that the options request, for this process and its children.

    Raises:
      ValueError: the options conflict, or name no slice.
    """
    if not arguments.compile_for:
        attribute = next(name for name in _OF_COMPILE_FOR if getattr(arguments, name))
        option = "--" + attribute.replace("_", "-")
        raise ValueError(f"{option} needs a slice to compile for: give --compile-for v5e-8 too")
    if arguments.cores:
        raise ValueError(
            "--cores and --compile-for both set the number of cores: leave --cores out"
        )
    return start_job(
        arguments.compile_for,
        arguments.compile_only,
        arguments.report,
        arguments.find_batch_size,
        on_jax=bool(arguments.runtime),
    )


def _put_first(folder: str) -> None:
    """Puts a folder where Python puts a script's, replacing the folder of this command."""
    if getattr(sys.flags, "safe_path", False):  # Python has added no folder
        sys.path.insert(0, folder)
    else:
        sys.path[0] = folder
