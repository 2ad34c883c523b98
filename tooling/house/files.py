"""Rules about files: packages, names of tests, and nothing that only one machine has."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator

from tooling.house.layers import PACKAGES
from tooling.house.tree import Tree

_SEARCH_PATH = re.compile(r"sys\.path(\.(insert|append|extend|remove)\b|\[.*\] *=|\s*\+?= )")
_PLACE = re.compile(rb"/(?:home|root|Users|work|opt)/[\w.-]+|file:/{3}|--(?:extra-)?index[-]url")


def every_folder_with_modules_is_a_package(tree: Tree) -> Iterator[str]:
    """Finds folders that setup.py would leave out."""
    modules = tree.modules(*PACKAGES)
    for folder in sorted({path.parent for path in modules}):
        if folder / "__init__.py" not in modules:
            yield f"{folder}: has no __init__.py"


def only_the_command_changes_the_search_path(tree: Tree) -> Iterator[str]:
    """Holds tests and tools to imports by package: pytest's `pythonpath` names their folders."""
    for path in tree.modules("tests", "tooling", "parity", "benchmarks", "train.py"):
        if _SEARCH_PATH.search(tree.text(path)):
            yield f"{path}: changes sys.path"


def no_file_names_a_place_on_one_machine(tree: Tree) -> Iterator[str]:
    """Finds folders of somebody's machine, and addresses of package indexes."""
    for path in tree.files:
        if match := _PLACE.search((tree.root / path).read_bytes()):
            yield f"{path}: names {match.group().decode()}"


def test_modules_have_names_of_their_own(tree: Tree) -> Iterator[str]:
    """Finds names that pytest, without packages, cannot tell apart."""
    by_name = collections.defaultdict(list)
    for path in tree.modules("tests"):
        if path.name.startswith("test_"):
            by_name[path.name].append(path)
    for paths in by_name.values():
        for path in paths[1:]:
            yield f"{path}: has the name of {paths[0]}"


RULES = [
    every_folder_with_modules_is_a_package,
    only_the_command_changes_the_search_path,
    no_file_names_a_place_on_one_machine,
    test_modules_have_names_of_their_own,
]
