"""tf.contrib.losses."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import any_of, array, classes, rows, shares, unknown, x

losses = tf.contrib.losses
learned = tf.contrib.losses.metric_learning
LABELS = classes(4, 3)
WEIGHTS = np.array([1.0, 0.0, 0.5, 2.0], np.float32)


def one_hot():
    return tf.constant(np.eye(3, dtype=np.float32)[LABELS])


def pair():
    return shares(4, 3), tf.constant(any_of(4, 3))


def with_total(loss):
    """A loss, and the sum that get_total_loss makes of it."""
    return loss, losses.get_total_loss()


def collected():
    with tf.variable_scope("part"):
        losses.add_loss(tf.constant(2.0))
    with tf.name_scope("other"):
        losses.add_loss(tf.constant(3.0, name="c"))
    regularizer = tf.contrib.layers.l2_regularizer(0.1)
    tf.get_variable("w", [3], initializer=tf.ones_initializer(), regularizer=regularizer)
    return {
        "all": losses.get_losses(),
        "other": losses.get_losses("other"),
        "regularization": len(losses.get_regularization_losses()),
        "total": losses.get_total_loss(),
        "own": losses.get_total_loss(add_regularization_losses=False, name="own"),
    }


def embeddings():
    return tf.nn.l2_normalize(x(6, 4), 1)


CASES = {
    "losses.absolute_difference": lambda: with_total(losses.absolute_difference(*pair())),
    "losses.absolute_difference: weights": lambda: losses.absolute_difference(*pair(), WEIGHTS),
    "losses.absolute_difference: scope": lambda: losses.absolute_difference(*pair(), scope="own"),
    "losses.absolute_difference: shapes": lambda: losses.absolute_difference(rows(), x(3, 5)),
    "losses.add_loss": collected,
    "losses.get_losses": collected,
    "losses.get_regularization_losses": collected,
    "losses.get_total_loss": collected,
    "losses.compute_weighted_loss": lambda: losses.compute_weighted_loss(rows()),
    "losses.compute_weighted_loss: each": lambda: losses.compute_weighted_loss(
        x(4, 3), WEIGHTS, scope="own"
    ),
    "losses.compute_weighted_loss: column": lambda: losses.compute_weighted_loss(
        x(4, 3), WEIGHTS[:, None]
    ),
    "losses.compute_weighted_loss: per row": lambda: losses.compute_weighted_loss(
        x(4), WEIGHTS[:, None]
    ),
    "losses.compute_weighted_loss: all zero": lambda: losses.compute_weighted_loss(x(4), 0.0),
    "losses.compute_weighted_loss: half": lambda: losses.compute_weighted_loss(
        tf.cast(x(4), tf.float16), WEIGHTS
    ),
    "losses.compute_weighted_loss: wrong": lambda: losses.compute_weighted_loss(x(4), array(4, 2)),
    "losses.compute_weighted_loss: wrong size": lambda: losses.compute_weighted_loss(
        x(4, 3), array(3)
    ),
    "losses.compute_weighted_loss: unknown": lambda: losses.compute_weighted_loss(
        unknown(array(4, 3)), 1.0
    ),
    "losses.compute_weighted_loss: unknown size": lambda: losses.compute_weighted_loss(
        unknown(array(4, 3), [None, 3]), unknown(WEIGHTS, [None])
    ),
    "losses.cosine_distance": lambda: with_total(losses.cosine_distance(*pair(), axis=1)),
    "losses.cosine_distance: dim": lambda: losses.cosine_distance(*pair(), dim=1, weights=0.5),
    "losses.cosine_distance: no axis": lambda: losses.cosine_distance(*pair()),
    "losses.hinge_loss": lambda: losses.hinge_loss(x(4, 3), tf.constant(any_of(4, 3))),
    "losses.hinge_loss: shapes": lambda: losses.hinge_loss(x(4, 3), tf.constant(any_of(4, 2))),
    "losses.log_loss": lambda: with_total(losses.log_loss(*pair())),
    "losses.log_loss: weights": lambda: losses.log_loss(*pair(), weights=WEIGHTS, epsilon=0.1),
    "losses.mean_pairwise_squared_error": lambda: with_total(
        losses.mean_pairwise_squared_error(*pair())
    ),
    "losses.mean_pairwise_squared_error: weights": lambda: losses.mean_pairwise_squared_error(
        *pair(), WEIGHTS
    ),
    "losses.mean_pairwise_squared_error: scalar": lambda: losses.mean_pairwise_squared_error(
        *pair(), 0.5, scope="own"
    ),
    "losses.mean_squared_error": lambda: with_total(losses.mean_squared_error(*pair())),
    "losses.mean_squared_error: weights": lambda: losses.mean_squared_error(*pair(), WEIGHTS),
    "losses.mean_squared_error: two": lambda: [
        losses.mean_squared_error(*pair()),
        losses.mean_squared_error(*pair()),
    ],
    "losses.sigmoid_cross_entropy": lambda: with_total(
        losses.sigmoid_cross_entropy(x(4, 3), tf.constant(any_of(4, 3)))
    ),
    "losses.sigmoid_cross_entropy: smooth": lambda: losses.sigmoid_cross_entropy(
        x(4, 3), tf.constant(any_of(4, 3)), WEIGHTS, label_smoothing=0.2
    ),
    "losses.softmax_cross_entropy": lambda: with_total(
        losses.softmax_cross_entropy(x(4, 3), one_hot())
    ),
    "losses.softmax_cross_entropy: smooth": lambda: losses.softmax_cross_entropy(
        x(4, 3), one_hot(), WEIGHTS, label_smoothing=0.2
    ),
    "losses.softmax_cross_entropy: unknown": lambda: losses.softmax_cross_entropy(
        x(4, 3), one_hot(), unknown(WEIGHTS[:, None], [None, None])
    ),
    "losses.softmax_cross_entropy: weights of any rank": lambda: losses.softmax_cross_entropy(
        x(4, 3), one_hot(), unknown(WEIGHTS)
    ),
    "losses.sparse_softmax_cross_entropy": lambda: with_total(
        losses.sparse_softmax_cross_entropy(x(4, 3), LABELS)
    ),
    "losses.sparse_softmax_cross_entropy: column": lambda: losses.sparse_softmax_cross_entropy(
        x(4, 3), LABELS[:, None], WEIGHTS[:, None]
    ),
    "losses.sparse_softmax_cross_entropy: unknown": lambda: losses.sparse_softmax_cross_entropy(
        x(4, 3), LABELS, unknown(WEIGHTS, [None])
    ),
    "losses.sparse_softmax_cross_entropy: unknown column": lambda: (
        losses.sparse_softmax_cross_entropy(
            x(4, 3), LABELS[:, None], unknown(WEIGHTS[:, None], [None, 1])
        )
    ),
    "losses.metric_learning.contrastive_loss": lambda: learned.contrastive_loss(
        [1, 0, 1, 1], x(4, 3), tf.constant(array(3, 4).T), margin=1.5
    ),
    "losses.metric_learning.lifted_struct_loss": lambda: learned.lifted_struct_loss(
        tf.constant([0, 1, 0, 1, 2, 2]), embeddings()
    ),
    "losses.metric_learning.npairs_loss": lambda: learned.npairs_loss(
        tf.constant([0, 1, 2, 3, 4, 4]), embeddings(), x(6, 4), print_losses=True
    ),
    "losses.metric_learning.npairs_loss_multilabel": lambda: learned.npairs_loss_multilabel(
        [
            tf.SparseTensor([[each], [each + 1]], tf.constant([1.0, 2.0 - each]), [4])
            for each in range(3)
        ],
        x(3, 4),
        embeddings()[:3],
    ),
    "losses.metric_learning.npairs_loss_multilabel: dense": lambda: learned.npairs_loss_multilabel(
        [tf.constant([1.0])], x(1, 4), x(1, 4)
    ),
    "losses.metric_learning.triplet_semihard_loss": lambda: learned.triplet_semihard_loss(
        tf.constant([0, 1, 0, 1, 2, 2]), embeddings(), margin=0.5
    ),
}
