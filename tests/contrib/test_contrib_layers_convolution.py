"""tf.contrib.layers' convolutions and pooling, against sums written out in numpy."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge_contrib import layers

v1 = tf.compat.v1
IMAGES = np.random.default_rng(0).normal(size=(2, 6, 7, 3)).astype(np.float32)


def windows(images, size, stride=1, rate=1, padding="VALID"):
    """[batch, height, width, size, size, channels]: what a filter sees at each position."""
    reach = (size - 1) * rate + 1
    if padding == "SAME":
        total = [max((-(-n // stride) - 1) * stride + reach - n, 0) for n in images.shape[1:3]]
        around = [(0, 0), *((n // 2, n - n // 2) for n in total), (0, 0)]
        images = np.pad(images, around)
    rows, columns = (range(0, n - reach + 1, stride) for n in images.shape[1:3])
    return np.stack(
        [
            np.stack([images[:, i : i + reach : rate, j : j + reach : rate] for j in columns], 1)
            for i in rows
        ],
        1,
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding": "VALID"},
        {"stride": 2},
        {"padding": "valid", "stride": [2, 2]},
        {"rate": 2, "padding": "VALID"},
    ],
)
def test_conv2d(options):
    run = Run(lambda x: layers.conv2d(x, 4, 3, activation_fn=None, **options), IMAGES)
    assert run.shapes == {"Conv/weights": (3, 3, 3, 4), "Conv/biases": (4,)}
    seen = windows(
        IMAGES,
        3,
        np.max(options.get("stride", 1)),
        options.get("rate", 1),
        options.get("padding", "SAME").upper(),
    )
    expected = np.einsum("bhwijc,ijco->bhwo", seen, run.variables["Conv/weights"])
    np.testing.assert_allclose(run.result, expected, atol=1e-5)


def test_a_convolution_with_a_rate_has_gradients():
    def build(x):
        y = layers.conv2d(x, 2, 3, rate=2, scope="c")
        return tf.gradients(tf.reduce_sum(y), v1.trainable_variables())

    gradients = Run(build, IMAGES).result
    assert [each.shape for each in gradients] == [(3, 3, 3, 2), (2,)]


def test_one_and_three_dimensions():
    line = IMAGES[:, 0]
    run = Run(lambda x: layers.convolution(x, 4, 1, activation_fn=None, scope="c"), line)
    np.testing.assert_allclose(run.result, line @ run.variables["c/weights"][0], atol=1e-5)
    box = IMAGES[:, :, :, None, :]
    run = Run(lambda x: layers.conv3d(x, 4, [3, 3, 1], activation_fn=None, scope="c"), box)
    assert run.shapes["c/weights"] == (3, 3, 1, 3, 4)
    expected = np.einsum(
        "bhwijc,ijco->bhwo", windows(IMAGES, 3, padding="SAME"), run.variables["c/weights"][:, :, 0]
    )
    np.testing.assert_allclose(run.result[:, :, :, 0], expected, atol=1e-5)


def test_wrong_arguments_of_a_convolution():
    with tf.Graph().as_default():
        x = tf.zeros([1, 5, 5, 2])
        with pytest.raises(ValueError, match="expects input with rank 3, got 4"):
            layers.conv1d(x, 3, 3)
        with pytest.raises(ValueError, match=r"stride > 1 not supported.*stride=\(2, 2\)"):
            layers.conv2d(x, 3, 3, stride=2, rate=2)
        with pytest.raises(ValueError, match=r"data_format has to be.*got 'NHCW'"):
            layers.conv2d(x, 3, 3, data_format="NHCW")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv2d_transpose_is_the_gradient_of_a_convolution(padding):
    run = Run(
        lambda x: layers.conv2d_transpose(
            x, 4, 3, stride=2, padding=padding, activation_fn=None, scope="up"
        ),
        IMAGES,
    )
    assert run.shapes == {"up/weights": (3, 3, 4, 3), "up/biases": (4,)}
    assert run.result.shape == ((2, 12, 14, 4) if padding == "SAME" else (2, 13, 15, 4))
    # <transpose(x), y> = <x, convolution(y)> for any y.
    y = np.random.default_rng(5).normal(size=run.result.shape)
    seen = windows(y, 3, 2, padding=padding)
    forward = np.einsum("bhwijo,ijoc->bhwc", seen, run.variables["up/weights"])
    np.testing.assert_allclose(np.sum(run.result * y), np.sum(IMAGES * forward), rtol=1e-4)


def test_separable_and_in_plane_convolutions():
    def build(x):
        return (
            layers.separable_conv2d(x, 5, 3, depth_multiplier=2, activation_fn=None, scope="s"),
            layers.separable_conv2d(x, None, 3, activation_fn=None, scope="d"),
            layers.conv2d_in_plane(x, 3, activation_fn=None, scope="p"),
        )

    run = Run(build, IMAGES)
    assert run.shapes == {
        "s/depthwise_weights": (3, 3, 3, 2),
        "s/pointwise_weights": (1, 1, 6, 5),
        "s/biases": (5,),
        "d/depthwise_weights": (3, 3, 3, 1),
        "d/biases": (3,),
        "p/weights": (3, 3, 1, 1),
        "p/biases": (3,),
    }
    seen = windows(IMAGES, 3, padding="SAME")
    values = run.variables
    mixed = np.einsum("bhwijc,ijcm->bhwcm", seen, values["s/depthwise_weights"])
    mixed = mixed.reshape(*mixed.shape[:3], 6) @ values["s/pointwise_weights"][0, 0]
    each = np.einsum("bhwijc,ijc->bhwc", seen, values["d/depthwise_weights"][..., 0])
    plane = np.einsum("bhwijc,ij->bhwc", seen, values["p/weights"][..., 0, 0])
    for got, expected in zip(run.result, (mixed, each, plane)):
        np.testing.assert_allclose(got, expected, atol=1e-5)


def test_pooling():
    def build(x):
        return (
            layers.max_pool2d(x, 2),
            layers.avg_pool2d(x, [3, 3], stride=1, scope="a"),
            layers.pool(x, 2, "MAX", stride=2),
            layers.max_pool3d(x[:, :, :, None], [2, 2, 1], stride=[2, 2, 1]),
            layers.avg_pool3d(x[:, :, :, None], [3, 3, 1], 1),
        )

    run = Run(build, IMAGES)
    largest = windows(IMAGES, 2, 2).max((3, 4))
    mean = windows(IMAGES, 3).mean((3, 4))
    for got, expected in zip(run.result, (largest, mean, largest, largest, mean)):
        np.testing.assert_allclose(got.reshape(expected.shape), expected, atol=1e-6)
    names = [operation.name for operation in run.graph.get_operations()]
    assert "MaxPool2D/MaxPool" in names
    assert "a/AvgPool" in names


def test_pooling_needs_positions():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Rank of inputs must be >= 3"):
        layers.pool(tf.zeros([2, 2]), 2, "AVG")


def test_repeat_and_stack_name_their_layers():
    def build(x):
        layers.repeat(x, 2, layers.conv2d, 3, [3, 3], scope="conv1")
        layers.repeat(x, 1, layers.conv2d, 3, [3, 3])
        layers.stack(x, layers.conv2d, [(4, 1), (2, [3, 3])], scope="s")
        return layers.stack(layers.flatten(x), layers.relu, [8, 4])

    run = Run(build, IMAGES)
    assert {name: shape for name, shape in run.shapes.items() if name.endswith("weights")} == {
        "conv1/conv1_1/weights": (3, 3, 3, 3),
        "conv1/conv1_2/weights": (3, 3, 3, 3),
        "Repeat/convolution2d_1/weights": (3, 3, 3, 3),
        "s/s_1/weights": (1, 1, 3, 4),
        "s/s_2/weights": (3, 3, 4, 2),
        "Stack/fully_connected_1/weights": (126, 8),
        "Stack/fully_connected_2/weights": (8, 4),
    }
    assert run.result.shape == (2, 4)
    with pytest.raises(ValueError, match="stack_args need to be a list or tuple, got 3"):
        layers.stack(None, layers.conv2d, 3)
