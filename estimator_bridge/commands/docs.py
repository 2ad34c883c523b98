"""The command `estimator-bridge docs`: the pages of this version, as they came with the package."""

from __future__ import annotations

import argparse
import difflib
import pydoc
import re
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["add_docs_arguments", "find_pages", "run_docs", "section_of"]

_PACKAGE = Path(__file__).resolve().parents[1]
_HEADING = re.compile(r"^(#+) +(.*?) *$")
_FENCE = re.compile(r"^ *(```|~~~)")
_SUGGESTIONS = 3


def add_docs_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `docs`."""
    parser.add_argument(
        "page",
        nargs="?",
        metavar="PAGE[#SECTION]",
        help="the page to show, such as workers, or workers#parameter-servers for one section of "
        "it; without it, all pages are listed",
    )


def run_docs(arguments: argparse.Namespace) -> int:
    """Shows a page, in a pager on a terminal, or lists all.

    Returns:
      0; 1 if the pages are missing; 2 if there is no such page or section.
    """
    pages = find_pages()
    if not pages:
        return _fail("the pages did not come with this installation; install the wheel again", 1)
    if arguments.page is None:
        width = max(map(len, pages))
        for name, path in pages.items():
            print(f"{name:{width}}  {_title(path.read_text(encoding='utf-8'))}")
        return 0
    path, _, section = arguments.page.partition("#")
    name = path.removeprefix("docs/").removesuffix(".md")
    if name not in pages:
        return _fail(f"there is no page {name!r}; {_advice(name, pages, 'the pages')}", 2)
    text = pages[name].read_text(encoding="utf-8")
    if section:
        sections = _sections(text)
        if section not in sections:
            return _fail(
                f"the page {name} has no section {section!r}; "
                f"{_advice(section, sections, 'its sections')}",
                2,
            )
        text = section_of(text, section)
    pydoc.pager(text)
    return 0


def find_pages() -> dict[str, Path]:
    """Returns the pages by their names, such as 'workers' or 'contrib/supported', in order.

    They are in the package of a wheel, and beside the package in a work tree.
    """
    inside, beside = _PACKAGE / "pages", _PACKAGE.parent / "docs"
    folder = inside if inside.is_dir() else beside
    paths = sorted(folder.rglob("*.md"), key=lambda path: (len(path.parts), path))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def section_of(text: str, anchor: str) -> str:
    """Returns a section of a page, with the sections below it.

    Args:
      text: the page.
      anchor: the section's name in links, such as 'parameter-servers'.
    """
    lines = text.splitlines(keepends=True)
    start, level = _sections(text)[anchor]
    end = min(
        (line for line, depth in _sections(text).values() if line > start and depth <= level),
        default=len(lines),
    )
    return "".join(lines[start:end])


def _sections(text: str) -> dict[str, tuple[int, int]]:
    """Returns the line and the depth of each heading, by its name in links."""
    sections: dict[str, tuple[int, int]] = {}
    is_code = False
    for number, line in enumerate(text.splitlines()):
        if _FENCE.match(line):
            is_code = not is_code
        match = None if is_code else _HEADING.match(line)
        if match:
            words = re.sub(r"[^\w\- ]", "", match[2].lower())
            sections.setdefault(words.replace(" ", "-"), (number, len(match[1])))
    return sections


def _title(text: str) -> str:
    return next((match[2] for match in map(_HEADING.match, text.splitlines()) if match), "")


def _advice(name: str, names: Iterable[str], what: str) -> str:
    choices = list(names)
    close = difflib.get_close_matches(name, choices, _SUGGESTIONS)
    close = close or [each for each in choices if name in each]
    if close:
        return f"did you mean {' or '.join(close[:_SUGGESTIONS])}?"
    return f"{what} are {', '.join(choices)}"


def _fail(text: str, code: int) -> int:
    print(f"estimator-bridge docs: {text}", file=sys.stderr)
    return code
