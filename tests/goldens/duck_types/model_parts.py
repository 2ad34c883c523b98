"""Scaffolds, optimizers and metrics of programs."""

from __future__ import annotations

from unittest import mock

import tensorflow as tf
from goldens.duck_types.models import case, keras, make, threes, trained

v1 = tf.compat.v1
train = v1.train


class DelegatingScaffold(train.Scaffold):
    """A scaffold that finalizes another one."""

    def __init__(self, log):  # pylint: disable=super-init-not-called
        self.inner, self.log = train.Scaffold(), log

    def finalize(self):
        self.log.append("finalize")
        self.inner.finalize()
        return self

    init_fn = property(lambda self: self.inner.init_fn)
    init_op = property(lambda self: self.inner.init_op)
    ready_op = property(lambda self: self.inner.ready_op)
    ready_for_local_init_op = property(lambda self: self.inner.ready_for_local_init_op)
    local_init_op = property(lambda self: self.inner.local_init_op)
    summary_op = property(lambda self: self.inner.summary_op)
    saver = property(lambda self: self.inner.saver)
    init_feed_dict = property(lambda self: self.inner.init_feed_dict)
    local_init_feed_dict = property(lambda self: self.inner.local_init_feed_dict)


@case
def scaffold_that_delegates(estimator, folder):
    log = []
    seen = trained(make(estimator, folder, scaffold=lambda: DelegatingScaffold(log)), folder)
    return {**seen, "log": log}


@case
def scaffold_mock(estimator, folder):
    mocks = []

    def scaffold():
        inner = train.Scaffold()
        mocks.append(mock.Mock(wraps=inner, spec=train.Scaffold))
        for name in (
            "init_fn",
            "init_op",
            "ready_op",
            "local_init_op",
            "summary_op",
            "saver",
            "init_feed_dict",
            "local_init_feed_dict",
            "ready_for_local_init_op",
        ):
            setattr(type(mocks[-1]), name, property(lambda _, name=name: getattr(inner, name)))
        return mocks[-1]

    seen = trained(make(estimator, folder, scaffold=scaffold), folder)
    return {**seen, "finalized": [m.finalize.call_count for m in mocks]}


# Optimizers


class Minimizes:
    """An optimizer with the one method that a model_fn calls."""

    def minimize(self, loss, global_step=None):
        (w,) = v1.trainable_variables()
        (gradient,) = tf.gradients(loss, [w])
        return tf.group(v1.assign_sub(w, 0.1 * gradient), v1.assign_add(global_step, 1))


class DelegatingOptimizer(train.Optimizer):
    """As Horovod's: a subclass with nothing of its class but the methods."""

    def __init__(self, inner):  # pylint: disable=super-init-not-called
        self.inner, self.calls = inner, []

    def compute_gradients(self, *args, **kwargs):
        self.calls.append("compute_gradients")
        return self.inner.compute_gradients(*args, **kwargs)

    def apply_gradients(self, *args, **kwargs):
        self.calls.append("apply_gradients")
        return self.inner.apply_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self.inner.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self.inner.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self.inner.variables(*args, **kwargs)


@case
def optimizer_by_hand(estimator, folder):
    return trained(make(estimator, folder, optimizer=Minimizes), folder)


@case
def optimizer_that_delegates(estimator, folder):
    def optimizer():
        return DelegatingOptimizer(train.MomentumOptimizer(0.1, 0.5))

    return trained(make(estimator, folder, optimizer=optimizer), folder)


@case
def metric_that_delegates(estimator, folder):
    class Metric:
        """What eval_metric_ops needs of a Keras metric."""

        def __init__(self, inner):
            self.inner = inner

        updates = property(lambda self: self.inner.updates)

        def result(self):
            return self.inner.result()

    def metrics():
        inner = keras().metrics.Mean()
        inner.update_state(2.0)
        return {"mean": Metric(inner)}

    try:
        return trained(make(estimator, folder, eval_metric_ops=metrics), folder)
    except Exception as error:
        return {"error": type(error).__name__}


@case
def metric_subclass(estimator, folder):
    base = keras().metrics.Metric

    class Twice(base):
        def __init__(self):
            super().__init__(name="twice")
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, value, sample_weight=None):
            return self.total.assign_add(2 * value)

        def result(self):
            return tf.identity(self.total)

        def reset_state(self):
            pass

    def metrics():
        metric = Twice()
        metric.update_state(1.0)
        return {"twice": metric}

    model = make(estimator, folder, eval_metric_ops=metrics)
    model.train(threes, steps=1)
    return {"twice": float(model.evaluate(threes, steps=3)["twice"])}


@case
def metric_pairs(estimator, folder):
    class Pair(tuple):
        """Metrics of some libraries are a subclass of a tuple."""

    def metrics():
        return {"mean": Pair(v1.metrics.mean(tf.constant(2.0)))}

    model = make(estimator, folder, eval_metric_ops=metrics)
    model.train(threes, steps=1)
    return {"mean": float(model.evaluate(threes, steps=3)["mean"])}
