"""tf.contrib.learn: the parts that programs of tf.estimator use."""

import json

import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.errors import MissingNameError
from estimator_bridge_contrib import learn

v1 = tf.compat.v1


def test_its_run_config_is_an_estimators(tmp_path):
    config = learn.RunConfig(
        master="", save_checkpoints_steps=3, tf_random_seed=7, model_dir=str(tmp_path)
    )
    assert isinstance(config, eb.RunConfig)
    config.use_tpu = False  # programs keep values of their own on it
    copy = config.replace(keep_checkpoint_max=2)
    assert (copy.use_tpu, copy.keep_checkpoint_max, copy.tf_random_seed) == (False, 2, 7)
    assert (copy.save_checkpoints_steps, copy.save_checkpoints_secs) == (3, None)
    assert copy.tf_config.gpu_options.per_process_gpu_memory_fraction == 1

    def input_fn():
        return tf.data.Dataset.from_tensors([[1.0]]).repeat()

    def model_fn(features, labels, mode, config):
        assert config.use_tpu is False
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        train_op = v1.assign_add(w, 1.0), v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=w, train_op=tf.group(*train_op))

    estimator = eb.Estimator(model_fn, config=copy)
    estimator.train(input_fn, max_steps=6)
    assert [step.name for step in sorted(tmp_path.glob("model.ckpt-*.index"))] == [
        "model.ckpt-3.index",
        "model.ckpt-6.index",
    ]


@pytest.mark.parametrize(
    ("arguments", "secs", "steps"),
    [
        ({}, 600, None),
        ({"save_checkpoints_secs": 5}, 5, None),
        ({"save_checkpoints_secs": None}, None, None),
    ],
)
def test_when_checkpoints_are_saved(arguments, secs, steps):
    config = learn.RunConfig(**arguments)
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (secs, steps)


def test_threads_are_those_of_the_session():
    config = learn.RunConfig(num_cores=2).session_config
    assert (config.inter_op_parallelism_threads, config.intra_op_parallelism_threads) == (2, 2)
    own = v1.ConfigProto(inter_op_parallelism_threads=5)
    assert learn.RunConfig(num_cores=2, session_config=own).session_config == own
    assert learn.RunConfig().session_config is None


def test_another_process_is_refused():
    config = learn.RunConfig(evaluation_master="grpc://a:1")
    assert config.evaluation_master == "grpc://a:1"
    with pytest.raises(
        ValueError, match=r"evaluation_master='grpc://a:1' is the address.*TF_CONFIG"
    ):
        learn.Estimator(lambda features, labels: None, config=config)


def test_two_intervals_are_refused_by_an_estimator():
    config = learn.RunConfig(save_checkpoints_steps=3, save_checkpoints_secs=4)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (3, 4)
    with pytest.raises(ValueError, match="cannot be both set"):
        learn.Estimator(lambda features, labels: None, config=config)


JOBS = {"ps": ["a:1", "b:1"], "worker": ["c:1", "d:1"]}


class TestCluster:
    """TF_CONFIG by the rules of tf.contrib.learn, as TensorFlow 1.15.5 reads it."""

    def config(self, monkeypatch, **content):
        monkeypatch.setenv("TF_CONFIG", json.dumps(content))
        return learn.RunConfig()

    def test_a_cluster_without_a_chief(self, monkeypatch):
        config = self.config(monkeypatch, cluster=JOBS, task={"type": "worker", "index": 1})
        assert config.cluster_spec.as_dict() == JOBS
        assert (config.master, config.task_id, config.task_type) == ("grpc://d:1", 1, "worker")
        assert (config.num_ps_replicas, config.num_worker_replicas, config.is_chief) == (
            2,
            2,
            False,
        )

    def test_worker_0_is_the_chief_except_in_the_cloud(self, monkeypatch):
        jobs = {**JOBS, "master": ["e:1"]}
        chiefs = {
            (environment, job): self.config(
                monkeypatch,
                cluster=jobs,
                task={"type": job, "index": 0},
                environment=environment,
            ).is_chief
            for environment in ("local", "cloud")
            for job in ("worker", "master")
        }
        assert chiefs == {
            ("local", "worker"): True,
            ("local", "master"): False,
            ("cloud", "worker"): False,
            ("cloud", "master"): True,
        }

    @pytest.mark.parametrize(
        ("task", "message"),
        [
            ({"type": "cook"}, "cook is not a valid task_type in the cluster_spec"),
            ({"type": "worker", "index": 2}, "2 is not a valid task_id for task_type worker"),
        ],
    )
    def test_a_task_that_the_cluster_lacks(self, monkeypatch, task, message):
        with pytest.raises(ValueError, match=message):
            self.config(monkeypatch, cluster=JOBS, task=task)

    def test_uids_differ_if_what_matters_differs(self, monkeypatch):
        first = self.config(monkeypatch, cluster=JOBS).uid()
        turned = dict(reversed(JOBS.items()))
        assert self.config(monkeypatch, cluster=turned).uid() == first
        assert self.config(monkeypatch, cluster={"worker": ["c:1", "d:1"]}).uid() != first
        config = learn.RunConfig(tf_random_seed=1)
        other = learn.RunConfig(tf_random_seed=2)
        assert config.uid() == other.uid()
        assert config.uid(whitelist=[]) != other.uid(whitelist=[])
        assert config.uid() != config.replace(model_dir="elsewhere").uid()


class TinyEstimator:
    class config:
        is_chief = True


def test_hooks_stay_and_monitors_become_a_hook():
    hook = v1.train.StopAtStepHook(1)
    replace = learn.monitors.replace_monitors_with_hooks
    assert replace([hook], TinyEstimator) == [hook]
    assert replace(None, TinyEstimator) == []
    same, adapter = replace([learn.monitors.BaseMonitor(), hook], TinyEstimator)
    assert same is hook
    assert isinstance(adapter, learn.monitors.RunHookAdapterForMonitors)
    with pytest.raises(TypeError, match="is neither a monitor nor a hook"):
        replace([object()], TinyEstimator)


def test_modes_are_those_of_tf_estimator():
    modes = learn.ModeKeys
    keys = eb.ModeKeys
    assert (modes.TRAIN, modes.EVAL, modes.INFER) == (keys.TRAIN, keys.EVAL, keys.PREDICT)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: learn.DynamicRnnEstimator,
            "tf.contrib.learn.DynamicRnnEstimator is not supported. Use tf.est",
        ),
        (lambda: learn.run_experiment, "train_and_evaluate"),
    ],
)
def test_what_is_not_there_says_what_to_use(use, message):
    with pytest.raises(MissingNameError, match=message):
        use()
