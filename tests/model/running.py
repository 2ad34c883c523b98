"""Small models, and the adapters' model_fns run by the engine without an estimator."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.model import ModeKeys
from estimator_bridge.runtime import HostStage, Step, StepLoop, default_strategy, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

v1 = tf.compat.v1
STEPS, BATCH = 6, 8
RANDOM = np.random.RandomState(0)
X = RANDOM.normal(loc=2.0, size=[STEPS, BATCH, 3]).astype(np.float32)
Y = (X[..., :1] - X[..., 1:2]).astype(np.float32)


def linear(features):
    return v1.layers.dense(features, 1, kernel_initializer=v1.ones_initializer(), name="linear")


def squared(labels, outputs):
    return tf.reduce_mean(tf.square(labels - outputs))


def descent():
    return v1.train.GradientDescentOptimizer(0.01)


class Traced:
    """One mode of a model_fn, with placeholders for a batch of float arrays."""

    def __init__(self, model_fn, mode, x, y, cores=None, params=None, seed=1):
        self.strategy = tpu_strategy(master=f"emulated:{cores}") if cores else default_strategy()
        shapes = [[a.shape[1] // (cores or 1), *a.shape[2:]] for a in (x, y)]
        with trace_graph(seed, cores) as self.graph:
            v1.train.get_or_create_global_step()
            features, labels = (v1.placeholder(a.dtype, s) for a, s in zip((x, y), shapes))
            self.inputs = [features.name, labels.name]
            self.spec = model_fn(features, labels, mode, params or {}, None)
            self.metrics = self._metrics(cores)
            init = [v1.global_variables_initializer(), v1.local_variables_initializer()]
            self.variables = v1.global_variables()
        self.session = LiftedSession(self.graph, self.strategy)
        self.session.run(init)
        with eager_mode():
            self._batches = iter(tf.data.Dataset.from_tensor_slices((x, y)))

    def _metrics(self, cores):
        """Returns (value, update) by name, and for a TPU the host's placeholders."""
        self._host_inputs = {}
        if not cores:
            return getattr(self.spec, "eval_metric_ops", {})
        if self.spec.eval_metrics is None:
            return {}
        fn, tensors = self.spec.eval_metrics
        gathered = {}
        for name, tensor in tensors.items():
            shape = [tensor.shape[0] * cores, *tensor.shape[1:]]
            place = v1.placeholder(tensor.dtype, shape)
            gathered[name] = tf.identity(place)
            self._host_inputs[place.name] = tensor.name
        return self.spec._replace(eval_metrics=(fn, gathered)).as_estimator_spec().eval_metric_ops

    def run(self, steps):
        """Runs steps; returns the loss of each."""
        operations, host = [], None
        if self.spec.mode == ModeKeys.TRAIN:
            operations = ["^" + self.spec.train_op.name]
        updates = tuple(
            "^" + (update if isinstance(update, tf.Operation) else update.op).name
            for _, update in self.metrics.values()
        )
        if self._host_inputs:
            host = HostStage(self._host_inputs, updates)
        else:
            operations += updates
        loop = StepLoop(
            self.session,
            self.strategy,
            Step(self.inputs, operations, self.spec.loss.name, host),
        )
        return [loop(self._batches, 1, rng_step=step).loss for step in range(steps)]

    def results(self):
        """Returns the metrics' values by name."""
        return self.session.run({name: value for name, (value, _) in self.metrics.items()})

    def weights(self):
        """Returns the global variables' values by name."""
        return self.session.run({v.op.name: v for v in self.variables})


def train(model_fn, x, y, steps, cores=None, **options):
    """Trains; returns the losses and the variables at the end."""
    traced = Traced(model_fn, ModeKeys.TRAIN, x, y, cores, **options)
    return traced.run(steps), traced.weights()


def assert_same(got, expected, tolerance=1e-5):
    """Asserts that two dicts of arrays have the same names and close values."""
    assert sorted(got) == sorted(expected)
    for name in expected:
        np.testing.assert_allclose(
            got[name], expected[name], rtol=tolerance, atol=tolerance, err_msg=name
        )
