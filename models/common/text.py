"""English text to learn from: files of the user, or the language reference that Python ships."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator, Mapping

from estimator_bridge.base.any_files import is_folder, names_in, open_text
from models.common.errors import UserError

__all__ = ["TEXT", "is_test", "paragraphs", "read_texts", "sentences", "text_files"]

TEXT = ".txt"
_SENTENCE = re.compile(r"(?<=[.:!?]) +(?=[A-Z\"*])")
_PARAGRAPH = re.compile(r"\n\s*\n")
_FEWEST_WORDS = 5
_TEST_ONE_IN = 5


def text_files(data_dir: str) -> list[str]:
    """Returns the text files of a folder, in order; none if there is no such folder."""
    if not is_folder(data_dir):
        return []
    names = [name for name in names_in(data_dir) if name.endswith(TEXT)]
    return [os.path.join(data_dir, name) for name in names]


def read_texts(data_dir: str) -> Mapping[str, str]:
    """Returns texts by name: the .txt files of a folder, or Python's language reference.

    Args:
        data_dir: a folder with .txt files in UTF-8. If it has none, the texts of
            `pydoc_data.topics` are used, which Python's own help() shows.

    Raises:
        UserError: a file is not UTF-8 or empty, or this Python has no such texts.
    """
    files = text_files(data_dir)
    if files:
        return {path: _read(path) for path in files}
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise UserError(
            f"{data_dir}: no .txt file, and this Python comes without the text of its language "
            "reference (pydoc_data). Name a folder of .txt files with --data_dir."
        ) from None
    return topics


def _read(path: str) -> str:
    try:
        with open_text(path) as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file in UTF-8: {error}.") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from error
    if not text.strip():
        raise UserError(f"{path}: empty. Remove it, or write text into it.")
    return text


def paragraphs(text: str) -> Iterator[str]:
    """Yields the paragraphs of a text, each in one line."""
    for paragraph in _PARAGRAPH.split(text):
        line = " ".join(paragraph.split())
        if line:
            yield line


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text that have at least five words."""
    parts = (part for line in paragraphs(text) for part in _SENTENCE.split(line))
    return [sentence for sentence in parts if len(sentence.split()) >= _FEWEST_WORDS]


def is_test(text: str) -> bool:
    """Returns whether an example is one of the test set: one in five, the same in each run."""
    return zlib.crc32(text.encode()) % _TEST_ONE_IN == 0
