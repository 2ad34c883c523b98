"""Errors in a step, and predictions."""

from __future__ import annotations

import tensorflow as tf
from goldens.errors.estimators import Estimators, ones, tf1


class Steps(Estimators):
    """Each method raises."""

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
