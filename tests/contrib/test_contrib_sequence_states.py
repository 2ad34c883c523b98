"""tf.contrib.training's batches of parts of sequences, and tf.contrib.cloud's settings."""

import os

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import cloud, training

v1 = tf.compat.v1


def saver(**options):
    arguments = {
        "batch_size": 2,
        "num_unroll": 2,
        "input_length": 3,
        "input_key": tf.strings.as_string(v1.placeholder_with_default(7, [], name="number")),
        "input_sequences": {"s": np.arange(4.0)},
        "input_context": {"c": [1, 2]},
        "initial_states": {"state": 0.5},
        **options,
    }
    return training.SequenceQueueingStateSaver(**arguments)


def test_a_state_goes_from_part_to_part():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        queue = saver()
        batch = queue.next_batch
        fetches = {
            "key": batch.key,
            "next": batch.next_key,
            "part": batch.sequences["s"],
            "context": batch.context["c"],
            "length": batch.length,
            "total": batch.total_length,
            "number": batch.sequence,
            "count": batch.sequence_count,
            "state": batch.state("state"),
            "size": batch.batch_size,
        }
        save = batch.save_state("state", batch.state("state") + 1)
        for number in (7, 8):
            session.run(queue.prefetch_op, {graph.get_tensor_by_name("number:0"): number})
        first, _ = session.run((fetches, save))
        assert sorted(first["key"]) == [b"00000_of_00002:7", b"00000_of_00002:8"]
        assert sorted(first["next"]) == [b"00001_of_00002:7", b"00001_of_00002:8"]
        assert first["part"].tolist() == [[0, 1]] * 2
        assert first["context"].tolist() == [[1, 2]] * 2
        assert (first["state"].tolist(), first["size"]) == ([0.5] * 2, 2)
        second, _ = session.run((fetches, save))
        assert sorted(second["next"]) == [b"STOP:7", b"STOP:8"]
        assert second["part"].tolist() == [[2, 3]] * 2
        assert second["state"].tolist() == [1.5] * 2
        assert (second["length"].tolist(), second["total"].tolist()) == ([1, 1], [3, 3])
        assert (second["number"].tolist(), second["count"].tolist()) == ([1, 1], [2, 2])
        assert session.run(queue.barrier.ready_size()) == 0
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(batch.key)


def test_sparse_sequences_and_contexts_are_batched():
    with tf.Graph().as_default(), v1.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])
        batch = training.batch_sequences_with_states(
            input_key=tf.constant("k"),
            input_sequences={"s": sparse, "d": tf.constant([1, 2, 3])},
            input_context={"c": tf.SparseTensor([[1]], ["x"], [2])},
            input_length=None,
            initial_states={"state": tf.constant(0)},
            num_unroll=2,
            batch_size=1,
            num_threads=1,
            capacity=1,
            make_keys_unique=True,
        )
        save = batch.save_state("state", batch.state("state") + 1)
        coordinator = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        fetches = batch.sequences["s"], batch.sequences["d"], batch.context["c"], batch.length
        first = session.run((*fetches, save))
        second = session.run((*fetches, save))
        coordinator.request_stop()
        session.close()
        coordinator.join(threads, stop_grace_period_secs=60)
    assert first[0].indices.tolist() == [[0, 0, 1]]
    assert second[0].indices.tolist() == [[0, 0, 0]]
    assert second[0].dense_shape.tolist() == [1, 2, 2]
    assert (first[1].tolist(), second[1].tolist()) == ([[1, 2]], [[3, 0]])
    assert second[2].indices.tolist() == [[0, 1]]
    assert (first[3].tolist(), second[3].tolist()) == ([2], [1])


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"capacity": 1}, ValueError, "capacity 1 needs to be >= batch_size 2"),
        ({"initial_states": {}}, ValueError, "at least one state"),
        ({"input_sequences": {}}, ValueError, "at least one sequence"),
        ({"input_sequences": {"a:b": [1.0]}}, ValueError, "may not have a colon"),
        ({"input_context": [1]}, TypeError, "contexts must be a dict"),
        ({"input_length": 3.0}, TypeError, "length dtype must be int32"),
        ({"input_key": [["a"]]}, ValueError, "Rank check failed for"),
    ],
)
def test_wrong_arguments_are_refused_when_the_graph_is_built(arguments, kind, message):
    with tf.Graph().as_default(), pytest.raises(kind, match=message):
        saver(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_unroll": 3}, "should be a multiple of: 3, but saw value: 4"),
        ({"input_length": 5}, "Input length should be <="),
        (
            {"input_sequences": {"r": np.zeros(2), "s": np.zeros(4)}, "input_length": 1},
            "labeled sorted_sequences_s should be: 2, shape received: 4",
        ),
    ],
)
def test_wrong_lengths_are_refused_when_the_graph_runs(arguments, message):
    with tf.Graph().as_default(), v1.Session() as session:
        arguments = {"input_sequences": {"s": np.zeros(4)}, **arguments}
        unknown = {
            name: v1.placeholder_with_default(value, [None])
            for name, value in arguments["input_sequences"].items()
        }
        queue = saver(**{**arguments, "input_sequences": unknown})
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(queue.prefetch_op)


def test_a_state_has_its_name_and_shape():
    with tf.Graph().as_default():
        batch = saver().next_batch
        with pytest.raises(KeyError, match="state was not declared: other"):
            batch.save_state("other", 1.0)
        with pytest.raises(ValueError, match="Rank check failed"):
            batch.save_state("state", [[1.0]])


CREDENTIALS = {"refresh_token": "not a real one", "type": "authorized_user"}


def test_settings_of_google_cloud_storage_are_environment_variables(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("GCS_READ_CACHE", "GOOGLE_APPLICATION")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "before")
    for name in ("BLOCK_SIZE_MB", "MAX_SIZE_MB", "MAX_STALENESS"):
        monkeypatch.setenv(f"GCS_READ_CACHE_{name}", "0")
    cache = cloud.BlockCacheParams(block_size=4 << 20, max_bytes=64 << 20, max_staleness=9)
    hook = cloud.ConfigureGcsHook(CREDENTIALS, cache)
    hook.after_create_session(None, None)
    settings = [os.environ[f"GCS_READ_CACHE_{name}"] for name in ("BLOCK_SIZE_MB", "MAX_SIZE_MB")]
    assert (settings, os.environ["GCS_READ_CACHE_MAX_STALENESS"]) == (["4", "64"], "9")
    path = os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path) as file:
        assert "not a real one" in file.read()


@pytest.mark.parametrize(
    ("credentials", "message"),
    [
        ("{", "well formed JSON"),
        ({"type": "a"}, 'neither a "refresh_token" nor'),
        (3, "unknown type: int"),
    ],
)
def test_credentials_are_checked(credentials, message):
    with pytest.raises(ValueError, match=message):
        cloud.configure_gcs(None, credentials=credentials)


def test_colab_without_credentials(monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="authenticate_user"):
        cloud.configure_colab_session(None)
