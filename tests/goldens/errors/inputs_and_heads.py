"""Inputs, heads, canned estimators and hooks."""

from __future__ import annotations

import tempfile

import numpy as np
import tensorflow as tf
from goldens.errors.estimators import Estimators, X, Y, ones


class InputsAndHeads(Estimators):
    """Each method raises."""

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
