"""Exporters, specs, configurations, strategies and cluster resolvers of programs."""

from __future__ import annotations

import os
from unittest import mock

import tensorflow as tf
from goldens.duck_types.models import case, make, model_fn_of, threes, trained, v1_of

v1 = tf.compat.v1
train = v1.train


@case
def exporters(estimator, folder):
    class Own(estimator.Exporter):
        """No call of its class's constructor, which has none."""

        def __init__(self):
            self.log = []

        @property
        def name(self):
            return "own"

        def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
            self.log.append(
                [
                    os.path.basename(export_path),
                    os.path.basename(checkpoint_path),
                    sorted(eval_result),
                    bool(is_the_final_export),
                ]
            )
            return b"done"

    mocked = mock.Mock(spec=estimator.Exporter)
    mocked.name = "mocked"
    own = Own()
    model = make(estimator, folder, every=2)
    result = estimator.train_and_evaluate(
        model,
        estimator.TrainSpec(threes, max_steps=4),
        estimator.EvalSpec(threes, steps=1, exporters=[own, mocked], throttle_secs=0),
    )
    return {
        "log": own.log,
        "mocked": mocked.export.call_count,
        "exports": [tf.compat.as_str(e) if isinstance(e, bytes) else "mock" for e in result[1]],
    }


@case
def config_subclass(estimator, folder):
    class Config(estimator.RunConfig):
        @property
        def save_checkpoints_steps(self):
            return 3

        @property
        def save_checkpoints_secs(self):
            return None

        @property
        def keep_checkpoint_max(self):
            return 1

        @property
        def tf_random_seed(self):
            return 7

    model = estimator.Estimator(model_fn_of(estimator), folder, Config())
    return trained(model, folder, steps=7)


@case
def spec_subclass(estimator, folder):
    class Spec(estimator.EstimatorSpec):
        pass

    def model_fn(features, labels, mode):
        return Spec(*model_fn_of(estimator)(features, labels, mode))

    model = estimator.Estimator(model_fn, folder, estimator.RunConfig(save_checkpoints_steps=2))
    return trained(model, folder)


class Strategy:
    """A strategy behind a delegate, as libraries hand it out."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


@case
def strategy_that_delegates(estimator, folder):
    strategy = Strategy(tf.distribute.OneDeviceStrategy("/cpu:0"))
    config = estimator.RunConfig(
        train_distribute=strategy, eval_distribute=strategy, save_checkpoints_steps=2
    )
    return trained(estimator.Estimator(model_fn_of(estimator), folder, config), folder)


@case
def strategy_subclass(estimator, folder):
    class Own(tf.distribute.MirroredStrategy):
        """Overrides a public method."""

        calls = 0

        def scope(self):
            Own.calls += 1
            return super().scope()

    config = estimator.RunConfig(train_distribute=Own(["/cpu:0"]), save_checkpoints_steps=2)
    seen = trained(estimator.Estimator(model_fn_of(estimator), folder, config), folder)
    return {**seen, "scoped": Own.calls > 0}


@case
def cluster_resolver_by_hand(estimator, folder):
    class Resolver:
        def __init__(self):
            self.calls = []

        def master(self):
            self.calls.append("master")
            return "grpc://10.0.0.1:8470"

        def cluster_spec(self):
            self.calls.append("cluster_spec")
            return train.ClusterSpec({"worker": ["10.0.0.1:8470"]})

    resolver = Resolver()
    config = v1_of(estimator).tpu.RunConfig(cluster=resolver)
    return {
        "master": config.master,
        "evaluation_master": config.evaluation_master,
        "cluster": str(config.session_config.cluster_def).split(),
        "calls": sorted(resolver.calls),
    }


@case
def cluster_resolver_mock(estimator, folder):
    resolver = mock.Mock()
    resolver.master.return_value = "grpc://10.0.0.1:8470"
    resolver.cluster_spec.return_value = train.ClusterSpec({"worker": ["10.0.0.1:8470"]})
    config = v1_of(estimator).tpu.RunConfig(cluster=resolver)
    return {"master": config.master, "cluster": str(config.session_config.cluster_def).split()}
