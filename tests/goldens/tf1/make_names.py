"""Makes the list of TensorFlow 1's public names by asking the real one.

pip install tensorflow==1.15.5 'protobuf<3.21' 'numpy<1.19'   # Python 3.7, its own environment
cd tests && python -m goldens.tf1.make_names
"""

import json
import types
from pathlib import Path

import tensorflow as tf

HERE = Path(__file__).parent
# Other goldens have the names of tf.estimator, and tf.contrib has tests of its own. tf.raw_ops and
# tf.keras are TensorFlow's and Keras' own in every version.
LEFT_OUT = frozenset(("contrib", "estimator", "keras", "raw_ops"))
# Public although they begin with underscores.
UNDERSCORED = (
    "__compiler_version__", "__cxx11_abi_flag__", "__git_version__", "__monolithic_build__",
    "__version__",
)  # fmt: skip
API = "._api.v1."  # the start of a public module's name, after tensorflow or tensorflow_core


def namespaces(module, name="", table=None):
    """Returns the public names of a module and of the public modules below it.

    Args:
        module: the module.
        name: its name below tensorflow; "" for tensorflow itself.
        table: the names by namespace, which the call completes.
    """
    table = {} if table is None else table
    names = sorted(each for each in dir(module) if not each.startswith("_"))
    if not name:
        names = sorted([*names, *UNDERSCORED])
    table[name] = " ".join(names)
    for each in names:
        below = getattr(module, each)
        full = (name + "." + each).lstrip(".")
        is_public = isinstance(below, types.ModuleType) and API in below.__name__
        is_left_out = each in LEFT_OUT or full in ("compat.v1", "compat.v2")
        if is_public and not is_left_out and full not in table:
            namespaces(below, full, table)
    return table


def main():
    """Writes names.json."""
    table = namespaces(tf)
    text = json.dumps(table, indent=1, sort_keys=True)
    (HERE / "names.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
