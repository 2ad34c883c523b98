"""Checks the files of `--flagfile=` before absl reads them.

absl opens whatever has the name, also one that waits for a writer, and reads a file again each time
that another one names it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from flags.validate import FlagsError

__all__ = ["check_flag_files"]

_MOST_FILES = 100  # each as often as others name it
_MOST_CHARACTERS = 1_000_000
_LONGEST_NAME, _SHOWN = 200, 60


def check_flag_files(words: Sequence[str]) -> None:
    """Checks the flags' names of a command line, its flag files, and those that they name.

    Args:
      words: the arguments without the program's name.

    Raises:
      FlagsError: a name is missing; a file cannot be read, is too large or not text; or the files
        name one another too often.
    """
    for word, following in zip(words, [*words[1:], "next"]):
        if word.lstrip("-") == "flagfile=" or (word.lstrip("-") == "flagfile" and not following):
            raise FlagsError(["--flagfile= is empty: name a file with one flag per line"])
    _check_lengths(words)
    waiting: list[tuple[str, ...]] = [(name,) for name in _flag_files_in(words)]
    read = 0
    while waiting:
        chain = waiting.pop()
        read += 1
        if read > _MOST_FILES:
            raise FlagsError(
                [f"--flagfile={chain[0]}: more than {_MOST_FILES} files. Name each only once"]
            )
        lines = _lines(chain[-1])
        _check_lengths(lines)
        inner = _flag_files_in([line for line in lines if "=" in line])
        waiting += [(*chain, name) for name in inner if name not in chain]  # absl ignores circles


def _check_lengths(words: Sequence[str]) -> None:
    """Refuses long names: absl's search for a similar one recurses by the letter."""
    for word in words:
        if word.startswith("-") and len(name := word.partition("=")[0]) > _LONGEST_NAME:
            raise FlagsError(
                [f"{name[:_SHOWN]!r}...: a flag's name of {len(name):,} characters. There is none"]
            )


def _flag_files_in(words: Sequence[str]) -> list[str]:
    names = []
    for word, following in zip(words, [*words[1:], ""]):
        if word == "--":
            break
        name, has_equals, value = word.partition("=")
        if name in ("-flagfile", "--flagfile"):
            names.append(value.strip() if has_equals else following)
    return list(filter(None, names))


def _lines(name: str) -> list[str]:
    from estimator_bridge.base.any_files import open_text

    where = f"--flagfile={name}"
    try:
        with open_text(os.path.expanduser(name)) as file:
            text = file.read(_MOST_CHARACTERS + 1)
    except OSError as error:
        raise FlagsError([f"{where}: cannot be read: {error.strerror}"]) from None
    except ValueError:  # not UTF-8, or a name with a zero byte
        raise FlagsError(
            [f"{where}: not a text file. Want one flag per line, such as --mode=train"]
        ) from None
    if len(text) > _MOST_CHARACTERS:
        raise FlagsError([f"{where}: more than {_MOST_CHARACTERS:,} characters"])
    return text.splitlines()
