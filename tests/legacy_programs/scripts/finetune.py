"""Fine-tunes a pretrained sentence encoder, after the pattern of BERT's programs.

The encoder's weights come from a checkpoint by `init_from_checkpoint`, on a TPU in a
`scaffold_fn`; the optimizer is the program's own; the classifier is predicted with and exported.
"""

import collections
import os
import re

import tensorflow as tf

import lamb  # isort: skip

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "Where checkpoints go.")
flags.DEFINE_string("init_checkpoint", None, "A pretrained encoder.")
flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
tf.flags.DEFINE_string("tpu_name", None, "The TPU's name.")
tf.flags.DEFINE_string("tpu_zone", None, "[Optional] Its zone.")
tf.flags.DEFINE_string("master", None, "[Optional] TensorFlow master URL.")
flags.DEFINE_integer("num_tpu_cores", 8, "TPU cores.")
flags.DEFINE_integer("num_train_steps", 4, "Steps to train up to.")

WORDS, WIDTH, LENGTH = 12, 8, 5


def sentences(count):
    return [[(7 * i + 3 * j * j) % WORDS for j in range(LENGTH)] for i in range(count)]


def input_fn_builder(count, is_training):
    def input_fn(params):
        words = sentences(count)
        labels = [sum(sentence) % 2 for sentence in words]
        d = tf.data.Dataset.from_tensor_slices(
            {
                "input_ids": tf.constant(words, shape=[count, LENGTH], dtype=tf.int32),
                "label_ids": tf.constant(labels, shape=[count], dtype=tf.int32),
            }
        )
        if is_training:
            d = d.repeat()
        return d.batch(batch_size=params["batch_size"], drop_remainder=is_training)

    return input_fn


def encoder(input_ids, use_one_hot_embeddings):
    with tf.variable_scope("encoder"):
        with tf.variable_scope("embeddings"):
            table = tf.get_variable(
                "word_embeddings", [WORDS, WIDTH],
                initializer=tf.truncated_normal_initializer(stddev=0.02, seed=3),
            )  # fmt: skip
            flat = tf.reshape(input_ids, [-1])
            if use_one_hot_embeddings:
                output = tf.matmul(tf.one_hot(flat, depth=WORDS), table)
            else:
                output = tf.gather(table, flat)
            output = tf.reshape(output, [-1, input_ids.shape[1].value, WIDTH])
            output = tf.contrib.layers.layer_norm(
                inputs=output, begin_norm_axis=-1, begin_params_axis=-1, scope="LayerNorm"
            )
        with tf.variable_scope("pooler"):
            return tf.layers.dense(
                tf.reduce_mean(output, axis=1), WIDTH, activation=tf.tanh,
                kernel_initializer=tf.truncated_normal_initializer(stddev=0.3, seed=4),
            )  # fmt: skip


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
    names = collections.OrderedDict()
    for var in tvars:
        match = re.match("^(.*):\\d+$", var.name)
        names[match.group(1) if match else var.name] = var
    assignment_map = collections.OrderedDict()
    for name, _ in tf.train.list_variables(init_checkpoint):
        if name in names:
            assignment_map[name] = name
    return assignment_map


def model_fn_builder(init_checkpoint, learning_rate, num_train_steps, use_tpu):
    def model_fn(features, labels, mode, params):
        tf.logging.info("*** Features ***")
        for name in sorted(features.keys()):
            tf.logging.info("  name = %s, shape = %s", name, features[name].shape)
        label_ids = features["label_ids"]
        pooled = encoder(features["input_ids"], use_tpu)
        output_weights = tf.get_variable(
            "output_weights", [2, WIDTH],
            initializer=tf.truncated_normal_initializer(stddev=0.02, seed=6),
        )  # fmt: skip
        output_bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
        logits = tf.nn.bias_add(tf.matmul(pooled, output_weights, transpose_b=True), output_bias)
        log_probs = tf.nn.log_softmax(logits, axis=-1)
        per_example_loss = -tf.reduce_sum(tf.one_hot(label_ids, 2) * log_probs, axis=-1)
        total_loss = tf.reduce_mean(per_example_loss)

        scaffold_fn = None
        if init_checkpoint:
            assignment_map = get_assignment_map_from_checkpoint(
                tf.trainable_variables(), init_checkpoint
            )
            if use_tpu:

                def tpu_scaffold():
                    tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
                    return tf.train.Scaffold()

                scaffold_fn = tpu_scaffold
            else:
                tf.train.init_from_checkpoint(init_checkpoint, assignment_map)

        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = lamb.create_optimizer(total_loss, learning_rate, num_train_steps, 2, use_tpu)
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=total_loss, train_op=train_op, scaffold_fn=scaffold_fn
            )
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(per_example_loss, label_ids, logits):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                return {
                    "eval_accuracy": tf.metrics.accuracy(label_ids, predictions),
                    "eval_loss": tf.metrics.mean(values=per_example_loss),
                }

            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=total_loss, scaffold_fn=scaffold_fn,
                eval_metrics=(metric_fn, [per_example_loss, label_ids, logits]),
            )  # fmt: skip
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions={"probabilities": tf.exp(log_probs)}, scaffold_fn=scaffold_fn
        )

    return model_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(FLAGS.output_dir)
    tpu_cluster_resolver = None
    if FLAGS.use_tpu and FLAGS.tpu_name:
        tpu_cluster_resolver = tf.contrib.cluster_resolver.TPUClusterResolver(
            FLAGS.tpu_name, zone=FLAGS.tpu_zone
        )
    run_config = tf.contrib.tpu.RunConfig(
        cluster=tpu_cluster_resolver,
        master=FLAGS.master,
        model_dir=FLAGS.output_dir,
        save_checkpoints_steps=1,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=1,
            num_shards=FLAGS.num_tpu_cores,
            per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn_builder(FLAGS.init_checkpoint, 0.1, FLAGS.num_train_steps, FLAGS.use_tpu),
        config=run_config,
        train_batch_size=8,
        eval_batch_size=8,
        predict_batch_size=8,
    )
    estimator.train(input_fn=input_fn_builder(16, True), max_steps=FLAGS.num_train_steps)

    result = estimator.evaluate(input_fn=input_fn_builder(16, False), steps=2)
    with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "eval_results.txt"), "w") as writer:
        for key in sorted(result.keys()):
            tf.logging.info("  %s = %s", key, str(result[key]))
            writer.write("%s = %s\n" % (key, str(result[key])))

    predictions = estimator.predict(input_fn=input_fn_builder(13, False))
    with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "test_results.tsv"), "w") as writer:
        for prediction in predictions:
            row = "\t".join(str(p) for p in prediction["probabilities"])
            writer.write(row + "\n")


if __name__ == "__main__":
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
