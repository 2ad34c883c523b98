"""A lost worker is told from an error of the program, whoever notices the loss first."""

import types

import pytest
import tensorflow as tf

from estimator_bridge.runtime.worker_loss import is_loss, is_slow_peer
from estimator_bridge.training import worker_sync

errors = tf.errors
RPC = "Additional GRPC error information from remote target /job:worker/task:0 while calling"
ABORTED = "{{function_node __wrapped__CollectiveReduceV2_...}} Collective ops is aborted by: "
# TensorFlow's texts: most of them were seen when workers were killed, stopped or suspended.
LOSSES = [
    (errors.UnavailableError, ABORTED + "failed to connect to all addresses; last error: ..."),
    (errors.DeadlineExceededError, ABORTED + "Deadline Exceeded\n\nRPC: /tensorflow.Coordi..."),
    (errors.UnavailableError, ABORTED + "The following tasks are unhealthy (stopped sending ..."),
    (errors.AbortedError, ABORTED + "Unexpected heartbeat request from an already-in-error task"),
    (
        errors.FailedPreconditionError,
        ABORTED + "RecvBuf expects a different device incarnation: 17 vs. 29. Your worker job ...",
    ),
    (errors.CancelledError, "[_Derived_]RecvBuf was cancelled"),
    (errors.UnavailableError, f"Connection reset by peer\n{RPC} /tensorflow.WorkerService/RecvBuf"),
    (errors.UnavailableError, f"Socket closed\n{RPC} /tensorflow.WorkerService/CompleteGroup"),
    (errors.UnknownError, f"Stream removed\n{RPC} /tensorflow.WorkerService/RecvBuf"),
    (errors.AbortedError, "/job:worker/replica:0/task:0 unexpectedly tried to connect with a "
     "different incarnation. It has likely restarted."),
    (errors.AbortedError, "/job:worker/task:0 Heartbeat: Incarnation ID mismatch: expecting 3 but"),
    (errors.AbortedError, "Leader incarnation ID mismatch: the coordination  leader (usually slice "
     "0 task 0) has restarted."),
    (errors.InvalidArgumentError, "Task /job:worker/task:0 must be registered before sending "
     "heartbeat messages. The service might have restarted, please restart / reset and register"),
    (errors.FailedPreconditionError, "Device /job:worker/task:0/device:CPU:0 current incarnation "
     "doesn't match with one in the group. This usually means this worker has restarted but ..."),
    (errors.UnavailableError, "Failed to send RPC to coordination service. Either the leader task "
     "was preempted/died/restarted unexpectedly or this task is experiencing network issues."),
    (errors.UnavailableError, "Task /job:chief/task:0 heartbeat timeout. This indicates that the "
     "remote task has failed, got preempted, or crashed unexpectedly."),
    (errors.InternalError, "Coordination service has stopped. RecordHeartbeat() from task: ..."),
]  # fmt: skip
OTHERS = [
    (errors.UnavailableError, "Error executing an HTTP request: libcurl code 6 meaning 'Couldn't "
     "resolve host name', while reading gs://bucket/file"),
    (errors.CancelledError, "Enqueue operation was cancelled\n\t [[{{node input_producer}}]]"),
    (errors.FailedPreconditionError, "Table not initialized.\n\t [[{{node hash_table_Lookup}}]]"),
    (errors.FailedPreconditionError, "/data is not a directory"),
    (errors.InvalidArgumentError, "Incompatible shapes: [2,3] vs. [4]"),
    (errors.OutOfRangeError, "End of sequence\n\t [[{{node CollectiveReduceV2}}]]"),
    (errors.InternalError, "Blas GEMM launch failed"),
    (errors.DeadlineExceededError, "Timed out reading gs://bucket/file"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), LOSSES)
def test_a_lost_worker(kind, text):
    assert is_loss(kind(None, None, text))


@pytest.mark.parametrize(("kind", "text"), OTHERS)
def test_an_error_of_the_program(kind, text):
    assert not is_loss(kind(None, None, text))


def test_python_errors_are_the_programs():
    assert not is_loss(ValueError("Collective ops is aborted by: heartbeat timeout"))


def test_a_worker_that_lives_and_does_not_come_is_slow_but_one_without_heartbeats_is_not():
    slow = (
        "Collective has timed out waiting for other workers.",
        "Collective has timed out during execution.",
    )
    assert all(is_slow_peer(errors.DeadlineExceededError(None, None, text)) for text in slow)
    heartbeat = "Deadline Exceeded\n\nRPC: /tensorflow.CoordinationService/Heartbeat"
    assert not is_slow_peer(errors.DeadlineExceededError(None, None, ABORTED + heartbeat))
    assert not is_slow_peer(errors.UnavailableError(None, None, slow[0]))


class Rejoined(Exception):
    """The process would start itself anew here."""


@pytest.mark.parametrize(("kind", "text"), LOSSES + OTHERS)
def test_a_worker_starts_itself_anew_after_each_loss_and_after_no_other_error(
    kind, text, monkeypatch
):
    """Which error a stalled worker's peers get depends on who notices first; here each of them."""
    workers = types.SimpleNamespace(count=2, timeout_secs=None)
    failures = []

    def rejoin(workers, error):
        raise Rejoined from error

    monkeypatch.setattr(worker_sync, "workers_of", lambda strategy: workers)
    monkeypatch.setattr(worker_sync, "rejoin", rejoin)
    monkeypatch.setattr(worker_sync, "tell_failure", lambda workers, error: failures.append(error))
    termination = types.SimpleNamespace(requested=False)
    is_lost = (kind, text) in LOSSES
    with (
        pytest.raises(Rejoined if is_lost else kind),
        worker_sync.with_workers(None, termination),
    ):
        raise kind(None, None, text)
    assert bool(failures) != is_lost
