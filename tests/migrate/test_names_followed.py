# ruff: noqa: E501 - a case is a line
"""Names are followed through imports, aliases and scopes; others are left alone."""

from __future__ import annotations

import pytest
from rewritten import findings, rewritten

from estimator_bridge.legacy.running.dialects import Dialect


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import tensorflow as tf\nx = tf.contrib.tpu.TPUConfig()", "eb.tpu.TPUConfig()"),
        ("import tensorflow\nx = tensorflow.contrib.tpu.TPUConfig()", "eb.tpu.TPUConfig()"),
        ("import tensorflow.compat.v1 as tf\nx = tf.estimator.RunConfig()", "eb.RunConfig()"),
        (
            "import tensorflow as tf\nx = tf.compat.v1.estimator.DNNClassifier",
            "eb.v1.DNNClassifier",
        ),
        (
            "import tensorflow as tf\ntf.compat.v1.x\nx = tf.estimator.DNNClassifier",
            "eb.DNNClassifier",
        ),
        (
            "import tensorflow as tf\ntf = tf.compat.v1\nx = tf.estimator.Estimator",
            "eb.v1.Estimator",
        ),
        (
            "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n"
            "  import tensorflow as tf\nx = tf.estimator.DNNClassifier",
            "eb.v1.DNNClassifier",
        ),
        ("import tensorflow as tf\nlayers = tf.contrib.layers", "contrib.layers"),
        ("import tensorflow as tf\nx = tf.contrib.rnn.GRUCell(1)", "tf.nn.rnn_cell.GRUCell(1)"),
        ("import tensorflow as t\nx = t.contrib.rnn.GRUCell(1)", "t.nn.rnn_cell.GRUCell(1)"),
        ("import tensorflow.contrib.slim as s\nx = s.layers.conv2d", "s.layers.conv2d"),
        (
            "import tensorflow as tf\nx = tf.contrib.slim.initializers.xavier_initializer()",
            "contrib.layers.xavier_initializer()",
        ),
        (
            "from tensorflow.examples.tutorials.mnist import input_data\n"
            "x = input_data.read_data_sets(a)",
            "read_data_sets(a)",
        ),
    ],
)
def test_a_name_is_found_by_every_way_to_it(before, after):
    assert rewritten(before).rstrip().endswith(f"= {after}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import tensorflow.contrib.slim as s\ns.conv2d", "from estimator_bridge.legacy.contrib import slim as s"),
        ("from tensorflow.contrib import slim\nslim.conv2d", "from estimator_bridge.legacy.contrib import slim"),
        ("from tensorflow.contrib import tpu as t\nt.TPUConfig", "from estimator_bridge import tpu as t"),
        ("from tensorflow.contrib import tpu as t\nt.repeat", "from estimator_bridge.legacy.contrib import tpu as t"),
        ("from tensorflow.contrib.tpu import TPUConfig", "from estimator_bridge.tpu import TPUConfig"),
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
            "from tensorflow.contrib.saved_model.python.saved_model import reader\n"
            "reader.read_saved_model()",
            "from estimator_bridge.legacy.contrib.saved_model import reader",
        ),
        (
            "from tensorflow.contrib.data.python.ops import batching\nbatching.unbatch()",
            "from estimator_bridge.legacy.contrib import data as batching",
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
        ("from tensorflow.compat.v1 import estimator as e\ne.tpu.RunConfig", "import estimator_bridge as e"),
        ("from tensorflow.compat.v1 import estimator as e\ne.Estimator", "from estimator_bridge import v1 as e"),
    ],
)  # fmt: skip
def test_an_import_becomes_that_of_the_most_public_module(before, after):
    assert after in rewritten(before).split("\n")[0]


@pytest.mark.parametrize(
    "source",
    [
        "def f(tf):\n    return tf.contrib.tpu.TPUConfig()",
        "import numpy as tf\ntf.contrib.layers.conv2d",
        "import tensorflow_hub as tf\ntf.estimator.Estimator",
        "from mine import tf\ntf.contrib.layers.conv2d",
        "import tensorflow.compat.v1 as tf\n[tf.estimator for tf in []]",
        "import tensorflow.compat.v1 as tf\ntf.logging.__dict__['INFO']",
        "class A:\n    tf = 1\ntf.contrib.layers",
        "import tensorflow.compat.v1 as tf\ntf = load()\ntf.estimator.Estimator",
        "import tensorflow.compat.v1 as tf\ntf.layers.dense(1, 2)\ntf.flags.DEFINE_string('a', 'b', 'c')",
        "xrange = range\nxrange(3)",
        "from six.moves import xrange\nxrange(3)",
        "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle",
        "import numpy as np\nnp.float32\nnp.random.random()",
    ],
)
def test_other_names_are_left_alone(source):
    assert findings(source) == []
    assert rewritten(source) == source


def test_a_variable_of_a_function_is_not_that_of_the_module():
    source = """\
        import tensorflow as tf

        def mine(tf):
            return tf.contrib.layers

        class Model:
            def __init__(self):
                self.rate = tf.contrib.training.HParams(rate=1)
    """
    text = rewritten(source)
    assert "return tf.contrib.layers" in text
    assert "self.rate = contrib.training.HParams(rate=1)" in text


def test_inserted_variables_do_not_take_a_name_of_the_module():
    source = (
        "import tensorflow as tf\neb = 1\ndef f(contrib):\n    return tf.contrib.layers.conv2d\n"
    )
    text = rewritten(source)
    assert "from estimator_bridge.legacy import contrib as tf_contrib\n" in text
    assert "return tf_contrib.layers.conv2d" in text
    text = rewritten("import tensorflow as tf\neb = tf.contrib.tpu.TPUConfig\n")
    assert text.startswith("import estimator_bridge\nimport tensorflow.compat.v1 as tf\n")
    assert text.endswith("eb = estimator_bridge.tpu.TPUConfig\n")


def test_a_variable_of_the_library_that_is_there_is_used():
    source = "import estimator_bridge as bridge\nimport tensorflow as tf\nx = tf.contrib.tpu.TPUConfig()\n"
    after = "import estimator_bridge as bridge\nimport tensorflow.compat.v1 as tf\nx = bridge.tpu.TPUConfig()\n"
    assert rewritten(source) == after


def test_a_source_that_fits_both_means_what_it_is_told():
    source = "import tensorflow as tf\nx = tf.estimator.LinearClassifier\n"
    assert rewritten(source, dialect=Dialect.TF2).endswith("x = eb.LinearClassifier\n")
    assert rewritten(source, dialect=Dialect.TF1).endswith("x = eb.v1.LinearClassifier\n")


def test_formatting_comments_and_line_ends_stay():
    source = (
        "# first\r\nimport tensorflow  as  tf # tf\r\n\r\n"
        "x = ( tf . contrib . tpu\r\n  . TPUConfig( 'ä', # why\r\n 2 ) )\r\n"
    )
    text = rewritten(source)
    assert text == (
        "# first\r\nimport estimator_bridge as eb\r\nimport tensorflow.compat.v1 as tf # tf\r\n\r\n"
        "x = ( eb.tpu.TPUConfig( 'ä', # why\r\n 2 ) )\r\n"
    )


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
        "def f():\n    from tensorflow.contrib import (bigtable,  # a\n        tpu)\n    tpu.TPUConfig\n"
    )
    assert mixed.startswith("def f():\n    # a\n    from estimator_bridge")
    assert "bigtable" not in mixed


def test_what_is_missing_is_said_where_it_is_used():
    (found,) = findings(
        "import tensorflow as tf\n\ndef f():\n    tf.contrib.learn.run_experiment()\n", "EB014"
    )
    assert (found.line, found.column, found.severity.value) == (4, 5, "unavailable")
    assert found.message == "tf.contrib.learn.run_experiment no longer exists"
    assert found.how.startswith("Use tf.estimator.train_and_evaluate")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from tensorflow.python.keras.layers import Dense", "from tf_keras.src.layers import Dense"),
        ("from tensorflow.python.layers import base", "from tf_keras.src.legacy_tf_layers import base"),
        ("import tensorflow.python.keras.backend as K", "from tf_keras.src import backend as K"),
        ("from tensorflow.python.ops import rnn_cell", "from tensorflow.compat.v1.nn import rnn_cell"),
        (
            "from tensorflow.python.training.checkpointable.base import NoDependency",
            "from tensorflow.python.trackable.base import NoDependency",
        ),
        ("from tensorflow.python.training.gone import Saver", "from tensorflow.compat.v1.train import Saver"),
    ],
)  # fmt: skip
def test_a_private_module_that_has_moved(before, after):
    assert rewritten(before).strip() == after


@pytest.mark.parametrize(
    ("source", "rule", "said"),
    [
        ("import tensorflow as tf\ntf.mul(a, b)\n", "EB017", "write tf.multiply."),
        ("import tensorflow as tf\ntf.train.SummaryWriter(a)\n", "EB017", "tf.summary.FileWriter."),
        ("import tensorflow as tf\ntf.wrong(a, b)\n", "EB017", "Look for what took its place."),
        ("import tensorflow as tf\ntf.contrib.mpi_collectives.init(a)\n", "EB014", "MirroredStrategy"),
        ("import tensorflow as tf\ntf.contrib.tensor_forest.f(a)\n", "EB014", "package ydf"),
        ("import tensorflow as tf\ntf.contrib.slim.layers.bucketize(a)\n", "EB014", "Bucketize"),
        (
            "import tensorflow as tf\ntf.contrib.learn.DynamicRnnEstimator(a)\n",
            "EB014", "tf.estimator.experimental.RNNEstimator",
        ),
        ("import tensorflow as tf\ntf.estimator.BoostedTreesClassifier(a)\n", "EB014", "ydf"),
        ("from tensorflow.examples.tutorials.mnist import mnist\nmnist.a()\n", "EB016", "an example"),
        ("from tensorflow.python.distribute import gone\ngone.a()\n", "EB016", "removed or moved"),
        (
            "from tensorflow.examples.tutorials.mnist.input_data import maybe_download\n",
            "EB016", "input_data.maybe_download no longer exists",
        ),
    ],
)  # fmt: skip
def test_advice_names_a_way(source, rule, said):
    (found,) = findings(source, rule)
    assert said in f"{found.message} {found.how}"


def test_a_name_of_compat_v2_is_shown_so():
    source = "import tensorflow as tf\ntf.contrib\ntf.compat.v2.image.resize_images(a)\n"
    (found,) = findings(source, "EB017")
    assert found.message.startswith("tf.compat.v2.image.resize_images is not")


def test_a_private_module_that_is_nowhere():
    (found,) = findings("from tensorflow.python.training.gone import thing\n")
    assert (found.rule, found.severity.value) == ("EB016", "by hand")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from tensorflow.contrib.slim.nets import vgg", "import vgg"),
        ("from tensorflow.contrib.slim.python.slim.nets import vgg as v", "import vgg as v"),
        ("import tensorflow.contrib.slim.nets as n", "import nets as n"),
        ("from tensorflow.contrib.slim.python.slim.data import dataset", "import dataset"),
        ("from tensorflow.contrib.slim import learning", "import learning"),
    ],
)
def test_a_part_of_slim_is_that_of_the_package_tf_slim(before, after):
    comment, statement = rewritten(before + "\n").splitlines()
    assert comment.startswith("# EB021: slim's ")
    assert statement == f"from estimator_bridge.legacy.contrib.slim {after}"


def test_a_name_of_a_module_of_tf_slim_is_for_a_person():
    before = "from tensorflow.contrib.slim.python.slim.nets.vgg import vgg_16\n"
    text = rewritten(before)
    assert text.endswith(before)
    assert "from estimator_bridge.legacy.contrib.slim import vgg`, and vgg.vgg_16." in (
        text.replace("\n# ", " ")
    )


def test_a_name_that_is_another_object_in_its_file():
    before = "from tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops import CudnnGRU, CudnnGRUSaveable\n"
    place = "estimator_bridge.legacy.contrib.cudnn_rnn"
    assert rewritten(before).strip().splitlines() == [
        f"from {place}.cudnn_rnn_ops import CudnnGRU",
        f"from {place} import CudnnGRUSaveable",
    ]


def test_an_unused_import_of_what_is_nowhere_is_left_out():
    (found,) = findings("from tensorflow.contrib.recurrent.python.ops import recurrent\n")
    assert found.how == "Leave it out."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import tensorflow as tf\nfrom tensorflow.python.ops import control_flow_ops as c\n"
            "x = tf.contrib\ny = c.cond(a, b, d)\n",
            "y = tf.cond(a, b, d)",
        ),
        (
            "from tensorflow.python import pywrap_tensorflow as p\nr = p.NewCheckpointReader(a)\n",
            "r = tf.train.NewCheckpointReader(a)",
        ),
    ],
)
def test_a_function_that_left_its_module_is_the_public_one(before, after):
    text = rewritten(before)
    assert text.endswith(f"{after}\n")
    assert "tensorflow.compat" in text


def test_a_comment_that_begins_with_a_long_name_is_written_once():
    module = "tensorflow_estimator.python.estimator.tpu.tpu_estimator"
    source = f"from {module.rpartition('.')[0]} import tpu_estimator\n"
    source += "if a:\n    if b:\n        x = tpu_estimator.model_fn_inference_on_tpu()\n"
    assert rewritten(source).count("# EB014:") == 1


def test_an_import_of_a_function_that_left_its_module_is_of_the_public_one():
    before = "from tensorflow.python.ops.control_flow_ops import cond\nx = cond(a, b, c)\n"
    assert rewritten(before) == before.replace("python.ops.control_flow_ops", "compat.v1")
