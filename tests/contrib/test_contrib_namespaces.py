"""tf.contrib's namespaces: names are found when they are used, and one module has each."""

import subprocess
import sys

import pytest

import estimator_bridge_contrib as contrib
from estimator_bridge_contrib.namespaces import NAMESPACES, read_tables


def test_a_table_says_where_each_name_is():
    tables = read_tables(
        "package",
        {
            "opt": {
                "": "shared",
                "opt.signs": "AddSign Power=PowerSign",
                "tf": "Module",
                "tf.compat.v1": "reset=reset_default_graph",
                "estimator_bridge.tpu": "RunConfig",
                "estimator_bridge.private:ops": "repeat",
            }
        },
        {"opt": {"is gone.": "Old Older"}},
    )
    assert list(tables) == ["opt"]
    assert tables["opt"].module == "package.opt"
    assert tables["opt"].names == ["AddSign", "Module", "Power", "RunConfig", "repeat", "reset",
                                  "shared"]  # fmt: skip
    assert tables["opt"].places == {
        "shared": "package:shared",
        "AddSign": "package.opt.signs:AddSign",
        "Power": "package.opt.signs:PowerSign",
        "Module": "tensorflow:Module",
        "reset": "tensorflow:compat.v1.reset_default_graph",
        "RunConfig": "estimator_bridge.tpu:RunConfig",
        "repeat": "estimator_bridge.private:ops.repeat",
    }
    assert tables["opt"].unsupported == {"Old": "is gone.", "Older": "is gone."}


def test_modules_of_a_namespace_are_names_of_it():
    """TensorFlow 1.15 had tf.contrib.layers.initializers, as its files imported each other."""
    initializer = contrib.layers.initializers.xavier_initializer
    assert initializer is contrib.layers.xavier_initializer
    with pytest.raises(AttributeError, match=r"'tf\.contrib\.layers' has no attribute 'no_such'"):
        _ = contrib.layers.no_such


@pytest.mark.parametrize("name", sorted(NAMESPACES))
def test_a_function_is_no_module_of_its_name(name):
    """A module's import binds it in its package, and would hide a function that is found later."""
    namespace = NAMESPACES[name]
    files = {place for place in namespace.places.values() if place.startswith(namespace.module)}
    hidden = {place for place in files if place.rpartition(".")[2] == place.rpartition(":")[2]}
    assert all(place.partition(":")[0] == namespace.module for place in hidden)


PROGRAM = """
import sys
from estimator_bridge_contrib import layers
layers.flatten
print("estimator_bridge_contrib.layers.reshaping" in sys.modules)
print("estimator_bridge_contrib.layers.optimization" in sys.modules)
"""


def test_a_name_loads_its_own_file():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.split() == ["True", "False"]
