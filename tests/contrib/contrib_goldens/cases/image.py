"""tf.contrib.image and tf.contrib.testing: transforms of images, and files of summaries."""

import os
import tempfile
import unittest

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case

image = tf.contrib.image
testing = tf.contrib.testing
ROW = [1.1, 0.2, -0.5, 0.1, 0.9, 0.4, 0.01, 0.02]


def images(*shape):
    return tf.constant(array(*shape), name="input")


def events():
    """A folder with two events of one tag, and one of another."""
    folder = tempfile.mkdtemp()
    writer = tf.summary.FileWriter(folder)
    for step, value in ((1, 0.5), (3, 0.25), (2, 0.75)):
        row = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=value)])
        writer.add_summary(row, step)
    writer.close()
    return folder


def faked():
    """What a hook of summaries has written, and the checks of it."""
    testing.FakeSummaryWriter.install()
    try:
        writer = tf.summary.FileWriterCache.get("nowhere")
        tf.summary.scalar("a", 2.0)
        with tf.Session() as session:
            writer.add_summary(session.run(tf.summary.merge_all()), 4)
        writer.add_graph(tf.get_default_graph())
        writer.add_session_log("started")
        writer.add_run_metadata("measured", "tag", 1)
        test = unittest.TestCase("__init__")
        writer.assert_summaries(
            test,
            expected_logdir="nowhere",
            expected_summaries={4: {"a": 2.0}},
            expected_added_graphs=[tf.get_default_graph()],
            expected_session_logs=["started"],
        )
        return sorted(writer.summaries)
    finally:
        testing.FakeSummaryWriter.uninstall()


def checked(tags):
    value = tf.Summary.Value(tag="a", simple_value=1.001)
    text = tf.Summary(value=[value]).SerializeToString()
    testing.assert_summary(tags, {"a": 1.0}, testing.to_summary_proto(text))
    return len(testing.to_summary_proto(text).value)


CASES = {
    "image.rotate": lambda: image.rotate(images(2, 4, 5, 1), 0.4),
    "image.rotate: bilinear": lambda: image.rotate(images(2, 4, 5, 1), [0.4, -1.0], "BILINEAR"),
    "image.rotate: matrix": lambda: image.rotate(images(4, 5), 1.5),
    "image.rotate: channels": lambda: image.rotate(images(4, 5, 2), 1.5),
    "image.rotate: rank": lambda: image.rotate(images(4), 1.5),
    "image.rotate: type": lambda: image.rotate(tf.constant(["a"]), 1.5),
    "image.translate": lambda: image.translate(images(2, 4, 5, 1), [1.0, -2.0]),
    "image.translate: each": lambda: image.translate(
        images(2, 4, 5, 1), [[1.0, -2.0], [0.5, 0.0]], "BILINEAR"
    ),
    "image.transform": lambda: image.transform(images(2, 4, 5, 1), ROW, "BILINEAR"),
    "image.transform: shape": lambda: image.transform(images(4, 5), ROW, output_shape=[3, 6]),
    "image.transform: long shape": lambda: image.transform(
        images(4, 5), ROW, output_shape=[3, 6, 1]
    ),
    "image.angles_to_projective_transforms": lambda: image.angles_to_projective_transforms(
        [0.4, 1.0], tf.constant([4.0]), tf.constant([5.0])
    ),
    "image.translations_to_projective_transforms": (
        lambda: image.translations_to_projective_transforms([[1.0, 2.0], [3.0, 4.0]])
    ),
    "image.compose_transforms": lambda: image.compose_transforms(
        ROW, image.translations_to_projective_transforms([1.0, 2.0])
    ),
    "image.compose_transforms: none": lambda: image.compose_transforms(),
    "image.flat_transforms_to_matrices": lambda: image.flat_transforms_to_matrices(ROW),
    "image.matrices_to_flat_transforms": lambda: image.matrices_to_flat_transforms(
        tf.constant(array(2, 3, 3) + 2.0)
    ),
    "testing.FakeSummaryWriter": Case(faked, has_gradients=False),
    "testing.assert_summary": lambda: checked(["a"]),
    "testing.assert_summary: tags": lambda: checked(["a", "b"]),
    "testing.to_summary_proto": lambda: checked(["a"]),
    "testing.latest_event_file": lambda: os.path.basename(testing.latest_event_file(events()))[:6],
    "testing.latest_events": lambda: [each.step for each in testing.latest_events(events())],
    "testing.latest_summaries": lambda: [each.step for each in testing.latest_summaries(events())],
    "testing.simple_values_from_events": lambda: testing.simple_values_from_events(
        testing.latest_events(events()), ["loss", "other"]
    )["loss"],
}
MATRIX = [[0.5, 0.1, 0.9], [0.2, 0.3, 0.4], [0.05, 0.6, 0.7], [0.8, 0.15, 0.25]]
PARTS = [[1, 1, 0, 2, 2], [0, 1, 0, 2, 0], [3, 0, 1, 0, 2], [3, 3, 1, 1, 2]]


def points(*shape):
    return tf.constant(2.0 + array(*shape))


def warped(**options):
    """Three points of two images that move."""
    return lambda: image.sparse_image_warp(
        images(2, 5, 6, 2), points(2, 3, 2), 0.3 + 1.1 * points(2, 3, 2), **options
    )


def spline(order, **options):
    return lambda: image.interpolate_spline(
        points(2, 5, 2),
        tf.constant(array(2, 5, 3), name="input"),
        points(2, 4, 2),
        order,
        **options,
    )


CASES.update(
    {
        "image.dense_image_warp: two images": lambda: image.dense_image_warp(
            images(2, 4, 5, 3), tf.constant(2 * array(2, 4, 5, 2), name="input_1")
        ),
        "image.dense_image_warp: no channels": lambda: image.dense_image_warp(
            images(2, 4, 5), tf.constant(array(2, 4, 5, 2))
        ),
        "image.dense_image_warp: small": lambda: image.dense_image_warp(
            images(2, 1, 5, 1), tf.constant(array(2, 1, 5, 2))
        ),
        "image.sparse_image_warp: three points": warped(),
        "image.sparse_image_warp: boundary": warped(
            num_boundary_points=2, regularization_weight=0.1, interpolation_order=1
        ),
        "image.interpolate_spline": spline(2),
        "image.interpolate_spline: linear": spline(1, regularization_weight=0.2),
        "image.interpolate_spline: cubic": spline(3),
        "image.interpolate_spline: four": spline(4),
        "image.interpolate_spline: six": spline(6),
        "image.bipartite_match": lambda: image.bipartite_match(MATRIX, -1),
        "image.bipartite_match: rows": lambda: image.bipartite_match(MATRIX, [2]),
        "image.bipartite_match: pairs": lambda: image.bipartite_match(MATRIX, -1, top_k=1),
        "image.bipartite_match: more columns": lambda: image.bipartite_match(
            tf.transpose(tf.constant(MATRIX)), 3
        ),
        "image.connected_components: integers": lambda: image.connected_components(PARTS),
        "image.connected_components: booleans": lambda: image.connected_components(
            [[[True, False], [False, True]], [[True, True], [True, False]]]
        ),
        "image.connected_components: texts": lambda: image.connected_components(
            [["a", "", "a"], ["a", "b", "a"], ["a", "a", "a"]]
        ),
        "image.connected_components: a vector": lambda: image.connected_components([1, 0]),
    }
)
