"""tf.contrib.losses.metric_learning.cluster_loss, which needs scikit-learn there and here."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array

LABELS = np.array([0, 1, 2, 0, 1, 2, 0, 3])


def clusters(margin=1.0, labels=LABELS, shape=(8, 3), **options):
    def build():
        embeddings = tf.constant(array(*shape), name="input")
        return tf.contrib.losses.metric_learning.cluster_loss(
            tf.constant(labels), embeddings, margin, **options
        )

    return build


CASES = {
    "losses.metric_learning.cluster_loss": clusters(),
    "losses.metric_learning.cluster_loss: greedy": clusters(3.0, enable_pam_finetuning=False),
    "losses.metric_learning.cluster_loss: ami": clusters(2.0, margin_type="ami"),
    "losses.metric_learning.cluster_loss: ari": clusters(2.0, margin_type="ari"),
    "losses.metric_learning.cluster_loss: vmeasure": clusters(4.0, margin_type="vmeasure"),
    "losses.metric_learning.cluster_loss: const": clusters(margin_type="const"),
    "losses.metric_learning.cluster_loss: column": clusters(
        5.0, np.array([[4], [9], [4], [9], [9]]), (5, 2), print_losses=True
    ),
    "losses.metric_learning.cluster_loss: margin type": clusters(margin_type="other"),
}
