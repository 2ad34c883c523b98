"""tf.contrib in a program that turned TensorFlow 2's behavior off, as TF1 programs do.

Variables are references then, loops are TensorFlow 1's, and tensors compare by identity.
"""

from engine import run_program

PROGRAM = """
    import sys

    import numpy as np
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()

    from estimator_bridge_contrib import (
        crf, data, framework, lookup, losses, metrics, opt, summary, training,
    )

    folder = sys.argv[1]
    step = tf.train.get_or_create_global_step()

    rows = tf.data.Dataset.range(8).apply(data.map_and_batch(lambda x: x, 4, drop_remainder=True))
    batch = tf.data.make_one_shot_iterator(rows).get_next()
    words = lookup.index_to_string_table_from_tensor(list("abcdefgh"))
    assert batch.shape[0].value == 4

    x = tf.cast(batch, tf.float32)
    correlation = metrics.streaming_pearson_correlation(x, 3.0 - 2.0 * x)
    concatenated = metrics.streaming_concat(x)

    potentials = tf.constant(np.eye(3, dtype=np.float32)[None])
    likelihood, transitions = crf.crf_log_likelihood(potentials, [[0, 1, 2]], tf.constant([3]))
    tags, _ = crf.crf_decode(potentials, tf.zeros([3, 3]), tf.constant([3]))

    w = framework.model_variable("w", shape=[2], initializer=tf.ones_initializer())
    assert framework.get_variables_by_name("w") == [w]
    losses.mean_squared_error(w, [0.0, 0.0])
    optimizer = opt.AdamWOptimizer(0.1, 0.0)
    train_op = training.create_train_op(
        losses.get_total_loss(), optimizer, variables_to_train=[w]
    )
    writer = summary.create_file_writer(folder)
    with writer.as_default(), summary.record_summaries_every_n_global_steps(1):
        summary.scalar("weight", w[0], step=step)

    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([tf.tables_initializer(), summary.summary_writer_initializer_op()])
        print(session.run(words.lookup(batch)).tolist())
        session.run([correlation[1], concatenated[1]])
        print(round(float(session.run(correlation[0])), 5), session.run(concatenated[0]).tolist())
        print(session.run(tags).tolist(), np.isfinite(session.run(likelihood)).tolist())
        session.run(tf.gradients(likelihood, transitions.value())[0])
        session.run(train_op)
        print(session.run(w), int(session.run(step)))
        session.run(summary.all_summary_ops())
        session.run(summary.flush(writer))
    (file,) = tf.gfile.ListDirectory(folder)
    for event in tf.train.summary_iterator(folder + "/" + file):
        for value in event.summary.value:
            print(event.step, value.tag, round(value.simple_value, 4))
"""


def test_a_program_of_tensorflow_1(tmp_path):
    assert run_program(PROGRAM, [str(tmp_path)]) == [
        "[b'a', b'b', b'c', b'd']",
        "-1.0 [4.0, 5.0, 6.0, 7.0]",
        "[[0, 1, 2]] [True]",
        "[0.9 0.9] 1",
        "1 weight 0.9",
    ]
