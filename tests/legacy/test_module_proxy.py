"""TF1's tf: names, patches, old paths. No test here changes TensorFlow's behavior."""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path

import pytest

import estimator_bridge_contrib as contrib
from estimator_bridge.base.lazy_namespace import loaded_names
from estimator_bridge.errors import MissingImportError, MissingNameError
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.importing import builtins_for
from estimator_bridge.legacy.tf1 import contrib_paths
from estimator_bridge.legacy.tf1.changes import MISSING, tensorflow_1
from estimator_bridge.legacy.tf1.private_modules import moved_module, with_old_names
from estimator_bridge_contrib import namespaces

import tensorflow as tf  # isort: skip

# The public names of TensorFlow 1.15.5 by namespace, without raw_ops.
NAMES = json.loads((Path(__file__).parents[1] / "goldens" / "tf1" / "names.json").read_text())
# What was public by accident, or is of TensorFlow Lite's tools, and no program uses.
NOT_THERE = {
    "contrib",  # has tests of its own
    "lite.experimental.get_potentially_supported_ops",
    "pywrap_tensorflow",
}


@pytest.fixture(autouse=True)
def _contrib(monkeypatch):
    # Other tests of the process may have left theirs, with what they have found.
    for name in [name for name in sys.modules if name.startswith("tensorflow.contrib")]:
        monkeypatch.delitem(sys.modules, name)
    finders, modules = list(sys.meta_path), set(sys.modules)
    contrib_paths.find_contrib()
    yield
    sys.meta_path[:] = finders
    for name in set(sys.modules) - modules:
        if name.startswith("tensorflow.contrib"):
            del sys.modules[name]
    loaded_names(tensorflow_1()).pop("contrib", None)


@pytest.fixture
def toy(monkeypatch):
    """A namespace tf.contrib.layers of two names."""
    module = types.ModuleType("estimator_bridge_contrib.layers")
    module.__all__ = ["dense", "flatten"]
    module.dense, module.flatten = object(), object()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    only_layers = {"layers": contrib.NAMESPACES["layers"]}
    for place in (contrib, namespaces):
        monkeypatch.setattr(place, "NAMESPACES", only_layers)
    return module


def run(source, dialect=Dialect.TF1, path="program.py"):
    """Returns the names of a program's module after its code has run."""
    values = {"__builtins__": builtins_for(dialect), "__name__": "program"}
    exec(compile(source, str(path), "exec"), values)
    return values


@pytest.mark.parametrize(
    "namespace", [name for name in NAMES if f"tensorflow.{name}" not in MISSING]
)
def test_every_public_name_of_tf_1_15_is_there_or_says_what_to_use(namespace):
    place = tensorflow_1()
    for part in filter(None, namespace.split(".")):
        place = getattr(place, part)
    for name in NAMES[namespace].split():
        full_name = ".".join(filter(None, (namespace, name)))
        if f"tensorflow.{full_name}" in MISSING:
            with pytest.raises(MissingNameError, match=name):
                getattr(place, name)
        elif full_name not in NOT_THERE:
            assert hasattr(place, name), full_name


def test_the_proxy_is_of_1_15_and_tensorflow_is_what_it_was():
    proxy = tensorflow_1()
    assert proxy.__version__ == proxy.VERSION == proxy.version.VERSION == "1.15.5"
    assert tf.__version__.startswith("2.")
    assert proxy.estimator.Estimator.__module__ == "estimator_bridge.training.estimator_v1"
    assert proxy.estimator.tpu.TPUEstimator.__module__.startswith("estimator_bridge.")
    assert proxy.compat.v1 is proxy
    assert proxy.compat.as_text(b"x") == "x"
    assert proxy.nn.rnn_cell.LSTMCell.__module__.startswith("tf_keras.")
    assert proxy.config.experimental_list_devices()[0].endswith("device:CPU:0")
    assert {"flags", "placeholder", "contrib", "estimator"} <= set(dir(proxy))
    with pytest.raises(AttributeError, match="module 'tensorflow' has no attribute 'no_such_name'"):
        _ = proxy.no_such_name


def test_a_file_of_contrib_may_have_another_object_of_a_name():
    values = run(
        """
from tensorflow.contrib import cudnn_rnn
from tensorflow.contrib.cudnn_rnn.python import layers
from tensorflow.contrib.cudnn_rnn.python.layers import cudnn_rnn as file
from tensorflow.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops
from tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops import CudnnLSTM
"""
    )
    assert values["CudnnLSTM"] is values["cudnn_rnn_ops"].CudnnLSTM
    assert values["CudnnLSTM"](1, 2, 3).input_size == 3
    assert values["file"].CudnnLSTM is values["layers"].CudnnLSTM is values["cudnn_rnn"].CudnnLSTM
    assert values["cudnn_rnn"].CudnnLSTM is not values["CudnnLSTM"]
    assert values["file"].CUDNN_LSTM == values["cudnn_rnn_ops"].CUDNN_LSTM == "lstm"


def test_a_patch_is_the_programs_own():
    def mine(x):
        return x

    values = run(
        "import tensorflow as tf\ntf.nn.dropout = None\ndef use():\n    return tf.nn.dropout"
    )
    before = tf.compat.v1.nn.dropout
    values["tf"].nn.dropout = mine
    try:
        assert values["use"]() is mine
        assert run("from tensorflow import nn")["nn"].dropout is mine
        assert run("from tensorflow.nn import dropout")["dropout"] is mine
        assert tf.compat.v1.nn.dropout is before
    finally:
        del values["tf"].nn.dropout
    assert values["use"]() is before


@pytest.mark.parametrize(
    ("way", "place"),
    [
        ("import tensorflow as tf; x = tf.Session", "Session"),
        ("import tensorflow; x = tensorflow.Session", "Session"),
        ("import tensorflow.train as t; x = t.AdamOptimizer", "train.AdamOptimizer"),
        ("from tensorflow import train; x = train.Saver", "train.Saver"),
        ("from tensorflow.train import Saver as x", "train.Saver"),
        ("from tensorflow import *; x = placeholder", "placeholder"),
        ("from tensorflow.python_io import TFRecordWriter as x", "python_io.TFRecordWriter"),
        ("import tensorflow.keras.backend as x", "keras.backend"),
        ("from tensorflow.keras.layers import LSTM as x", "keras.layers.LSTM"),
        ("from tensorflow import keras as x", "keras"),
        ("from tensorflow.compat.v1 import Session as x", "Session"),
        ("x = __import__('tensorflow').Session", "Session"),
    ],
)
def test_ways_to_import_tf1(way, place):
    value = tf.compat.v1
    for part in place.split("."):
        value = getattr(value, part)
    assert run(way)["x"] is value


def test_a_module_of_tf2_gets_tensorflow_itself():
    assert run("import tensorflow as tf", Dialect.TF2)["tf"] is tf
    values = run("import tensorflow.compat.v1 as tf", Dialect.TF2)
    assert values["tf"] is sys.modules["tensorflow.compat.v1"]


@pytest.mark.parametrize(
    "way",
    [
        "import tensorflow as tf; x = tf.contrib.layers.flatten",
        "import tensorflow.contrib.layers as layers; x = layers.flatten",
        "from tensorflow.contrib import layers; x = layers.flatten",
        "from tensorflow.contrib.layers import flatten as x",
        "from tensorflow.contrib.layers import *; x = flatten",
        "from tensorflow.contrib.layers.python.layers import layers; x = layers.flatten",
        "from tensorflow.contrib.layers.python.layers.layers import flatten as x",
        "import tensorflow.contrib.layers.python.layers.layers as layers; x = layers.flatten",
        "import importlib; x = importlib.import_module('tensorflow.contrib.layers').flatten",
    ],
)
@pytest.mark.parametrize("dialect", Dialect)
def test_ways_to_contrib(toy, way, dialect):
    if "tf.contrib" in way and dialect is Dialect.TF2:
        with pytest.raises(AttributeError):
            run(way, dialect)
    else:
        assert run(way, dialect)["x"] is toy.flatten
    assert not hasattr(tf, "contrib")


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (
            "from tensorflow.contrib import layers, bigtable as x",
            "tf.contrib.bigtable is not supported",
        ),
        ("import tensorflow.contrib.bogus as x", "tf.contrib.bogus is not supported"),
        ("import tensorflow.contrib.bigtable.python.bigtable as x", "tf.contrib.bigtable is not"),
        ("from tensorflow.contrib.layers import flatten, none as x", "tf.contrib.layers.none is"),
        ("from tensorflow.contrib.layers.python.layers import none as x", "tf.contrib.layers.none"),
        ("from tensorflow.examples.speech import models as x", "tensorflow.examples."),
        ("from tensorflow.python.ops import none as x", "tensorflow.python.ops.none is not"),
        ("from tensorflow import Session, none as x", "tensorflow.none is not supported"),
    ],
)
def test_what_is_missing_fails_where_it_is_used(toy, tmp_path, way, message):
    path = tmp_path / "program.py"
    path.write_text(f"{way}\n\ndef use():\n    return x.name\n\ndef call():\n    return x(1)\n")
    values = run(path.read_text(), path=path)
    for line, function in ((4, "use"), (7, "call")):
        with pytest.raises(MissingNameError) as raised:
            values[function]()
        assert str(raised.value).startswith(f"{path}:{line}: ")
        assert message in str(raised.value)
    for use in ("class A(x): pass", "isinstance(1, x)", "with x: pass", "x.y = 1", "if x: pass"):
        with pytest.raises(MissingNameError, match="is not supported"):
            exec(use, {"x": values["x"]})
    guarded = f"try:\n    {way}\nexcept ImportError as error:\n    x = str(error)\n"
    other = tmp_path / "guarded.py"
    other.write_text(guarded)
    assert message in run(guarded, path=other)["x"]


def test_an_attribute_that_is_missing_fails_at_once(toy):
    with pytest.raises(MissingNameError, match="specs is not supported"):
        run("import tensorflow as tf\ntf.contrib.specs.Flat")
    with pytest.raises(MissingNameError, match="none is not supported"):
        run("import tensorflow as tf\ntf.contrib.layers.none")
    assert not run("import tensorflow as tf\nx = hasattr(tf.contrib, 'none')")["x"]

    def needs_a_package(name):
        raise MissingImportError(f"tf.contrib.layers.{name} needs the package x", name=name)

    toy.__getattr__ = needs_a_package
    source = "import tensorflow as tf\nfrom tensorflow.contrib.layers import x, flatten\n"
    assert run(source + "y = hasattr(tf.contrib.layers, 'x')")["y"] is False
    with pytest.raises(MissingNameError, match="needs the package x"):
        run(source + "x.y")
    deep = run("from tensorflow.contrib.layers.python.layers.encoders import bow_encoder as x")
    with pytest.raises(MissingNameError, match="encoders needs the package x"):
        deep["x"]()


def test_what_a_namespace_says_of_an_old_file_is_said_of_its_names(toy):
    def knows_a_file(name):
        if name == "encoders":
            raise MissingNameError("tf.contrib.layers.encoders is in the package x", name=name)
        raise AttributeError(name)

    toy.__getattr__ = knows_a_file
    values = run("from tensorflow.contrib.layers.python.layers.encoders import bow_encoder as x")
    with pytest.raises(MissingNameError, match="is in the package x"):
        values["x"]()


def test_a_file_of_contrib_may_be_a_module_of_another_package(toy):
    toy.encoders = types.ModuleType("another.encoders")
    toy.encoders.bow_encoder = object()
    way = "from tensorflow.contrib.layers.python.layers.encoders import bow_encoder as x, flatten"
    values = run(way)
    assert values["x"] is toy.encoders.bow_encoder
    assert values["flatten"] is toy.flatten


@pytest.mark.parametrize(
    ("name", "today"),
    [
        (
            "framework.ops.register_tensor_conversion_function",
            "register_tensor_conversion_function",
        ),
        ("framework.ops.IndexedSlices", "IndexedSlices"),
        ("ops.control_flow_ops.while_loop", "while_loop"),
        ("ops.rnn_cell.BasicLSTMCell", "nn.rnn_cell.BasicLSTMCell"),
        ("ops.rnn_cell_impl.LSTMStateTuple", "nn.rnn_cell.LSTMStateTuple"),
        ("ops.variable_scope.get_variable", "get_variable"),
        ("ops.variable_scope.variable", "Variable"),
        ("training.optimizer.Optimizer", "train.Optimizer"),
        ("training.checkpoint_management.latest_checkpoint", "train.latest_checkpoint"),
        ("training.saver.latest_checkpoint", "train.latest_checkpoint"),
        ("training.distribution_strategy_context.get_strategy", "distribute.get_strategy"),
        ("pywrap_tensorflow.NewCheckpointReader", "train.NewCheckpointReader"),
        ("keras.layers.Dense", "keras.layers.Dense"),
        ("keras.backend.learning_phase", "keras.backend.learning_phase"),
        ("layers.core.Dense", "layers.Dense"),
        ("layers.layers.dense", "layers.dense"),
        (
            "framework.graph_util.convert_variables_to_constants",
            "graph_util.convert_variables_to_constants",
        ),
        ("platform.gfile.GFile", "gfile.GFile"),
        ("util.nest.flatten", "nest.flatten"),
    ],
)
def test_old_privates_lead_to_todays_names(name, today):
    module, _, last = f"tensorflow.python.{name}".rpartition(".")
    value = tf.compat.v1
    for part in today.split("."):
        value = getattr(value, part)
    package, _, file = module.rpartition(".")
    for way in (
        f"from {module} import {last} as x",
        f"from {package} import {file} as m; x = m.{last}",
    ):
        for dialect in Dialect:
            assert run(way, dialect)["x"] is value


def test_kernels_of_optimizers_are_where_old_optimizers_look():
    assert callable(run("from tensorflow.python.training import training_ops as x")["x"].apply_adam)


def test_a_private_module_that_lacks_a_name_says_so_as_python_does():
    ops = with_old_names(importlib.import_module("tensorflow.python.framework.ops"))
    with pytest.raises(AttributeError, match="ops' has no attribute"):
        _ = ops.no_such_name
    assert not hasattr(ops, "_no_such_private")
    assert moved_module("tensorflow.python.framework.ops") is None
    assert moved_module("numpy.keras") is None
    tracking = "tensorflow.python.training.tracking."
    assert moved_module(tracking + "graph_view").ObjectGraphView
    assert moved_module(tracking + "object_identity").ObjectIdentitySet
    assert moved_module(tracking + "util").TrackableSaver
    assert issubclass(tf.Module, moved_module(tracking + "tracking").AutoTrackable)


def test_tf_flags_may_define_what_absl_has(monkeypatch):
    from absl import flags, logging  # noqa: F401 -- absl.logging defines log_dir

    flag = flags.FLAGS["log_dir"]
    assert flags.FLAGS.find_module_defining_flag("log_dir") == "absl.logging"
    values = run("from tensorflow import flags\nflags.DEFINE_string('log_dir', 'here', 'mine')")
    try:
        assert flags.FLAGS["log_dir"].default == "here"
        with pytest.raises(flags.DuplicateFlagError):  # the program's own are not let go
            values["flags"].DEFINE_string("log_dir", "again", "mine")
        with pytest.raises(flags.DuplicateFlagError):  # absl itself reads this one
            values["flags"].DEFINE_string("verbosity", "high", "mine")
    finally:
        delattr(flags.FLAGS, "log_dir")
        flags.DEFINE_flag(flag, module_name="absl.logging")
