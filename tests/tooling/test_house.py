"""The project's rules about its source notice each kind of break, and nothing else."""

from __future__ import annotations

import ast

import pytest

from tooling.house import classes, files, layers, names
from tooling.house.tree import Tree

TABLE = """
## The rooms

| room | contents |
|---|---|
| `estimator_bridge/` | the front |
| `upper/` | above |
| `lower/`, `tensorflow_private/` | below |

## Next
"""
GOOD = {
    "docs/architecture.md": TABLE,
    "train.py": "import flags.parse\n",
    "estimator_bridge/__init__.py": "from estimator_bridge.upper import loop\n",
    "estimator_bridge/upper/__init__.py": "",
    "estimator_bridge/upper/loop.py": "import json\nfrom ..lower.cut import cut\n",
    "estimator_bridge/lower/__init__.py": "",
    "estimator_bridge/lower/cut.py": "import numpy as np\ncut = np.split\n",
    "estimator_bridge/tensorflow_private/__init__.py": "",
    "estimator_bridge/tensorflow_private/x.py": "from tensorflow.python.x import y\n",
    "flags/__init__.py": "",
    "flags/parse.py": "def parse():\n    import tensorflow\n",
    "tests/test_cut.py": "from estimator_bridge.lower.cut import cut\n",
}


def broken(tmp_path, rule, changes):
    for name, text in {**GOOD, **changes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(rule(Tree(tmp_path)))


RULES = [*layers.RULES, *files.RULES, *names.RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_good_repository_breaks_no_rule(tmp_path, rule):
    assert broken(tmp_path, rule, {}) == []


LOWER, UPPER = "estimator_bridge/lower/cut.py", "estimator_bridge/upper/loop.py"
BREAKS = [
    (
        layers.packages_import_only_packages_below,
        {LOWER: "\nfrom estimator_bridge.upper import loop\n"},
        f"{LOWER}:2: lower imports estimator_bridge.upper.loop, and upper is not below it",
    ),
    (
        layers.the_table_has_every_package_and_no_other,
        {"estimator_bridge/third.py": ""},
        "docs/architecture.md: the table and the folders disagree about third",
    ),
    (
        layers.few_files_stand_beside_the_packages,
        {f"estimator_bridge/{name}.py": "" for name in "abcdef"},
        "estimator_bridge: __init__.py, a.py, b.py, c.py, d.py, e.py, f.py: more than 6 files",
    ),
    (
        layers.readers_import_the_module_that_has_the_name,
        {"estimator_bridge/base/__init__.py": "from estimator_bridge.base.errors import Error\n"},
        "estimator_bridge/base/__init__.py:1: imports estimator_bridge.base.errors.Error; let its",
    ),
    (
        layers.no_modules_import_each_other_in_a_circle,
        {LOWER: "def late():\n    from estimator_bridge.upper import loop\n"},
        "these modules import each other: ",
    ),
    (
        layers.what_the_models_share_imports_no_model,
        {"models/common/job.py": "from models.common import task\nimport models.bert.task\n"},
        "models/common/job.py:2: imports models.bert.task, and each model imports models/common",
    ),
    (
        layers.the_library_imports_only_what_it_requires,
        {LOWER: "import rich.console\n"},
        f"{LOWER}:1: imports rich.console, which the library does not require",
    ),
    (
        layers.the_library_imports_only_what_it_requires,
        {LOWER: "import estimator_bridge_contrib.slim\n"},
        f"{LOWER}:1: imports estimator_bridge_contrib.slim, which",
    ),
    (
        layers.private_tensorflow_is_imported_in_one_package,
        {UPPER: "from tensorflow.python.framework import ops\n"},
        f"{UPPER}:1: imports tensorflow.python.framework.ops; private names belong to",
    ),
    (
        layers.flags_load_no_tensorflow_on_import,
        {"flags/parse.py": "import os\nimport tensorflow as tf\n"},
        "flags/parse.py:2: imports tensorflow when it is loaded",
    ),
    (
        files.every_folder_with_modules_is_a_package,
        {"flags/rules/one.py": ""},
        "flags/rules: has no __init__.py",
    ),
    (
        files.only_the_command_changes_the_search_path,
        {"tests/test_cut.py": "import sys\nsys" + ".path.insert(0, 'x')\n"},
        "tests/test_cut.py: changes sys" + ".path",
    ),
    (
        files.no_file_names_a_place_on_one_machine,
        {"README.md": "see /ho" + "me/somebody/notes"},
        "README.md: names /ho" + "me/somebody",
    ),
    (
        files.test_modules_have_names_of_their_own,
        {"tests/lower/test_cut.py": ""},
        "tests/test_cut.py: has the name of tests/lower/test_cut.py",
    ),
    (
        names.values_have_nouns_as_names,
        {LOWER: "def cut(*, given):\n    return given\n"},
        f"{LOWER}:1: given does not say what the value is",
    ),
    (
        names.values_have_nouns_as_names,
        {LOWER: "def cut(x):\n    _drawn = x\n", "tests/test_cut.py": "drawn = 1\n"},
        f"{LOWER}:2: _drawn does not say what the value is",
    ),
]


@pytest.mark.parametrize(("rule", "changes", "complaint"), BREAKS)
def test_each_break_is_named_with_its_place(tmp_path, rule, changes, complaint):
    (line,) = broken(tmp_path, rule, changes)
    assert complaint in line


@pytest.mark.parametrize(
    "source",
    ["found = 1", "x.kept = 1", "def told(): ...", "with a as made: ...", "import a as known",
     "for taken in x: ...", "lambda said: said", "try: ...\nexcept E as wanted: ...",
     "self._kept = 1"],
)  # fmt: skip
def test_every_way_to_bind_a_name_counts(source):
    assert [
        name
        for _, name in names.bound_names(ast.walk(ast.parse(source)))
        if name.strip("_") in names.PARTICIPLES
    ]


def test_a_wide_class_of_the_engine_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(classes, "PINNED", {"graph/gone.py:Gone": (9, 9)})
    changes = {
        "estimator_bridge/graph/wide.py": (
            f"class Wide:\n    def __init__(self, {', '.join('abcdefghi')}): ...\n"
        ),
        "estimator_bridge/lower/wide.py": "class Fine:\n    def __init__(s,a,b,c,d,e,f,g,h,i): ...",
    }
    wide, gone = broken(tmp_path, classes.classes_of_the_engine_are_small, changes)
    assert wide.startswith("estimator_bridge/graph/wide.py:1: Wide has 9 parameters and 0")
    assert gone.endswith("PINNED names graph/gone.py:Gone, which is gone")


def test_widths_are_counted():
    source = """
class Plain:
    def __init__(self, a, *b, c=1, **d):
        self.x, self._y = a, b
        self.x = c

    def later(self):
        self.z: int = 1

@dataclasses.dataclass(frozen=True)
class Record:
    a: int
    b: int = 2
"""
    plain, record = ast.parse(source).body
    assert classes.widths(plain) == (4, 3)
    assert classes.widths(record) == (2, 2)
