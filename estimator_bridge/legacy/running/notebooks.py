"""A notebook file as a program: its code cells, one after the other, in one namespace."""

from __future__ import annotations

import json
import linecache
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from estimator_bridge.legacy.running.magics import plain_python

__all__ = ["Cell", "Notebook", "NotebookError", "is_notebook", "read_notebook"]


class NotebookError(ValueError):
    """A file is not a notebook that can run; the message says why."""


class Cell(NamedTuple):
    """A code cell.

    Attributes:
      number: counts the cells with code from 1, as Jupyter does when it runs all of a notebook.
      source: its Python, without magics, each line where it stands in the cell.
      passed_over: the lines that are not run.
    """

    number: int
    source: str
    passed_over: tuple[str, ...]


class Notebook(NamedTuple):
    """A notebook.

    Attributes:
      name: the file, as it is shown.
      cells: those with code.
      tensorflow: what `%tensorflow_version` asks for: "1", "2" or "".
    """

    name: str
    cells: tuple[Cell, ...]
    tensorflow: str

    @property
    def source(self) -> str:
        """The Python of all cells."""
        return "\n".join(cell.source for cell in self.cells)

    def place_of(self, line: int) -> str:
        """Where a line of `source` stands."""
        for cell in self.cells:
            length = cell.source.count("\n") + 1
            if line <= length:
                return f"line {line} of cell {cell.number}"
            line -= length
        raise IndexError(line)

    def placed(self, text: str) -> str:
        """A sentence about `source`, with its "line N" as a line of a cell."""
        return re.sub(r"line (\d+)", lambda found: self.place_of(int(found[1])), text)

    def passed_over(self) -> str:
        """What is not run, a line each; "" where all is."""
        lines = [f"  cell {c.number}: {line}" for c in self.cells for line in c.passed_over]
        if not lines:
            return ""
        head = f"{self.name}: passed over, as a notebook alone runs them:"
        return "\n".join([head, *lines])

    def compiled(self) -> list[CodeType]:
        """The code of each cell.

        Tracebacks, debuggers and whatever else looks for a cell's source find it.

        Raises:
          SyntaxError: a cell is not Python; the error names the cell.
        """
        codes = []
        for cell in self.cells:
            file = f"{self.name}, cell {cell.number}"
            lines = [f"{line}\n" for line in cell.source.split("\n")]
            linecache.cache[file] = (len(cell.source), None, lines, file)
            codes.append(compile(cell.source, file, "exec", dont_inherit=True))
        return codes


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook by its name."""
    return path.endswith(".ipynb")


def read_notebook(path: str, name: str | None = None) -> Notebook:
    """Reads a notebook of nbformat 2 to 4.

    Args:
      path: the file.
      name: how it is to be shown; by default as `path`.

    Raises:
      NotebookError: it cannot be read, is no notebook, is none of Python, or has no code.
      OSError: the file cannot be opened.
    """
    name = name or path
    with open(path, encoding="utf-8") as file:
        try:
            content = json.load(file)
        except ValueError as error:
            raise NotebookError(f"{name!r} is no notebook: its JSON is broken ({error})") from None
    language = _language(content)
    if not language.startswith("python"):
        raise NotebookError(f"{name!r} is a notebook of {language}; only Python's can be run")
    cells: list[Cell] = []
    tensorflow = ""
    for source in _code_cells(content, name):
        if source.strip():
            plain = plain_python(source)
            cells.append(Cell(len(cells) + 1, plain.source, plain.passed_over))
            tensorflow = tensorflow or plain.tensorflow
    if not cells:
        raise NotebookError(f"{name!r} has no code cells: there is nothing to run")
    return Notebook(name, tuple(cells), tensorflow)


def _language(content: Any) -> str:
    metadata = content.get("metadata") if isinstance(content, dict) else None
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(part) if isinstance(metadata, dict) else None
        if isinstance(told, dict) and told.get(key):
            return str(told[key]).lower()
    return "python"


def _code_cells(content: Any, name: str) -> Iterator[str]:
    """The sources of the code cells, whichever format they stand in."""
    if isinstance(content, dict) and isinstance(content.get("cells"), list):
        cells = content["cells"]
    elif isinstance(content, dict) and isinstance(content.get("worksheets"), list):
        sheets = content["worksheets"]
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or []]
    else:
        raise NotebookError(
            f"{name!r} is no notebook: wanted a JSON object with a list of `cells`, got "
            f"{type(content).__name__ if not isinstance(content, dict) else sorted(content)[:8]}"
        )
    for number, cell in enumerate(cells, 1):
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if kind != "code":
            if not isinstance(kind, str):
                raise NotebookError(f"{name!r} is broken: item {number} of its cells is no cell")
            continue
        source = cell.get("source", cell.get("input"))
        parts = source if isinstance(source, list) else [source]
        if not all(isinstance(part, str) for part in parts):
            raise NotebookError(f"{name!r} is broken: item {number} of its cells has no source")
        yield "".join(parts)
