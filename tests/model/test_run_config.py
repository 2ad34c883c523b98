import collections
import copy
import json
import pathlib

import pytest
import tensorflow as tf

from estimator_bridge.model import RunConfig

DistributeConfig = collections.namedtuple(
    "DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"]
)
_WORKERS = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}


@pytest.fixture(scope="module")
def strategy():
    return tf.distribute.MirroredStrategy(["/cpu:0"])


def test_a_copy_keeps_the_users_attributes_and_leaves_the_original_alone():
    config = RunConfig(model_dir="a")
    config.data_parallelism = [1, 2]
    replaced = config.replace(model_dir="b", tf_random_seed=3)
    replaced.data_parallelism.append(3)
    assert (replaced.model_dir, replaced.tf_random_seed) == ("b", 3)
    assert (config.model_dir, config.tf_random_seed) == ("a", None)
    assert config.data_parallelism == [1, 2]
    assert copy.deepcopy(replaced).data_parallelism == [1, 2, 3]


def test_a_subclass_is_copied_as_itself():
    class Mine(RunConfig):
        @property
        def is_chief(self):
            return False

    assert isinstance(Mine().replace(tf_random_seed=1), Mine)
    assert not Mine().replace(tf_random_seed=1).is_chief


def test_settings_and_place_are_read_only():
    config = RunConfig()
    with pytest.raises(AttributeError, match=r"config.replace\(model_dir=...\)"):
        config.model_dir = "x"
    with pytest.raises(AttributeError, match="TF_CONFIG decides"):
        config.is_chief = False
    assert (config.model_dir, config.is_chief) == (None, True)


def test_a_path_becomes_its_name():
    assert RunConfig(model_dir=pathlib.Path("a") / "b").model_dir == "a/b"
    assert RunConfig().replace(model_dir=pathlib.Path("a") / "b").model_dir == "a/b"


def test_errors_tell_what_was_given():
    with pytest.raises(ValueError, match="keep_checkpoint_max should be >= 0, got -2"):
        RunConfig(keep_checkpoint_max=-2)
    with pytest.raises(ValueError, match="save_checkpoints_steps=3 and save_checkpoints_secs=4"):
        RunConfig(save_checkpoints_steps=3, save_checkpoints_secs=4)
    with pytest.raises(TypeError, match="log_step_count_steps should be a number > 0, got '9'"):
        RunConfig(log_step_count_steps="9")


def test_a_model_dir_that_differs_from_tf_configs_is_named(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"model_dir": "there"}))
    assert RunConfig().model_dir == "there"
    with pytest.raises(ValueError, match=r"'here'.*'there'"):
        RunConfig(model_dir="here")


def test_device_fn_takes_op_alone():
    def of(op):
        return op.device

    assert RunConfig(device_fn=of).replace(tf_random_seed=1).device_fn is of
    with pytest.raises(ValueError, match=r'exactly one argument "op", got .*<lambda>\(node\)'):
        RunConfig(device_fn=lambda node: "/cpu:0")


def test_copies_share_the_strategy(strategy):
    config = RunConfig(train_distribute=strategy, eval_distribute=strategy)
    assert config.replace(tf_random_seed=1).train_distribute is strategy
    assert copy.deepcopy({"config": config})["config"].eval_distribute is strategy


def test_strategies_come_in_one_of_two_ways(strategy):
    config = RunConfig(experimental_distribute=DistributeConfig(strategy, None, None))
    assert config.train_distribute is strategy
    assert config.eval_distribute is None
    with pytest.raises(ValueError, match="Either `train_distribute` or"):
        RunConfig(
            train_distribute=strategy,
            experimental_distribute=DistributeConfig(strategy, None, None),
        )
    with pytest.raises(ValueError, match="remote_cluster"):
        RunConfig(experimental_distribute=DistributeConfig(strategy, None, {"worker": ["a:1"]}))


def test_what_is_no_strategy_is_refused():
    with pytest.raises(TypeError, match=r"train_distribute must be a tf.distribute strategy"):
        RunConfig(train_distribute="mirrored")
    with pytest.raises(TypeError, match=r"eval_distribute must be a tf.distribute strategy"):
        RunConfig().replace(eval_distribute=8)


def test_the_server_strategy_of_tf1_may_stand_at_the_name_that_it_had(monkeypatch):
    """As in TensorFlow 2.3, where programs say tf.distribute.experimental."""
    of_tf1 = tf.compat.v1.distribute.experimental.ParameterServerStrategy
    monkeypatch.setattr(tf.distribute.experimental, "ParameterServerStrategy", of_tf1)
    own = of_tf1()
    assert RunConfig(train_distribute=own).train_distribute is own


def test_workers_under_a_strategy_need_no_chief(monkeypatch, strategy):
    monkeypatch.setenv("TF_CONFIG", json.dumps(_WORKERS))
    config = RunConfig(train_distribute=strategy)
    assert (config.task_id, config.num_worker_replicas, config.is_chief) == (1, 2, False)
    assert config.session_config is None  # no device filters: the workers talk to each other
    with pytest.raises(ValueError, match='it must have one "chief" node'):
        RunConfig()


def test_a_given_session_config_is_kept_in_a_cluster(monkeypatch):
    monkeypatch.setenv(
        "TF_CONFIG",
        json.dumps({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}),
    )
    session_config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=3)
    assert RunConfig(session_config=session_config).session_config is session_config
    assert list(RunConfig().session_config.device_filters) == ["/job:ps", "/job:chief"]
