"""tf.contrib.layers: layers with variables."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes, images, rows, unknown, x
from contrib_goldens.observe import Steps

layers = tf.contrib.layers
arg_scope = tf.contrib.framework.arg_scope
VOLUME = (1, 4, 4, 4, 2)
REGULARIZED = {
    "weights_regularizer": tf.contrib.layers.l2_regularizer(0.1),
    "biases_regularizer": tf.contrib.layers.l1_regularizer(0.1),
    "variables_collections": ["mine"],
    "outputs_collections": "outputs",
}


def normalized(layer, *args, **options):
    """A layer with batch norm in training, without an activation."""
    options.update(normalizer_fn=layers.batch_norm, activation_fn=None)
    options["normalizer_params"] = {"is_training": True, "decay": 0.9}
    return layer(*args, **options)


def updated(outputs):
    """Outputs, the updates of the moving averages, and the outputs again."""
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) + tf.get_collection("own updates")
    return Steps([outputs, tf.group(*updates), outputs])


def twice(layer, make, *args, **options):
    """A layer whose variables are used again."""
    first = layer(make(), *args, scope="shared", **options)
    return first, layer(make(), *args, scope="shared", reuse=True, **options)


def in_scope():
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=tf.nn.tanh):
        with arg_scope([layers.conv2d], padding="VALID", normalizer_fn=layers.batch_norm):
            net = layers.conv2d(images(), 3, [3, 2])
        return layers.fully_connected(layers.flatten(net), 2)


CASES = {
    "layers.batch_norm": lambda: updated(layers.batch_norm(images())),
    "layers.batch_norm: plain": lambda: updated(
        layers.batch_norm(x(5, 4), scale=True, center=False, decay=0.5, epsilon=0.1, fused=False)
    ),
    "layers.batch_norm: inference": lambda: layers.batch_norm(images(), is_training=False),
    "layers.batch_norm: in place": lambda: layers.batch_norm(
        images(), updates_collections=None, scale=True
    ),
    "layers.batch_norm: NCHW": lambda: layers.batch_norm(
        x(2, 4, 3, 3), data_format="NCHW", is_training=False, fused=False
    ),
    "layers.batch_norm: depends on a tensor": lambda: layers.batch_norm(
        images(), is_training=unknown(True, []), decay=0.5, scope="own"
    ),
    "layers.batch_norm: debias": lambda: updated(
        layers.batch_norm(x(5, 4), zero_debias_moving_mean=True, fused=False)
    ),
    "layers.batch_norm: weights": lambda: updated(
        layers.batch_norm(x(5, 4), batch_weights=[1.0, 0.0, 2.0, 1.0, 1.0], fused=False)
    ),
    "layers.batch_norm: renorm": lambda: updated(
        layers.batch_norm(
            x(5, 4),
            renorm=True,
            renorm_decay=0.8,
            renorm_clipping={"rmin": 0.5, "rmax": 2.0, "dmax": 1.0},
        )
    ),
    "layers.batch_norm: adjusted": lambda: updated(
        layers.batch_norm(
            x(5, 4),
            adjustment=lambda shape: (tf.ones([5, 4]) * 2.0, tf.ones([5, 4]) * 0.5),
            updates_collections="own updates",
        )
    ),
    "layers.batch_norm: parameters": lambda: layers.batch_norm(
        x(5, 4),
        param_initializers={"beta": tf.ones_initializer()},
        activation_fn=tf.nn.relu,
        variables_collections=["mine"],
        outputs_collections=["out"],
        trainable=False,
        param_regularizers={"beta": layers.l2_regularizer(0.1)},
    ),
    "layers.batch_norm: unknown rank": lambda: layers.batch_norm(unknown(array(3, 4))),
    "layers.batch_norm: unknown depth": lambda: layers.batch_norm(unknown(array(3, 4), [3, None])),
    "layers.batch_norm: format": lambda: layers.batch_norm(images(), data_format="NHCW"),
    "layers.bow_encoder": lambda: layers.bow_encoder(classes(6, 5).reshape(2, 3), 5, 4),
    "layers.bow_encoder: sparse": lambda: layers.bow_encoder(
        layers.dense_to_sparse(classes(6, 5).reshape(2, 3)), 5, 4, sparse_lookup=True, scope="own"
    ),
    "layers.conv1d": lambda: layers.conv1d(x(2, 7, 3), 4, 3, stride=2),
    "layers.conv1d: causal": lambda: layers.conv1d(x(2, 7, 3), 4, 3, padding="CAUSAL"),
    "layers.conv1d: rate": lambda: layers.conv1d(x(2, 7, 3), 4, 3, rate=2, padding="VALID"),
    "layers.conv1d: images": lambda: layers.conv1d(images(), 4, 3),
    "layers.conv2d": lambda: layers.conv2d(images(), 5, 3),
    "layers.conv2d: regularized": lambda: layers.conv2d(
        images(), 5, [3, 2], stride=2, padding="VALID", **REGULARIZED
    ),
    "layers.conv2d: normalized": lambda: normalized(layers.conv2d, images(), 5, 3, scope="own"),
    "layers.conv2d: rate": lambda: layers.conv2d(images(), 5, 3, rate=2, biases_initializer=None),
    "layers.conv2d: rate and stride": lambda: layers.conv2d(images(), 5, 3, stride=2, rate=2),
    "layers.conv2d: reused": lambda: twice(layers.conv2d, images, 3, 1),
    "layers.conv2d: two": lambda: [layers.conv2d(images(), 3, 1), layers.conv2d(images(), 3, 1)],
    "layers.conv2d: rank": lambda: layers.conv2d(rows(), 5, 3),
    "layers.conv2d: format": lambda: layers.conv2d(images(), 5, 3, data_format="CHWN"),
    "layers.conv2d: frozen": lambda: layers.conv2d(images(), 5, 3, trainable=False),
    "layers.conv2d: collections": lambda: layers.conv2d(
        images(), 5, 3, variables_collections={"weights": ["w"], "biases": ["b", "c"]}
    ),
    "layers.conv2d: unknown": lambda: layers.conv2d(
        unknown(array(2, 6, 6, 4), [None] * 3 + [4]), 5, 3
    ),
    "layers.conv2d: unknown channels": lambda: layers.conv2d(
        unknown(array(2, 6, 6, 4), [None] * 4), 5, 3
    ),
    "layers.conv3d": lambda: layers.conv3d(x(*VOLUME), 3, 2, stride=2),
    "layers.convolution": lambda: layers.convolution(images(), 2, [2, 3], stride=[2, 1]),
    "layers.convolution: dims": lambda: layers.convolution(images(), 2, 3, conv_dims=1),
    "layers.conv2d_in_plane": lambda: layers.conv2d_in_plane(images(), [2, 3], **REGULARIZED),
    "layers.conv2d_in_plane: normalized": lambda: normalized(
        layers.conv2d_in_plane, images(), 3, stride=2, padding="VALID", scope="own"
    ),
    "layers.conv2d_transpose": lambda: layers.conv2d_transpose(images(), 3, 3, stride=2),
    "layers.conv2d_transpose: regularized": lambda: layers.conv2d_transpose(
        images(), 3, [2, 4], padding="VALID", **REGULARIZED
    ),
    "layers.conv2d_transpose: normalized": lambda: normalized(
        layers.conv2d_transpose, images(), 3, 3, scope="own"
    ),
    "layers.conv2d_transpose: format": lambda: layers.conv2d_transpose(
        images(), 3, 3, data_format="CHWN"
    ),
    "layers.conv3d_transpose": lambda: layers.conv3d_transpose(x(*VOLUME), 3, 2, stride=2),
    "layers.embed_sequence": lambda: layers.embed_sequence(classes(6, 5).reshape(2, 3), 5, 4),
    "layers.embed_sequence: regularized": lambda: layers.embed_sequence(
        classes(6, 5).reshape(2, 3),
        5,
        4,
        regularizer=layers.l2_regularizer(0.1),
        unique=True,
        max_norm=0.5,
        initializer=tf.ones_initializer(),
        scope="own",
    ),
    "layers.embed_sequence: no size": lambda: layers.embed_sequence([[1]]),
    "layers.embed_sequence: reused": lambda: [
        layers.embed_sequence([[1]], 3, 2, scope="s"),
        layers.embed_sequence([[2]], 3, 2, scope="s", reuse=True),
    ],
    "layers.embedding_lookup_unique": lambda: layers.embedding_lookup_unique(
        tf.get_variable("t", [5, 3]), [[1, 2], [2, 4]]
    ),
    "layers.embedding_lookup_unique: no params": lambda: layers.embedding_lookup_unique(None, [1]),
    "layers.fully_connected": lambda: layers.fully_connected(rows(), 5),
    "layers.fully_connected: regularized": lambda: layers.fully_connected(
        x(2, 3, 4), 5, activation_fn=None, **REGULARIZED
    ),
    "layers.fully_connected: normalized": lambda: normalized(
        layers.fully_connected, rows(), 5, scope="own"
    ),
    "layers.fully_connected: layer norm": lambda: layers.fully_connected(
        rows(), 5, normalizer_fn=layers.layer_norm
    ),
    "layers.fully_connected: reused": lambda: twice(layers.fully_connected, rows, 2),
    "layers.fully_connected: size": lambda: layers.fully_connected(rows(), 2.5),
    "layers.fully_connected: vector": lambda: layers.fully_connected(x(4), 2),
    "layers.fully_connected: reused without scope": lambda: layers.fully_connected(
        rows(), 2, reuse=True
    ),
    "layers.fully_connected: scopes": in_scope,
    "layers.elu": lambda: layers.elu(rows(), 3),
    "layers.group_norm": lambda: layers.group_norm(images(), groups=2),
    "layers.group_norm: first": lambda: layers.group_norm(
        x(2, 4, 3),
        2,
        channels_axis=1,
        reduction_axes=[2],
        center=False,
        activation_fn=tf.nn.relu,
        scope="own",
    ),
    "layers.group_norm: groups": lambda: layers.group_norm(images(), groups=3),
    "layers.group_norm: sensitive": lambda: layers.group_norm(
        images(), 2, mean_close_to_zero=True, epsilon=0.1
    ),
    "layers.instance_norm": lambda: layers.instance_norm(images()),
    "layers.instance_norm: NCHW": lambda: layers.instance_norm(
        images(), data_format="NCHW", scale=False, scope="own"
    ),
    "layers.instance_norm: rank": lambda: layers.instance_norm(unknown(array(2, 2))),
    "layers.layer_norm": lambda: layers.layer_norm(rows()),
    "layers.layer_norm: axes": lambda: layers.layer_norm(
        images(),
        begin_norm_axis=2,
        begin_params_axis=-2,
        scale=False,
        activation_fn=tf.nn.relu,
        variables_collections=["mine"],
        outputs_collections="out",
        scope="own",
    ),
    "layers.layer_norm: wrong axis": lambda: layers.layer_norm(rows(), begin_norm_axis=2),
    "layers.layer_norm: unknown": lambda: layers.layer_norm(unknown(array(3, 4))),
    "layers.layer_norm: half": lambda: layers.layer_norm(tf.cast(rows(), tf.float16)),
    "layers.legacy_fully_connected": lambda: layers.legacy_fully_connected(
        rows(), 3, activation_fn=tf.nn.relu, weight_regularizer=layers.l2_regularizer(0.1)
    ),
    "layers.legacy_fully_connected: name": lambda: layers.legacy_fully_connected(
        x(2, 3, 4), 3, name="own", bias_init=None, weight_collections=["w"]
    ),
    "layers.legacy_linear": lambda: layers.legacy_linear(rows(), 3),
    "layers.legacy_relu": lambda: layers.legacy_relu(rows(), 3),
    "layers.linear": lambda: layers.linear(rows(), 3, scope="own"),
    "layers.relu": lambda: layers.relu(rows(), 3),
    "layers.relu6": lambda: layers.relu6(rows(), 3),
    "layers.safe_embedding_lookup_sparse": lambda: layers.safe_embedding_lookup_sparse(
        [tf.get_variable("t", [5, 3])],
        tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, -1, 4]), [4, 2]),
    ),
    "layers.safe_embedding_lookup_sparse: default": lambda: layers.safe_embedding_lookup_sparse(
        tf.get_variable("t", [5, 3]),
        tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 2, 4]), [4, 2]),
        tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1.0, 2.0, 0.0], np.float32), [4, 2]),
        combiner="sum",
        default_id=3,
        max_norm=0.5,
    ),
    "layers.safe_embedding_lookup_sparse: none": lambda: layers.safe_embedding_lookup_sparse(
        None, tf.SparseTensor([[0, 0]], np.array([1]), [1, 1])
    ),
    "layers.separable_conv2d": lambda: layers.separable_conv2d(images(), 3, 3),
    "layers.separable_conv2d: regularized": lambda: layers.separable_conv2d(
        images(), 3, [2, 3], depth_multiplier=2, stride=2, padding="VALID", **REGULARIZED
    ),
    "layers.separable_conv2d: depth alone": lambda: layers.separable_conv2d(
        images(), None, 3, rate=2, activation_fn=None
    ),
    "layers.separable_conv2d: normalized": lambda: normalized(
        layers.separable_conv2d, images(), 3, 3, 1, scope="own"
    ),
    "layers.spatial_softmax": lambda: layers.spatial_softmax(images()),
    "layers.spatial_softmax: temperature": lambda: layers.spatial_softmax(
        images(), temperature=2.0, data_format="NCHW"
    ),
    "layers.stack": lambda: layers.stack(rows(), layers.fully_connected, [3, 2]),
    "layers.stack: args": lambda: layers.stack(
        images(), layers.conv2d, [(3, [2, 2]), (4, 1)], padding="VALID", scope="own"
    ),
    "layers.stack: regularized": lambda: layers.stack(
        rows(), layers.fully_connected, [3], activation_fn=None, **REGULARIZED
    ),
    "layers.repeat": lambda: layers.repeat(rows(), 2, layers.fully_connected, 3),
    "layers.repeat: scope": lambda: layers.repeat(images(), 2, layers.conv2d, 3, 1, scope="own"),
}
for name, same in {
    "convolution1d": "conv1d",
    "convolution2d": "conv2d",
    "convolution3d": "conv3d",
    "convolution2d_in_plane": "conv2d_in_plane",
    "convolution2d_transpose": "conv2d_transpose",
    "convolution3d_transpose": "conv3d_transpose",
    "separable_convolution2d": "separable_conv2d",
}.items():
    CASES["layers.%s: alias" % name] = lambda name=name, same=same: (
        getattr(layers, name) is getattr(layers, same)
    )
