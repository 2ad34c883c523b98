"""tf.contrib.receptive_field: fields, orders and errors of small networks."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case

receptive_field = tf.contrib.receptive_field


def weights(name, height=3, width=3):
    return tf.get_variable(name, [height, width, 1, 1])


def conv(images, name, size=(3, 3), stride=1, padding="SAME"):
    return tf.nn.conv2d(
        images, weights(name + "_w", *size), [1, stride, stride, 1], padding, name=name
    )


def pictures(size=None):
    return tf.placeholder(tf.float32, [None, size, size, 1], name="images")


def chain():
    net = conv(pictures(), "a", stride=2, padding="VALID")
    net = tf.nn.relu(tf.nn.bias_add(net, tf.get_variable("bias", [1])))
    net = tf.nn.max_pool(net, [1, 3, 2, 1], [1, 2, 1, 1], "VALID", name="pool")
    return conv(net, "last", (1, 5))


def padded():
    net = tf.pad(pictures(), [[0, 0], [1, 2], [3, 0], [0, 0]], name="pad")
    net = tf.nn.depthwise_conv2d(net, weights("w"), [1, 1, 1, 1], "VALID", name="depth")
    return tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="last")


def two_ways(second=(1, 1), second_stride=4, pad=1):
    """One way has a convolution of stride 2 and one of 2; the other has one of stride 4."""
    images = pictures()
    first = conv(conv(images, "a", stride=2, padding="VALID"), "b", stride=2, padding="VALID")
    other = tf.pad(images, [[0, 0], [pad, 0], [pad, 0], [0, 0]], name="pad")
    other = conv(other, "c", second, second_stride, "VALID")
    return tf.concat([first, other], 3, name="last")


def aligned():
    images = pictures()
    first = conv(images, "a", padding="SAME")
    return tf.add(first, images, name="last")


def undefined():
    return conv(conv(pictures(), "a", stride=2), "last")


def unknown_type():
    return tf.identity(tf.tanh(conv(pictures(), "a"), name="tanh"), name="last")


def odd_pool():
    pool = tf.nn.max_pool(pictures(), [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool")
    return tf.identity(pool, name="last")


def field(make, places=(), **options):
    def build():
        with tf.Graph().as_default() as graph:
            last = make()
        arguments = dict({"input_node": "images", "output_node": "last"}, **options)
        if arguments.pop("tensors", False):
            arguments.update(input_node=graph.get_tensor_by_name("images:0"), output_node=last)
        if not arguments.pop("is_graph", True):
            graph = graph.as_graph_def()
        field = receptive_field.compute_receptive_field_from_graph_def(graph, **arguments)
        seen = [None if each is None else float(each) for each in field]
        for coordinates, axis in places:
            seen.append(field.compute_input_center_coordinates(coordinates, axis))
            seen.append(field.compute_feature_coordinates(coordinates, axis))
        return seen

    return Case(build, has_gradients=False)


def order(make, *arguments):
    def build():
        with tf.Graph().as_default() as graph:
            make()
        order, nodes = receptive_field.get_compute_order(graph.as_graph_def(), *arguments)
        rows = [
            "%s: %s %s %s" % (name, info.order, _plain(info.input_size), _plain(info.output_size))
            for name, info in sorted(order.items())
        ]
        return rows, sorted(nodes), order["last"].node.op

    return Case(build, has_gradients=False)


def _plain(size):
    return None if size is None else [None if each is None else int(each) for each in size]


_PLACES = [(np.array([[0.0, 1.0], [3.0, 2.0]]), None), (np.array([[2.0]]), [1])]
_NAME = "receptive_field.compute_receptive_field_from_graph_def"

CASES = {
    _NAME: field(chain, _PLACES),
    _NAME + ": add": field(aligned, tensors=True),
    _NAME + ": coordinates": field(chain, [(array(2, 3), None)]),
    _NAME + ": definition": field(padded, is_graph=False),
    _NAME + ": even pool": field(odd_pool),
    _NAME + ": no input": field(chain, input_node="other"),
    _NAME + ": no output": field(chain, output_node="other"),
    _NAME + ": resolution": field(undefined, input_resolution=[7, 8]),
    _NAME + ": stopped": field(two_ways, stop_propagation=["c"]),
    _NAME + ": two ways": field(lambda: two_ways((7, 7), 4, 0)),
    _NAME + ": two shifts": field(lambda: two_ways((5, 7), 4, 0)),
    _NAME + ": two strides": field(lambda: two_ways((7, 7), 2, 0)),
    _NAME + ": undefined": field(undefined),
    _NAME + ": unknown type": field(unknown_type),
    "receptive_field.get_compute_order": order(chain),
    "receptive_field.get_compute_order: size": order(chain, "images", [33, 65]),
    "receptive_field.get_compute_order: padded": order(padded, "images", [32, 65]),
    "receptive_field.get_compute_order: unknown type": order(unknown_type, "images", [8, 9]),
}
