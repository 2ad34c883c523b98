"""KMeans: first clusters of several batches, mini-batches by their formula, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.canned.kmeans_fn import LossRelativeChangeHook, points_of

KMeans = eb.experimental.KMeans
POINTS = np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 0]], np.float32)


def points(batch=5, times=None, values=POINTS):
    return lambda: tf.data.Dataset.from_tensor_slices(values).batch(batch).repeat(times)


@pytest.mark.parametrize("steps", [1, 100])
def test_first_clusters_come_from_as_many_batches_as_it_takes(steps, tmp_path):
    kmeans = KMeans(5, str(tmp_path), mini_batch_steps_per_iteration=steps, seed=1)
    kmeans.train(points(1, times=2))
    # Five batches are the clusters, each with a count of one unless none counts yet; the other
    # five were steps.
    np.testing.assert_allclose(kmeans.cluster_centers(), POINTS, rtol=1e-6)
    assert kmeans.get_variable_value("global_step") == 5
    assert kmeans.score(points()) == pytest.approx(0, abs=1e-4)
    assert list(kmeans.predict_cluster_index(points(2, times=1))) == [0, 1, 2, 3, 4]


def test_given_clusters_take_no_batch(tmp_path):
    kmeans = KMeans(2, str(tmp_path), POINTS[:2], use_mini_batch=False)
    kmeans.train(points(times=1))
    assert kmeans.get_variable_value("global_step") == 1
    np.testing.assert_allclose(kmeans.cluster_centers(), [[1, 2], [6, 4.5]], rtol=1e-5)
    distances = np.array(list(kmeans.transform(points(times=1))))
    expected = np.linalg.norm(POINTS[:, None] - kmeans.cluster_centers()[None], axis=2)
    np.testing.assert_allclose(distances, expected, atol=2e-3)


def test_an_input_that_ends_before_there_are_clusters(tmp_path):
    with pytest.raises(tf.errors.OutOfRangeError, match="input ended before the first step"):
        KMeans(11, str(tmp_path)).train(points(times=2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        KMeans(6, str(tmp_path / "b"), KMeans.KMEANS_PLUS_PLUS_INIT).train(points())


def test_mini_batches_move_centers_by_the_mean_of_all_points_so_far(tmp_path):
    first = np.array([[0, 0], [8, 8]], np.float32)
    kmeans = KMeans(2, str(tmp_path), first).train(points(2), steps=3)
    sums, counts = first.copy(), np.ones(2)
    for begin in (0, 2, 4):
        centers = sums / counts[:, None]
        for point in POINTS[begin : begin + 2]:
            near = np.argmin(((point - centers) ** 2).sum(1))
            sums[near] += point
            counts[near] += 1
    np.testing.assert_allclose(kmeans.cluster_centers(), sums / counts[:, None], rtol=1e-5)
    assert sorted(kmeans.get_variable_names()) == [
        "Variable",
        "clusters",
        "global_step",
        "initialized",
    ]


def test_training_ends_where_the_loss_stays(tmp_path):
    kmeans = KMeans(2, str(tmp_path), POINTS[:2], use_mini_batch=False, relative_tolerance=1e-3)
    kmeans.train(points(), steps=50)
    assert 2 < kmeans.get_variable_value("global_step") < 10


def test_the_loss_hook_compares_with_the_step_before():
    class Context:
        stopped = False

        def request_stop(self):
            self.stopped = True

    context, hook = Context(), LossRelativeChangeHook("loss", 0.1)
    for loss, stops in [(10.0, False), (5.0, False), (4.9, True)]:
        hook.after_run(context, tf.compat.v1.train.SessionRunValues(loss, None, None))
        assert context.stopped is stops


def test_points_of_features_by_key():
    features = {"y": POINTS[:, 1:], "x": POINTS[:, :1]}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(points_of(features, ())).tolist() == POINTS.tolist()
        columns = [tf.feature_column.numeric_column("x")]
        assert session.run(points_of(features, columns)).tolist() == POINTS[:, :1].tolist()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"initial_clusters": "first"}, r"Unsupported initialization algorithm 'first'.*'random'"),
        ({"distance_metric": "l1"}, r"Unsupported distance metric 'l1'.*'cosine'"),
    ],
)
def test_what_is_not_known_is_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        KMeans(2, **arguments)


def test_replicas_that_would_drift_apart_are_refused(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    kmeans = KMeans(2, str(tmp_path), config=eb.RunConfig(train_distribute=strategy))
    with pytest.raises(
        ValueError, match=r"KMeans trains on one .*drift apart.*2 replicas of train_"
    ):
        kmeans.train(points())
