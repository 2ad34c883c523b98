"""Private TensorFlow is in one package, and probes report what a release has changed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from estimator_bridge.tensorflow_private.inherited import INHERITED
from tooling import probe_tensorflow, tensorflow_probes

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = [ROOT / "estimator_bridge", ROOT / "estimator_bridge_contrib"]
PACKAGE = probe_tensorflow.PACKAGE
FILES = [
    path
    for folder in LIBRARY
    for path in sorted(folder.rglob("*.py"))
    if PACKAGE not in path.parents
]
OWN_OBJECTS = ("self", "cls", "super()")
BY_NAME = ("getattr", "hasattr", "setattr")
# Of Python itself; of the package tf_slim, which slim joins its scopes with; and notes that this
# library makes on graphs and functions of others.
NOT_OF_TENSORFLOW = {
    "_SubParsersAction", "_actions",  # argparse
    "_asdict", "_current_frames", "_exit", "_fields", "_fmt", "_getframe",
    "_ARGSTACK", "_DECORATED_OPS", "_key_op",
    "_estimator_api_names", "_estimator_api_names_v1", "_estimator_bridge_feeds",
    "_distribute_coordinator_mode",  # of the original's RunConfig
}  # fmt: skip


def accesses(tree):
    """Private attributes that are read or set, but for those of self and of a class's parents."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_own = ast.unparse(node.value) in OWN_OBJECTS
            if not is_own:
                yield node.attr, node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in BY_NAME:
            name = node.args[1]
            if isinstance(name, ast.Constant) and ast.unparse(node.args[0]) != "self":
                yield str(name.value), node.lineno


def defined(tree):
    """Private names that a module gives its own objects."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if ast.unparse(node.value) in ("self", "cls"):
                yield node.attr
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def trees(paths):
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_private_attributes_of_tensorflow_are_used_in_one_package():
    ours = trees(FILES)
    own = {name for tree in ours.values() for name in defined(tree)} | NOT_OF_TENSORFLOW
    places = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in ours.items()
        for name, line in accesses(tree)
        if is_private(name) and name not in own
    ]
    assert places == [], "give it a function in estimator_bridge/tensorflow_private"


def test_what_is_inherited_is_listed():
    ours = trees(FILES)
    own = {name for tree in ours.values() for name in defined(tree)} | NOT_OF_TENSORFLOW
    used = {
        node.attr
        for tree in ours.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in OWN_OBJECTS
    }
    listed = {name for words in INHERITED.values() for name in words.split()}
    assert {name for name in used - own if is_private(name)} == listed


def test_a_private_attribute_is_found_however_it_is_used():
    tree = ast.parse("a._b.c\nx._d = 1\ngetattr(y, '_e', 0)\nself._f\nsuper()._g()\nz.__h__")
    assert sorted(name for name, _ in accesses(tree) if is_private(name)) == ["_b", "_d", "_e"]


def test_every_private_name_is_probed():
    probed = {name for names in tensorflow_probes.PROBES for name in names}
    offered = probe_tensorflow.offered_names()
    assert {"INHERITED", "eager_mode", "end_iterator"} <= offered
    assert probed <= offered | set(probe_tensorflow.imported_names())
    assert offered - probed == set()


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_every_use_has_a_reason(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tensorflow."):
            above = [line for line in lines[: node.lineno - 1] if line][-1]
            assert above.startswith(("#", "from tensorflow.")), node.module


def test_this_tensorflow_is_as_expected():
    done = subprocess.run(
        [sys.executable, "-m", "tooling.probe_tensorflow"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.stdout.endswith("every private name is as expected.\n"), done.stdout + done.stderr
    assert done.returncode == 0


def test_a_changed_name_is_told_in_one_line(monkeypatch):
    def moved():
        raise AttributeError("'X' object has no attribute '_y'\nDid you mean: 'y'?")

    monkeypatch.setattr(tensorflow_probes, "PROBES", {("flat_call", "host"): moved})
    assert list(probe_tensorflow.broken()) == [
        "flat_call, host: AttributeError: 'X' object has no attribute '_y' Did you mean: 'y'?"
    ]
    context = "tensorflow.python.eager.context"
    places = {"a": ("tensorflow.python.no_such", "b"), "c": (context, "d")}
    monkeypatch.setattr(probe_tensorflow, "imported_names", lambda: places)
    lines = list(probe_tensorflow.broken())
    assert lines[0] == "tensorflow.python.no_such: No module named 'tensorflow.python.no_such'"
    assert lines[1] == f"{context}.d: there is no such name"
    assert len(lines) == 3
