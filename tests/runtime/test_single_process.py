"""A training of one process has the methods of a worker, which return what they are given."""

import tensorflow as tf

from estimator_bridge.runtime import workers_of
from estimator_bridge.runtime.replicas import join_replicas
from estimator_bridge.training.hooked_loop import Stop
from estimator_bridge.training.worker_sync import SingleWorkerSync, WorkerSync, worker_sync_of


def test_one_process_is_a_chief_without_workers():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    alone = workers_of(strategy)
    assert (alone.count, alone.index, alone.is_chief) == (1, 0, True)
    assert alone.largest([3, -4]) == [3, -4]
    assert alone.texts("said") == ["said"]
    assert [value.numpy() for value in alone.totals([tf.constant(2.5)], key=1)] == [2.5]
    assert alone.join(tf.Graph(), []) is join_replicas
    context = alone.input_context()
    assert (context.num_input_pipelines, context.input_pipeline_id) == (1, 0)
    assert workers_of(strategy) is alone


def test_one_process_settles_its_chunks_by_itself():
    sync = worker_sync_of(workers_of(tf.distribute.OneDeviceStrategy("/cpu:0")), None)
    assert isinstance(sync, SingleWorkerSync)
    assert not isinstance(sync, WorkerSync)
    assert sync.agree(7, Stop.ASKED) == 7
    assert sync.agreed_stop(Stop.ASKED) == Stop.ASKED
    assert sync.end(True)
    assert not sync.end(False)
