"""Parses the command line into flag values, with clear one-line errors."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from absl import flags as absl_flags

from flags.config_file import with_config
from flags.flag_files import check_flag_files
from flags.validate import FlagsError, check_flags

__all__ = ["parse_flags"]

_USAGE_ERROR = 2
# absl's words for a value that is not of its flag's type, and ours.
_PLAIN_WORDS = (
    (re.compile(r"\('Non-boolean argument to boolean flag', .*\)"), "want true or false"),
    (re.compile(r"invalid literal for int\(\) with base \d+: .*"), "want a whole number"),
    (re.compile(r"could not convert string to float: .*"), "want a number"),
)
_NO_CHOICE = re.compile(r"flag --\w+=(?P<value>.*): value should be one of <(?P<choices>.*)>")
# Limits on what is shown of a file that holds no flags.
_SHOWN, _LONGEST = 5, 100


def parse_flags(
    argv: Sequence[str],
    flag_values: absl_flags.FlagValues = absl_flags.FLAGS,
    settle: Callable[[absl_flags.FlagValues], Any] | None = None,
) -> list[str]:
    """Parses and checks the command line, as a `flags_parser` for `absl.app.run`.

    Args:
        argv: the program's name and its arguments. `--flagfile=PATH` reads more from a file, and
            `--config=PATH` from a YAML file.
        flag_values: the container of the flags.
        settle: called with the parsed flags before they are checked against each other: may set
            the defaults of what was chosen, and raise FlagsError.

    Returns:
        The program's name only: there are no positional arguments.

    Raises:
        SystemExit: with status 2, after a message on stderr, if an argument is unknown or a value
            is missing, malformed or does not fit the others.
    """
    program = os.path.basename(argv[0])
    try:
        check_flag_files(argv[1:])
        rest = flag_values(with_config(argv, flag_values))
        if len(rest) > 1:
            remainder = [f"and {len(rest) - 1 - _SHOWN} more"] if len(rest) - 1 > _SHOWN else []
            complaints = [
                f"{word[:_LONGEST]!r}: flags start with --, as in --mode=train" for word in rest[1:]
            ]
            raise FlagsError([*complaints[:_SHOWN], *remainder])
        if settle is not None:
            settle(flag_values)
        check_flags(flag_values)
    except UnicodeDecodeError:  # only a flagfile is read here
        _refuse(
            program,
            f"{_flagfiles(argv)}: not a text file. Want one flag per line, such as --mode=train",
        )
    except absl_flags.CantOpenFlagFileError as error:
        reason = error.__context__
        cause = reason.strerror if isinstance(reason, OSError) else error
        _refuse(program, f"{_flagfiles(argv)}: cannot be read: {cause}")
    except (absl_flags.Error, FlagsError) as error:
        _refuse(program, _in_plain_words(str(error)))
    return rest


def _in_plain_words(message: str) -> str:
    for pattern, words in _PLAIN_WORDS:
        message = pattern.sub(words, message)
    choice = _NO_CHOICE.fullmatch(message)
    close = choice and difflib.get_close_matches(choice["value"], choice["choices"].split("|"), n=1)
    return f"{message}. Did you mean {close[0]}?" if close else message


def _refuse(program: str, message: str) -> NoReturn:
    print(f"{program}: {message}\nSee {program} --help.", file=sys.stderr)
    raise SystemExit(_USAGE_ERROR)


def _flagfiles(argv: Sequence[str]) -> str:
    """Returns the flagfiles of a command line, as the user wrote them."""
    words = list(argv[1:])
    files = [word for word in words if word.lstrip("-").startswith("flagfile=")]
    files += [" ".join(pair) for pair in zip(words, words[1:]) if pair[0].lstrip("-") == "flagfile"]
    return ", ".join(files) or "flagfile"
