"""One package deletes: whoever else needs it has to show that the file is the library's."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = ROOT / "estimator_bridge" / "own_files"
# Of modules, which delete or rename over. A TemporaryDirectory deletes only what it has made.
FORBIDDEN = {
    "os": {"remove", "unlink", "rmdir", "removedirs", "rename", "renames", "replace"},
    "shutil": {"rmtree", "move"},
    "gfile": {"remove", "rmtree", "rename", "Remove", "DeleteRecursively", "Rename"},
    "file_io": {"delete_file", "delete_recursively", "rename"},
}
ANYWHERE = {"unlink", "rmtree", "rmdir", "DeleteRecursively", "delete_recursively"}


def files():
    folders = [ROOT / name for name in ("estimator_bridge", "models", "flags")]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [*(p for p in paths if ALLOWED not in p.parents), ROOT / "train.py", ROOT / "predict.py"]


def deletions(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil"):
            names = {name.name for name in node.names} & FORBIDDEN[node.module]
            yield from ((node.lineno, name) for name in sorted(names))
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        owner = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
        owner = "gfile" if owner == "_gfile" else owner
        if node.attr in ANYWHERE or node.attr in FORBIDDEN.get(owner, ()):
            yield node.lineno, node.attr


def test_nothing_else_deletes():
    places = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in files()
        for line, name in deletions(path.read_text(encoding="utf-8"))
    ]
    assert not places, "delete by estimator_bridge.own_files, which asks for proof: " + str(places)


@pytest.mark.parametrize(
    "source",
    [
        "os.remove(x)", "shutil.rmtree(x, ignore_errors=True)", "tf.io.gfile.rename(a, b, True)",
        "Path(x).unlink()", "tf.gfile.DeleteRecursively(x)", "atexit.register(shutil.rmtree, x)",
        "from os import unlink", "os.replace(a, b)",
    ],
)  # fmt: skip
def test_it_is_seen(source):
    assert list(deletions(source))
