"""Programs of both dialects under `estimator-bridge run`, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[2])

MODEL = """
import numpy as np

def input_fn(params):
    rows = np.ones([16, 3], np.float32), np.ones([16, 1], np.int32)
    data = tf.data.Dataset.from_tensor_slices(rows).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)

def model_fn(features, labels, mode, params):
    outputs = tf.nn.dropout(tf.layers.dense(features, 1, name="dense"), rate=0.5)
    loss = tf.reduce_mean(tf.squared_difference(outputs, tf.to_float(labels)))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    if params["use_tpu"]:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def run(folder, *arguments, **files):
    for name, source in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
    done = subprocess.run(
        [sys.executable, "-m", "estimator_bridge", "run", *arguments],
        cwd=folder,
        env={
            **{
                k: v for k, v in os.environ.items() if k not in ("TF_CPP_MIN_LOG_LEVEL", "TPU_NAME")
            },
            "PYTHONPATH": os.pathsep.join([ROOT, str(folder / "site-packages")]),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def test_a_forced_dialect_leaves_the_import_of_tensorflow_alone(tmp_path):
    """TensorFlow executes the source of wrappers, which imports tensorflow, while it is loaded."""
    program = """
    import tensorflow as tf
    print(tf.contrib.layers.l2_regularizer.__name__, tf.__version__.split(".")[0])
    """
    status, lines, errors = run(tmp_path, "--tf1", "program.py", program=program)
    assert status == 0, errors
    assert lines[-1] == "l2_regularizer 1"


def test_a_name_of_tf1_in_a_module_that_got_tf_from_a_function_is_an_error_that_says_tf1(tmp_path):
    """As in bert-as-service, which catches it; nothing in its modules says TensorFlow 1."""
    files = {
        "helper": """
        def import_tf():
            import tensorflow as tf
            return tf
        """,
        "program": """
        from helper import import_tf

        def session_config():
            return import_tf().ConfigProto(allow_soft_placement=True)

        def optimizer():
            return import_tf().train.AdamOptimizer()

        for use in (session_config, optimizer):
            try:
                print(type(use()).__name__)
            except Exception as error:
                print(error)
        tf = import_tf()
        print(hasattr(tf, "ConfigProto"), hasattr(tf.train, "Saver"), hasattr(tf, "no_name"))
        """,
    }
    status, lines, errors = run(tmp_path, "program.py", **files)
    assert status == 0, errors
    of_config, of_optimizer, has = lines[-3:]
    assert of_config == (
        "module 'tensorflow' has no attribute 'ConfigProto'. TensorFlow 1 had it. If the program "
        "is written for TensorFlow 1, start it with `estimator-bridge run --tf1`; otherwise write "
        "tf.compat.v1.ConfigProto."
    )
    assert "run --tf1" in of_optimizer
    assert "tf.compat.v1.train.AdamOptimizer" in of_optimizer
    assert has == "False False False"
    status, lines, errors = run(tmp_path, "--tf1", "program.py")
    assert status == 0, errors
    assert lines[-3:] == ["ConfigProto", "AdamOptimizer", "True True False"]


def test_classes_that_tensorflow_binds_early_are_those_of_tf1(tmp_path):
    """As in Google's machine learning course; TensorFlow 1.15.5 says True for each name."""
    program = """
    import tensorflow as tf
    from tensorflow.python import data
    from tensorflow.python.data import Dataset
    from tensorflow.python.data import experimental
    from tensorflow.python.framework.device import DeviceSpec

    number = Dataset.range(3).shuffle(1).make_one_shot_iterator().get_next()
    print(tf.Session().run(number))
    readers = "FixedLengthRecordDataset TFRecordDataset TextLineDataset Dataset"
    print({getattr(data, name) is getattr(tf.data, name) for name in readers.split()})
    others = "Counter CsvDataset RandomDataset SqlDataset choose_from_datasets"
    others += " make_batched_features_dataset make_csv_dataset sample_from_datasets"
    of_tf = tf.data.experimental
    print({getattr(experimental, name) is getattr(of_tf, name) for name in others.split()})
    print(DeviceSpec is tf.DeviceSpec)
    """
    status, lines, errors = run(tmp_path, "program.py", program=program)
    assert status == 0, errors
    assert lines[-4:] == ["0", "{True}", "{True}", "True"]


def test_a_module_in_a_zip_file_runs_by_its_name(tmp_path):
    """As Spark starts its workers' module from its pyspark.zip."""
    source = "import sys\nimport tensorflow as tf\nprint(tf.contrib.__name__, *sys.argv[1:])\n"
    with zipfile.ZipFile(tmp_path / "site-packages", "w") as file:  # `run` puts it on the path
        file.writestr("inside/__init__.py", "")
        file.writestr("inside/daemon.py", source)
    status, lines, errors = run(tmp_path, "-m", "inside.daemon", "argument")
    assert status == 0, errors
    assert lines[-1] == "tensorflow.contrib argument"


LAYERS = """
class DecoderRNNV2(tf.nn.rnn_cell.RNNCell):
    state_size = output_size = 1

    def build(self, shape):
        self.kernel = self.add_variable("kernel", [1])
        self.built = True

    def call(self, inputs, state):
        return inputs * self.kernel, state

class EncoderV2(tf.layers.Dense): ...
class AB1C2(tf.layers.Dense): ...
class _GRU2Layer(tf.keras.layers.Dense): ...

with tf.Graph().as_default():
    data = tf.zeros([1, 1])
    DecoderRNNV2()(data, data)
    for kind in EncoderV2, AB1C2, _GRU2Layer:
        kind(1, use_bias=False)(data)
    print(*(variable.op.name for variable in tf.global_variables()))
"""


def test_layers_have_the_names_that_tf1_made_of_their_classes(tmp_path):
    """As TensorFlow 1.15.5 and 2.15.1 print them; nii-yamagishilab's Tacotron has such a cell."""
    program = f"import tensorflow as tf\ntf.logging.info('tf1')\n{LAYERS}"
    status, lines, errors = run(tmp_path, "program.py", program=program)
    assert status == 0, errors
    assert (
        lines[-1]
        == "decoder_rnn_v2/kernel encoder_v2/kernel a_b1c2/kernel private_gr_u2layer/kernel"
    )
    program = f"import tensorflow.compat.v1 as tf\n{LAYERS}"
    status, lines, errors = run(tmp_path, "program.py", program=program)
    assert status == 0, errors
    assert (
        lines[-1] == "decoder_rnnv2/kernel encoder_v2/kernel ab1c2/kernel private_gru2_layer/kernel"
    )


def test_a_program_of_tf1_on_emulated_cores(tmp_path):
    package = tmp_path / "site-packages" / "old_models"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import tensorflow as tf\nfrom old_models import more\n")
    (package / "more.py").write_text("import tensorflow as tf\nx = tf.get_variable\n")
    (package / "later.py").write_text("import tensorflow as tf\nversion = tf.__version__\n")
    program = """
    import sys
    import tensorflow as tf
    from common import input_fn, model_fn
    heavy = {"data", "model", "tpu", "training"}  # TPUStrategy on cores needs runtime and graph
    assert not heavy & {name.partition(".")[2] for name in sys.modules
                        if name.startswith("estimator_bridge.")}
    from old_models import later, more

    flags = tf.flags
    flags.DEFINE_string("tpu_name", None, "as in 2018")
    flags.DEFINE_string("log_dir", None, "absl has one, too")
    flags.DEFINE_integer("steps", 3, "how many")
    FLAGS = flags.FLAGS

    def main(unused_argv):
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.info("hello from %s", FLAGS.log_dir)
        x = tf.placeholder(tf.float32, [None, 3])
        variable = tf.get_variable("v", [3], initializer=tf.ones_initializer())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            print(session.run(tf.reduce_sum(x * variable), {x: [[1, 2, 3]]}), x.shape[1].value)
        print(type(variable).__name__, tf.executing_eagerly(), tf.__version__, later.version)
        tf.reset_default_graph()
        calls = []
        def no_dropout(x, **unused):
            calls.append(x)
            return x
        tf.nn.dropout = no_dropout
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name, "zone")
        config = tf.estimator.tpu.RunConfig(
            cluster=resolver, model_dir="out",
            tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=2, num_shards=8))
        estimator = tf.estimator.tpu.TPUEstimator(
            model_fn, config=config, params={}, use_tpu=True, train_batch_size=8)
        estimator.train(input_fn, steps=FLAGS.steps)
        print(len(calls), sorted(estimator.get_variable_names()))

    if __name__ == "__main__":
        tf.app.run()
    """
    code, out, err = run(
        tmp_path,
        "--cores",
        "2",
        "program.py",
        "--tpu_name=any-name",
        "--log_dir=there",
        program=program,
        common="import tensorflow as tf\n" + MODEL,
    )
    assert code == 0, err
    assert out == [
        "6.0 3",
        "RefVariable False 1.15.5 1.15.5",
        "1 ['dense/bias', 'dense/kernel', 'global_step']",
    ]
    assert (tmp_path / "out" / "model.ckpt-3.index").exists()
    log = "\n".join(err)
    assert [line for line in err if "hello" in line] == ["INFO:tensorflow:hello from there"]
    assert any(line.startswith("INFO:tensorflow:loss = ") for line in err)
    assert len([line for line in err if "2 emulated core(s)" in line]) == 1
    assert "I0000" not in log
    assert "deprecated" not in log
    assert "then broadcast" not in log


def test_a_program_of_compat_v1_on_emulated_cores(tmp_path):
    program = """
    import tensorflow.compat.v1 as tf
    from tensorflow.compat.v1 import estimator as tf_estimator
    from tensorflow.contrib import learn
    from common import input_fn, model_fn
    print(tf.executing_eagerly(), tf.__version__[:2], tf.estimator is tf_estimator)
    tf.constant(1) + 1  # fixes TensorFlow's devices
    print(tf.distribute.cluster_resolver.TPUClusterResolver("", zone=None).master())
    config = tf_estimator.tpu.RunConfig(master="grpc://10.0.0.2:8470", model_dir="out")
    estimator = tf_estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
    estimator.train(input_fn, steps=2)
    print(tf_estimator.Estimator(model_fn, "out").get_variable_value("global_step"))
    learn.DynamicRnnEstimator
    """
    code, out, err = run(
        tmp_path,
        "--cores",
        "2",
        "program.py",
        program=program,
        common="import tensorflow.compat.v1 as tf\n" + MODEL,
    )
    assert out == ["True 2. True", "emulated:2", "2"], err
    assert code == 1
    place = tmp_path / "program.py"
    start = err.index("Traceback (most recent call last):")
    assert err[start + 1 : start + 3] == [
        f'  File "{place}", line 13, in <module>',
        "    learn.DynamicRnnEstimator",
    ]
    assert "MissingNameError" in err[-1]
    assert "tf.contrib.learn.DynamicRnnEstimator is not supported. Use tf.est" in err[-1]


CHECKED = """
import tensorflow.compat.v1 as tf
from common import input_fn, model_fn
tf.logging.set_verbosity(tf.logging.INFO)
def other(features, labels, mode, params):
    spec = model_fn(features, labels, mode, params)
    some = tf.reduce_sum(tf.boolean_mask(features, labels[:, 0] > 0))
    return spec._replace(loss=spec.loss + some)
config = tf.estimator.tpu.RunConfig(master="any")
for each in (model_fn, other):
    estimator = tf.estimator.tpu.TPUEstimator(each, config=config, train_batch_size=8)
    estimator.train(input_fn, steps=3)
"""


def test_a_step_that_a_tpu_could_not_compile_is_an_error_where_that_is_asked_for(tmp_path):
    common = "import tensorflow.compat.v1 as tf\n" + MODEL
    arguments = ["--cores", "2", "--check-tpu", "program.py"]
    code, _, err = run(tmp_path, *arguments, program=CHECKED, common=common)
    log = "\n".join(err)
    assert code == 1
    assert log.count("XLA compiles the training step for a TPU: ") == 1
    assert "NotCompilableError: The step cannot be compiled by XLA" in log
    assert "made at program.py:7: some = tf.reduce_sum(tf.boolean_mask(" in log
    assert "Loss for final step" in log.split("NotCompilableError")[0]


def test_a_tpu_that_is_not_there_is_an_error_that_mentions_cores(tmp_path):
    program = """
    import tensorflow as tf
    x = tf.placeholder
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(None)
    config = tf.estimator.tpu.RunConfig(cluster=resolver)
    print("so far without a connection")
    def model_fn(features):
        pass
    tf.estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=1)
    """
    code, out, err = run(tmp_path, "--tpu", "grpc://127.0.0.1:1", "program.py", program=program)
    assert (code, out) == (1, ["so far without a connection"])
    frames = [line for line in err if line.startswith("  File ")]
    assert frames == [f'  File "{tmp_path / "program.py"}", line 9, in <module>']
    log = "\n".join(err)
    assert "No TPU 'grpc://127.0.0.1:1' was found" in log
    assert "`estimator-bridge run --cores 8 ...`" in log


def test_a_program_of_compat_v1_that_opens_sessions_has_a_graph_for_them(tmp_path):
    program = """
    import tensorflow.compat.v1 as tf

    class Test(tf.test.TestCase):
        def test_descent(self):
            with self.test_session() as session:
                v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
                step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(v * v) / 2)
                session.run(tf.global_variables_initializer())
                session.run(step)
                self.assertAllClose(session.run(v), [0.5, 0.5])
                self.assertEqual(v.shape[0].value, 2)

    tf.test.main()
    """
    code, _, errors = run(tmp_path, "-v", "old_test.py", old_test=program)
    assert code == 0, errors
    assert errors[:2] == [
        "estimator-bridge: a TF2 program (old_test.py: tensorflow.compat in line 2)",
        "estimator-bridge: with TF1's behavior (old_test.py: a session of the default "
        "graph in line 6)",
    ]


def test_infeed_by_any_name(tmp_path):
    program = """
    import tensorflow as tf
    from tensorflow.contrib.tpu.python.ops import tpu_ops as contrib_ops
    from tensorflow.contrib.tpu.python.tpu.tpu_feed import InfeedQueue
    from tensorflow.python.tpu.ops import tpu_ops
    x = tf.constant([1.5])
    feeds = [
        tf.contrib.tpu.infeed_enqueue(x, [1], device_ordinal=0),
        tpu_ops.infeed_enqueue_tuple([2 * x], [[1]], device_ordinal=0),
        tf.raw_ops.InfeedEnqueue(input=3 * x, shape=[1], device_ordinal=0),
    ] + InfeedQueue(1).generate_enqueue_ops([[4 * x]])
    doubled = tf.tpu.rewrite(lambda: 2 * contrib_ops.infeed_dequeue(tf.float32, [1]))
    with tf.Session() as session:
        for feed in feeds:
            session.run(feed)
            print(session.run(doubled)[0][0])
    """
    code, out, err = run(tmp_path, "--cores", "2", "program.py", program=program)
    assert (code, out) == (0, ["3.0", "6.0", "9.0", "12.0"]), err
