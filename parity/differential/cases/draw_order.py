"""Times at which an input is drawn from, relative to session runs, hooks and callers.

Each input counts its draws, and answers what was asked last. An original that reads ahead draws
more, and answers older requests: here ``draws`` may be fewer and ``answers`` newer, not vice versa.
"""

from __future__ import annotations

import contextlib
import pathlib
import socket
import time

from parity.differential.outcome import no_less, no_more
from parity.differential.tools import case, config, error_of, est, np, tf

_QUIET_SECS, _MOST_SECS = 0.1, 3.0


class Source:
    """Answers each draw with the last request, and counts the draws."""

    def __init__(self):
        self.request, self.draws = 1.0, 0

    def read(self, *_):
        self.draws += 1
        return np.float32(self.request)

    def generate(self):
        while True:
            yield self.read()

    def generator(self):
        return tf.data.Dataset.from_generator(self.generate, tf.float32, [])

    def settled(self):
        """Returns the number of draws when no thread reads further ahead."""
        start = since = time.monotonic()
        count = self.draws
        while time.monotonic() - since < _QUIET_SECS and time.monotonic() - start < _MOST_SECS:
            time.sleep(0.01)
            if self.draws != count:
                count, since = self.draws, time.monotonic()
        return count


def scalar(call, source, *inputs):
    return tf.reshape(call(source.read, list(inputs), tf.float32), [])


def numbers():
    return tf.data.Dataset.range(1000)


def batches(source):
    return source.generator().batch(1)


def mapped_and_batched(source):
    return source.generator().map(lambda x: x + 0.0).batch(1)


def batched_and_mapped(source):
    return source.generator().batch(1).map(lambda x: x + 0.0)


def mapped_in_parallel(source):
    return source.generator().batch(1).map(lambda x: x + 0.0, num_parallel_calls=2)


def prefetched(source):
    return source.generator().batch(1).prefetch(1)


def taken_and_repeated(source):
    return source.generator().take(50).repeat().batch(1)


def interleaved(source):
    return numbers().interleave(lambda _: source.generator().batch(1), cycle_length=1)


def flat_mapped(source):
    return numbers().flat_map(lambda _: source.generator().batch(1))


def filtered(source):
    return source.generator().filter(lambda x: x > -1.0).batch(1)


def zipped(source):
    return tf.data.Dataset.zip((source.generator(), numbers())).map(lambda x, _: x).batch(1)


def shuffled(source):
    return source.generator().shuffle(2).batch(1)


def by_py_func(source):
    return numbers().map(lambda i: scalar(tf.py_func, source, i)).batch(1)


def by_py_function(source):
    return numbers().map(lambda i: scalar(tf.py_function, source, i)).batch(1)


def by_numpy_function(source):
    return numbers().map(lambda i: scalar(tf.numpy_function, source, i)).batch(1)


def tensors(source):
    return tf.reshape(scalar(tf.py_func, source), [1])


def one_shot(source):
    return tf.data.make_one_shot_iterator(batches(source)).get_next()


def one_shot_and_py_func(source):
    number = tf.data.make_one_shot_iterator(numbers()).get_next()
    return tf.reshape(scalar(tf.py_func, source, number), [1])


def initializable(source):
    iterator = tf.data.make_initializable_iterator(batches(source))
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def feedable(source):
    """Another iterator, which a handle names."""
    iterator = tf.data.make_one_shot_iterator(batches(source))
    handle = iterator.string_handle()
    return tf.data.Iterator.from_string_handle(handle, tf.float32, tf.TensorShape([1])).get_next()


def queued(source):
    rows = tf.py_func(source.read, [], tf.float32)
    rows.set_shape([])
    return tf.train.batch([rows], 1, capacity=1)


def outcome_of(draws, answers, least_counts):
    """Returns draws and answers, and whether each point had the draws that it needs."""
    are_enough = [count >= least for count, least in zip(draws, least_counts)]
    return {"draws": no_more(draws), "answers": no_less(answers), "are enough": are_enough}


def model_fn(features, labels, mode, params):
    """Notes each step within the graph, if params have a ``note``."""
    weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
    x = tf.reshape(tf.cast(features, tf.float32), [-1])
    tf.add_to_collection("x", x)
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions=x * weight)
    if params.get("note"):
        x = tf.reshape(tf.py_func(params["note"], [x], tf.float32), [1])
    loss = tf.reduce_sum(x) * weight
    train_op = tf.train.GradientDescentOptimizer(0.0).minimize(loss, tf.train.get_global_step())
    metrics = {"mean": tf.metrics.mean(x)}
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def estimator(folder, note=None, **settings):
    settings.setdefault("save_summary_steps", None)
    return est.Estimator(model_fn, config=config(folder, **settings), params={"note": note})


def predict(folder, form, hooks=None):
    """The caller asks again before each ``next()``."""
    source, draws, answers = Source(), [], []
    predictions = estimator(folder).predict(lambda: form(source), hooks=hooks)
    for request in range(1, 5):
        source.request = float(request)
        answers.append(float(next(predictions)))
        draws.append(source.settled())
    predictions.close()
    return outcome_of(draws, answers, range(1, 5))


class Ask(tf.train.SessionRunHook):
    """Asks again before each run, and notes the draws around it."""

    def __init__(self, source):
        self.source, self.draws, self.answers = source, [], []

    def before_run(self, run_context):
        self.source.request = len(self.answers) + 1.0
        self.draws.append(self.source.settled())
        return tf.train.SessionRunArgs(tf.get_collection("x")[0])

    def after_run(self, run_context, run_values):
        self.answers.append(float(run_values.results[0]))
        self.draws.append(self.source.settled())

    @property
    def outcome(self):
        return outcome_of(self.draws, self.answers, [(i + 1) // 2 for i in range(len(self.draws))])


def train(folder, form):
    source = Source()
    ask = Ask(source)
    estimator(folder).train(lambda: form(source), steps=4, hooks=[ask])
    return ask.outcome


def evaluate(folder, form):
    source = Source()
    ask = Ask(source)
    estimator(folder).train(lambda: tf.constant([1.0]), steps=1)
    estimator(folder).evaluate(lambda: form(source), steps=4, hooks=[ask])
    return ask.outcome


class Steps:
    """Asks again within each step, by a Python function of the graph, and notes the draws."""

    def __init__(self):
        self.source, self.draws, self.answers = Source(), [], []

    @property
    def note(self):
        """A function of no object: estimators copy their params."""

        def note(x):
            self.answers.append(float(x[0]))
            self.draws.append(self.source.settled())
            self.source.request = len(self.answers) + 1.0
            return x

        return note

    @property
    def outcome(self):
        return outcome_of(self.draws, self.answers, range(1, 1 + len(self.draws)))


def trained_without_hooks(folder, form):
    steps = Steps()
    estimator(folder, steps.note).train(lambda: form(steps.source), steps=5)
    return [steps.outcome, no_more(steps.source.settled())]


def evaluated_without_hooks(folder, form):
    steps = Steps()
    estimator(folder).train(lambda: tf.constant([1.0]), steps=1)
    estimator(folder, steps.note).evaluate(lambda: form(steps.source), steps=5)
    return [steps.outcome, no_more(steps.source.settled())]


@case(races="2.15 prefetches by itself")
def predicted_batches(folder):
    return predict(folder, batches)


@case(races="2.15 prefetches by itself")
def predicted_mapped_and_batched(folder):
    return predict(folder, mapped_and_batched)


@case(races="2.15 prefetches by itself")
def predicted_batched_and_mapped(folder):
    return predict(folder, batched_and_mapped)


@case(races="the program draws in threads")
def predicted_mapped_in_parallel(folder):
    return predict(folder, mapped_in_parallel)


@case(races="the program draws in threads")
def predicted_prefetched(folder):
    return predict(folder, prefetched)


@case(races="2.15 prefetches by itself")
def predicted_taken_and_repeated(folder):
    return predict(folder, taken_and_repeated)


@case(races="2.15 prefetches by itself")
def predicted_interleaved(folder):
    return predict(folder, interleaved)


@case(races="2.15 prefetches by itself")
def predicted_flat_mapped(folder):
    return predict(folder, flat_mapped)


@case(races="2.15 prefetches by itself")
def predicted_filtered(folder):
    return predict(folder, filtered)


@case(races="2.15 prefetches by itself")
def predicted_zipped(folder):
    return predict(folder, zipped)


@case(races="2.15 prefetches by itself")
def predicted_shuffled(folder):
    return predict(folder, shuffled)


@case(races="2.15 prefetches by itself")
def predicted_by_py_func(folder):
    return predict(folder, by_py_func)


@case(races="2.15 prefetches by itself")
def predicted_by_py_function(folder):
    return predict(folder, by_py_function)


@case(races="2.15 prefetches by itself")
def predicted_by_numpy_function(folder):
    return predict(folder, by_numpy_function)


@case
def predicted_tensors(folder):
    return predict(folder, tensors)


@case(races="2.15 prefetches by itself")
def predicted_one_shot(folder):
    return predict(folder, one_shot)


@case
def predicted_one_shot_and_py_func(folder):
    return predict(folder, one_shot_and_py_func)


@case(races="2.15 prefetches by itself")
def predicted_initializable(folder):
    return predict(folder, initializable)


@case(races="2.15 prefetches by itself")
def predicted_feedable(folder):
    return predict(folder, feedable)


@case(races="the program draws in threads")
def predicted_queued(folder):
    return predict(folder, queued)


@case(races="2.15 prefetches by itself")
def trained_batches(folder):
    return train(folder, batches)


@case(races="2.15 prefetches by itself")
def trained_mapped_and_batched(folder):
    return train(folder, mapped_and_batched)


@case(races="2.15 prefetches by itself")
def trained_by_py_func(folder):
    return train(folder, by_py_func)


@case
def trained_tensors(folder):
    return train(folder, tensors)


@case(races="2.15 prefetches by itself")
def trained_one_shot(folder):
    return train(folder, one_shot)


@case(races="2.15 prefetches by itself")
def trained_initializable(folder):
    return train(folder, initializable)


@case(races="the program draws in threads")
def trained_queued(folder):
    return train(folder, queued)


@case(races="2.15 prefetches by itself")
def evaluated_batches(folder):
    return evaluate(folder, batches)


@case(races="2.15 prefetches by itself")
def evaluated_mapped_and_batched(folder):
    return evaluate(folder, mapped_and_batched)


@case(races="2.15 prefetches by itself")
def evaluated_one_shot(folder):
    return evaluate(folder, one_shot)


@case(races="2.15 prefetches by itself")
def trained_without_hooks_batches(folder):
    return trained_without_hooks(folder, batches)


@case(races="2.15 prefetches by itself")
def trained_without_hooks_mapped_and_batched(folder):
    return trained_without_hooks(folder, mapped_and_batched)


@case(races="2.15 prefetches by itself")
def trained_without_hooks_interleaved(folder):
    return trained_without_hooks(folder, interleaved)


@case(races="2.15 prefetches by itself")
def trained_without_hooks_by_py_func(folder):
    return trained_without_hooks(folder, by_py_func)


@case
def trained_without_hooks_tensors(folder):
    return trained_without_hooks(folder, tensors)


@case(races="2.15 prefetches by itself")
def trained_without_hooks_one_shot(folder):
    return trained_without_hooks(folder, one_shot)


@case(races="2.15 prefetches by itself")
def evaluated_without_hooks_batches(folder):
    return evaluated_without_hooks(folder, batches)


@case(races="2.15 prefetches by itself")
def evaluated_without_hooks_mapped_and_batched(folder):
    return evaluated_without_hooks(folder, mapped_and_batched)


@case
def evaluated_without_hooks_tensors(folder):
    return evaluated_without_hooks(folder, tensors)


@case(races="2.15 prefetches by itself")
def predicted_with_hooks(folder):
    return predict(folder, batches, [tf.train.SessionRunHook()])


@case(races="2.15 prefetches by itself")
def predicted_from_socket(folder):
    """A service that answers what the caller sent."""
    caller, service = socket.socketpair()

    def serve():
        while True:
            request = service.recv(1)
            if not request:
                return
            yield np.float32(request[0])

    data = lambda: tf.data.Dataset.from_generator(serve, tf.float32, []).batch(1)
    predictions, answers = estimator(folder).predict(data), []
    with contextlib.closing(service), contextlib.closing(caller):
        for request in range(1, 5):
            caller.send(bytes([request]))
            answers.append(float(next(predictions)))
        caller.shutdown(socket.SHUT_WR)
        rest = list(predictions)
    return [answers, rest]


@case(races="2.15 prefetches by itself")
def predicted_from_rewritten_file(folder):
    path = pathlib.Path(folder, "rows")

    def data():
        return numbers().flat_map(lambda _: tf.data.TextLineDataset(str(path))).batch(1)

    predictions, answers = None, []
    for request in range(1, 5):
        path.write_text("%d\n" % request)
        if predictions is None:
            rows = lambda: data().map(tf.strings.to_number)
            predictions = estimator(folder + "/m").predict(rows)
        answers.append(float(next(predictions)))
        time.sleep(_QUIET_SECS)
    predictions.close()
    return no_less(answers)


@case(races="2.15 prefetches by itself")
def trained_from_rewritten_file(folder):
    """A hook writes the next file."""
    path = pathlib.Path(folder, "rows")
    path.write_text("1\n")
    answers = []

    class Write(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(tf.get_collection("x")[0])

        def after_run(self, run_context, run_values):
            time.sleep(_QUIET_SECS)
            answers.append(float(run_values.results[0]))
            path.write_text("%d\n" % (len(answers) + 1))

    def data():
        lines = numbers().flat_map(lambda _: tf.data.TextLineDataset(str(path)))
        return lines.map(tf.strings.to_number).batch(1)

    estimator(folder + "/m").train(data, steps=4, hooks=[Write()])
    return no_less(answers)


@case(races="2.15 prefetches by itself")
def draws_at_saves(folder):
    """A listener counts at each checkpoint: steps in between run without hooks."""
    source, draws = Source(), []

    class Count(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            draws.append([int(global_step_value), no_more(source.settled())])

    settings = {"save_checkpoints_steps": 2}
    estimator(folder, **settings).train(
        lambda: batches(source), steps=6, saving_listeners=[Count()]
    )
    return draws


@case(races="2.15 prefetches by itself")
def draws_before_nan(folder):
    """Nothing is drawn after the step whose loss is NaN."""
    source = Source()

    def note(x):
        return x * np.float32("nan" if source.draws >= 3 else 1.0)

    result = error_of(lambda: estimator(folder, note).train(lambda: batches(source), steps=9) and 0)
    return [result[:2], no_more(source.settled())]


@case(races="2.15 prefetches by itself")
def draws_before_stop(folder):
    """Nothing is drawn after a hook's request to stop."""
    source = Source()

    class Stop(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if source.draws >= 2:
                run_context.request_stop()

    estimator(folder).train(lambda: batches(source), steps=9, hooks=[Stop()])
    return no_more(source.settled())


@case
def draws_of_nothing(folder):
    """max_steps has been reached."""
    source = Source()
    estimator(folder).train(lambda: tf.constant([1.0]), steps=2)
    estimator(folder).train(lambda: batches(source), max_steps=2)
    return source.settled()


@case(races="2.15 prefetches by itself")
def draws_by_session_and_step(folder):
    """A hook draws between the steps, by a session run of its own, and asks before each draw."""
    source, answers, draws = Source(), [], []

    class Draw(tf.train.SessionRunHook):
        def before_run(self, run_context):
            source.request = len(answers) + 1.0
            return tf.train.SessionRunArgs(tf.get_collection("x")[0])

        def after_run(self, run_context, run_values):
            answers.append(float(run_values.results[0]))
            draws.append(source.settled())
            source.request = len(answers) + 1.0
            answers.append(float(run_context.session.run(tf.get_collection("x")[0])[0]))
            draws.append(source.settled())

    estimator(folder).train(lambda: batches(source), steps=3, hooks=[Draw()])
    return outcome_of(draws, answers, range(1, 7))


@case(races="2.15 prefetches by itself")
def draws_in_outer_loop(folder):
    """train_and_evaluate draws as many as its steps need, of each input."""
    train, evaluation = Source(), Source()
    train_spec = est.TrainSpec(lambda: batches(train), max_steps=4)
    eval_spec = est.EvalSpec(lambda: batches(evaluation), steps=3)
    est.train_and_evaluate(estimator(folder), train_spec, eval_spec)
    return [no_more(train.settled()), no_more(evaluation.settled())]
