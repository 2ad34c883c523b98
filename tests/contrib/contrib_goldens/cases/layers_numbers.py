"""tf.contrib.layers: functions without variables of their own, initializers, regularizers."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes, images, rows, unknown, x
from contrib_goldens.observe import Steps

layers = tf.contrib.layers
utils = tf.contrib.layers.utils if hasattr(tf.contrib.layers, "utils") else None
if utils is None:  # in 1.15 it is not a name of the namespace
    from tensorflow.contrib.layers.python.layers import utils
VOLUME = (1, 4, 4, 4, 2)


def clipping(**options):
    """adaptive_clipping_fn, which 1.15 has in a module below the namespace."""
    try:
        return layers.adaptive_clipping_fn(**options)
    except AttributeError:
        from tensorflow.contrib.layers.python.layers import optimizers

        return optimizers.adaptive_clipping_fn(**options)


def initialized(initializer, *shape):
    """A variable of an initializer."""
    return tf.get_variable("w", shape, initializer=initializer)


def regularized(*regularizers):
    return [each(rows()) for each in regularizers]


def optimized(**options):
    """optimize_loss of a linear model, with its loss and its variables."""
    weight = tf.get_variable("w", [4], initializer=tf.ones_initializer(), use_resource=True)
    other = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(rows() * weight, 1))) + tf.reduce_sum(
        tf.square(other)
    )
    step = tf.train.get_or_create_global_step()
    arguments = {"learning_rate": 0.1, "optimizer": "SGD"}
    arguments.update(options)
    if arguments.pop("decay", False):
        arguments["learning_rate_decay_fn"] = lambda rate, step: tf.train.exponential_decay(
            rate, step, 2, 0.5
        )
    return Steps([layers.optimize_loss(loss, step, **arguments)] * 2 + [weight, other, step])


def summarized(function, *args, **options):
    tf.get_variable("biases", [3], initializer=tf.ones_initializer())
    tf.get_variable("weights", [3], initializer=tf.ones_initializer())
    tf.get_variable("one", [], initializer=tf.ones_initializer())
    tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, tf.nn.relu(rows(), name="active"))
    function(*args, **options)
    return []


CASES = {
    "layers.adaptive_clipping_fn": lambda: [
        gradient
        for gradient, _ in clipping(decay=0.5, report_summary=True)(
            [(rows(), tf.get_variable("w", [3, 4])), (None, tf.get_variable("v", []))]
        )
    ],
    "layers.adaptive_clipping_fn: static": lambda: [
        gradient
        for gradient, _ in clipping(
            static_max_norm=0.5, global_step=tf.train.get_or_create_global_step(), std_factor=1.0
        )([(rows(), tf.get_variable("w", [3, 4]))])
    ],
    "layers.apply_regularization": lambda: layers.apply_regularization(
        layers.l2_regularizer(0.1), [rows(), x(2, 2)]
    ),
    "layers.apply_regularization: none": lambda: layers.apply_regularization(
        layers.l2_regularizer(0.1), []
    ),
    "layers.avg_pool2d": lambda: layers.avg_pool2d(images(), 2),
    "layers.avg_pool2d: same": lambda: layers.avg_pool2d(
        images(), [3, 2], stride=1, padding="SAME", outputs_collections="out", scope="own"
    ),
    "layers.avg_pool2d: format": lambda: layers.avg_pool2d(images(), 2, data_format="CHWN"),
    "layers.avg_pool3d": lambda: layers.avg_pool3d(x(*VOLUME), 2),
    "layers.max_pool2d": lambda: layers.max_pool2d(images(), 2),
    "layers.max_pool2d: same": lambda: layers.max_pool2d(images(), 3, 2, "SAME", scope="own"),
    "layers.max_pool3d": lambda: layers.max_pool3d(x(*VOLUME), 2),
    "layers.bias_add": lambda: layers.bias_add(rows(), activation_fn=tf.nn.relu),
    "layers.bias_add: regularized": lambda: layers.bias_add(
        images(),
        regularizer=layers.l2_regularizer(0.1),
        variables_collections=["mine"],
        outputs_collections="out",
        initializer=tf.ones_initializer(),
        scope="own",
    ),
    "layers.bias_add: NCHW": lambda: layers.bias_add(x(2, 4, 3, 3), data_format="NCHW"),
    "layers.bias_add: format": lambda: layers.bias_add(images(), data_format="CHWN"),
    "layers.dense_to_sparse": lambda: layers.dense_to_sparse([[0, 2], [3, 0]]),
    "layers.dense_to_sparse: texts": lambda: layers.dense_to_sparse(
        [["a", ""], ["", "b"]], outputs_collections="out", scope="own"
    ),
    "layers.dense_to_sparse: end": lambda: layers.dense_to_sparse([[5, 2]], eos_token=5),
    "layers.dropout": lambda: layers.dropout(rows()),
    "layers.dropout: noise": lambda: layers.dropout(
        rows(), 0.8, noise_shape=[3, 1], outputs_collections="out", scope="own"
    ),
    "layers.dropout: off": lambda: layers.dropout(rows(), is_training=False),
    "layers.flatten": lambda: layers.flatten(images(), outputs_collections="out"),
    "layers.flatten: unknown": lambda: layers.flatten(unknown(array(2, 3, 4), [None, 3, 4])),
    "layers.flatten: vector": lambda: layers.flatten(x(3)),
    "layers.images_to_sequence": lambda: layers.images_to_sequence(images()),
    "layers.sequence_to_images": lambda: layers.sequence_to_images(x(6, 4, 3), 2),
    "layers.l1_regularizer": lambda: regularized(layers.l1_regularizer(0.1)),
    "layers.l1_regularizer: zero": lambda: regularized(layers.l1_regularizer(0.0)),
    "layers.l1_regularizer: negative": lambda: layers.l1_regularizer(-1.0),
    "layers.l1_regularizer: whole": lambda: layers.l1_regularizer(1),
    "layers.l2_regularizer": lambda: regularized(layers.l2_regularizer(0.1, scope="own")),
    "layers.l2_regularizer: zero": lambda: regularized(layers.l2_regularizer(0.0)),
    "layers.l1_l2_regularizer": lambda: regularized(
        layers.l1_l2_regularizer(0.1, 0.2),
        layers.l1_l2_regularizer(0.0, 0.2),
        layers.l1_l2_regularizer(0.1, 0.0, scope="own"),
    ),
    "layers.l1_l2_regularizer: whole": lambda: layers.l1_l2_regularizer(1, 0.5),
    "layers.sum_regularizer": lambda: regularized(
        layers.sum_regularizer([layers.l2_regularizer(0.1), layers.l1_regularizer(0.5)]),
    ),
    "layers.sum_regularizer: none": lambda: layers.sum_regularizer([layers.l2_regularizer(0.0)])(
        rows()
    ),
    "layers.maxout": lambda: layers.maxout(rows(), 2),
    "layers.maxout: axis": lambda: layers.maxout(images(), 3, axis=1, scope="own"),
    "layers.maxout: units": lambda: layers.maxout(rows(), 3),
    "layers.one_hot_encoding": lambda: layers.one_hot_encoding(classes(4, 3), 3),
    "layers.one_hot_encoding: values": lambda: layers.one_hot_encoding(
        classes(4, 3), 3, on_value=2.0, off_value=-1.0, outputs_collections="out"
    ),
    "layers.optimize_loss": optimized,
    "layers.optimize_loss: Adam": lambda: optimized(
        optimizer="Adam", clip_gradients=0.5, summaries=list(layers.OPTIMIZER_SUMMARIES), name="own"
    ),
    "layers.optimize_loss: decay": lambda: optimized(decay=True, increment_global_step=False),
    "layers.optimize_loss: noise": lambda: optimized(gradient_noise_scale=0.1),
    "layers.optimize_loss: multipliers": lambda: optimized(
        optimizer=tf.train.MomentumOptimizer(0.1, 0.9),
        learning_rate=None,
        gradient_multipliers={"w": 0.5},
        summaries=["gradients", "loss"],
    ),
    "layers.optimize_loss: function": lambda: optimized(
        optimizer=lambda rate: tf.train.GradientDescentOptimizer(rate * 2.0),
        clip_gradients=clipping(static_max_norm=0.5),
    ),
    "layers.optimize_loss: class": lambda: optimized(optimizer=tf.train.AdagradOptimizer),
    "layers.optimize_loss: unknown": lambda: optimized(optimizer="NoSuch"),
    "layers.optimize_loss: no rate": lambda: optimized(learning_rate=None),
    "layers.optimize_loss: summary": lambda: optimized(summaries=["no such"]),
    "layers.softmax": lambda: layers.softmax(images()),
    "layers.softmax: scope": lambda: layers.softmax(rows(), scope="own"),
    "layers.summarize_activation": lambda: summarized(
        layers.summarize_activation, tf.nn.relu(rows(), name="r")
    ),
    "layers.summarize_activation: linear": lambda: summarized(
        layers.summarize_activation, tf.identity(rows(), name="r")
    ),
    "layers.summarize_activations": lambda: summarized(layers.summarize_activations),
    "layers.summarize_activations: filtered": lambda: summarized(
        layers.summarize_activations, name_filter="nothing"
    ),
    "layers.summarize_collection": lambda: summarized(
        layers.summarize_collection, tf.GraphKeys.GLOBAL_VARIABLES, "w.*"
    ),
    "layers.summarize_tensor": lambda: summarized(layers.summarize_tensor, rows()),
    "layers.summarize_tensor: scalar": lambda: summarized(
        layers.summarize_tensor, tf.constant(2.0, name="c"), "tag"
    ),
    "layers.summarize_tensors": lambda: summarized(
        layers.summarize_tensors, [rows(), tf.constant(1.0, name="c")]
    ),
    "layers.unit_norm": lambda: layers.unit_norm(images(), 3),
    "layers.unit_norm: epsilon": lambda: layers.unit_norm(rows(), 1, epsilon=0.5, scope="own"),
    "layers.unit_norm: dimension": lambda: layers.unit_norm(rows(), 4),
    "layers.unit_norm: unknown": lambda: layers.unit_norm(unknown(array(3, 4), [None, 4]), 1),
    "layers.variance_scaling_initializer": lambda: initialized(
        layers.variance_scaling_initializer(), 3, 5
    ),
    "layers.variance_scaling_initializer: uniform": lambda: initialized(
        layers.variance_scaling_initializer(1.0, "FAN_AVG", uniform=True), 2, 2, 3, 4
    ),
    "layers.variance_scaling_initializer: vector": lambda: initialized(
        layers.variance_scaling_initializer(3.0, "FAN_OUT"), 6
    ),
    "layers.variance_scaling_initializer: mode": lambda: layers.variance_scaling_initializer(
        mode="FAN"
    ),
    "layers.variance_scaling_initializer: type": lambda: layers.variance_scaling_initializer(
        dtype=tf.int32
    ),
    "layers.xavier_initializer": lambda: initialized(layers.xavier_initializer(), 3, 5),
    "layers.xavier_initializer: normal": lambda: initialized(
        layers.xavier_initializer(uniform=False), 2, 2, 3, 4
    ),
    "layers.xavier_initializer_conv2d": lambda: initialized(
        layers.xavier_initializer_conv2d(), 2, 2, 3, 4
    ),
    "layers.utils.constant_value": lambda: [
        utils.constant_value(True),
        utils.constant_value(tf.constant(0), tf.int32),
        utils.constant_value(unknown(True, [])),
    ],
    "layers.utils.n_positive_integers": lambda: [
        utils.n_positive_integers(2, 3),
        utils.n_positive_integers(2, (3, 4)),
        utils.n_positive_integers(2, tf.TensorShape([3, 3])),
    ],
    "layers.utils.n_positive_integers: wrong": lambda: utils.n_positive_integers(2, (3, 0)),
    "layers.utils.two_element_tuple": lambda: [
        utils.two_element_tuple(3),
        utils.two_element_tuple([1, 2]),
    ],
    "layers.utils.two_element_tuple: three": lambda: utils.two_element_tuple([1, 2, 3]),
    "layers.utils.first_dimension": lambda: utils.first_dimension(tf.TensorShape([2, 3]), 2),
    "layers.utils.last_dimension": lambda: utils.last_dimension(tf.TensorShape([2, 3]), 2),
    "layers.utils.last_dimension: unknown": lambda: utils.last_dimension(
        tf.TensorShape([2, None]), 2
    ),
    "layers.utils.smart_cond": lambda: utils.smart_cond(True, lambda: 1, lambda: 2),
    "layers.utils.static_cond": lambda: utils.static_cond(False, lambda: 1, lambda: 2),
    "layers.utils.collect_named_outputs": lambda: [
        utils.collect_named_outputs("c", "alias", rows()),
        sorted(utils.convert_collection_to_dict("c")),
    ],
    "layers.utils.get_variable_collections": lambda: [
        utils.get_variable_collections({"a": ["b"]}, "a"),
        utils.get_variable_collections(["b"], "a"),
    ],
}
