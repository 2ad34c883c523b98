"""Collects the names below tensorflow.python and tensorflow_estimator that repositories import.

cd tests && python -m goldens.library.survey FOLDER

FOLDER holds git repositories, each as OWNER+NAME. Programs moved to TensorFlow 2 over the years, so
each repository is read at its newest commit and at the last ones of 2017 to 2021. The result,
`imports.json`, lists the repositories by name; `make_private_names.py` then asks the originals
which of the names they have.
"""

from __future__ import annotations

import ast
import collections
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
_YEARS = range(2018, 2023)
_ROOTS = ("tensorflow.python", "tensorflow_estimator")
_WORDS = ("tensorflow.python", "tensorflow_estimator", "tensorflow import python", "tf.python.")
# Copies of TensorFlow and of Estimator import themselves.
_COPIES = re.compile(
    r"(^|/)(tensorflow(_core)?/(python|contrib|compiler|core)|tensorflow_estimator)/"
)
_ORIGINALS = {"tensorflow/estimator", "apple/tensorflow_macos", "plasticityai/supersqlite"}
_IMPORT = re.compile(
    r"^[ \t>]*((?:from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^()]*\)|[^\n(]*(?:\\\n[^\n]*)*))"
    r"|(?:import[ \t]+[\w.]+[^\n]*))",
    re.MULTILINE,
)


def repositories(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yields the names of a folder's repositories, and their git directories."""
    for place in sorted(folder.iterdir()):
        name = place.name.replace("+", "/")
        directory = next((d for d in (place / "repo" / ".git", place / "repo") if d.exists()), None)
        if "+" in place.name and directory is not None and name not in _ORIGINALS:
            yield name, directory


def sources(directory: Path) -> Iterator[str]:
    """Yields the sources in a repository that mention private modules, each version once."""
    blobs = set()
    for commit in _commits(directory):
        words = [argument for word in _WORDS for argument in ("-e", word)]
        listing = _git(directory, "grep", "-l", "-F", *words, commit, "--", "*.py", "*.ipynb")
        files = [line.partition(":")[2] for line in listing.splitlines()]
        files = [file for file in files if not _COPIES.search(file)]
        for start in range(0, len(files), 100):
            tree = _git(directory, "ls-tree", commit, "--", *files[start : start + 100])
            blobs |= {line.split()[2] for line in tree.splitlines()}
    for blob in sorted(blobs):
        yield _git(directory, "cat-file", "blob", blob)


def _commits(directory: Path) -> set[str]:
    dates = [["-1", f"--before={year}-01-01"] for year in _YEARS]
    commits = [_git(directory, "rev-list", *date, "HEAD").strip() for date in [*dates, ["-1"]]]
    return set(filter(None, commits))


def _git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", f"--git-dir={directory}", *arguments], capture_output=True, check=False
    )
    return done.stdout.decode(errors="replace")


def names_in(source: str) -> set[str]:
    """Returns the private names that a source imports, or uses of a module that it imports.

    The source may be Python 2 or a notebook, so only its import statements are parsed.
    """
    if '"nbformat"' in source:
        source = source.replace("\\n", "\n").replace('"', "")
    names, bound = set(), {}
    for match in _IMPORT.finditer(source):
        for node in _parsed(match[1]):
            module = getattr(node, "module", None)
            for alias in node.names:
                target = f"{module}.{alias.name}" if module else alias.name
                if f"{target}.".startswith(tuple(f"{root}." for root in _ROOTS)):
                    names.add(target.removesuffix(".*"))
                    bound[alias.asname or (alias.name if module else target)] = target
                elif target == "tensorflow":
                    bound[f"{alias.asname or target}.python"] = "tensorflow.python"
    for variable, target in bound.items():
        used = re.finditer(rf"(?<![\w.]){re.escape(variable)}((?:\.[A-Za-z_]\w*)+)", source)
        names |= {target + match[1] for match in used}
    return names


def _parsed(statement: str) -> list[ast.Import | ast.ImportFrom]:
    try:
        tree = ast.parse(statement.strip())
    except (SyntaxError, ValueError):
        return []
    return [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


def main() -> None:
    """Writes imports.json."""
    users = collections.defaultdict(set)
    for repository, directory in repositories(Path(sys.argv[1])):
        for source in sources(directory):
            for name in names_in(source):
                users[name].add(repository)
        print(repository, sum(repository in each for each in users.values()), flush=True)
    table = {name: sorted(users[name]) for name in sorted(users)}
    (HERE / "imports.json").write_text(json.dumps(table, indent=0) + "\n")


if __name__ == "__main__":
    main()
