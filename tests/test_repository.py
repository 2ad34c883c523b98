"""The repository's own rules: packaging, rooms, private imports, nothing of one machine."""

import ast
import graphlib
import importlib
import importlib.util
import itertools
import re
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import setuptools

from estimator_bridge import compatibility

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("estimator_bridge", "models", "flags")
MADE_BY_TOOLS = re.compile(
    r"\.git|\.venv(-\w+)?|\.hypothesis|build|dist|runs|__pycache__|\..*_cache|.*\.egg-info"
)

# A row of the table of rooms in docs/architecture.md: its first column.
ROW_OF_ROOMS = re.compile(r"^\| ((?:`[\w/]+(?:\.py)?`(?:, )?)+) \|", re.MULTILINE)
LIBRARY_MAY_IMPORT = {"absl", "estimator_bridge", "google", "numpy", "tensorflow", "tf_keras"}
COMPILER_MAY_IMPORT = LIBRARY_MAY_IMPORT | {"jax", "libtpu"}
# Packages that are no requirement: each is loaded by one module, when it is used.
ALONE = {
    "kaggle.py": {"kaggle_datasets"},
    "installation.py": {"packaging"},  # which TensorFlow requires
    "keras_file.py": {"h5py"},  # which TensorFlow requires
    "safetensors_file.py": {"safetensors"},
}
MIGRATE_MAY_IMPORT = LIBRARY_MAY_IMPORT | {"tomli", "tomllib"}


def files(pattern="*"):
    return [
        path
        for path in sorted(ROOT.rglob(pattern))
        if path.is_file()
        and not any(MADE_BY_TOOLS.fullmatch(part) for part in path.relative_to(ROOT).parts)
    ]


def modules(*folders):
    return [path for folder in folders for path in files("*.py") if ROOT / folder in path.parents]


def imports(path):
    """Names that a module imports, absolute: `from a import b` counts as a.b."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            prefix = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{prefix}.{name.name}" for name in node.names)


def in_python_itself(name):
    spec = importlib.util.find_spec(name)
    if spec is None:
        return False
    origin = Path(spec.origin or "")
    library = Path(sysconfig.get_paths()["stdlib"])
    return not spec.has_location or (
        library in origin.parents and "site-packages" not in str(origin)
    )


def rooms():
    """By room, how far down it stands in the table of docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## The rooms")[2].partition("\n## ")[0]
    rows = [match.group(1) for match in ROW_OF_ROOMS.finditer(table)]
    names = [[name.strip("`").removesuffix(".py").rstrip("/") for name in row.split(", ")]
             for row in rows]  # fmt: skip
    return {name: depth for depth, row in enumerate(names) for name in row}


ROOMS = rooms()
FRONT = "estimator_bridge"


def room(module):
    """The room of a dotted name within estimator_bridge; its front is `__init__`."""
    part = module.partition(".")[2].partition(".")[0]
    return part if part in ROOMS else FRONT


@pytest.fixture(scope="module")
def metadata():
    captured = {}
    patched = pytest.MonkeyPatch()
    with patched.context() as patch:
        patch.setattr(setuptools, "setup", lambda **given: captured.update(given))
        patch.chdir(ROOT)
        runpy.run_path(str(ROOT / "setup.py"))
    return captured


def test_setup_names_every_package_of_the_library_and_no_other(metadata):
    folders = {path.parent.relative_to(ROOT) for path in modules("estimator_bridge")}
    assert set(metadata["packages"]) == {".".join(folder.parts) for folder in folders}


def test_setup_and_package_have_one_version(metadata):
    version = importlib.import_module("estimator_bridge").__version__
    assert metadata["version"] == version
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def test_console_script_leads_to_a_function(metadata):
    (script,) = metadata["entry_points"]["console_scripts"]
    name, target = script.split("=")
    module, function = target.split(":")
    assert name == "estimator-bridge"
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", ["tensorflow", "tf-keras"])
def test_setup_requires_the_versions_that_the_check_supports(metadata, name):
    oldest = "{}.{}".format(*compatibility.OLDEST_TENSORFLOW)
    untested = "{}.{}".format(*compatibility.FIRST_UNTESTED_TENSORFLOW)
    assert f"{name}>={oldest},<{untested}" in metadata["install_requires"]


def test_tensorflow_is_required_under_one_name(metadata):
    required = [
        *metadata["install_requires"],
        *itertools.chain(*metadata["extras_require"].values()),
    ]
    assert sum(re.match(r"tensorflow(?!-hub)", name) is not None for name in required) == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_with_modules_is_a_package(package):
    for path in modules(package):
        assert (path.parent / "__init__.py").exists(), f"{path.parent} has no __init__.py"


@pytest.mark.parametrize("path", modules("estimator_bridge"), ids=str)
def test_rooms_import_only_rooms_below(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    here = room(module.removesuffix(".__init__"))
    for name in imports(path):
        there = room(name)
        if name.partition(".")[0] == "estimator_bridge" and there != here:
            assert ROOMS[there] > ROOMS[here], f"{module} ({here}) imports {name} ({there})"


def test_no_modules_import_each_other_in_a_circle():
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in modules(FRONT, "models")
        if path.name != "__init__.py"  # a package's face hands on names, and decides nothing
    }
    waits_for = {
        module: {
            there
            for name in imports(path)
            for there in (name, name.rpartition(".")[0])
            if there in paths and there != module
        }
        for module, path in paths.items()
    }
    try:
        graphlib.TopologicalSorter(waits_for).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"these modules import each other: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("path", modules("models/common"), ids=str)
def test_what_the_models_share_imports_no_model(path):
    ours = {name for name in imports(path) if name.partition(".")[0] == "models"}
    assert all(name.startswith("models.common.") for name in ours)


def test_the_page_has_every_room_and_no_other():
    files_here = (path.relative_to(ROOT / FRONT) for path in modules(FRONT))
    there = {path.parts[0].removesuffix(".py") for path in files_here} - {"__init__"}
    assert set(ROOMS) == there | {FRONT}


CONTRIB_MAY_LOAD = {
    "any_files", "contrib", "errors", "lazy_namespace", "missing_names", "own_files",
    "tensorflow_private",
}  # fmt: skip
# What `import estimator_bridge` itself loads.
AT_THE_FRONT = {
    "compatibility", "gc_tuning", "lazy_namespace", "legacy_keras", "public_names",
    "tpu_presence", "tpu_wheels", "version",
}  # fmt: skip
LOADS_CONTRIB = """
import sys
from estimator_bridge.contrib import NAMESPACES
if {with_tensorflow}:
    for namespace in NAMESPACES.values():
        module = namespace.load()
        for name in namespace.names:
            getattr(module, name)
print(*(name.split(".")[1] for name in sys.modules if name.startswith("estimator_bridge.")))
print("tensorflow" in sys.modules)
"""


@pytest.mark.parametrize("path", modules("estimator_bridge/contrib"), ids=str)
def test_contrib_imports_nothing_above_it(path):
    ours = {name for name in imports(path) if name.partition(".")[0] == "estimator_bridge"}
    assert {room(name) for name in ours} <= CONTRIB_MAY_LOAD


@pytest.mark.parametrize("with_tensorflow", [False, True])
def test_contrib_alone_loads_no_other_room(with_tensorflow):
    program = LOADS_CONTRIB.format(with_tensorflow=with_tensorflow)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=600,
    )  # fmt: skip
    rooms_loaded, tensorflow_loaded = done.stdout.splitlines()[-2:]
    assert set(rooms_loaded.split()) <= CONTRIB_MAY_LOAD | AT_THE_FRONT
    assert tensorflow_loaded == str(with_tensorflow)


@pytest.mark.parametrize("path", modules("estimator_bridge"), ids=str)
def test_the_library_imports_only_what_it_requires(path):
    allowed = MIGRATE_MAY_IMPORT if "migrate" in path.parts else LIBRARY_MAY_IMPORT
    if path.name == "compiler_main.py":  # a process of its own
        allowed = COMPILER_MAY_IMPORT
    if "on_jax" in path.parts:  # loaded for steps on JAX alone
        allowed = LIBRARY_MAY_IMPORT | {"jax"}
    if path.parts[-2:] == ("monitoring", "display.py"):  # if it is installed
        allowed = LIBRARY_MAY_IMPORT | {"rich"}
    allowed = allowed | ALONE.get(path.name, set())
    for name in imports(path):
        top = name.partition(".")[0]
        assert top in allowed or in_python_itself(top), f"{path} imports {name}"


def test_private_tensorflow_names_are_imported_in_one_package():
    private = re.compile(r"tensorflow\.(python|core|compiler|lite)(\.|$)")
    naming = {
        path.parent.relative_to(ROOT).as_posix()
        for path in [*modules(*PACKAGES), *files("train.py")]
        if any(private.match(name) for name in imports(path))
    }
    assert naming == {"estimator_bridge/tensorflow_private"}


def test_flags_do_not_load_tensorflow_on_import():
    for path in modules("flags"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        top = [ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert not [line for line in top if re.search(r"tensorflow|estimator_bridge", line)], path


def test_nothing_but_the_command_changes_where_modules_are_looked_for():
    """Tests, tools and goldens import by package; `pythonpath` of pytest names their folders."""
    changed = re.compile(r"sys\.path(\.(insert|append|extend|remove)\b|\[.*\] *=|\s*\+?= )")
    outside = [*modules("tests", "tooling", "parity", "benchmarks"), *files("train.py")]
    found = [path.name for path in outside if changed.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_no_file_names_a_place_on_one_machine():
    place = re.compile(rb"/(?:home|root|Users|work|opt)/[\w.-]+|file:/{3}|--(?:extra-)?index[-]url")
    found = {
        str(path.relative_to(ROOT)): match.group().decode()
        for path in files()
        if (match := place.search(path.read_bytes()))
    }
    assert found == {}


def test_test_modules_have_names_of_their_own():
    """Without packages, pytest cannot hold two modules of one name."""
    names = [path.name for path in modules("tests") if path.name.startswith("test_")]
    assert sorted(set(names)) == sorted(names)
