"""Rules about imports: packages in layers, no circles, nothing that is not required."""

from __future__ import annotations

import functools
import graphlib
import importlib.util
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tooling.house.tree import Tree, dotted

FRONT = "estimator_bridge"
LIBRARY = (FRONT, "estimator_bridge_contrib")
PACKAGES = (*LIBRARY, "models", "flags")
PRIVATE_TENSORFLOW = "estimator_bridge/tensorflow_private"
_MOST_BESIDE = 6
_WITHOUT_FACE = ("base", "commands", "tensorflow_private")
_ROW = re.compile(r"^\| ((?:`[\w/]+(?:\.py)?`(?:, )?)+) \|", re.MULTILINE)
_PRIVATE = re.compile(r"tensorflow\.(python|core|compiler|lite)(\.|$)")

_REQUIRED = {"absl", "google", "numpy", "tensorflow", "tf_keras"}
# What a module or a package may import besides: each is loaded when it is used.
_OPTIONAL = {
    "commands/doctor/installation.py": {"packaging"},  # which TensorFlow requires
    "compile_for/compiler_main.py": {"jax", "libtpu"},  # a process of its own
    "records/kaggle.py": {"kaggle_datasets"},
    "migrate/": {"tomli", "tomllib"},
    "runtime/on_jax/": {"jax"},
    "training/monitoring/display.py": {"rich"},
    "weights/keras_file.py": {"h5py"},  # which TensorFlow requires
    "weights/safetensors_file.py": {"safetensors"},
}


def rooms(tree: Tree) -> dict[str, int]:
    """Returns the packages of the library, with their depth in docs/architecture.md's table."""
    page = tree.text(Path("docs/architecture.md"))
    table = page.partition("## The rooms")[2].partition("\n## ")[0]
    return {
        name.strip("`").removesuffix(".py").rstrip("/"): depth
        for depth, row in enumerate(_ROW.finditer(table))
        for name in row.group(1).split(", ")
    }


def _room(module: str, depths: dict[str, int]) -> str:
    part = module.partition(".")[2].partition(".")[0]
    return part if part in depths else FRONT


def packages_import_only_packages_below(tree: Tree) -> Iterator[str]:
    """Holds imports to the order of docs/architecture.md's table."""
    depths = rooms(tree)
    for path in tree.modules(FRONT):
        here = _room(dotted(path), depths)
        for line, name in tree.imports(path):
            there = _room(name, depths)
            if name.partition(".")[0] != FRONT or there == here:
                continue
            if depths[there] <= depths[here]:
                yield f"{path}:{line}: {here} imports {name}, and {there} is not below it"


def the_table_has_every_package_and_no_other(tree: Tree) -> Iterator[str]:
    """Compares docs/architecture.md's table with the folders."""
    there = {path.parts[1].removesuffix(".py") for path in tree.modules(FRONT)} - {"__init__"}
    for name in sorted(set(rooms(tree)) ^ (there | {FRONT})):
        yield f"docs/architecture.md: the table and the folders disagree about {name}"


def few_files_stand_beside_the_packages(tree: Tree) -> Iterator[str]:
    """Keeps the package's root to public modules, and to files that Python and pip look for."""
    beside = [path.name for path in tree.files if path.parent == Path(FRONT)]
    if len(beside) > _MOST_BESIDE:
        yield f"{FRONT}: {', '.join(beside)}: more than {_MOST_BESIDE} files; put one into base/"


def readers_import_the_module_that_has_the_name(tree: Tree) -> Iterator[str]:
    """Keeps the faces of some packages empty: what they load, every reader would load."""
    for package in _WITHOUT_FACE:
        path = Path(FRONT, package, "__init__.py")
        for line, name in tree.imports(path) if path in tree.files else ():
            if name != "__future__.annotations":
                yield f"{path}:{line}: imports {name}; let its readers do so"


def no_modules_import_each_other_in_a_circle(tree: Tree) -> Iterator[str]:
    """Finds circles between modules; a package's `__init__` hands on names and decides nothing."""
    paths = {dotted(path): path for path in tree.modules(*PACKAGES) if path.name != "__init__.py"}
    waits_for = {
        module: {
            there
            for _, name in tree.imports(path)
            for there in (name, name.rpartition(".")[0])
            if there in paths and there != module
        }
        for module, path in paths.items()
    }
    try:
        graphlib.TopologicalSorter(waits_for).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1]
        yield f"{paths[circle[0]]}: these modules import each other: {' <- '.join(circle)}"


def what_the_models_share_imports_no_model(tree: Tree) -> Iterator[str]:
    """Keeps models/common below the models."""
    for path in tree.modules("models"):
        if path.parts[1] != "common":
            continue
        for line, name in tree.imports(path):
            if name.startswith("models.") and not name.startswith("models.common."):
                yield f"{path}:{line}: imports {name}, and each model imports models/common"


@functools.cache
def _belongs_to_python(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    if spec is None:
        return False
    library = Path(sysconfig.get_paths()["stdlib"])
    origin = spec.origin or ""
    return not spec.has_location or (
        library in Path(origin).parents and "site-packages" not in origin
    )


def the_library_imports_only_what_it_requires(tree: Tree) -> Iterator[str]:
    """Holds the library to setup.py's requirements, and the core to itself without contrib."""
    for path in tree.modules(*LIBRARY):
        inside = "/".join(path.parts[1:])
        own = LIBRARY if path.parts[0] != FRONT else (FRONT,)
        packages = _REQUIRED.union(
            own, *(names for place, names in _OPTIONAL.items() if inside.startswith(place))
        )
        for line, name in tree.imports(path):
            top = name.partition(".")[0]
            if top not in packages and not _belongs_to_python(top):
                yield f"{path}:{line}: imports {name}, which the library does not require"


def private_tensorflow_is_imported_in_one_package(tree: Tree) -> Iterator[str]:
    """Keeps TensorFlow's private modules where probes watch them."""
    for path in [*tree.modules(*PACKAGES), Path("train.py")]:
        if path.as_posix().startswith(PRIVATE_TENSORFLOW):
            continue
        for line, name in tree.imports(path):
            if _PRIVATE.match(name):
                yield f"{path}:{line}: imports {name}; private names belong to {PRIVATE_TENSORFLOW}"


def flags_load_no_tensorflow_on_import(tree: Tree) -> Iterator[str]:
    """Keeps `train.py --help` quick."""
    for path in tree.modules("flags"):
        top_lines = {node.lineno for node in tree.syntax(path).body}
        for line, name in tree.imports(path):
            if line in top_lines and re.match(r"tensorflow|estimator_bridge", name):
                yield f"{path}:{line}: imports {name} when it is loaded"


RULES = [
    packages_import_only_packages_below,
    the_table_has_every_package_and_no_other,
    few_files_stand_beside_the_packages,
    readers_import_the_module_that_has_the_name,
    no_modules_import_each_other_in_a_circle,
    what_the_models_share_imports_no_model,
    the_library_imports_only_what_it_requires,
    private_tensorflow_is_imported_in_one_package,
    flags_load_no_tensorflow_on_import,
]
