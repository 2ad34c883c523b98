import copy
import json
import types

import pytest
import tensorflow as tf

from estimator_bridge.model import RunConfig, TPUConfig, TPURunConfig


class Resolver:
    """As much of a TPU cluster resolver as a config asks for."""

    def __init__(self, spec):
        self._spec = spec

    def master(self):
        return "grpc://tpu:8470"

    def cluster_spec(self):
        return self._spec

    def __deepcopy__(self, memo):
        raise AssertionError("a resolver holds a connection")


@pytest.fixture
def resolver():
    return Resolver(tf.train.ClusterSpec({"worker": ["tpu:8470"]}))


def test_it_is_a_run_config_with_a_tpu_config():
    config = TPURunConfig(TPUConfig(7), master="emulated:8", model_dir="a")
    assert isinstance(config, RunConfig)
    assert config.tpu_config.iterations_per_loop == 7
    assert (config.master, config.evaluation_master) == ("emulated:8", "emulated:8")
    assert (config.model_dir, config.cluster) == ("a", None)
    assert TPURunConfig().tpu_config == TPUConfig()


def test_a_resolver_gives_the_master_and_the_nodes(resolver):
    config = TPURunConfig(cluster=resolver)
    assert config.cluster is resolver
    assert (config.master, config.evaluation_master) == ("grpc://tpu:8470", "grpc://tpu:8470")
    assert config.cluster_spec.as_dict() == {"worker": ["tpu:8470"]}
    assert config.session_config.isolate_session_state
    assert config.session_config.cluster_def.job[0].tasks[0] == "tpu:8470"


@pytest.mark.parametrize("spec", [None, tf.train.ClusterSpec({})])
def test_a_resolver_without_nodes_is_local(spec):
    config = TPURunConfig(cluster=Resolver(spec))
    assert not config.cluster_spec
    assert not config.session_config.HasField("cluster_def")


def test_a_resolver_of_tensorflow_1_names_its_master_otherwise():
    class Old:
        def get_master(self):
            return "grpc://old:1"

        def cluster_spec(self):
            return None

    assert TPURunConfig(cluster=Old()).master == "grpc://old:1"


def test_a_users_session_config_is_added_to_and_not_changed(resolver):
    session_config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=3)
    config = TPURunConfig(cluster=resolver, session_config=session_config)
    assert config.session_config.inter_op_parallelism_threads == 3
    assert config.session_config.HasField("cluster_def")
    assert not session_config.HasField("cluster_def")


def test_copies_share_the_resolver(resolver):
    config = TPURunConfig(cluster=resolver)
    assert config.replace(tf_random_seed=1).cluster is resolver
    assert copy.deepcopy(config).cluster is resolver


def test_replace_takes_a_tpu_config_too():
    config = TPURunConfig(TPUConfig(7), master="m")
    replaced = config.replace(tpu_config=TPUConfig(9), save_checkpoints_steps=3)
    assert (replaced.tpu_config.iterations_per_loop, replaced.save_checkpoints_secs) == (9, None)
    assert config.tpu_config.iterations_per_loop == 7
    assert replaced.replace(tf_random_seed=1).tpu_config is not None
    assert replaced.replace(tf_random_seed=1).tpu_config == replaced.tpu_config
    with pytest.raises(TypeError, match=r"tpu_config must be a TPUConfig.*got 8"):
        config.replace(tpu_config=8)


def test_two_answers_to_one_question_are_refused(resolver):
    with pytest.raises(ValueError, match=r"Both master and cluster are set.*master='m'"):
        TPURunConfig(master="m", cluster=resolver)
    session_config = tf.compat.v1.ConfigProto()
    session_config.cluster_def.job.add().name = "worker"
    with pytest.raises(ValueError, match=r"ClusterResolver and session_config.cluster_def"):
        TPURunConfig(cluster=resolver, session_config=session_config)


def test_wrong_types_are_named(resolver):
    with pytest.raises(TypeError, match="tpu_config must be a TPUConfig"):
        TPURunConfig({"iterations_per_loop": 3})
    with pytest.raises(TypeError, match="A cluster resolver goes into cluster="):
        TPURunConfig(master=resolver)
    with pytest.raises(TypeError, match=r"'tpu-1' has no master\(\)"):
        TPURunConfig(cluster="tpu-1")
    with pytest.raises(TypeError, match=r"has no cluster_spec\(\)"):
        TPURunConfig(cluster=types.SimpleNamespace(master=lambda: "m"))


def test_an_evaluator_keeps_its_own_master(monkeypatch):
    cluster = {"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps({**cluster, "eval_session_master": "grpc://e:1"}))
    config = TPURunConfig(master="m")
    assert (config.master, config.evaluation_master) == ("m", "grpc://e:1")
    assert TPURunConfig(master="m", evaluation_master="").evaluation_master == ""
