"""Private names of TensorFlow that old programs import: each leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from goldens.library import private_names

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.importing import builtins_for
from estimator_bridge.legacy.running.missing_name_stubs import MissingNameStub
from estimator_bridge.legacy.tf1.private_names import NAMES, REMOVED, ROOT, advice_on

TESTS = Path(__file__).parents[1]


def run(source, dialect=Dialect.TF1):
    values = {"__builtins__": builtins_for(dialect), "__name__": "program"}
    exec(source, values)
    return values["y"]


def ways(name):
    module, _, last = name.rpartition(".")
    package, _, file = module.rpartition(".")
    yield f"from {module} import {last} as x\ny = x\n"
    yield f"from {package} import {file} as m\ny = m.{last}\n"


# Modules of TensorFlow's tests define flags of pytest's process.
IN_ONE_PROCESS = """
import sys
import estimator_bridge
estimator_bridge.install()
from legacy import test_private_name_table
test_private_name_table.{}()
"""


def compare_rewritten():
    from migrate.rewritten import rewritten

    differing = []
    for name in NAMES:
        for source in ways(ROOT + name):
            values = {}
            text = rewritten(source)
            exec(text, values)
            if run(source) is not values["y"]:
                differing.append((name, source, text))
    assert differing == []


def run_plain(source):
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=TESTS, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_every_row_is_rewritten_to_what_a_run_finds():
    run_plain(IN_ONE_PROCESS.format("compare_rewritten"))


def test_every_surveyed_name_is_there_or_its_error_says_what_to_write():
    run_plain(IN_ONE_PROCESS.format("look_up_the_survey"))


def look_up_the_survey():
    neither = []
    lines = private_names.rows()
    for name in lines:
        source = next(ways(name))
        try:
            value = run(source)
        except ImportError as error:
            value = error
        is_missing = isinstance(value, (ImportError, MissingNameStub))
        text = str(value) if isinstance(value, ImportError) else repr(value)
        says_what = any(words in text for words in ("removed it. ", "lacks it. ", "it left with "))
        if is_missing and not says_what:
            neither.append((name, text))
    assert len(lines) > 2500
    assert neither == []


@pytest.mark.parametrize("name", REMOVED)
def test_an_error_says_the_version_and_the_replacement(name):
    from migrate.rewritten import findings

    advice = advice_on(ROOT + name)
    assert "removed it. " in advice or "lacks it. " in advice
    source = f"from {(ROOT + name).rpartition('.')[0]} import {name.rpartition('.')[2]} as x\nx()\n"
    assert advice in " ".join(each.how for each in findings(source))


@pytest.mark.parametrize("dialect", Dialect)
def test_equivalents_behave_as_the_originals(dialect):
    # The numbers and texts are those of TensorFlow 1.15.5.
    root = "from tensorflow.python"
    nest = f"{root}.util import nest\ny = [nest.is_sequence(v) for v in ([1], (), {{}}, 'a', 1)]"
    assert run(nest, dialect) == [True, True, True, False, False]
    shapes = f"{root}.framework import tensor_shape as s\n"
    assert run(f"{shapes}y = s.scalar().as_list(), s.vector(3).as_list()", dialect) == ([], [3])
    assert run(f"{shapes}y = s.matrix(None, 2).as_list()", dialect) == [None, 2]
    register = f"{root}.framework import ops\n"
    assert run(f"{register}y = ops.RegisterShape('Op')(len)", dialect) is len
    with pytest.raises(TypeError, match="op_type must be a string"):
        run(f"{register}y = ops.RegisterShape(1)", dialect)
    padding = f"{root}.keras.preprocessing.sequence import pad_sequences\n"
    padded = run(f"{padding}y = pad_sequences([[1], [1, 2]]).tolist()", dialect)
    assert padded == [[0, 1], [1, 2]]
    modes = f"""{root}.distribute import estimator_training as e
class Config:
    cluster_spec = None
first = e.should_run_distribute_coordinator(Config())
Config._distribute_coordinator_mode = "independent_worker"
second = e.should_run_distribute_coordinator(Config())
Config.cluster_spec = {{"worker": ["a:1"]}}
third = e.should_run_distribute_coordinator(Config())
Config._distribute_coordinator_mode = "other"
y = [first, second, third, e.should_run_distribute_coordinator(Config())]
"""
    assert run(modes, dialect) == [False, False, True, False]


def test_plain_python_imports_the_names_after_install():
    lines = run_plain(
        "import estimator_bridge; estimator_bridge.install()\n"
        "from tensorflow.python.util.nest import is_sequence\n"
        "from tensorflow.python.distribute import estimator_training\n"
        "from tensorflow.python.framework import op_def_registry\n"
        "print(is_sequence([1]), hasattr(op_def_registry, 'get_registered_ops'))\n"
        "try:\n    op_def_registry.get_registered_ops()\n"
        "except AttributeError as error:\n    print(error)\n"
    )
    assert lines[0] == "True False"
    assert "TensorFlow 2.1 removed it. For one operation write tensorflow" in lines[1]


def test_tensorflow_finds_its_batch_normalization():
    """tf_slim uses it, by a path at which TensorFlow 2.21 itself has nothing."""
    names = "BatchNormalization BatchNorm batch_normalization batch_norm"
    lines = run_plain(
        "import estimator_bridge; estimator_bridge.install()\n"
        "import tensorflow.compat.v1 as tf\n"
        "from tensorflow.python.layers import normalization\n"
        "layers = tf.layers.BatchNormalization, tf.layers.batch_normalization\n"
        f"print([getattr(normalization, n) in layers for n in {names.split()}])\n"
    )
    assert lines == ["[True, True, True, True]"]


def test_tf_contrib_has_the_same_replacement():
    from estimator_bridge_contrib.namespaces import NAMESPACES

    nest = NAMESPACES["framework"].load().nest
    assert nest.is_sequence is run("from tensorflow.python.util.nest import is_sequence as y")
