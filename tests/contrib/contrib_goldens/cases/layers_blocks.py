"""tf.contrib.layers: layers with gradients of their own, and target columns."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes, shares, x
from contrib_goldens.observe import Steps

layers = tf.contrib.layers
LABELS = np.array([1, 0, 1, 1])
WEIGHTS = {"w": np.array([1.0, 2.0, 0.5, 0.0], np.float32)}


def dense(inputs, side=None):
    outputs = tf.layers.dense(inputs, 4, tf.tanh, bias_initializer=tf.ones_initializer())
    return outputs if side is None else outputs * side[0]


def reversible(f=dense, **options):
    return lambda: layers.rev_block(x(3, 4), x(3, 4) * 0.5, f, dense, num_layers=2, **options)


def back_and_forth():
    block = layers.RevBlock(dense, dense, num_layers=2, name="own")
    inputs = block.backward(x(3, 4), x(3, 4))
    return inputs, block.forward(*inputs)


def recomputed(**options):
    def build():
        decorated = layers.recompute_grad(**options)(dense) if options else None
        with tf.variable_scope("own", use_resource=True):
            return (decorated or layers.recompute_grad(dense))(x(3, 4))

    return build


def closed_over():
    other = x(3, 4)
    return layers.recompute_grad(lambda inputs: inputs * other)


def divided(*shape, **options):
    return lambda: layers.gdn(x(*shape), **options)


def target(make, logits, labels, **options):
    """Losses, predictions and metrics of a column."""

    def build():
        column = make(**options)
        logit_values = tf.constant(array(*logits), name="input")
        features = {key: tf.constant(value) for key, value in WEIGHTS.items()}
        labels_ = tf.constant(labels)
        metrics = column.get_eval_ops(features, logit_values, labels_)
        return Steps(
            [
                [column.loss(logit_values, labels_, features)],
                [column.training_loss(logit_values, labels_, features)],
                [
                    column.logits_to_predictions(logit_values, proba=proba)
                    for proba in (False, True)
                ],
                {key: update for key, (_, update) in metrics.items()},
                {key: value for key, (value, _) in metrics.items()},
                [column.num_label_columns, column.label_name, column.weight_column_name],
            ]
        )

    return build


def measured(name):
    """The metrics of a column of classes, with one of the program's own."""

    def build():
        def metric(predictions, labels):
            del labels
            return tf.contrib.metrics.streaming_mean(predictions)

        eval_ops = layers.multi_class_target(3).get_eval_ops(
            {}, tf.constant(array(4, 3)), tf.constant(classes(4, 3)), {name: metric}
        )
        return Steps([{key: update for key, (_, update) in eval_ops.items()}])

    return build


CASES = {
    "layers.scale_gradient": lambda: tf.identity(layers.scale_gradient(x(2, 3), 0.5)),
    "layers.RevBlock": back_and_forth,
    "layers.GDN": lambda: layers.GDN(beta_min=0.5, gamma_init=0.3, name="own")(x(2, 3, 4)),
    "layers.gdn": divided(2, 3, 4),
    "layers.gdn: format": divided(2, 3, 4, data_format="NHWC"),
    "layers.gdn: inverse": divided(2, 3, 2, 4, inverse=True, name="own"),
    "layers.gdn: rank": divided(2, 4),
    "layers.gdn: unknown": lambda: layers.gdn(tf.placeholder(tf.float32, [2, 3, None])),
    "layers.multi_class_target": target(layers.multi_class_target, (4, 3), LABELS, n_classes=3),
    "layers.multi_class_target: one": lambda: layers.multi_class_target(1),
    "layers.multi_class_target: probabilities": measured(("own", "probabilities")),
    "layers.multi_class_target: metric": measured(("own", "other")),
    "layers.multi_class_target: triple": measured(("own", "classes", "more")),
    "layers.multi_class_target: two": target(
        layers.multi_class_target, (4, 1), LABELS, n_classes=2
    ),
    "layers.multi_class_target: two, weights": target(
        layers.multi_class_target, (4, 1), LABELS[:, None], n_classes=2, weight_column_name="w"
    ),
    "layers.multi_class_target: weights": target(
        layers.multi_class_target, (4, 3), LABELS[:, None], n_classes=3, weight_column_name="w"
    ),
    "layers.recompute_grad": recomputed(),
    "layers.recompute_grad: closes": closed_over,
    "layers.recompute_grad: options": recomputed(use_data_dep=True, tupleize_grads=True),
    "layers.regression_target": target(layers.regression_target, (4, 1), LABELS),
    "layers.regression_target: two": target(
        layers.regression_target, (4, 2), array(4, 2), label_dimension=2
    ),
    "layers.regression_target: weights": target(
        layers.regression_target, (4, 1), LABELS[:, None], weight_column_name="w"
    ),
    "layers.rev_block": reversible(),
    "layers.rev_block: list": reversible(f=[dense, tf.tanh]),
    "layers.rev_block: plain": reversible(is_training=False),
    "layers.rev_block: side": lambda: layers.rev_block(
        x(3, 4), x(3, 4), dense, dense, num_layers=2, f_side_input=[shares(3, 4)]
    ),
}
