"""tf.contrib.cluster_resolver: names of TPUs, and the ways to say that there is none."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import cluster_resolver

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def no_tpu(monkeypatch):
    monkeypatch.setattr(eb.runtime, "tpu_present", lambda: False)
    for name in ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "COLAB_TPU_ADDR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["", None, [], [""], "local"])
def test_no_name_means_no_tpu(name):
    resolver = cluster_resolver.TPUClusterResolver(name, zone=None, project=None)
    assert resolver.master() == resolver.get_master() == ""
    assert resolver.cluster_spec().as_dict() == {}
    assert resolver.num_accelerators() == {} and resolver.get_job_name() is None


@pytest.mark.parametrize(
    "address", ["grpc://10.0.0.2:8470", ["grpc://10.0.0.2:8470"], b"grpc://h:1"]
)
def test_an_address_is_the_master(address):
    resolver = cluster_resolver.TPUClusterResolver(address)
    expected = address[0] if isinstance(address, list) else tf.compat.as_str(address)
    assert resolver.get_master() == resolver.master() == expected


def test_emulated_cores():
    resolver = cluster_resolver.TPUClusterResolver(tpu="emulated:2")
    assert resolver.get_master() == "emulated:2"


def test_simple_resolvers_are_tensorflows():
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    simple = cluster_resolver.SimpleClusterResolver(spec, master="grpc://a:1")
    assert simple.cluster_spec() is spec and simple.master() == "grpc://a:1"
    assert cluster_resolver.UnionClusterResolver(simple).cluster_spec().as_dict() == spec.as_dict()


def model_fn(features, labels, mode, params):
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(features) * weight
    optimizer = v1.train.GradientDescentOptimizer(1.0)
    if params["use_tpu"]:
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    return tf.data.Dataset.from_tensors(np.float32([1, 3])).repeat()


def estimator(tpu_name, use_tpu, folder):
    """As the programs of 2018 begin, BERT's among them."""
    resolver = cluster_resolver.TPUClusterResolver(tpu_name)
    config = eb.tpu.RunConfig(
        cluster=resolver,
        master=None,
        model_dir=str(folder),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=1, num_shards=None),
    )
    return eb.tpu.TPUEstimator(model_fn, config=config, use_tpu=use_tpu, train_batch_size=2)


@pytest.mark.parametrize("name", ["", None, "local"])
def test_without_a_tpu_a_program_runs_here(name, tmp_path):
    trained = estimator(name, use_tpu=False, folder=tmp_path).train(input_fn, steps=1)
    assert trained.get_variable_value("weight") == -2.0


def test_use_tpu_without_a_tpu_is_an_error(tmp_path):
    with pytest.raises(eb.errors.AcceleratorNotFoundError, match="no TPU was named"):
        estimator("", use_tpu=True, folder=tmp_path)


def test_a_masters_address_can_be_passed_on(tmp_path):
    resolver = cluster_resolver.TPUClusterResolver("emulated:2")
    config = eb.tpu.RunConfig(master=resolver.get_master(), model_dir=str(tmp_path))
    trained = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)
    trained.train(input_fn_of_four, steps=1)
    assert trained.get_variable_value("weight") == -2.0


def input_fn_of_four(params):
    return tf.data.Dataset.from_tensors(np.float32([1, 3, 1, 3])).repeat()
