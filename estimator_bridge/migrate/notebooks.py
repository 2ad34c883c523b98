"""Reads a notebook's code cells as one source, and writes a new source back into the file.

Only the sources of changed cells are written; all other bytes of the file stay, and with them its
indentation, order of keys, outputs and metadata.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from estimator_bridge.legacy.running.notebooks import NotebookError, read_notebook
from estimator_bridge.migrate.findings import Finding
from estimator_bridge.migrate.json_spans import JsonValue, spans_of_code
from estimator_bridge.migrate.source_reading import Source, UnreadableError, read_source

__all__ = ["NotebookSource", "read_notebook_source"]


@dataclass(frozen=True)
class _Cell:
    """A code cell.

    Attributes:
      value: its source in the file.
      source: the decoded source.
      masked: the source as valid Python, with magics as comments.
    """

    value: JsonValue
    source: str
    masked: str


@dataclass(frozen=True)
class NotebookSource(Source):
    """A notebook as one text, with a marker comment above each cell.

    Attributes:
      file_text: the file's text.
      cells: the code cells.
      marker: the prefix of comments that mark cells and magics.
      magics: the lines that only a notebook runs, by number.
      tensorflow: the version that `%tensorflow_version` asks for: "1", "2" or "".
    """

    file_text: str = ""
    cells: tuple[_Cell, ...] = ()
    marker: str = ""
    magics: tuple[str, ...] = ()
    tensorflow: str = ""

    def encode_text(self, text: str) -> bytes:
        """Returns the file with the cells of a new text."""
        parts, end = [], 0
        for cell, source in zip(self.cells, self._split(text)):
            value = cell.value
            new = value.text if source == cell.source else value.with_text(source)
            parts += [self.file_text[end : value.start], new]
            end = value.end
        return super().encode_text("".join([*parts, self.file_text[end:]]))

    def display(self, text: str) -> str:
        """Returns the text for display: with magics, and the cells' numbers as comments."""
        comments = re.sub(rf"(?m)^{re.escape(self.marker)} cell (\d+)$", r"# cell \1", text)
        return self._unmask(comments)

    def place(self, line: int) -> tuple[int, int]:
        """Returns the cell of a line of the text, and the line in the cell, both from 1."""
        number = 0
        for number, cell in enumerate(self.cells, 1):
            line -= 1  # the marker's
            length = cell.masked.count("\n") + 1
            if line <= length:
                return number, max(line, 1)
            line -= length
        return number, line

    def place_in_cell(self, finding: Finding) -> Finding:
        """Converts a finding in the text to one in a cell."""
        cell, line = self.place(finding.line)
        return replace(finding, cell=cell, line=line)

    def _split(self, text: str) -> list[str]:
        """Splits a text into the cells' sources."""
        above, *parts = re.split(rf"(?m)^{re.escape(self.marker)} cell \d+\n?", text)
        assert not above and len(parts) == len(self.cells), "a cell's marker has moved"
        parts[:-1] = [part.removesuffix("\n") for part in parts[:-1]]
        return [self._unmask(part) for part in parts]

    def _unmask(self, text: str) -> str:
        pattern = rf"(?:pass  )?{re.escape(self.marker)} magic (\d+)(?=\n|$)"
        return re.sub(pattern, lambda match: self.magics[int(match[1])], text)


def read_notebook_source(path: str) -> NotebookSource:
    """Reads a notebook.

    Raises:
      UnreadableError: it is not a Python notebook, or has no code.
      OSError: it cannot be opened.
    """
    source = read_source(path)
    try:
        notebook = read_notebook(path)
    except NotebookError as error:
        raise UnreadableError(str(error).removeprefix(f"{path!r} ")) from None
    marker = "# estimator-bridge:"
    while marker in source.text:
        marker += ":"
    values = [value for value in spans_of_code(source.text) if value.source.strip()]
    cells: list[_Cell] = []
    magics: list[str] = []
    for value, plain in zip(values, notebook.cells):
        masked = _mask(value.source, plain.source, marker, magics)
        cells.append(_Cell(value, value.source, masked))
    text = "\n".join(
        f"{marker} cell {number}\n{cell.masked}" for number, cell in enumerate(cells, 1)
    )
    return NotebookSource(
        path, text, source.encoding, source.mark, source.text, tuple(cells), marker, tuple(magics),
        notebook.tensorflow,
    )  # fmt: skip


def _mask(source: str, plain: str, marker: str, magics: list[str]) -> str:
    """Returns a cell's source with a comment in place of each line that is not Python."""
    lines = source.split("\n")
    python = plain.split("\n")
    python += [""] * (len(lines) - len(python))  # a cell may be entirely non-Python
    for place, (line, code) in enumerate(zip(lines, python)):
        if line == code:
            continue
        bare = line.lstrip()
        needs = "pass  " if code.strip() else ""
        lines[place] = f"{line[: len(line) - len(bare)]}{needs}{marker} magic {len(magics)}"
        magics.append(bare)
    return "\n".join(lines)
