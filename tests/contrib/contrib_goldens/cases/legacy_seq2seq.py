"""tf.contrib.legacy_seq2seq: unrolled models, their variables, gradients and losses."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes
from contrib_goldens.observe import Case

old = tf.contrib.legacy_seq2seq
cell = tf.nn.rnn_cell


def steps(count=3, size=4):
    """Inputs by step: [2, size]."""
    return [tf.constant(array(2, size) + i / 4.0) for i in range(count)]


def symbols(count=3, of=5):
    """Symbols by step: [2]."""
    drawn = classes(2 * count, of).reshape(count, 2).astype(np.int32)
    return [tf.constant(row) for row in drawn]


def weights(count=3):
    return [tf.constant(np.float32([1.0, i / 2.0])) for i in range(count)]


def logits(count=3, of=5):
    return [tf.constant(array(2, of) - i / 3.0, name="input") for i in range(count)]


def decoder():
    return old.rnn_decoder(steps(), tf.constant(array(2, 3)), cell.GRUCell(3))


def looped():
    return old.rnn_decoder(
        steps(size=3), tf.constant(array(2, 3)), cell.GRUCell(3), lambda last, i: last * i
    )


def embedded(**options):
    def build():
        return old.embedding_rnn_decoder(
            symbols(), tf.constant(array(2, 5)), cell.GRUCell(5), 5, 3, **options
        )

    return Case(build)


def projected():
    projection = (tf.constant(array(4, 5)), tf.constant(array(5)))
    return old.embedding_rnn_decoder(
        symbols(),
        tf.constant(array(2, 4)),
        cell.GRUCell(4),
        5,
        3,
        output_projection=projection,
        feed_previous=True,
    )


def attention(**options):
    def build():
        state = cell.LSTMStateTuple(tf.constant(array(2, 3)), tf.constant(array(2, 3) / 2))
        states = tf.constant(array(2, 4, 3))
        return old.attention_decoder(steps(), state, states, cell.BasicLSTMCell(3), **options)

    return Case(build)


def embedded_attention(**options):
    def build():
        states = tf.constant(array(2, 4, 3))
        return old.embedding_attention_decoder(
            symbols(), tf.constant(array(2, 3)), states, cell.GRUCell(3), 5, 4, **options
        )

    return Case(build)


def model(name, feed=False, **options):
    """A model of symbols; feed may be a tensor, as in programs that train and decode."""

    def build():
        feed_previous = tf.constant(feed == "tensor") if isinstance(feed, str) else feed
        return getattr(old, name)(
            symbols(), symbols(2), cell.GRUCell(3), 5, 6, 4, feed_previous=feed_previous, **options
        )

    return Case(build)


def bucketed(**options):
    def seq2seq(encoded, decoded):
        return old.embedding_rnn_seq2seq(encoded, decoded, cell.GRUCell(3), 5, 5, 4)

    def build():
        return old.model_with_buckets(
            symbols(),
            symbols(),
            symbols(),
            weights(),
            options.pop("buckets", [(1, 2), (2, 3)]),
            seq2seq,
            **options,
        )

    return Case(build)


def own_loss(labels, logits):
    return tf.reduce_sum(logits, 1) + tf.cast(labels, tf.float32)


CASES = {
    "legacy_seq2seq.rnn_decoder": decoder,
    "legacy_seq2seq.rnn_decoder: loop": looped,
    "legacy_seq2seq.embedding_rnn_decoder": embedded(),
    "legacy_seq2seq.embedding_rnn_decoder: fed back": embedded(feed_previous=True),
    "legacy_seq2seq.embedding_rnn_decoder: fed back, stopped": embedded(
        feed_previous=True, update_embedding_for_previous=False
    ),
    "legacy_seq2seq.embedding_rnn_decoder: projection": projected,
    "legacy_seq2seq.attention_decoder": attention(),
    "legacy_seq2seq.attention_decoder: heads": attention(num_heads=2, output_size=5),
    "legacy_seq2seq.attention_decoder: initial": attention(initial_state_attention=True),
    "legacy_seq2seq.attention_decoder: no head": attention(num_heads=0),
    "legacy_seq2seq.embedding_attention_decoder": embedded_attention(),
    "legacy_seq2seq.embedding_attention_decoder: fed back": embedded_attention(
        output_size=5, feed_previous=True
    ),
    "legacy_seq2seq.basic_rnn_seq2seq": lambda: old.basic_rnn_seq2seq(
        steps(), steps(2), cell.BasicLSTMCell(3)
    ),
    "legacy_seq2seq.tied_rnn_seq2seq": lambda: old.tied_rnn_seq2seq(
        steps(), steps(2), cell.GRUCell(3)
    ),
    "legacy_seq2seq.embedding_rnn_seq2seq": model("embedding_rnn_seq2seq"),
    "legacy_seq2seq.embedding_rnn_seq2seq: fed back": model("embedding_rnn_seq2seq", True),
    "legacy_seq2seq.embedding_rnn_seq2seq: a tensor": model("embedding_rnn_seq2seq", "tensor"),
    "legacy_seq2seq.embedding_attention_seq2seq": model("embedding_attention_seq2seq"),
    "legacy_seq2seq.embedding_attention_seq2seq: heads": model(
        "embedding_attention_seq2seq", num_heads=2, initial_state_attention=True
    ),
    "legacy_seq2seq.embedding_attention_seq2seq: a tensor": model(
        "embedding_attention_seq2seq", "tensor"
    ),
    "legacy_seq2seq.sequence_loss_by_example": lambda: old.sequence_loss_by_example(
        logits(), symbols(), weights()
    ),
    "legacy_seq2seq.sequence_loss_by_example: sum": lambda: old.sequence_loss_by_example(
        logits(), symbols(), weights(), average_across_timesteps=False
    ),
    "legacy_seq2seq.sequence_loss_by_example: own": lambda: old.sequence_loss_by_example(
        logits(), symbols(), weights(), softmax_loss_function=own_loss
    ),
    "legacy_seq2seq.sequence_loss_by_example: lengths": lambda: old.sequence_loss_by_example(
        logits(2), symbols(), weights()
    ),
    "legacy_seq2seq.sequence_loss": lambda: old.sequence_loss(logits(), symbols(), weights()),
    "legacy_seq2seq.sequence_loss: whole": lambda: old.sequence_loss(
        logits(), symbols(), weights(), average_across_batch=False
    ),
    "legacy_seq2seq.model_with_buckets": bucketed(),
    "legacy_seq2seq.model_with_buckets: each": bucketed(per_example_loss=True),
    "legacy_seq2seq.model_with_buckets: short": bucketed(buckets=[(4, 2)]),
}
