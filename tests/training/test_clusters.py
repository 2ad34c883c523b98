"""A cluster whose processes would not train together is refused before anything runs."""

import json
import types

import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.training import worker_sync
from estimator_bridge.training.supervision.termination import Termination

ADDRESSES = {"chief": ["a:1"], "worker": ["b:1"]}


def _train(monkeypatch, folder, cluster, task=("chief", 0), **config):
    place = {"cluster": cluster, "task": {"type": task[0], "index": task[1]}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))

    def model_fn(features, mode):
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.assign_add(step, 1)
        return eb.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    config = eb.RunConfig(str(folder), **config)
    estimator = eb.Estimator(model_fn, config=config)
    estimator.train(lambda: tf.data.Dataset.from_tensors([1.0]).repeat(), max_steps=2)
    return estimator


def test_workers_without_a_strategy_would_train_alone(monkeypatch, tmp_path):
    with pytest.raises(
        ValueError, match=r"has 2 workers .* would train a model of its own"
    ) as raised:
        _train(monkeypatch, tmp_path, ADDRESSES)
    assert "tf.distribute.MultiWorkerMirroredStrategy()" in str(raised.value)


def test_a_strategy_of_one_machine_joins_no_workers(monkeypatch, tmp_path):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with pytest.raises(ValueError, match="train_distribute=OneDeviceStrategy does not join them"):
        _train(monkeypatch, tmp_path, ADDRESSES, train_distribute=strategy)


def test_a_chief_without_workers_trains_alone(monkeypatch, tmp_path):
    cluster = {"chief": ["a:1"], "evaluator": ["e:1"]}
    estimator = _train(monkeypatch, tmp_path, cluster)
    assert estimator.get_variable_value("global_step") == 2


@pytest.mark.parametrize("listed", [True, False])
def test_an_evaluator_has_a_strategy_of_its_own_machine(listed, monkeypatch, tmp_path):
    """tf.distribute.MultiWorkerMirroredStrategy() raises KeyError where it is not listed."""
    cluster = {**ADDRESSES, **({"evaluator": ["e:1"]} if listed else {})}
    place = {"cluster": cluster, "task": {"type": "evaluator", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    strategy = eb.runtime.multi_worker_strategy(timeout_secs=1)
    assert isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
    config = eb.RunConfig(str(tmp_path), train_distribute=strategy, eval_distribute=strategy)
    assert config.task_type == "evaluator"

    def model_fn(features, mode):
        return eb.EstimatorSpec(mode, loss=tf.reduce_sum(features))

    estimator = eb.Estimator(model_fn, config=config)
    result = estimator.evaluate(lambda: tf.data.Dataset.from_tensors([1.0, 2.0]).repeat(3))
    assert result["loss"] == 3


@pytest.mark.parametrize("asked_to_end", [False, True])
def test_who_was_asked_to_end_does_not_start_itself_anew_for_a_lost_worker(
    asked_to_end, monkeypatch
):
    rejoined, termination = [], Termination()
    workers = types.SimpleNamespace(count=2)
    termination.requested = asked_to_end
    monkeypatch.setattr(worker_sync, "workers_of", lambda strategy: workers)
    monkeypatch.setattr(worker_sync, "rejoin", lambda workers, error: rejoined.append(workers))

    def lose_one():
        with worker_sync.with_workers(None, termination):
            raise tf.errors.UnavailableError(None, None, "Collective ops is aborted")

    if asked_to_end:
        lose_one()
    else:
        with pytest.raises(tf.errors.UnavailableError):
            lose_one()
    assert rejoined == ([] if asked_to_end else [workers])
