"""Results of model_fn."""

from __future__ import annotations

import tensorflow as tf
from goldens.errors.estimators import Estimators, ones, tf1


class ModelFns(Estimators):
    """Each method raises."""

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
