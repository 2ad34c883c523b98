"""install() makes the old paths lead here. Each program has its own process."""

from __future__ import annotations

import json

import engine
import pytest

WAYS = """
    import tensorflow as tf; value = tf.compat.v1.estimator.tpu.TPUEstimator
    import tensorflow as tf; value = tf.estimator.RunConfig
    import tensorflow as tf; value = tf.compat.v2.estimator.RunConfig
    import tensorflow.compat.v1 as tf; value = tf.estimator.tpu.TPUConfig
    import tensorflow.compat.v2 as tf; value = tf.estimator.TrainSpec
    from tensorflow.compat.v1 import estimator; value = estimator.tpu.InputPipelineConfig
    from tensorflow import estimator; value = estimator.ModeKeys
    from tensorflow.estimator import EstimatorSpec as value
    from tensorflow.compat.v1.estimator import LatestExporter, StopAtStepHook as value
    import tensorflow.compat.v1.estimator.tpu as tpu; value = tpu.TPUEstimatorSpec
    from tensorflow.estimator.experimental import stop_if_lower_hook as value
    from tensorflow.estimator.export import PredictOutput as value
    import tensorflow_estimator; value = tensorflow_estimator.estimator.Exporter
    from tensorflow_estimator.python.estimator import estimator; value = estimator.Estimator
    from tensorflow_estimator.python.estimator.estimator import EstimatorV2 as value
    from tensorflow_estimator.python.estimator import model_fn; value = model_fn.EstimatorSpec
    from tensorflow_estimator.python.estimator.run_config import RunConfig as value
    from tensorflow_estimator.python.estimator.training import train_and_evaluate as value
    from tensorflow_estimator.python.estimator.exporter import BestExporter as value
    from tensorflow_estimator.python.estimator.early_stopping import read_eval_metrics as value
    from tensorflow_estimator.python.estimator.export.export import ServingInputReceiver as value
    from tensorflow_estimator.python.estimator.export.export_lib import PredictOutput as value
    from tensorflow_estimator.python.estimator.hooks.hooks import InMemoryEvaluatorHook as value
    from tensorflow_estimator.python.estimator.canned.dnn import DNNClassifier as value
    from tensorflow_estimator.python.estimator.canned.linear import LinearRegressorV2 as value
    from tensorflow_estimator.python.estimator.estimator_lib import DNNRegressor as value
    from tensorflow.python.estimator.canned.baseline import BaselineClassifier as value
    from tensorflow_estimator.python.estimator.tpu import tpu_estimator as t; value = t.TPUEstimator
    from tensorflow_estimator.python.estimator.tpu.tpu_config import TPUConfig as value
    from tensorflow_estimator.python.estimator.tpu.tpu_context import TPUContext as value
    from tensorflow.python.estimator import estimator; value = estimator.Estimator
    from tensorflow.python.estimator.estimator import _load_global_step_from_checkpoint_dir as value
    from tensorflow.python.tpu import tpu_config; value = tpu_config.RunConfig
    from tensorflow.python.tpu.tpu_estimator import TPUEstimatorSpec as value
    from tensorflow_estimator.python.estimator.keras_lib import model_to_estimator as value
    from tensorflow_estimator.python.estimator import keras_lib; value = keras_lib.FormattedKeyError
"""


def run(source, *arguments):
    return engine.run_program(source, arguments)


def test_every_old_place_leads_here():
    ways = [line.strip() for line in WAYS.strip().splitlines()]
    (text,) = run(
        """
        import json, sys
        import estimator_bridge
        estimator_bridge.install()
        before = len(sys.meta_path), sys.modules["tensorflow.estimator"]
        estimator_bridge.install()
        assert before == (len(sys.meta_path), sys.modules["tensorflow.estimator"])
        modules = {}
        for way in json.loads(sys.argv[1]):
            values = {}
            exec(way, values)
            modules[way] = values["value"].__module__
        print(json.dumps(modules))
        """,
        json.dumps(ways),
    )
    modules = json.loads(text)
    elsewhere = {w: m for w, m in modules.items() if not m.startswith("estimator_bridge.")}
    assert [way for way in elsewhere if "StopAtStepHook" not in way] == []
    assert len(modules) == len(ways)


def test_errors_of_the_old_places():
    lines = run(
        """
        import estimator_bridge
        estimator_bridge.install()
        import tensorflow as tf
        for way in (
            "tf.estimator.tpu",
            "from tensorflow.estimator import inputs",
            "from tensorflow_estimator.python.estimator import no_such_module",
            "tf.estimator.no_such_name",
        ):
            try:
                exec(way)
            except Exception as error:
                print(type(error).__name__, error)
        """
    )
    beginnings = [
        "MissingNameError tf.estimator.tpu is only in tf.compat.v1.estimator",
        "MissingImportError tf.estimator.inputs is only in tf.compat.v1.estimator",
        "MissingImportError tensorflow_estimator.python.estimator.no_such_module is not supported",
        "AttributeError module 'tf.estimator' has no attribute 'no_such_name'",
    ]
    assert [line[: len(start)] for line, start in zip(lines, beginnings)] == beginnings
    assert len(lines) == len(beginnings)


PROGRAM = """
{imports}

def model_fn(features, labels, mode):
    tf1 = tf if hasattr(tf, "get_variable") else tf.compat.v1
    weight = tf1.get_variable("weight", [], initializer=tf1.zeros_initializer())
    loss = tf1.reduce_mean((weight - features) ** 2)
    optimizer = tf1.train.GradientDescentOptimizer(0.5)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return {estimator}.EstimatorSpec(mode, loss=loss, train_op=train_op)

def input_fn():
    return tf.data.Dataset.from_tensors([1.0, 1.0]).repeat(20)

estimator = {estimator}.Estimator(model_fn)
specs = {estimator}.TrainSpec(input_fn, 10), {estimator}.EvalSpec(input_fn)
metrics, _ = {estimator}.train_and_evaluate(estimator, *specs)
assert metrics["global_step"] == 10 and metrics["loss"] < 1e-3
print(hasattr(estimator, "export_savedmodel"))
"""


@pytest.mark.parametrize(
    ("imports", "estimator", "is_v1"),
    [
        ("import tensorflow as tf", "tf.estimator", False),
        ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()", "tf.estimator", True),
        (
            "import tensorflow as tf\nfrom tensorflow.compat.v1 import estimator as tf_estimator",
            "tf_estimator",
            True,
        ),
    ],
)
def test_program_runs_with_two_lines_more(imports, estimator, is_v1):
    program = PROGRAM.format(imports=imports, estimator=estimator)
    before = "import estimator_bridge\nestimator_bridge.install()\n"
    assert run(before + program) == [str(is_v1)]


def test_tensorflow_imported_first_and_without_install():
    lines = run(
        """
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        import estimator_bridge
        print(hasattr(tf, "estimator"), hasattr(tf1, "estimator"))
        estimator_bridge.install()
        print(tf.estimator.Estimator is estimator_bridge.Estimator, tf1.estimator.Estimator)
        """
    )
    assert lines[0] == "False False"
    assert lines[1].startswith("True <class 'estimator_bridge.training.estimator_v1")


def test_tensorflow_that_has_estimator_itself_is_left_alone():
    lines = run(
        """
        import types
        import estimator_bridge
        import tensorflow as tf
        tf.estimator = original = types.ModuleType("tensorflow_estimator")
        try:
            estimator_bridge.install()
        except RuntimeError as error:
            print(error)
        assert tf.estimator is original
        """
    )
    assert "has tf.estimator itself" in lines[0]


def test_package_of_an_older_tensorflow_is_replaced():
    lines = run(
        """
        import sys, types, warnings
        import estimator_bridge
        sys.modules["tensorflow_estimator"] = types.ModuleType("tensorflow_estimator")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator_bridge.install()
        print(*[w.message for w in caught if "tensorflow_estimator" in str(w.message)])
        import tensorflow_estimator
        print(tensorflow_estimator.estimator.Estimator)
        """
    )
    assert "pip uninstall tensorflow-estimator" in lines[0]
    assert "estimator_bridge" in lines[1]


def test_contrib_can_be_imported():
    lines = run(
        """
        import estimator_bridge
        estimator_bridge.install()
        import tensorflow.contrib as contrib
        import tensorflow as tf
        print(contrib.__name__, hasattr(tf, "contrib"))
        try:
            from tensorflow.contrib import specs
        except ImportError as error:
            print(error)
        """
    )
    assert lines[0] == "tensorflow.contrib False"
    assert lines[1].startswith("tf.contrib.specs is not supported. Write the layers")


def test_the_resolver_of_tensorflows_namespaces():
    lines = run(
        """
        import estimator_bridge
        estimator_bridge.install()
        import tensorflow as tf
        kind = tf.distribute.cluster_resolver.TPUClusterResolver
        assert kind is tf.compat.v1.distribute.cluster_resolver.TPUClusterResolver
        print(kind(""), kind(None), kind("emulated:2").cores, isinstance(kind("gpu:1"), kind))

        class Own(kind):
            def __init__(self, cores):
                self.cores = cores

        print(Own(3).cores, isinstance(Own(3), kind), isinstance(kind("emulated:2"), Own))
        """
    )
    assert lines == ["None None 2 True", "3 True False"]


def test_tpu_functions_of_tensorflow_lead_here_and_tensorflow_keeps_its_own():
    lines = run(
        """
        import inspect
        import estimator_bridge
        estimator_bridge.install()
        estimator_bridge.install()
        import tensorflow as tf
        from tensorflow.python.tpu import tpu as own
        tpu = tf.compat.v1.tpu
        def plus_sum(x):
            return x + tpu.cross_replica_sum(x)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            topology = session.run(tpu.initialize_system())
            print(tf.tpu.experimental.Topology(topology).num_tasks)
            for function in (tpu.shard, tpu.batch_parallel):
                (joined,) = function(plus_sum, [tf.constant([1.0, 2.0])], num_shards=2)
                print(session.run(joined).tolist())
            print(float(session.run(tpu.rewrite(lambda x: 2 * x, [3.0]))[0]))
            print([int(x) for (x,) in session.run(tpu.replicate(lambda x: x, [[1], [2]]))])
            print(session.run(tpu.shutdown_system()))
        print(own.shard is not tpu.shard, own.shard is tpu.shard.of_tensorflow)
        print(inspect.signature(tpu.shard) == inspect.signature(own.shard))
        """
    )
    assert lines == ["1", *["[4.0, 5.0]"] * 2, "6.0", "[1, 2]", "None", "True True", "True"]


def test_a_restore_is_told_once(tmp_path):
    lines = run(
        """
        import logging, sys
        import estimator_bridge as eb
        import tensorflow.compat.v1 as tf
        logging.basicConfig(stream=sys.stdout, format="%(message)s")
        def model_fn(features, labels, mode):
            loss = tf.reduce_mean(tf.get_variable("w", []) * features)
            train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
            return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)
        def input_fn():
            return tf.data.Dataset.from_tensors([1.0]).repeat()
        eb.Estimator(model_fn, sys.argv[1]).train(input_fn, steps=1)
        for level in (tf.logging.WARN, tf.logging.INFO):
            tf.logging.set_verbosity(level)
            for handler in tf.get_logger().handlers[:]:
                tf.get_logger().removeHandler(handler)
            eb.Estimator(model_fn, sys.argv[1]).train(input_fn, steps=1)
            eb.Estimator(model_fn, sys.argv[1]).evaluate(input_fn, steps=1)
        """,
        str(tmp_path),
    )
    restored = [line.rpartition("/")[2] for line in lines if "Restoring parameters" in line]
    assert restored == ["model.ckpt-2", "model.ckpt-3"]  # none at the level WARN
