"""tf.contrib.distribute: the strategies of TensorFlow 1, with their arguments, in estimators."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import cluster_resolver, distribute

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(features) * weight
    train_op = v1.train.GradientDescentOptimizer(1.0).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def weight_after_a_step(folder, **config):
    estimator = eb.Estimator(model_fn, config=eb.RunConfig(str(folder), **config))
    data = np.float32([[1.0], [3.0]])  # one element a replica
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(data).repeat(), steps=1)
    return estimator.get_variable_value("weight")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), -2.0),
        (lambda: distribute.MirroredStrategy(num_gpus=0), -1.0),
        (lambda: distribute.MirroredStrategy(num_gpus_per_worker=0), -1.0),
        (lambda: distribute.OneDeviceStrategy("/cpu:0"), -1.0),
        (
            lambda: distribute.TPUStrategy(
                cluster_resolver.TPUClusterResolver("emulated:2"), steps_per_run=10
            ),
            -2.0,
        ),
    ],
)
def test_training_under_a_strategy(make, expected, tmp_path):
    """A v1 optimizer averages the gradients of the replicas, whose batches are 1 and 3."""
    assert weight_after_a_step(tmp_path, train_distribute=make()) == expected


def test_distribute_config(tmp_path):
    config = distribute.DistributeConfig(train_distribute=distribute.MirroredStrategy(num_gpus=0))
    assert config.eval_distribute is None and config.remote_cluster is None
    assert weight_after_a_step(tmp_path, experimental_distribute=config) == -1.0


def test_gpus_that_are_not_there():
    with pytest.raises(eb.errors.AcceleratorNotFoundError, match=r"asked for 99 GPU.*num_gpus=0"):
        distribute.MirroredStrategy(num_gpus=99)
    with pytest.raises(ValueError, match="only specify one of"):
        distribute.MirroredStrategy(["/cpu:0"], num_gpus=1)


def test_cross_device_ops():
    cross_device_ops = distribute.AllReduceCrossDeviceOps("hierarchical_copy", num_packs=2)
    assert isinstance(cross_device_ops, tf.distribute.HierarchicalCopyAllReduce)
    assert isinstance(distribute.AllReduceCrossTowerOps("nccl"), tf.distribute.NcclAllReduce)
    with pytest.raises(ValueError, match="all_reduce_alg is one of"):
        distribute.AllReduceCrossDeviceOps("ring")
    mirrored = distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_tower_ops=cross_device_ops)
    assert mirrored.num_replicas_in_sync == 2


def test_contexts():
    strategy = distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    assert not distribute.has_distribution_strategy()
    with strategy.scope():
        assert distribute.get_distribution_strategy() is strategy
        assert distribute.get_cross_replica_context() is strategy
    assert distribute.get_cross_replica_context() is None


@pytest.mark.parametrize("name", ["ParameterServerStrategy", "StandardSingleLossStep"])
def test_what_is_missing_says_what_to_use(name):
    with pytest.raises(
        AttributeError, match=f"tf.contrib.distribute.{name} is not supported.*Use "
    ):
        getattr(distribute, name)
    with pytest.raises(NotImplementedError, match="device_assignment"):
        distribute.TPUStrategy(device_assignment=object())
