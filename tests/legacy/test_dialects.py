"""The TensorFlow that a source means, and the imports that it tries."""

from __future__ import annotations

import textwrap

import pytest

from estimator_bridge.legacy.running.dialects import Dialect, judge
from estimator_bridge.legacy.running.guarded_imports import is_guarded
from estimator_bridge.legacy.running.sources import (
    default_graph_reason,
    is_installed,
    program_verdict,
)

TF = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    "source",
    [
        TF + "tf.contrib.tpu.TPUEstimator",
        TF + "tf.estimator.inputs.numpy_input_fn",
        TF + "x = tf.estimator.tpu.TPUConfig()",
        TF + "def f():\n    return tf.flags.FLAGS",
        TF + "x = tf.train.AdamOptimizer(0.1)",
        TF + "x = tf.nn.rnn_cell.BasicLSTMCell(3)",
        "import tensorflow\nx = tensorflow.placeholder(0)",
        "import tensorflow as tensors\nx = tensors.Session()",
        "import tensorflow.contrib.slim as slim",
        "from tensorflow.contrib import tpu",
        "from tensorflow import flags, estimator",
        "from tensorflow.train import AdamOptimizer",
        "import tensorflow.compat.v1 as tf1\n" + TF + "x = tf.contrib, tf1.Session",
        TF + "tf.compat.v1.logging.info('1.14 had it, too')\ntf.app.run()",
    ],
)
def test_tf1(source):
    assert judge(source.encode()).dialect is Dialect.TF1


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow.compat.v1 as tf\nx = tf.Session()",
        "import tensorflow.compat.v1 as tf\nfrom tensorflow.contrib import tpu",
        "from tensorflow.compat import v1 as tf\nx = tf.Session()",
        "from tensorflow.compat.v1 import estimator as tf_estimator",
        "import tensorflow.compat.v2 as tf\nx = tf.keras",
        TF + "x = tf.compat.v1.train.AdamOptimizer(tf.constant(1))",
        TF + "if tf.__version__ > '2':\n    tf = tf.compat.v1\nx = tf.Session()",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    "
        + TF
        + "x = tf.Session()",
    ],
)
def test_tf2(source):
    assert judge(source.encode()).dialect is Dialect.TF2


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        TF + "x = tf.reduce_sum(tf.constant(1))",
        TF + "x = tf.estimator.Estimator",
        "class tf:\n    pass\ntf.contrib",
        "import tensorflow_hub as tf\nx = tf.contrib",
        "from . import tensorflow\nx = tensorflow.contrib",
        TF + "print tf.contrib",  # Python 2: importing it will say so
        "\0 tensorflow",
    ],
)
def test_in_doubt(source):
    assert judge(source.encode()).dialect is None


def test_the_reason_names_the_line():
    assert judge((TF + "\nx = tf.train.AdamOptimizer(1)").encode()).reason == (
        "tf.train.AdamOptimizer in line 3"
    )


def test_a_program_is_judged_by_the_nearest_module_that_tells(tmp_path):
    (tmp_path / "pkg").mkdir()
    files = {
        "main.py": "import os, helper\nfrom pkg import model\n",
        "helper.py": TF + "x = tf.reduce_sum\nimport main\n",
        "pkg/__init__.py": "",
        "pkg/model.py": "from . import layers\nimport numpy\n",
        "pkg/layers.py": TF + "x = tf.get_variable\n",
    }
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    verdict = program_verdict(str(tmp_path / "main.py"), str(tmp_path))
    assert verdict.dialect is Dialect.TF1
    assert verdict.reason == "layers.py: tf.get_variable in line 2"
    (tmp_path / "pkg" / "layers.py").write_text(TF + "x = tf.reduce_sum")
    assert program_verdict(str(tmp_path / "main.py"), str(tmp_path)).dialect is None


V1 = "import tensorflow.compat.v1 as tf\n"
HELPER = "def run(n):\n  tf.Session().run(n)\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (V1 + "sess = tf.Session()", "main.py: a session of the default graph in line 2"),
        (V1 + "with tf.Session('') as s:\n  pass", "main.py: a session of the default graph"),
        (V1 + "class T(tf.test.TestCase):\n  def test(self):\n    with self.test_session():\n"
         "      pass", "main.py: a session of the default graph in line 4"),
        (V1 + "n = tf.constant(1).shape[-1].value", "main.py: the .value of a dimension in line 2"),
        (V1 + "n = tf.constant(1).get_shape()[0].value", "main.py: the .value of a dimension"),
        (V1 + "n = metrics['loss'].value", ""),
        (V1 + "import model", "model.py: a session of the default graph in line 3"),
        (V1 + "with tf.Graph().as_default():\n  s = tf.Session()", ""),
        (V1 + "def f(g):\n  with g.as_default(), tf.Session() as s:\n    pass", ""),
        (V1 + "s = tf.Session(graph=tf.Graph())", ""),
        (V1 + HELPER + "def test():\n  with tf.Graph().as_default():\n    t.run(1)", ""),
        (V1 + HELPER + "def test():\n  t.run(1)\ndef other():\n  with tf.Graph().as_default():\n"
         "    test()", ""),
        (V1 + HELPER + "def test():\n  with tf.Graph().as_default():\n    t.run(1)\nt.run(2)",
         "main.py: a session of the default graph in line 3"),
        (V1 + HELPER + "def test():\n  t.run(t.run(2))", "main.py: a session of the default graph"),
        (V1 + "def f(n):\n  tf.Session()\n  f(n - 1)", "main.py: a session of the default graph"),
        (V1 + "def f(hook):\n  hook.session.run(tf.constant(1))", ""),
        (V1 + "tf.disable_v2_behavior()\ns = tf.Session()", ""),
        (V1 + "import model, eager", ""),
        (V1 + "x = tf.constant(1).numpy()\nimport model", ""),
        (V1 + "print 'Python 2'\ntf.Session()", ""),
        ("import model", "model.py"),
    ],
)  # fmt: skip
def test_who_opens_a_session_or_asks_a_dimension_counts_on_tf1(tmp_path, source, reason):
    (tmp_path / "main.py").write_text(source)
    (tmp_path / "model.py").write_text(V1 + "def f():\n  return tf.Session()")
    (tmp_path / "eager.py").write_text("import tensorflow.compat.v2 as tf")
    answer = default_graph_reason(str(tmp_path / "main.py"), str(tmp_path))
    assert answer.startswith(reason) and bool(answer) == bool(reason)


def test_python_and_packages_are_installed_and_the_program_is_not(tmp_path):
    assert is_installed(textwrap.__file__)
    assert is_installed(pytest.__file__)
    assert not is_installed(__file__)
    assert is_installed(str(tmp_path / "env" / "site-packages" / "x.py"))


def test_guarded_imports(tmp_path):
    source = textwrap.dedent(
        """\
        import first
        try:
            import second
        except ImportError:
            import third
        try:
            import fourth
        except (KeyError, ModuleNotFoundError) as error:
            pass
        try:
            import fifth
        except KeyError:
            pass
        try:
            if True:
                import sixth
        except:
            pass
        try:
            import seventh
        finally:
            pass
        """
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    lines = source.splitlines()
    guarded = [
        line.split()[1]
        for number, line in enumerate(lines, 1)
        if "import" in line and is_guarded(str(path), number)
    ]
    assert guarded == ["second", "fourth", "sixth"]
    assert not is_guarded(str(tmp_path / "none.py"), 1)


def test_what_pip_put_beside_the_program_is_installed(tmp_path, monkeypatch):
    """As `pip install --target .` does for a function in the cloud."""
    record = tmp_path / "tool-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text(
        "tool/__init__.py,sha256=x,12\nsix.py,,\n../../bin/tool,,\n__pycache__/six.pyc,,\n"
    )
    (tmp_path / "tool").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "link"))
    installed = ("tool/__init__.py", "tool/deep/module.py", "six.py")
    own = ("train.py", "tools/module.py", "__pycache__/train.py", "any.py")
    assert [is_installed(str(tmp_path / name)) for name in (*installed, *own)] == [
        *(True for _ in installed),
        *(False for _ in own),
    ]
