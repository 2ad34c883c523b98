"""Notebooks: their code cells as one source, and a new source put back into the file's own text.

Nothing but the sources of changed cells is written: all else of the file keeps its bytes, so its
indent, the order of its keys, outputs and metadata stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from estimator_bridge.legacy.running.notebooks import NotebookError, read_notebook
from estimator_bridge.migrate.json_spans import JsonValue, spans_of_code
from estimator_bridge.migrate.reading import Source, UnreadableError, read_source
from estimator_bridge.migrate.values import Finding

__all__ = ["NotebookSource", "read_notebook_source"]


@dataclass(frozen=True)
class _Cell:
    """A code cell.

    Attributes:
      value: its source in the file.
      source: what that says.
      masked: the same as Python that can be parsed: magics are comments.
    """

    value: JsonValue
    source: str
    masked: str


@dataclass(frozen=True)
class NotebookSource(Source):
    """A notebook as one text: each cell below a comment that marks it.

    Attributes:
      file_text: what stands in the file.
      cells: the code cells.
      marker: how the comments begin that stand for cells' borders and for magics.
      magics: by number: the lines that only a notebook runs.
      tensorflow: the version that `%tensorflow_version` asks for: "1", "2" or "".
    """

    file_text: str = ""
    cells: tuple[_Cell, ...] = ()
    marker: str = ""
    magics: tuple[str, ...] = ()
    tensorflow: str = ""

    def encoded(self, text: str) -> bytes:
        """The file with the cells of a new text."""
        parts, end = [], 0
        for cell, source in zip(self.cells, self._split(text)):
            value = cell.value
            new = value.text if source == cell.source else value.with_text(source)
            parts += [self.file_text[end : value.start], new]
            end = value.end
        return super().encoded("".join([*parts, self.file_text[end:]]))

    def shown(self, text: str) -> str:
        """The text as people know it: with magics, and the cells' numbers as comments."""
        numbered = re.sub(rf"(?m)^{re.escape(self.marker)} cell (\d+)$", r"# cell \1", text)
        return self._unmasked(numbered)

    def place(self, line: int) -> tuple[int, int]:
        """The cell of a line of the text, and the line in it, both from 1."""
        number = 0
        for number, cell in enumerate(self.cells, 1):
            line -= 1  # the marker's
            length = cell.masked.count("\n") + 1
            if line <= length:
                return number, max(line, 1)
            line -= length
        return number, line

    def placed(self, found: Finding) -> Finding:
        """A finding in the text as one in a cell."""
        cell, line = self.place(found.line)
        return replace(found, cell=cell, line=line)

    def _split(self, text: str) -> list[str]:
        """The cells' sources of a text."""
        above, *parts = re.split(rf"(?m)^{re.escape(self.marker)} cell \d+\n?", text)
        assert not above and len(parts) == len(self.cells), "a cell's marker has moved"
        parts[:-1] = [part.removesuffix("\n") for part in parts[:-1]]
        return [self._unmasked(part) for part in parts]

    def _unmasked(self, text: str) -> str:
        pattern = rf"(?:pass  )?{re.escape(self.marker)} magic (\d+)(?=\n|$)"
        return re.sub(pattern, lambda found: self.magics[int(found[1])], text)


def read_notebook_source(path: str) -> NotebookSource:
    """Reads a notebook.

    Raises:
      UnreadableError: it is no notebook of Python's, or has no code.
      OSError: it cannot be opened.
    """
    source = read_source(path)
    try:
        notebook = read_notebook(path)
    except (NotebookError, UnicodeDecodeError) as error:
        raise UnreadableError(str(error).removeprefix(f"{path!r} ")) from None
    marker = "# estimator-bridge:"
    while marker in source.text:
        marker += ":"
    values = [value for value in spans_of_code(source.text) if value.source.strip()]
    cells: list[_Cell] = []
    magics: list[str] = []
    for value, plain in zip(values, notebook.cells):
        masked = _masked(value.source, plain.source, marker, magics)
        cells.append(_Cell(value, value.source, masked))
    text = "\n".join(
        f"{marker} cell {number}\n{cell.masked}" for number, cell in enumerate(cells, 1)
    )
    return NotebookSource(
        path, text, source.encoding, source.mark, source.text, tuple(cells), marker, tuple(magics),
        notebook.tensorflow,
    )  # fmt: skip


def _masked(source: str, plain: str, marker: str, magics: list[str]) -> str:
    """A cell's source with a comment in place of each line that is no Python."""
    lines = source.split("\n")
    python = plain.split("\n")
    python += [""] * (len(lines) - len(python))  # of a cell that is no Python as a whole
    for place, (line, kept) in enumerate(zip(lines, python)):
        if line == kept:
            continue
        bare = line.lstrip()
        needs = "pass  " if kept.strip() else ""
        lines[place] = f"{line[: len(line) - len(bare)]}{needs}{marker} magic {len(magics)}"
        magics.append(bare)
    return "\n".join(lines)
