"""Asks the originals which of the surveyed names they have, and how many repositories use each.

cd tests && PYTHON_OF_1.15.5 -m goldens.library.make_private_names, and again with 2.15.1

`survey.py` has written imports.json next to this file; it is not kept. private_names.json has, by
module, its names, each with the number of repositories and the versions: "is_sequence:14:1.15.5".
"""

import importlib
import json
from pathlib import Path

import tensorflow as tf

HERE = Path(__file__).parent
PAGE = HERE / "private_names.json"


def look_up(full_name):
    """Returns the part of a name that is a module, or a name in one; None if there is none."""
    parts = full_name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:end]))
        except Exception:  # modules fail in many ways when they are imported
            continue
        try:
            is_there = end == len(parts) or hasattr(module, parts[end])
        except ImportError:  # a lazy module of a package that is not installed
            is_there = False
        return ".".join(parts[: end + 1]) if is_there else None
    return None


def rows():
    """Returns the rows that are there: name -> (repositories, versions)."""
    if not PAGE.exists():
        return {}
    return {
        f"{module}.{name}": (int(count), set(versions.split("+")))
        for module, names in json.loads(PAGE.read_text()).items()
        for name, count, versions in (entry.split(":") for entry in names.split())
    }


def main():
    """Adds this version's names."""
    users = {}
    for name, repositories in json.loads((HERE / "imports.json").read_text()).items():
        users.setdefault(look_up(name), set()).update(repositories)
    users.pop(None, None)
    table = rows()
    for name, repositories in users.items():
        count, versions = table.get(name, (0, set()))
        table[name] = (max(count, len(repositories)), versions | {tf.__version__})
    modules = {}
    for name in sorted(table):
        count, versions = table[name]
        module, _, last = name.rpartition(".")
        entry = "{}:{}:{}".format(last, count, "+".join(sorted(versions)))
        modules.setdefault(module, []).append(entry)
    text = json.dumps({module: " ".join(names) for module, names in modules.items()}, indent=0)
    PAGE.write_text(text + "\n")


if __name__ == "__main__":
    main()
