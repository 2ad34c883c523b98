"""The documentation as data: code blocks, commands, flags, links and phrases of its pages."""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "models").rglob("README.md")),
]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: the word after the opening fence.
        text: the content.
        line: the page's line on which `text` begins, from 1.
        adjoins: whether only white space separates it from the previous block.
    """

    language: str
    text: str
    line: int
    adjoins: bool


def blocks(page: Path) -> list[Block]:
    """Returns the fenced blocks of a page in their order."""
    content = page.read_text(encoding="utf-8")
    fences, end = [], None
    for match in _BLOCK.finditer(content):
        line = content.count("\n", 0, match.start(2)) + 1
        adjoins = end is not None and not content[end : match.start()].strip()
        fences.append(Block(match[1], match[2], line, adjoins))
        end = match.end()
    return fences


def programs(page: Path) -> list[tuple[Block, str | None]]:
    """Returns the Python blocks of a page, each with the output shown right below it."""
    fences = blocks(page)
    following = [*fences[1:], None]
    return [
        (block, after.text if after and after.adjoins and after.language == "text" else None)
        for block, after in zip(fences, following)
        if block.language == "python"
    ]


def commands(page: Path) -> list[list[str]]:
    """Returns the shell commands of a page as words, without comments and leading variables."""
    lines = []
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    del words[0]
                if words:
                    lines.append(words)
    return lines


def inline_code(page: Path) -> list[str]:
    """Returns the texts between single backquotes, outside of blocks."""
    return _INLINE.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    """Returns the targets of a page's links."""
    return _LINK.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub makes them."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def error_phrases(page: Path) -> list[str]:
    """Returns the messages in the first column of the page's tables of errors."""
    text = page.read_text(encoding="utf-8")
    tables = re.findall(r"^\| the message contains \|.*\n((?:\|.*\n)+)", text, re.M)
    return re.findall(r"^\| `([^`]+)` \|", "".join(tables), re.M)


def strings_in_sources() -> str:
    """Returns all string literals of the library, with `...` for each value."""
    strings = []
    folders = (ROOT / "estimator_bridge", ROOT / "estimator_bridge_contrib")
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "..." for p in node.values)
                strings.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.append(node.value)
    return "\n".join(strings)
