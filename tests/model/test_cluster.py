import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.model.cluster import parse_cluster
from estimator_bridge.model.tf_config import read_tf_config

_WORKERS = {"worker": ["a:1", "b:1", "c:1"]}


def _place(task_type, index, cluster, collective=False):
    task = {"type": task_type, "index": index}
    return parse_cluster({"cluster": cluster, "task": task}, collective=collective)


@given(st.integers(1, 3), st.integers(0, 4), st.integers(0, 3))
def test_global_ids_count_the_chief_first_and_parameter_servers_last(chief_is, workers, servers):
    chief = "chief" if chief_is > 1 else "master"
    cluster = {chief: ["x:1"], "zebra": ["z:1"]}
    cluster.update({"worker": [f"w{i}:1" for i in range(workers)]} if workers else {})
    cluster.update({"ps": [f"p{i}:1" for i in range(servers)]} if servers else {})
    order = [(chief, 0), *(("worker", i) for i in range(workers)), ("zebra", 0)]
    order += [("ps", i) for i in range(servers)]
    places = [_place(task_type, index, cluster) for task_type, index in order]
    assert [place.global_id_in_cluster for place in places] == list(range(len(order)))
    assert [place.is_chief for place in places] == [True] + [False] * (len(order) - 1)
    assert {place.num_worker_replicas for place in places} == {workers + 1}
    assert {place.num_ps_replicas for place in places} == {servers}


def test_workers_that_reduce_together_need_no_chief():
    places = [_place("worker", i, _WORKERS, collective=True) for i in range(3)]
    assert [place.is_chief for place in places] == [True, False, False]
    assert [place.global_id_in_cluster for place in places] == [0, 1, 2]
    assert {place.num_worker_replicas for place in places} == {3}
    assert places[2].master == "grpc://c:1"


def test_a_chief_leads_workers_that_reduce_together():
    cluster = {**_WORKERS, "chief": ["x:1"]}
    assert not _place("worker", 0, cluster, collective=True).is_chief
    assert _place("chief", 0, cluster, collective=True).num_worker_replicas == 4


def test_an_evaluator_beside_workers_that_reduce_together_knows_none_of_them():
    place = _place("evaluator", 0, _WORKERS, collective=True)
    assert not place.cluster_spec
    assert (place.is_chief, place.num_worker_replicas) == (False, 0)


def test_a_cluster_of_parameter_servers_alone_is_refused():
    with pytest.raises(ValueError, match="neither chief nor worker"):
        _place("ps", 0, {"ps": ["a:1"]}, collective=True)


def test_errors_name_the_cluster_that_was_given():
    with pytest.raises(ValueError, match=r"its jobs are \['chief', 'worker'\]"):
        _place("painter", 0, {**_WORKERS, "chief": ["x:1"]})
    with pytest.raises(ValueError, match=r"its indices are \[0, 1, 2\]"):
        _place("worker", 3, {**_WORKERS, "chief": ["x:1"]})


@pytest.mark.parametrize("text", ["{", "[1]", "3"])
def test_tf_config_must_be_an_object(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError, match="TF_CONFIG must be"):
        read_tf_config()


def test_tf_config_is_read_anew_each_time(monkeypatch):
    assert read_tf_config() == {}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {}}))
    assert read_tf_config() == {"cluster": {}}


def test_a_process_without_a_task_is_the_only_node_of_a_collective_cluster():
    place = parse_cluster({"cluster": {"chief": ["a:1"]}}, collective=True)
    assert (place.task_type, place.task_id, place.is_chief) == ("chief", 0, True)


@pytest.mark.parametrize(("cluster", "collective"), [(_WORKERS, True), ({"chief": ["a:1"]}, False)])
def test_a_process_without_a_task_is_an_error_where_it_could_be_any(cluster, collective):
    with pytest.raises(ValueError, match="task type must be set"):
        parse_cluster({"cluster": cluster}, collective=collective)
