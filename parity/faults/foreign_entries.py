"""Files, folders and links of others, with names like those of a training's own files."""

from __future__ import annotations

import dataclasses
import os
import random
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

__all__ = [
    "KINDS", "MODES", "NAMES", "PLACES", "TARGETS", "TEXTS", "Entry", "contents", "create",
    "losses", "random_entries",
]  # fmt: skip

_STAGING = ".estimator_bridge.staging"
NAMES = [
    "results-{n}_temp", "model.ckpt-{n}_temp", "model.ckpt-{n}.new_temp", "model.ckpt-9{n}.meta",
    "model.ckpt-{n}.meta", "model.ckpt-{n}.data-00000-of-00001",
    "model.ckpt-{n}.data-00001-of-00002", "model.ckpt-{n}.new.index",
    "vgg.ckpt-{n}.meta", "vgg.ckpt-{n}.index", "vgg.ckpt-{n}.data-00000-of-00001",
    "model.ckpt-{n}.index.tempstate{n}", "vgg.ckpt-{n}.index.tempstate9",
    "checkpoint.tmp{hex}", "model.ckpt-{n}.meta.tmp{hex}", "graph.pbtxt.new", "graph.pbtxt.bak",
    "checkpoint_input.new", "checkpoint_input", "checkpoint_worker", "input.ckpt-{n}.index",
    "input.ckpt-{n}.data-00000-of-00001", "temp-1{hex9}", "1{hex9}", "{n}", "1{hex9}.bak",
    "events.out.tfevents.1{hex9}.host", "events.out.tfevents.{n}", "monitor.json", "report.html",
    ".estimator_bridge-{hex}", ".estimator_bridge.deleting", ".estimator_bridge.unfinished",
    ".estimator_bridge.unfinished.new", ".estimator_bridge.lock", ".estimator_bridge.mentioned",
    ".estimator_bridge.files", ".estimator_bridge.owner-{hex}",
    f"{_STAGING}-training-00000000-7-{{hex}}", f"{_STAGING}-beside-{{machine}}-999999-{{hex}}",
    ".gitignore", ".~lock.notes#",
    "notes.txt", "Größe-模型.txt", "a b\tc", "run.yaml", "model.ckpt-{n}.set_aside-1",
    "model.ckpt-{n}.data-00000-of-00001.set_aside-1", "lost+found", "saved_model.pb",
]  # fmt: skip
PLACES = [
    "model", "model", "model", "model/export", "model/export/latest", "model/export/best",
    "model/eval", "model/export/latest/1500000000", "model/results-3_temp/a/b", "model/a/b/c/d",
]  # fmt: skip
KINDS = ["file", "file", "file", "folder", "folder", "link", "hard link"]
# The content, outside of the model_dir, that links lead to.
_VICTIMS = ["outside/notes.txt", "outside/folder/inner.txt", "outside/folder", "outside/empty"]
TARGETS = [*_VICTIMS, "model", "nowhere", "model/checkpoint"]
MODES = [0o644, 0o644, 0o600, 0o400, 0o444, 0o755]
# A note as a killed training leaves it: the next training removes it under the name of such a note.
_NOTE = b'{"checkpoint": "model.ckpt-2", "files": {"model.ckpt-2.meta": [20, 1]}}'
# Text that the library's notes of this release and of 0.2.0 have had.
TEXTS = [
    _NOTE, b"", b"\x00\xff\xfe", b"{}", b"[]", b'{"names": 3}', b'{"files": {}}', b"model.ckpt-2\n",
    b'{"checkpoint": "../outside/notes", "files": {"../outside/notes.txt": [5, 1]}}',
    b'../outside/notes.txt\n/etc/hostname\n', b'{"files": {"notes.txt": [3, 4]}}',
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Entry:
    """A file, a folder or a link of somebody else.

    Attributes:
      path: relative to the folder that holds "model" and "outside".
      kind: of KINDS.
      content: of a file, and of the file in a folder; a folder without content is empty.
      mode: of a file.
      target: of a link, relative like the path.
    """

    path: str
    kind: str
    content: bytes
    mode: int
    target: str


def random_entries(chance: random.Random, count: int) -> list[Entry]:
    """Returns random entries; two may have one path.

    Args:
      chance: the source of all choices.
      count: how many.
    """
    return [
        Entry(
            f"{chance.choice(PLACES)}/{_random_name(chance)}",
            chance.choice(KINDS),
            chance.choice([*TEXTS, chance.randbytes(chance.randrange(1, 60))]),
            chance.choice(MODES),
            chance.choice(TARGETS),
        )
        for _ in range(count)
    ]


def _random_name(chance: random.Random) -> str:
    return chance.choice(NAMES).format(
        n=chance.choice([*range(9), 47]),
        hex=f"{chance.getrandbits(128):032x}",
        hex9=chance.randrange(10**8, 10**9),
        machine=f"{chance.getrandbits(32):08x}",
    )


def create(root: Path, entries: list[Entry]) -> None:
    """Creates the entries that have a free path, and what they link to.

    Args:
      root: gets the folders "model" and "outside".
      entries: see `random_entries`.
    """
    (root / "model").mkdir(exist_ok=True)
    (root / "outside" / "folder").mkdir(parents=True, exist_ok=True)
    (root / "outside" / "empty").mkdir(exist_ok=True)
    for name in ("notes.txt", "folder/inner.txt"):
        (root / "outside" / name).write_text(name)
    for entry in entries:
        path = root / entry.path
        if os.path.lexists(path) or any(above.is_symlink() for above in path.parents):
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):  # another entry is a file there
            continue
        _create(root, entry)


def _create(root: Path, entry: Entry) -> None:
    path = root / entry.path
    if entry.kind == "link":
        path.symlink_to(root / entry.target)
    elif entry.kind == "hard link":
        os.link(root / "outside" / "notes.txt", path)
    elif entry.kind == "folder":
        path.mkdir()
        if entry.content:
            (path / "part-00000-of-00001").write_bytes(entry.content)
    else:
        path.write_bytes(entry.content)
        path.chmod(entry.mode)


def contents(root: Path) -> dict[str, str]:
    """Returns what each path is: the content and mode of a file, a link's target, or a folder."""
    by_path = {}
    for place, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(place, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                by_path[os.path.relpath(path, root)] = f"link to {os.readlink(path)}"
            elif stat.S_ISDIR(status.st_mode):
                by_path[os.path.relpath(path, root)] = "folder"
            else:
                content = Path(path).read_bytes()
                by_path[os.path.relpath(path, root)] = f"{status.st_mode:o} {content!r}"
    return by_path


def losses(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Returns the paths whose content is neither there nor under a name of what is set aside.

    Empty files do not count, nor an empty folder with the complete name of a staging folder: they
    show nothing of who wrote them.
    """
    losses = []
    full = {str(above) for path in before for above in PurePosixPath(path).parents}
    for path, content in before.items():
        is_note = path == "model/.estimator_bridge.deleting" and repr(_NOTE) in content
        is_staging = f"/{_STAGING}" in path and content == "folder" and path not in full
        if is_note or is_staging or content.endswith("b''"):
            continue
        if content not in map(after.get, _names(path)):
            losses.append(f"{path}: {content[:80]} is now {after.get(path, 'gone')[:80]}")
    return losses


def _names(path: str) -> Iterator[str]:
    """Yields a path, and those that it has after it or a folder above it was set aside."""
    yield path
    parts = path.split("/")
    for place in range(1, len(parts) + 1):
        for number in range(1, 9):
            aside = f"{'/'.join(parts[:place])}.set_aside-{number}"
            yield "/".join([aside, *parts[place:]])
