"""Notebook files as programs: their code cells run in turn, in one namespace."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from estimator_bridge.base.any_files import open_text
from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.legacy.running.magics import plain_python

__all__ = ["Cell", "Notebook", "NotebookError", "is_notebook", "read_notebook"]


class NotebookError(ValueError):
    """A file is not a notebook that can be run; the message says why."""


class Cell(NamedTuple):
    """A code cell.

    Attributes:
      number: the number among the cells with code, from 1, as Jupyter counts when it runs all.
      source: its Python, without magics, with each line at its position in the cell.
      passed_over: the lines that are not run.
    """

    number: int
    source: str
    passed_over: tuple[str, ...]


class Notebook(NamedTuple):
    """A notebook.

    Attributes:
      name: the file name to show.
      cells: the cells with code.
      tensorflow: the version that `%tensorflow_version` asks for: "1", "2" or "".
    """

    name: str
    cells: tuple[Cell, ...]
    tensorflow: str

    @property
    def source(self) -> str:
        """The Python of all cells."""
        return "\n".join(cell.source for cell in self.cells)

    def place_of(self, line: int) -> str:
        """Returns the cell, and the line in it, of a line of `source`."""
        for cell in self.cells:
            length = cell.source.count("\n") + 1
            if line <= length:
                return f"line {line} of cell {cell.number}"
            line -= length
        raise IndexError(line)

    def placed(self, text: str) -> str:
        """Rewrites "line N" of `source` in a sentence as a line of a cell."""
        return re.sub(r"line (\d+)", lambda match: self.place_of(int(match[1])), text)

    def passed_over(self) -> str:
        """Lists the lines that are not run; "" if there are none."""
        lines = [f"  cell {c.number}: {line}" for c in self.cells for line in c.passed_over]
        if not lines:
            return ""
        head = f"{self.name}: skipped, because only a notebook can run these lines:"
        return "\n".join([head, *lines])

    def compiled(self) -> list[CodeType]:
        """Returns the code of each cell.

        The cells' sources are registered for tracebacks, debuggers and other tools.

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
    """Returns whether a file is a notebook, by its name."""
    return path.endswith(".ipynb")


def read_notebook(path: str, name: str | None = None) -> Notebook:
    """Reads a notebook of nbformat 2 to 4.

    Args:
      path: the file.
      name: the name to show; by default `path`.

    Raises:
      NotebookError: it cannot be read, is not a Python notebook, or has no code.
      OSError: the file cannot be opened.
    """
    name = name or path
    with open_text(path) as file:
        try:
            content = foreign_json(file.read(), is_nan_allowed=True, are_names_unique=False)
        except UnicodeDecodeError as error:
            raise NotebookError(f"{name!r} is not a notebook: not UTF-8 ({error})") from None
        except ValueError as error:
            raise NotebookError(
                f"{name!r} is not a notebook: its JSON is broken ({error})"
            ) from None
    language = _language(content)
    if not language.startswith("python"):
        raise NotebookError(f"{name!r} is a notebook in {language}; only Python can be run")
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
        section = metadata.get(part) if isinstance(metadata, dict) else None
        if isinstance(section, dict) and section.get(key):
            return str(section[key]).lower()
    return "python"


def _code_cells(content: Any, name: str) -> Iterator[str]:
    """Yields the sources of the code cells, in any nbformat."""
    if isinstance(content, dict) and isinstance(content.get("cells"), list):
        cells = content["cells"]
    elif isinstance(content, dict) and isinstance(content.get("worksheets"), list):
        sheets = content["worksheets"]
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or []]
    else:
        raise NotebookError(
            f"{name!r} is not a notebook: wanted a JSON object with a list of `cells`, got "
            f"{type(content).__name__ if not isinstance(content, dict) else sorted(content)[:8]}"
        )
    for number, cell in enumerate(cells, 1):
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if kind != "code":
            if not isinstance(kind, str):
                raise NotebookError(f"{name!r} is broken: item {number} of its cells is not a cell")
            continue
        source = cell.get("source", cell.get("input"))
        parts = source if isinstance(source, list) else [source]
        if not all(isinstance(part, str) for part in parts):
            raise NotebookError(f"{name!r} is broken: item {number} of its cells has no source")
        yield "".join(parts)
