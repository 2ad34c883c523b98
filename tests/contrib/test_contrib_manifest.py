"""What estimator_bridge_contrib uses of estimator_bridge, and that nothing there needs it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE, CONTRIB = ROOT / "estimator_bridge", ROOT / "estimator_bridge_contrib"
# A path of the tables of names, "estimator_bridge.tpu", or one within a module's object.
NAMED = re.compile(r"estimator_bridge((?:\.\w+)+)(?::\w+)?")


def trees(folder):
    return {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}


def exported(package):
    """The names in the `__all__` of a package of the core."""
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {one.value for one in node.value.elts if isinstance(one, ast.Constant)}
    return set()


def is_module(path):
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def module_of(package, name):
    """The module that `from package import name` reads: the package's own face, or one in it."""
    folder = ROOT.joinpath(*package.split("."))
    is_inside = is_module(folder / name) and name not in exported(folder)
    return f"{package}.{name}" if is_inside else package


def modules_in(tree):
    """The modules that a file imports, and those that its strings name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            if package.partition(".")[0] == "estimator_bridge":
                yield from (module_of(package, name.name) for name in node.names)
            else:
                yield package
        elif isinstance(node, ast.Constant) and NAMED.fullmatch(str(node.value)):
            yield node.value.partition(":")[0]


def listed():
    """The entries of the file MANIFEST."""
    lines = (CONTRIB / "MANIFEST").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def covers(entry, module):
    whole = entry.removesuffix(".*")
    return module == whole or (whole != entry and module.startswith(f"{whole}."))


def used():
    """The modules of the core that the package uses, below estimator_bridge."""
    start = "estimator_bridge."
    modules = {module for tree in trees(CONTRIB).values() for module in modules_in(tree)}
    return {module[len(start) :] for module in modules if module.startswith(start)}


def test_the_manifest_lists_what_is_used():
    unlisted = {module for module in used() if not any(covers(e, module) for e in listed())}
    assert unlisted == set(), "use a module that estimator_bridge_contrib/MANIFEST lists, or add it"


def test_what_the_manifest_lists_is_used():
    unused = [entry for entry in listed() if not any(covers(entry, each) for each in used())]
    assert unused == []
    assert len(set(listed())) == len(listed())


def test_the_core_imports_nothing_of_it():
    importing = [
        path.relative_to(ROOT).as_posix()
        for path, tree in trees(CORE).items()
        if any(name.partition(".")[0] == "estimator_bridge_contrib" for name in modules_in(tree))
    ]
    assert importing == [], "open it by name: estimator_bridge.tf_contrib.package.load_contrib"


def test_the_tables_of_names_load_nothing_but_tables():
    program = """
import sys
from estimator_bridge_contrib import NAMESPACES
print(len(NAMESPACES) > 80)
print(*(name for name in sys.modules if name.startswith(("estimator_bridge.", "tensorflow"))))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=600,
    )  # fmt: skip
    counted, loaded = done.stdout.splitlines()
    assert counted == "True"
    assert {name.partition(".")[2].partition(".")[0] for name in loaded.split()} <= {
        "base",
        "errors",
        "tf_contrib",
    }
