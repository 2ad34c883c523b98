"""EB016: an import from a module that has moved."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported, findings, rewritten


@pytest.mark.parametrize(
    "source",
    [
        "from mine.contrib import layers\n",
        "from tensorflow.compat.v1 import layers\n",
        "from tensorflow import keras\n",
        "from mine import tf\ntf.contrib.layers.conv2d\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import tensorflow.contrib.slim as s\ns.conv2d",
            "from estimator_bridge.legacy.contrib import slim as s",
        ),
        (
            "from tensorflow.contrib import slim\nslim.conv2d",
            "from estimator_bridge.legacy.contrib import slim",
        ),
        (
            "from tensorflow.contrib import tpu as t\nt.TPUConfig",
            "from estimator_bridge import tpu as t",
        ),
        (
            "from tensorflow.contrib import tpu as t\nt.repeat",
            "from estimator_bridge.legacy.contrib import tpu as t",
        ),
        (
            "from tensorflow.contrib.tpu import TPUConfig",
            "from estimator_bridge.tpu import TPUConfig",
        ),
        (
            "from tensorflow.contrib.layers.python.layers.layers import conv2d",
            "from estimator_bridge.legacy.contrib.layers import conv2d",
        ),
        (
            "from tensorflow.contrib.slim.layers import conv2d\nconv2d()",
            "from estimator_bridge.legacy.contrib.layers import conv2d",
        ),
        (
            "from tensorflow.contrib.slim import losses\nlosses.log_loss()",
            "from estimator_bridge.legacy.contrib.slim import losses",
        ),
        (
            "from tensorflow.examples.tutorials.mnist.input_data import read_data_sets",
            "from estimator_bridge.legacy.mnist import read_data_sets",
        ),
        (
            "from tensorflow_estimator.python.estimator.run_config import RunConfig",
            "from estimator_bridge import RunConfig",
        ),
        (
            "from tensorflow.python.estimator.estimator import Estimator",
            "from estimator_bridge.v1 import Estimator",
        ),
        (
            "from tensorflow.compat.v1 import estimator as e\ne.tpu.RunConfig",
            "import estimator_bridge as e",
        ),
        (
            "from tensorflow.compat.v1 import estimator as e\ne.Estimator",
            "from estimator_bridge import v1 as e",
        ),
        ("from tensorflow import flags\nflags.a", "from tensorflow.compat.v1 import flags"),
        (
            "from tensorflow.keras.experimental import export_saved_model as e",
            "from estimator_bridge.legacy.contrib.saved_model import save_keras_model as e",
        ),
        # A private module that has moved.
        (
            "from tensorflow.python.keras.layers import Dense",
            "from tf_keras.src.layers import Dense",
        ),
        (
            "from tensorflow.python.layers import base",
            "from tf_keras.src.legacy_tf_layers import base",
        ),
        ("import tensorflow.python.keras.backend as K", "from tf_keras.src import backend as K"),
        (
            "from tensorflow.python.ops import rnn_cell",
            "from tensorflow.compat.v1.nn import rnn_cell",
        ),
        (
            "from tensorflow.python.training.checkpointable.base import NoDependency",
            "from tensorflow.python.trackable.base import NoDependency",
        ),
        (
            "from tensorflow.python.training.gone import Saver",
            "from tensorflow.compat.v1.train import Saver",
        ),
    ],
)
def test_changed(before, after):
    uses = before.split("\n")[1:]
    check_changed("EB016", before, "\n".join([after, *uses]))


def test_a_class_that_tensorflow_binds_to_its_own_version_is_that_of_tf1_in_a_program_of_tf1():
    name = "from tensorflow.python.data import Dataset\n"
    assert rewritten(f"import tensorflow.compat.v1 as tf\n{name}Dataset.range(3)\n").endswith(
        f"{name}Dataset.range(3)\n"
    )
    assert rewritten(f"import tensorflow as tf\n{name}tf.app.run()\nDataset.range(3)\n").endswith(
        "from tensorflow.compat.v1.data import Dataset\ntf.app.run()\nDataset.range(3)\n"
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from tensorflow.examples.tutorials.mnist import mnist\nmnist.a()\n", "an example"),
        ("from tensorflow.python.distribute import gone\ngone.a()\n", "removed or moved"),
        ("from tensorflow.python.training.gone import thing\n", "is not there"),
    ],
)
def test_reported(source, words):
    check_reported("EB016", "by hand", source, words)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from tensorflow.contrib.recurrent.python.ops import recurrent\n", "no longer exists"),
        (
            "from tensorflow.examples.tutorials.mnist.input_data import maybe_download\n",
            "input_data.maybe_download no longer exists",
        ),
    ],
)
def test_an_unused_import_of_what_is_nowhere_is_left_out(source, words):
    (finding,) = findings(source)
    assert words in finding.message and finding.how == "Leave it out."
    assert rewritten(source) == ""


def test_an_import_keeps_its_parentheses_and_comments():
    source = """\
        from tensorflow.contrib.layers import (
            conv2d,  # the first
            flatten,
        )
    """
    text = rewritten(source)
    assert text.startswith(
        "from estimator_bridge.legacy.contrib.layers import (\n    conv2d,  # the"
    )
    mixed = rewritten(
        "def f():\n    from tensorflow.contrib import (bigtable,  # a\n        tpu)\n"
        "    tpu.TPUConfig\n"
    )
    assert mixed.startswith("def f():\n    # a\n    from estimator_bridge")
    assert "bigtable" not in mixed


def test_a_comment_stands_once_above_its_part_of_a_statement_that_becomes_three():
    text = rewritten(
        "from tensorflow.contrib import layers, bigtable, tpu\n"
        "x = layers.relu(tpu.TPUConfig, bigtable)\n"
    )
    lines = text.split("\n")
    (comment,) = (i for i, line in enumerate(lines) if line.startswith("# EB016:"))
    assert lines[comment - 1] == "from estimator_bridge.legacy.contrib import layers"
    assert lines[comment + 1].startswith(("#", "from tensorflow.contrib import bigtable"))


def test_a_name_of_a_module_of_tf_slim_is_for_a_person():
    before = "from tensorflow.contrib.slim.python.slim.nets.vgg import vgg_16\n"
    text = rewritten(before)
    assert text.endswith(before)
    assert "from estimator_bridge.legacy.contrib.slim import vgg`, and vgg.vgg_16." in (
        text.replace("\n# ", " ")
    )


def test_a_name_that_is_another_object_in_its_file():
    before = "from tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops import "
    before += "CudnnGRU, CudnnGRUSaveable\n"
    place = "estimator_bridge.legacy.contrib.cudnn_rnn"
    assert rewritten(before).strip().splitlines() == [
        f"from {place}.cudnn_rnn_ops import CudnnGRU",
        f"from {place} import CudnnGRUSaveable",
    ]


def test_an_import_of_a_function_that_left_its_module_is_of_the_public_one():
    before = "from tensorflow.python.ops.control_flow_ops import cond\nx = cond(a, b, c)\n"
    assert rewritten(before) == before.replace("python.ops.control_flow_ops", "compat.v1")
