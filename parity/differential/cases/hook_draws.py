"""Sessions' runs within hooks that need the batch: they draw the input's next element."""

from __future__ import annotations

import pathlib

from parity.differential.tools import (
    captured_log,
    case,
    config,
    error_of,
    est,
    np,
    plain,
    tf,
    variables,
)

COUNT = 12


class Draw(tf.train.SessionRunHook):
    """Fetches the batch with the step, and draws another after it, if it is to."""

    def __init__(self, log, when=lambda call: True):
        self.log, self.when, self.call = log, when, 0

    def before_run(self, run_context):
        self.call += 1
        return tf.train.SessionRunArgs(tf.get_collection("batch")[0])

    def after_run(self, run_context, run_values):
        self.log.append(["step", plain(run_values.results)])
        if self.when(self.call):
            batch = tf.get_collection("batch")[0]
            self.log.append(["drawn", error_of(run_context.session.run, batch)])


def model_fn(features, labels, mode):
    x = features["x"] if isinstance(features, dict) else features
    x = tf.cast(x, tf.float32)
    tf.add_to_collection("batch", x)
    weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(x) + 0.0 * weight
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"x": tf.reshape(x, [-1])})
    add = tf.assign_add(weight, tf.reduce_sum(x))
    tf.add_to_collection("add", add)
    with tf.control_dependencies([add]):
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
    metrics = {"mean": tf.metrics.mean(x)}
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def trace(folder, input_fn, steps=3, when=lambda call: True):
    log = []
    estimator = est.Estimator(model_fn, config=config(folder))
    result = error_of(lambda: estimator.train(input_fn, steps=steps, hooks=[Draw(log, when)]) and 0)
    return [result[:2], log, variables(folder)]


@case
def draw_from_dataset(folder):
    return trace(folder, lambda: tf.data.Dataset.range(COUNT))


@case
def draw_from_one_shot_iterator(folder):
    return trace(
        folder, lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.range(COUNT)).get_next()
    )


@case
def draw_from_initializable_iterator(folder):
    def input_fn():
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(COUNT))
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return iterator.get_next()

    return trace(folder, input_fn)


@case
def draw_from_numpy_input_fn(folder):
    x = np.arange(COUNT, dtype=np.float32)
    make = est.inputs.numpy_input_fn({"x": x}, batch_size=2, num_epochs=1, shuffle=False)
    return trace(folder, make)


@case
def draw_from_queue(folder):
    input_fn = lambda: tf.train.range_input_producer(COUNT, shuffle=False).dequeue()
    return trace(folder, input_fn)


@case
def draw_from_text_reader(folder):
    path = pathlib.Path(folder, "lines")
    path.write_text("".join("%d\n" % i for i in range(COUNT)))

    def input_fn():
        queue = tf.train.string_input_producer([str(path)], num_epochs=1, shuffle=False)
        _, line = tf.TextLineReader().read(queue)
        return tf.train.batch([tf.strings.to_number(line)], 2)

    return trace(folder + "/m", input_fn)


@case
def draw_from_generator(folder):
    calls = []

    def generate():
        for i in range(COUNT):
            calls.append(i)
            yield float(i)

    result = trace(folder, lambda: tf.data.Dataset.from_generator(generate, tf.float32, []))
    return [result, len(calls) >= 6]


@case
def draw_from_tensors(folder):
    return trace(folder, lambda: tf.constant([1.0, 2.0]))


@case
def draw_from_random_tensors(folder):
    """A random op is the input: each run draws."""
    result = trace(folder, lambda: tf.random_uniform([], seed=3))
    values = [row[1] if row[0] == "step" else row[1][1] for row in result[1]]
    return [result[0], len(set(values))]


@case
def draw_from_shuffled_dataset(folder):
    return trace(folder, lambda: tf.data.Dataset.range(COUNT).shuffle(COUNT, seed=4).repeat())


@case
def draw_from_nested_features(folder):
    def input_fn():
        data = tf.data.Dataset.range(COUNT).map(lambda i: {"x": i, "more": (i, [i])})
        return data.batch(2)

    return trace(folder, input_fn)


@case
def draw_now_and_then(folder):
    return trace(
        folder, lambda: tf.data.Dataset.range(COUNT), steps=5, when=lambda call: call % 2 == 0
    )


@case
def draw_beyond_the_end(folder):
    """The hook takes the last elements: the training ends."""
    return trace(folder, lambda: tf.data.Dataset.range(5), steps=None)


@case
def draw_in_evaluation(folder):
    estimator = est.Estimator(model_fn, config=config(folder))
    estimator.train(lambda: tf.data.Dataset.range(2))
    log = []
    data = lambda: tf.data.Dataset.range(6)
    result = error_of(estimator.evaluate, data, hooks=[Draw(log, lambda call: call == 1)])
    return [result, log]


@case
def draw_in_prediction(folder):
    estimator = est.Estimator(model_fn, config=config(folder))
    estimator.train(lambda: tf.data.Dataset.range(2))
    log = []
    data = lambda: tf.data.Dataset.range(6)
    hook = Draw(log, lambda call: call == 1)
    return [error_of(lambda: list(estimator.predict(data, hooks=[hook]))), log]


@case
def draw_for_train_op(folder):
    """A hook that runs an update which reads the batch, as GAN estimators train."""

    class Train(tf.train.SessionRunHook):
        def before_run(self, run_context):
            run_context.session.run(tf.get_collection("add")[0])

    estimator = est.Estimator(model_fn, config=config(folder))
    result = error_of(
        lambda: (
            estimator.train(lambda: tf.data.Dataset.range(COUNT), steps=3, hooks=[Train()]) and 0
        )
    )
    return [result[:2], variables(folder)]


@case
def draw_at_start(folder):
    """after_create_session draws the first element."""
    log = []

    class First(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            log.append(error_of(session.run, tf.get_collection("batch")[0])[:2])

    estimator = est.Estimator(model_fn, config=config(folder))
    data = lambda: tf.data.Dataset.range(COUNT)
    result = error_of(lambda: estimator.train(data, steps=3, hooks=[First(), Draw(log)]) and 0)
    return [result[:2], log, variables(folder)]


@case
def draw_in_end(folder):
    log = []

    class Last(tf.train.SessionRunHook):
        def end(self, session):
            log.append(error_of(session.run, tf.get_collection("batch")[0])[:2])

    estimator = est.Estimator(model_fn, config=config(folder))
    data = lambda: tf.data.Dataset.range(COUNT)
    result = error_of(lambda: estimator.train(data, steps=3, hooks=[Last()]) and 0)
    return [result[:2], log, variables(folder)]


@case
def draw_in_listener(folder):
    """A listener that looks at a batch when it saves."""
    log = []

    class Look(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            batch = session.run(tf.get_collection("batch")[0])
            log.append([int(global_step_value), plain(batch)])

    estimator = est.Estimator(model_fn, config=config(folder, save_checkpoints_steps=2))
    data = lambda: tf.data.Dataset.range(COUNT)
    result = error_of(lambda: estimator.train(data, steps=4, saving_listeners=[Look()]) and 0)
    return [result[:2], log, variables(folder)]


@case
def draw_with_feed(folder):
    """With the batch fed, nothing is drawn."""
    log = []

    class Fed(tf.train.SessionRunHook):
        def begin(self):
            self.double = tf.get_collection("batch")[0] * 2.0

        def after_run(self, run_context, run_values):
            batch = tf.get_collection("batch")[0]
            log.append(plain(run_context.session.run(self.double, {batch: 9.0})))

    estimator = est.Estimator(model_fn, config=config(folder))
    data = lambda: tf.data.Dataset.range(COUNT)
    result = error_of(lambda: estimator.train(data, steps=3, hooks=[Fed()]) and 0)
    return [result[:2], log, variables(folder)]


@case
def draw_by_logger_at_end(folder):
    estimator = est.Estimator(model_fn, config=config(folder))

    class Late(tf.train.LoggingTensorHook):
        def begin(self):
            self._tensors = {"batch": tf.get_collection("batch")[0]}
            self._tag_order = ["batch"]
            super().begin()

    hook = Late({"batch": "none"}, at_end=True, formatter=lambda values: "F %g" % values["batch"])
    with captured_log() as lines:
        estimator.train(lambda: tf.data.Dataset.range(COUNT), steps=3, hooks=[hook])
    return [line for line in lines if line.startswith("F ")]
