"""Tags words by a recurrent net: text lines, lookup tables, cells and `dynamic_rnn`."""

import os

import tensorflow as tf
from tensorflow.contrib import lookup
from tensorflow.contrib import rnn as contrib_rnn

FLAGS = tf.flags.FLAGS
tf.flags.DEFINE_string("data_dir", None, "Where words.txt, tags.txt and vocab.txt are.")
tf.flags.DEFINE_string("model_dir", None, "Where checkpoints go.")
tf.flags.DEFINE_boolean("use_tpu", False, "Whether to use a TPU.")
tf.flags.DEFINE_string("tpu", "", "The TPU's name.")
tf.flags.DEFINE_integer("max_steps", 8, "Steps to train up to.")

LENGTH = 6
TAGS = ["DET", "NOUN", "VERB"]
PAD = "<pad>"


def tables():
    words = lookup.index_table_from_file(
        os.path.join(FLAGS.data_dir, "vocab.txt"), num_oov_buckets=1
    )
    tags = lookup.index_table_from_tensor(tf.constant(TAGS), default_value=-1)
    return words, tags


def lines_of(name):
    return tf.data.TextLineDataset(os.path.join(FLAGS.data_dir, name))


def padded_batches(dataset, shapes, padding, batch_size, drop_remainder):
    dataset = dataset.padded_batch(batch_size, shapes, padding)
    if drop_remainder:
        dataset = dataset.filter(lambda words, *_: tf.equal(tf.shape(words)[0], batch_size))
    return dataset


def input_fn(params, repeat=True):
    batch_size = params["batch_size"]
    words_table, tags_table = tables()

    def split(words, tags):
        return tf.string_split([words]).values, tf.string_split([tags]).values

    dataset = tf.data.Dataset.zip((lines_of("words.txt"), lines_of("tags.txt"))).map(split)
    if repeat:
        dataset = dataset.repeat()
    dataset = padded_batches(dataset, ([LENGTH], [LENGTH]), (PAD, ""), batch_size, True)
    iterator = dataset.make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    words, tags = iterator.get_next()
    ids = tf.to_int32(words_table.lookup(words))
    labels = tf.to_int32(tags_table.lookup(tags))
    lengths = tf.reduce_sum(tf.to_int32(tf.not_equal(words, PAD)), axis=1)
    for tensor in (ids, labels):
        tensor.set_shape([batch_size, LENGTH])
    lengths.set_shape([batch_size])
    return {"ids": ids, "lengths": lengths}, labels


def predict_input_fn(params):
    words_table, _ = tables()

    def as_features(line):
        words = tf.string_split([line]).values
        length = tf.size(words)
        ids = tf.to_int32(words_table.lookup(words))
        return {"ids": tf.pad(ids, [[0, LENGTH - length]]), "lengths": length}

    dataset = lines_of("words.txt").map(as_features)

    def with_shapes(features):
        features["ids"].set_shape([LENGTH])
        return features

    return dataset.map(with_shapes).batch(params["batch_size"])


def model_fn(features, labels, mode, params):
    ids, lengths = features["ids"], features["lengths"]
    with tf.variable_scope("tagger", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=8)):
        table = tf.get_variable("embedding", [params["vocab"] + 1, 4])
        inputs = tf.nn.embedding_lookup(table, ids)
        cell = tf.nn.rnn_cell.MultiRNNCell(
            [
                contrib_rnn.DropoutWrapper(
                    contrib_rnn.BasicLSTMCell(5, forget_bias=1.0), output_keep_prob=1.0
                ),
                tf.nn.rnn_cell.GRUCell(3),
            ]
        )
        outputs, state = tf.nn.dynamic_rnn(
            cell, inputs, sequence_length=lengths, dtype=tf.float32, scope="rnn"
        )
        logits = tf.contrib.layers.fully_connected(
            outputs, len(TAGS), activation_fn=None, scope="project"
        )
    tags = tf.argmax(logits, axis=-1, output_type=tf.int32)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode,
            predictions={"tags": tags, "ids": ids, "lengths": lengths, "state": state[-1]},
        )
    mask = tf.sequence_mask(lengths, LENGTH, dtype=tf.float32)
    loss = tf.contrib.seq2seq.sequence_loss(logits, tf.maximum(labels, 0), mask)
    if mode == tf.estimator.ModeKeys.EVAL:

        def metric_fn(labels, tags, mask):
            return {"accuracy": tf.metrics.accuracy(labels, tags, weights=mask)}

        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, tags, mask])
        )
    optimizer = tf.train.AdamOptimizer(0.1)
    if params["use_tpu"]:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    train_op = optimizer.apply_gradients(
        zip(gradients, variables), global_step=tf.train.get_global_step()
    )
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def main(_):
    with tf.gfile.Open(os.path.join(FLAGS.data_dir, "vocab.txt")) as lines:
        vocab = len(lines.read().split())
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu) if FLAGS.use_tpu else None
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn,
        config=tf.contrib.tpu.RunConfig(
            cluster=resolver,
            model_dir=FLAGS.model_dir,
            tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=4),
        ),
        params={"vocab": vocab},
        use_tpu=FLAGS.use_tpu,
        train_batch_size=4,
        eval_batch_size=2,
        predict_batch_size=4,
    )
    estimator.train(input_fn, max_steps=FLAGS.max_steps)
    result = estimator.evaluate(lambda params: input_fn(params, repeat=False), steps=3)
    print("accuracy %.6f" % result["accuracy"])
    for number, prediction in enumerate(estimator.predict(predict_input_fn)):
        tags = [TAGS[tag] for tag in prediction["tags"][: prediction["lengths"]]]
        state = " ".join("%.6f" % value for value in prediction["state"])
        print("line %d: %s | %s" % (number, " ".join(tags), state))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
