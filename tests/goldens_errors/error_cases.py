"""Situations in which Estimator raises, for the types of what it raises.

`provoke` runs under the original and under this library; `est` is the V1 face of either.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from unittest import mock

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
_ANY = (Exception, BaseException, object)
X = np.arange(16.0, dtype="f").reshape(8, 2)
Y = np.arange(8.0, dtype="f")


def ones():
    """Gives four batches of two examples."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2)


def endless():
    """Gives as many as are asked for."""
    return ones().repeat()


class Cases:
    """The situations: the methods that `names` lists; each is expected to raise.

    Args:
      est: tf.compat.v1.estimator.
    """

    def __init__(self, est):
        self.est = est
        self.folder = tempfile.mkdtemp()
        self.trained = self.make().train(endless, steps=2).model_dir

    @classmethod
    def names(cls):
        """All cases."""
        return [n for n in vars(cls) if not n.startswith("_") and n not in ("make", "names", "fn")]

    def fn(self, name="w", shape=(2,), **spec):
        """Makes a model_fn."""

        def model_fn(features, labels, mode):
            w = tf1.get_variable(name, shape, initializer=tf1.ones_initializer())
            y = tf.reduce_sum(features["x"] * tf.reduce_sum(w), 1)
            if mode == "infer":
                return self.est.EstimatorSpec(mode, **{"predictions": {"y": y}, **spec})
            loss = tf.reduce_mean(tf.square(y - labels))
            step = tf1.train.get_global_step()
            op = tf1.train.GradientDescentOptimizer(1e-3).minimize(loss, step)
            return self.est.EstimatorSpec(mode, **{"loss": loss, "train_op": op, **spec})

        return model_fn

    def make(self, fn=None, folder=None, **config):
        """Makes an estimator, in a new folder by default."""
        folder = folder or tempfile.mkdtemp(dir=self.folder)
        return self.est.Estimator(fn or self.fn(), folder, self.est.RunConfig(**config))

    def _copy(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        shutil.copytree(self.trained, folder, dirs_exist_ok=True)
        return folder

    def _damaged(self, ending, content):
        folder = tempfile.mkdtemp(dir=self.folder)
        for file in os.listdir(self.trained):
            if file.startswith("model.ckpt-2"):
                shutil.copy(os.path.join(self.trained, file), folder)
        with open(folder + "/checkpoint", "w") as file:
            file.write('model_checkpoint_path: "model.ckpt-2"\n')
        path = os.path.join(folder, "model.ckpt-2" + ending)
        if content is None:
            os.remove(path)
        else:
            with open(path, "wb") as file:
                file.write(content)
        return folder

    # Values and checkpoints.
    def value_of_no_variable(self):
        self.make(folder=self.trained).get_variable_value("v")

    def value_without_training(self):
        self.make().get_variable_value("w")

    def names_without_training(self):
        self.make().get_variable_names()

    def restore_for_evaluation_lacks_a_variable(self):
        self.make(self.fn("v"), self.trained).evaluate(ones)

    def restore_for_training_lacks_a_variable(self):
        self.make(self.fn("v"), self._copy()).train(ones)

    def restore_for_prediction_lacks_a_variable(self):
        list(self.make(self.fn("v"), self.trained).predict(ones))

    def restore_another_shape(self):
        self.make(self.fn(shape=(3,)), self.trained).evaluate(ones)

    def restore_without_data(self):
        self.make(folder=self._damaged(".data-00000-of-00001", None)).evaluate(ones)

    def restore_empty_data(self):
        self.make(folder=self._damaged(".data-00000-of-00001", b"")).evaluate(ones)

    def restore_bad_index(self):
        self.make(folder=self._damaged(".index", b"x" * 60)).evaluate(ones)

    def restore_empty_index(self):
        self.make(folder=self._damaged(".index", b"")).evaluate(ones)

    def value_with_bad_index(self):
        self.make(folder=self._damaged(".index", b"x" * 60)).get_variable_value("w")

    def value_without_data(self):
        folder = self._damaged(".data-00000-of-00001", None)
        self.make(folder=folder).get_variable_value("w")

    def evaluate_no_such_checkpoint(self):
        self.make().evaluate(ones, checkpoint_path=self.folder + "/none")

    def predict_no_such_checkpoint(self):
        list(self.make().predict(ones, checkpoint_path=self.folder + "/none"))

    def evaluate_a_damaged_checkpoint_by_path(self):
        folder = self._damaged(".data-00000-of-00001", None)
        self.make().evaluate(ones, checkpoint_path=folder + "/model.ckpt-2")

    def model_dir_is_a_file(self):
        path = self.folder + "/file"
        open(path, "w").close()
        self.make(folder=path).train(ones)

    # Warm starts.
    def warm_start_from_nowhere(self):
        e = self.est.Estimator(self.fn(), tempfile.mkdtemp(), warm_start_from=self.folder + "/no")
        e.train(ones)

    def warm_start_lacks_a_variable(self):
        e = self.est.Estimator(self.fn("v"), tempfile.mkdtemp(), warm_start_from=self.trained)
        e.train(ones)

    def warm_start_another_shape(self):
        e = self.est.Estimator(
            self.fn(shape=(3,)), tempfile.mkdtemp(), warm_start_from=self.trained
        )
        e.train(ones)

    def warm_start_of_a_wrong_type(self):
        self.est.Estimator(self.fn(), tempfile.mkdtemp(), warm_start_from=3)

    def warm_start_settings_without_a_checkpoint(self):
        self.est.WarmStartSettings("")

    def init_from_checkpoint_lacks_a_variable(self):
        def model_fn(features, labels, mode):
            spec = self.fn("v")(features, labels, mode)
            tf1.train.init_from_checkpoint(self.trained, {"u": "v"})
            return spec

        self.make(model_fn).train(ones)

    # Constructors.
    def no_model_fn(self):
        self.est.Estimator(None, self.folder)

    def model_fn_that_is_no_function(self):
        self.est.Estimator(3, self.folder)

    def model_fn_without_features(self):
        self.make(lambda x: x)

    def model_fn_with_another_argument(self):
        self.make(lambda features, other: features)

    def params_that_nobody_takes(self):
        self.est.Estimator(lambda features: 1, self.folder, params={"a": 1})

    def config_of_another_kind(self):
        self.est.Estimator(self.fn(), self.folder, config=3)

    def two_folders(self):
        self.est.Estimator(self.fn(), "a", self.est.RunConfig("b"))

    def overridden_member(self):
        class Other(self.est.Estimator):
            def train(self):
                pass

        Other(self.fn(), self.folder)

    def both_cadences(self):
        self.est.RunConfig(save_checkpoints_secs=1, save_checkpoints_steps=1)

    def negative_cadence(self):
        self.est.RunConfig(save_summary_steps=-1)

    def cadence_of_letters(self):
        self.est.RunConfig(save_checkpoints_steps="3")

    def seed_of_letters(self):
        self.est.RunConfig(tf_random_seed="3")

    def unknown_setting(self):
        self.est.RunConfig(steps=3)

    def replace_an_unknown_setting(self):
        self.est.RunConfig().replace(master="x")

    def set_a_setting(self):
        self.est.RunConfig().model_dir = "x"

    def _with_tf_config(self, text):
        with mock.patch.dict(os.environ, {"TF_CONFIG": text}):
            self.est.RunConfig()

    def tf_config_is_no_json(self):
        self._with_tf_config("{")

    def tf_config_without_a_chief(self):
        self._with_tf_config('{"cluster": {"worker": ["h:1"]}, "task": {"type": "worker"}}')

    def tf_config_without_a_task(self):
        self._with_tf_config('{"cluster": {"chief": ["h:1"], "worker": ["h:2"]}}')

    def tf_config_with_a_word_for_an_index(self):
        self._with_tf_config(
            '{"cluster": {"chief": ["h:1"]}, "task": {"type":"chief","index":"a"}}'
        )

    def tf_config_with_a_service_of_words(self):
        self._with_tf_config('{"service": "x"}')

    # Calls.
    def both_kinds_of_steps(self):
        self.make().train(ones, steps=1, max_steps=1)

    def no_steps(self):
        self.make().train(ones, steps=0)

    def negative_max_steps(self):
        self.make().train(ones, max_steps=-1)

    def steps_of_letters(self):
        self.make().train(ones, steps="3")

    def evaluate_no_steps(self):
        self.make(folder=self.trained).evaluate(ones, steps=0)

    def hooks_that_are_none(self):
        self.make().train(ones, hooks=[3])

    def listeners_that_are_none(self):
        self.make().train(ones, saving_listeners=[3])

    def listeners_without_checkpoints(self):
        e = self.make(save_checkpoints_secs=None, save_checkpoints_steps=None)
        e.train(ones, saving_listeners=[tf1.train.CheckpointSaverListener()], steps=1)

    def input_fn_is_no_function(self):
        self.make().train(3, steps=1)

    def input_fn_with_another_argument(self):
        self.make().train(lambda other: ones(), steps=1)

    def input_fn_of_three(self):
        self.make().train(lambda: (X, Y, Y), steps=1)

    def input_fn_of_a_dataset_of_three(self):
        self.make().train(lambda: tf.data.Dataset.from_tensors((X, Y, Y)), steps=1)

    def input_fn_raises(self):
        def input_fn():
            raise KeyError("a")

        self.make().train(input_fn, steps=1)

    def input_raises(self):
        def batches():
            yield {"x": X}, Y
            raise OSError("gone")

        types = ({"x": tf.float32}, tf.float32)
        shapes = ({"x": [8, 2]}, [8])
        self.make().train(lambda: tf.data.Dataset.from_generator(batches, types, shapes))

    def labels_that_nobody_takes(self):
        self.make(lambda features, mode: 1).train(ones, steps=1)

    # What model_fn returns.
    def nothing_returned(self):
        self.make(lambda features, labels, mode: None).train(ones, steps=1)

    def returned_for_another_mode(self):
        self.make(lambda features, labels, mode: self.fn()(features, labels, "eval")).train(ones)

    def model_fn_raises(self):
        def model_fn(features, labels, mode):
            raise ZeroDivisionError

        self.make(model_fn).train(ones)

    def spec_without_loss(self):
        self.make(self.fn(loss=None)).train(ones)

    def spec_without_train_op(self):
        self.make(self.fn(train_op=None)).train(ones)

    def spec_without_predictions(self):
        list(self.make(self.fn(predictions=None), self.trained).predict(ones))

    def loss_is_no_scalar(self):
        self.make(
            lambda features, labels, mode: self.fn(loss=labels)(features, labels, mode)
        ).train(ones)

    def loss_is_no_tensor(self):
        self.make(self.fn(loss="a")).train(ones)

    def train_op_is_none(self):
        self.make(self.fn(train_op="a")).train(ones)

    def metrics_are_no_dict(self):
        self.make(self.fn(eval_metric_ops=[1]), self.trained).evaluate(ones)

    def metric_is_no_pair(self):
        self.make(self.fn(eval_metric_ops={"a": 1}), self.trained).evaluate(ones)

    def metric_of_numbers(self):
        self.make(self.fn(eval_metric_ops={"a": (1.0, 2.0)}), self.trained).evaluate(ones)

    def metric_called_loss(self):
        def model_fn(features, labels, mode):
            return self.fn(eval_metric_ops={"loss": tf1.metrics.mean(labels)})(
                features, labels, mode
            )

        self.make(model_fn, self.trained).evaluate(ones)

    def hooks_of_the_spec_are_none(self):
        self.make(self.fn(training_hooks=[3])).train(ones)

    def scaffold_is_none(self):
        self.make(self.fn(scaffold=3)).train(ones)

    def export_outputs_are_no_dict(self):
        list(self.make(self.fn(export_outputs=[3]), self.trained).predict(ones))

    def export_output_is_none(self):
        list(self.make(self.fn(export_outputs={"a": 3}), self.trained).predict(ones))

    def tensors_of_another_graph(self):
        with tf.Graph().as_default():
            loss = tf.constant(1.0)
        self.make(self.fn(loss=loss)).train(ones)

    def model_without_variables_to_initialize(self):
        def model_fn(features, labels, mode):
            spec = self.fn()(features, labels, mode)
            v = tf1.get_local_variable("l", [], initializer=tf1.zeros_initializer())
            local = tf1.train.Scaffold(local_init_op=tf.no_op())
            return spec._replace(scaffold=local, loss=spec.loss + v)

        self.make(model_fn).train(ones)

    # What goes wrong in a step.
    def nan(self):
        self.make(lambda features, labels, mode: self.fn(loss=tf.math.log(-labels[0] - 1.0))(
            features, labels, mode)).train(ones)  # fmt: skip

    def _with_op(self, make):
        def model_fn(features, labels, mode):
            spec = self.fn()(features, labels, mode)
            return spec._replace(train_op=tf.group(spec.train_op, make(features, labels)))

        self.make(model_fn).train(ones)

    def check_numerics(self):
        self._with_op(lambda f, y: tf.debugging.check_numerics(y / 0.0, "bad"))

    def assertion(self):
        self._with_op(lambda f, y: tf1.Assert(y[0] > 100.0, [y]))

    def python_function_raises(self):
        def fail(y):
            raise KeyError("a")

        self._with_op(lambda f, y: tf1.py_func(fail, [y], tf.float32))

    def feed_of_two_hooks(self):
        def hook():
            return tf1.train.FeedFnHook(lambda: {"w:0": [1.0, 1.0]})

        self.make().train(ones, hooks=[hook(), hook()])

    def hook_fetches_no_tensor(self):
        class Hook(tf1.train.SessionRunHook):
            def before_run(self, run_context):
                return tf1.train.SessionRunArgs("absent:0")

        self.make().train(ones, hooks=[Hook()])

    def hook_raises(self):
        class Hook(tf1.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                raise KeyError("a")

        self.make().train(ones, hooks=[Hook()])

    def hook_adds_to_the_graph(self):
        class Hook(tf1.train.SessionRunHook):
            def after_create_session(self, session, coord):
                tf.constant(1.0) + tf1.get_default_graph().get_tensor_by_name("w:0")

        self.make().train(ones, hooks=[Hook()])

    # Predictions.
    def predict_keys_match_nothing(self):
        list(self.make(folder=self.trained).predict(ones, predict_keys=["a"]))

    def predict_keys_of_no_dict(self):
        def model_fn(features, labels, mode):
            spec = self.fn()(features, labels, mode)
            return spec._replace(predictions=spec.predictions["y"])

        list(self.make(model_fn, self.trained).predict(ones, predict_keys=["a"]))

    def predict_unequal_lengths(self):
        predictions = lambda f: {"a": f["x"], "b": f["x"][:1]}  # noqa: E731
        fn = lambda features, labels, mode: self.fn(predictions=predictions(features))(  # noqa: E731
            features, labels, mode
        )
        list(self.make(fn, self.trained).predict(ones))

    def predict_a_scalar(self):
        fn = lambda features, labels, mode: self.fn(  # noqa: E731
            predictions={"a": tf.reduce_sum(features["x"])}
        )(features, labels, mode)
        list(self.make(fn, self.trained).predict(ones))

    def predict_a_scalar_alone(self):
        fn = lambda features, labels, mode: self.fn(  # noqa: E731
            predictions=tf.reduce_sum(features["x"])
        )(features, labels, mode)
        list(self.make(fn, self.trained).predict(ones))

    # train_and_evaluate.
    def train_spec_without_input_fn(self):
        self.est.TrainSpec(3)

    def train_spec_of_no_steps(self):
        self.est.TrainSpec(ones, max_steps=0)

    def eval_spec_of_no_steps(self):
        self.est.EvalSpec(ones, steps=0)

    def eval_spec_of_a_wrong_name(self):
        self.est.EvalSpec(ones, name=3)

    def eval_spec_of_wrong_exporters(self):
        self.est.EvalSpec(ones, exporters=[3])

    def eval_spec_of_negative_delay(self):
        self.est.EvalSpec(ones, start_delay_secs=-1)

    def train_and_evaluate_no_specs(self):
        self.est.train_and_evaluate(self.make(), 3, 3)

    def train_and_evaluate_no_estimator(self):
        self.est.train_and_evaluate(3, self.est.TrainSpec(ones), self.est.EvalSpec(ones))

    def exporters_of_one_name(self):
        exporter = self.est.FinalExporter("a", lambda: None)
        self.est.EvalSpec(ones, exporters=[exporter, exporter])

    def latest_exporter_keeps_none(self):
        self.est.LatestExporter("a", lambda: None, exports_to_keep=0)

    # Exports.
    def _receiver(self):
        x = tf1.placeholder(tf.float32, [None, 2])
        return self.est.export.ServingInputReceiver({"x": x}, {"x": x})

    def export_without_training(self):
        self.make().export_saved_model(self.folder + "/e1", self._receiver)

    def export_without_a_receiver(self):
        self.make(folder=self.trained).export_saved_model(self.folder + "/e2", None)

    def export_lacks_a_variable(self):
        e = self.make(self.fn("v"), self.trained)
        e.export_saved_model(self.folder + "/e3", self._receiver)

    def export_another_shape(self):
        e = self.make(self.fn(shape=(3,)), self.trained)
        e.export_saved_model(self.folder + "/e4", self._receiver)

    def export_of_absent_assets(self):
        e = self.make(folder=self.trained)
        e.export_saved_model(self.folder + "/e5", self._receiver, {"a": self.folder + "/none"})

    def receiver_without_features(self):
        self.est.export.ServingInputReceiver(None, {"x": 1})

    def receiver_of_no_tensors(self):
        self.est.export.ServingInputReceiver({"x": 1}, {"x": 1})

    def export_modes_unknown(self):
        e = self.make(folder=self.trained)
        e.experimental_export_all_saved_models(self.folder + "/e6", {"a": self._receiver})

    def export_of_no_modes(self):
        self.make(folder=self.trained).experimental_export_all_saved_models(self.folder + "/e7", {})

    def export_of_an_unknown_mode(self):
        e = self.make(folder=self.trained)
        e.export_saved_model(self.folder + "/e8", self._receiver, experimental_mode="a")

    def receiver_that_is_a_dict(self):
        self.make(folder=self.trained).export_saved_model(self.folder + "/e9", lambda: {"x": 1})

    # TPUEstimator, off a TPU.
    def _tpu(self, fn=None, **kwargs):
        given = {"config": self.est.tpu.RunConfig(), "use_tpu": False, "train_batch_size": 8}
        fn = fn or (lambda features, labels, mode, params: None)
        return self.est.tpu.TPUEstimator(fn, tempfile.mkdtemp(), **{**given, **kwargs})

    def tpu_config_of_another_kind(self):
        self._tpu(config=self.est.RunConfig())

    def tpu_reserved_param(self):
        self._tpu(params={"batch_size": 1})

    def tpu_batch_size_of_letters(self):
        self._tpu(train_batch_size="8", use_tpu=True)

    def tpu_iterations_of_letters(self):
        self.est.tpu.TPUConfig(iterations_per_loop="a")

    def tpu_no_iterations(self):
        self.est.tpu.TPUConfig(iterations_per_loop=0)

    def tpu_shards_of_letters(self):
        self.est.tpu.TPUConfig(num_shards="a")

    def tpu_three_cores_a_replica(self):
        self.est.tpu.TPUConfig(num_cores_per_replica=3)

    def tpu_partition_without_cores(self):
        self.est.tpu.TPUConfig(input_partition_dims=[[1]])

    def tpu_unknown_pipeline(self):
        self.est.tpu.TPUConfig(per_host_input_for_training=17)

    def tpu_master_and_cluster(self):
        self.est.tpu.RunConfig(master="a", cluster=3)

    def tpu_spec_of_metrics_that_are_none(self):
        self.est.tpu.TPUEstimatorSpec("eval", loss=tf.constant(1.0), eval_metrics=3)

    def tpu_spec_of_a_host_call_that_is_none(self):
        self.est.tpu.TPUEstimatorSpec("train", host_call=3)

    def tpu_nothing_returned(self):
        self._tpu().train(lambda params: ones(), steps=1)

    # Inputs and heads.
    def numpy_input_without_shuffle(self):
        self.est.inputs.numpy_input_fn(X, shuffle=None)

    def numpy_input_of_a_list(self):
        with tf.Graph().as_default():
            self.est.inputs.numpy_input_fn([1], shuffle=False)()

    def numpy_input_of_nothing(self):
        with tf.Graph().as_default():
            self.est.inputs.numpy_input_fn({}, shuffle=False)()

    def numpy_input_of_unequal_lengths(self):
        fn = self.est.inputs.numpy_input_fn({"x": X}, Y[:3], shuffle=False)
        self.make().train(fn, steps=1)

    def classifier_of_one_class(self):
        column = tf.feature_column.numeric_column("x")
        self.est.LinearClassifier([column], tempfile.mkdtemp(), n_classes=1)

    def classifier_of_labels_out_of_range(self):
        column = tf.feature_column.numeric_column("x", [2])
        e = self.est.LinearClassifier([column], tempfile.mkdtemp(), n_classes=2)
        e.train(lambda: tf.data.Dataset.from_tensors(({"x": X}, np.full([8, 1], 7))), steps=1)

    def classifier_of_labels_of_letters(self):
        column = tf.feature_column.numeric_column("x", [2])
        e = self.est.LinearClassifier([column], tempfile.mkdtemp(), n_classes=2)
        e.train(lambda: tf.data.Dataset.from_tensors(({"x": X}, [["a"]] * 8)), steps=1)

    def regressor_of_labels_of_another_shape(self):
        column = tf.feature_column.numeric_column("x", [2])
        e = self.est.LinearRegressor([column], tempfile.mkdtemp())
        e.train(lambda: tf.data.Dataset.from_tensors(({"x": X}, X)), steps=1)

    def classifier_of_a_vocabulary_of_letters(self):
        column = tf.feature_column.numeric_column("x", [2])
        self.est.LinearClassifier([column], tempfile.mkdtemp(), label_vocabulary="ab")

    def columns_that_are_none(self):
        e = self.est.LinearRegressor([3], tempfile.mkdtemp())
        e.train(ones, steps=1)

    def optimizer_of_an_unknown_name(self):
        column = tf.feature_column.numeric_column("x", [2])
        e = self.est.LinearRegressor([column], tempfile.mkdtemp(), optimizer="None")
        e.train(ones, steps=1)

    def feature_that_is_not_there(self):
        column = tf.feature_column.numeric_column("z")
        self.est.LinearRegressor([column], tempfile.mkdtemp()).train(ones, steps=1)

    def feature_names_that_clash_in_a_parse_spec(self):
        column = tf.feature_column.numeric_column("x")
        self.est.classifier_parse_example_spec([column], label_key="x")

    def early_stopping_of_a_wrong_kind(self):
        self.est.experimental.make_early_stopping_hook(3, lambda: True)

    def early_stopping_by_a_metric_of_a_wrong_kind(self):
        self.est.experimental.stop_if_no_increase_hook(5, "loss", 1)

    def summaries_of_a_wrong_tag(self):
        self.est.experimental.stop_if_no_decrease_hook(self.make(), "loss", 0, run_every_secs=1,
                                                       run_every_steps=1)  # fmt: skip


def provoke(est, names=None):
    """Runs the cases.

    Args:
      est: tf.compat.v1.estimator.
      names: which; all by default.

    Returns:
      By case, the names of the classes in the MRO of what was raised; None where nothing was.
    """
    found = {}
    cases = Cases(est)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, cases.folder, ignore_errors=True)
        for name in names or Cases.names():
            found[name] = None
            try:
                getattr(cases, name)()
            except Exception as error:
                found[name] = [k.__name__ for k in type(error).__mro__ if k not in _ANY]
    return found
