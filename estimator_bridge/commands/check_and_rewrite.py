"""The commands `estimator-bridge check` and `estimator-bridge rewrite`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING

from estimator_bridge.base.terminal_text import printable, printable_text
from estimator_bridge.legacy.running.dialects import Dialect

if TYPE_CHECKING:
    from estimator_bridge.migrate.rewriting import Rewritten

__all__ = ["add_check_arguments", "add_rewrite_arguments", "run_check", "run_rewrite"]

_FORMATS = ("text", "json", "sarif", "github")
_INPUTS = ("train", "eval")
_MOST_NAMED = 10


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `check`."""
    _add_common(parser)
    parser.add_argument("--format", choices=_FORMATS, default="text", help="output format")
    parser.add_argument(
        "--verbose", action="store_true", help="in the format text: every finding, one line each"
    )
    parser.add_argument("--list-rules", action="store_true", help="list the rules")


def add_rewrite_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rewrite`."""
    _add_common(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--diff", action="store_true", help="show what would be written; the default")
    what.add_argument("--write", action="store_true", help="write the files")
    what.add_argument(
        "--to", choices=["eb-model"],
        help="write the program's model_fn as an eb.Model, and a test, in two files beside it",
    )  # fmt: skip
    model = parser.add_argument_group("with --to eb-model")
    for purpose in _INPUTS:
        model.add_argument(
            f"--{purpose}-input", metavar="NAME",
            help=f"the program's input_fn that the test uses for {purpose}",
        )  # fmt: skip
    model.add_argument(
        "--params", default="{}", metavar="JSON", help="the estimators' params in the test"
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="a Python file, a notebook, or a folder"
    )
    parser.add_argument(
        "--select", type=_codes, metavar="CODES",
        help="only these rules: codes or prefixes of codes, separated by commas",
    )  # fmt: skip
    parser.add_argument("--ignore", type=_codes, metavar="CODES", help="rules to leave out")
    parser.add_argument(
        "--exclude", type=_codes, metavar="PATTERNS", help="files and folders to leave out"
    )
    parser.add_argument(
        "--follow", action="store_true", help="also the local modules that the files import"
    )
    dialect = parser.add_mutually_exclusive_group()
    for option, value in (("--tf1", Dialect.TF1), ("--tf2", Dialect.TF2)):
        dialect.add_argument(
            option, dest="dialect", action="store_const", const=value,
            help=f"`import tensorflow` means TensorFlow {value.value[-1]} in all files; by default "
            "each file's source decides",
        )  # fmt: skip


def _codes(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def run_check(arguments: argparse.Namespace) -> int:
    """Runs `check`.

    Returns:
      0 if no change is needed, 1 if one is, 2 for wrong usage.
    """
    from estimator_bridge.migrate.check import check
    from estimator_bridge.migrate.files import NothingFoundError
    from estimator_bridge.migrate.findings import Severity
    from estimator_bridge.migrate.options import ConfigurationError
    from estimator_bridge.migrate.registry import all_rules
    from estimator_bridge.migrate.reports import FORMATS
    from estimator_bridge.migrate.reports.as_text import runs_as_it_is

    if arguments.list_rules:
        for code, rule in all_rules().items():
            print(f"{code}  {rule.title}")
        return 0
    try:
        report = check(_paths(arguments), _options(arguments))
        imports = _imports_to_change(arguments) if arguments.format == "text" else []
    except (NothingFoundError, ConfigurationError, ValueError) as error:
        return _wrong("check", error)
    layout = arguments.format
    if layout == "text" and arguments.verbose:
        layout = "lines"
    _show(FORMATS[layout](report) + "\n")
    if imports:
        _show(f"{_describe_imported(imports)}\n")
    if layout == "text" and any(each.severity is Severity.REWRITTEN for each in report.findings):
        follow = ["--follow"] if imports or arguments.follow else []
        words = [shlex.quote(word) for word in arguments.paths]
        commands = [f"rewrite {' '.join([*follow, *words])}"]
        if (
            len(words) == 1
            and os.path.isfile(arguments.paths[0])
            and runs_as_it_is(report.findings)
        ):
            commands.insert(0, f"run {words[0]}")
        for start, command in zip(("Next:", "or:  "), commands):
            _show(f"{start} estimator-bridge {printable(command)}\n")
        _show("(shows the change; with --write, makes it)\n")
    return report.exit_code


def run_rewrite(arguments: argparse.Namespace) -> int:
    """Runs `rewrite`.

    Returns:
      Without `--write`: 0 if nothing would change, 1 if something would or a file cannot be read.
      With it: 0 if all is done, 1 if a person has something to do or a file could not be
      written. 2 for wrong usage.
    """
    from estimator_bridge.migrate.files import NothingFoundError
    from estimator_bridge.migrate.options import ConfigurationError
    from estimator_bridge.migrate.reports.as_text import count_places
    from estimator_bridge.migrate.rewriting import RewriteError, rewrite

    if arguments.to:
        return _to_eb_model(arguments)
    try:
        files = rewrite(_paths(arguments), _options(arguments))
        imports = _imports_to_change(arguments)
    except (NothingFoundError, ConfigurationError, ValueError) as error:
        return _wrong("rewrite", error)
    except RewriteError as error:
        print(f"estimator-bridge rewrite: {printable_text(error)}", file=sys.stderr)
        return 1
    for file in files:
        if file.report.passed_over:
            message = f"{file.report.path}: passed over: {file.report.passed_over}"
            print(printable(message), file=sys.stderr)
    changed_files = [file for file in files if file.is_changed]
    if arguments.write:
        written_count = sum(map(_write, changed_files))
        summary = f"{written_count} written"
    else:
        for file in changed_files:
            # `patch` needs the bytes of the source; a terminal would obey them.
            _show(printable_text(file.diff()) if sys.stdout.isatty() else file.diff())
        summary = f"{len(changed_files)} would be changed"
    skip_count = sum(bool(file.report.passed_over) for file in files)
    places = sum(len(file.by_hand) for file in files)
    print(
        f"{len(files)} {'file' if len(files) == 1 else 'files'}: {summary}"
        f"{f', {skip_count} passed over' if skip_count else ''}"
        f"{f', {count_places(places)} left for a person' if places else ''}",
        file=sys.stderr,
    )
    if imports:
        print(_describe_imported(imports), file=sys.stderr)
    if arguments.write:
        return int(written_count < len(changed_files) or places > 0)
    return int(bool(changed_files) or any(file.by_hand for file in files if file.source is None))


def _show(text: str) -> None:
    """Writes to the standard output until a reader such as `head` closes it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(file: Rewritten) -> bool:
    """Writes a file, or prints why it could not; returns whether it was written."""
    from estimator_bridge.migrate.atomic_writes import write_whole

    assert file.source is not None
    try:
        content, before = (
            file.source.encode_text(file.text),
            file.source.encode_text(file.source.text),
        )
        write_whole(file.report.path, content, before)
    except (OSError, UnicodeEncodeError) as error:
        print(printable(f"{file.report.path}: not written: {error}"), file=sys.stderr)
        return False
    return True


def _to_eb_model(arguments: argparse.Namespace) -> int:
    from estimator_bridge.migrate.eb_model.command import write_eb_model
    from estimator_bridge.migrate.files import NothingFoundError
    from estimator_bridge.migrate.options import ConfigurationError

    inputs = {p: name for p in _INPUTS if (name := getattr(arguments, f"{p}_input"))}
    try:
        paths = arguments.paths
        if len(paths) != 1 or os.path.isdir(paths[0]):
            raise ValueError("--to eb-model takes one file")
        if arguments.follow:
            raise ValueError("--follow does not go with --to eb-model, which rewrites one file")
        return write_eb_model(paths[0], _options(arguments), inputs, arguments.params)
    except (NothingFoundError, ConfigurationError, ValueError, OSError) as error:
        return _wrong("rewrite", error)


def _paths(arguments: argparse.Namespace) -> list[str]:
    """Returns the paths to process: those on the command line, and with --follow their imports."""
    from estimator_bridge.migrate.local_imports import find_local_imports

    if not arguments.paths:
        raise ValueError("name a file or a folder")
    if not arguments.follow:
        return arguments.paths
    exclude = _options(arguments).exclude
    return [*arguments.paths, *find_local_imports(arguments.paths, exclude)]


def _imports_to_change(arguments: argparse.Namespace) -> list[str]:
    """Returns the local modules that the files import and that need a change themselves."""
    from estimator_bridge.migrate.check import check
    from estimator_bridge.migrate.local_imports import find_local_imports

    if arguments.follow:
        return []
    options = _options(arguments)
    imports = find_local_imports(arguments.paths, options.exclude)
    files = check(imports, options).files if imports else ()
    return [file.path for file in files if file.needs_change]


def _describe_imported(paths: list[str]) -> str:
    paths_text = ", ".join(paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return printable(
        f"Imported from here, and to be changed too: {paths_text}{more} (with --follow)"
    )


def _options(arguments: argparse.Namespace):
    from estimator_bridge.migrate.options import read_configuration

    first = arguments.paths[0]
    folder = first if os.path.isdir(first) else os.path.dirname(first)
    return read_configuration(folder).override(
        select=arguments.select,
        ignore=arguments.ignore,
        exclude=arguments.exclude,
        dialect=arguments.dialect,
    )


def _wrong(command: str, error: Exception) -> int:
    print(f"estimator-bridge {command}: {printable_text(error)}", file=sys.stderr)
    return 2
