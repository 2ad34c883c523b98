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
]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: what stands behind the fence.
        text: what stands in it.
        line: the line of the page that `text` begins on, from 1.
        adjoins: whether nothing but white space is between it and the block before it.
    """

    language: str
    text: str
    line: int
    adjoins: bool


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page in their order."""
    content = page.read_text(encoding="utf-8")
    found, end = [], None
    for match in _BLOCK.finditer(content):
        line = content.count("\n", 0, match.start(2)) + 1
        adjoins = end is not None and not content[end : match.start()].strip()
        found.append(Block(match[1], match[2], line, adjoins))
        end = match.end()
    return found


def programs(page: Path) -> list[tuple[Block, str | None]]:
    """The Python blocks of a page, each with the output that the page shows right below it."""
    found = blocks(page)
    following = [*found[1:], None]
    return [
        (block, after.text if after and after.adjoins and after.language == "text" else None)
        for block, after in zip(found, following)
        if block.language == "python"
    ]


def commands(page: Path) -> list[list[str]]:
    """The shell commands of a page as words, without comments and variables set before them."""
    found = []
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    del words[0]
                if words:
                    found.append(words)
    return found


def inline_code(page: Path) -> list[str]:
    """What stands between single backquotes, outside of blocks."""
    return _INLINE.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    """The targets of a page's links."""
    return _LINK.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """What a link to a heading of a page may end with, as GitHub makes it of the heading."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def error_phrases(page: Path) -> list[str]:
    """The messages in the first column of the page's tables of errors."""
    text = page.read_text(encoding="utf-8")
    tables = re.findall(r"^\| the message holds \|.*\n((?:\|.*\n)+)", text, re.M)
    return re.findall(r"^\| `([^`]+)` \|", "".join(tables), re.M)


def strings_in_sources() -> str:
    """All texts that the library can say, `...` in the place of each value."""
    said = []
    for path in sorted((ROOT / "estimator_bridge").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "..." for p in node.values)
                said.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                said.append(node.value)
    return "\n".join(said)
