"""Corners of the hooks' protocol: contexts, arguments, results, and hooks that do little."""

from __future__ import annotations

import collections

from parity.differential.cases.small_models import X, linear, linear_estimator, rows
from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    events,
    plain,
    repeat,
    tf,
    variables,
)

Hook = tf.train.SessionRunHook
Args = tf.train.SessionRunArgs


def train(folder, *hooks, steps=3, model_fn=linear, **settings):
    linear_estimator(folder, model_fn, **settings).train(rows(), steps=steps, hooks=list(hooks))
    return variables(folder)


@case
def context_attributes(folder):
    log = []

    class Look(Hook):
        def before_run(self, run_context):
            names = [name for name in dir(run_context) if not name.startswith("_")]
            log.append([type(run_context).__name__, names, run_context.stop_requested])
            log.append([plain(run_context.original_args.fetches) is not None])
            log.append(type(run_context.original_args.feed_dict).__name__)
            log.append(run_context.session.graph is tf.get_default_graph())

        def after_run(self, run_context, run_values):
            log.append([type(run_values).__name__, list(run_values._fields)])
            log.append(plain(run_values.results))

    train(folder, Look(), steps=1)
    return log


@case
def hook_with_nothing(folder):
    return train(folder, Hook())


@case
def hook_of_another_class(folder):
    """Methods of the right names, and no base class."""

    class Duck:
        def begin(self):
            pass

    return error_of(train, folder, Duck())[:2]


@case
def results_by_structure(folder):
    """The structure of run_values.results for each structure of fetches."""
    Pair = collections.namedtuple("Pair", "first second")
    log = []

    class Fetch(Hook):
        def __init__(self, make):
            self.make = make

        def begin(self):
            graph = tf.get_default_graph()
            self.loss = graph.get_tensor_by_name("mse:0")
            self.noop = tf.no_op()

        def before_run(self, run_context):
            return Args(self.make(self))

        def after_run(self, run_context, run_values):
            results = run_values.results
            log.append([type(results).__name__, plain(results)])

    for make in (
        lambda hook: hook.loss,
        lambda hook: [hook.loss],
        lambda hook: (hook.loss, [hook.loss]),
        lambda hook: {"l": hook.loss},
        lambda hook: Pair(hook.loss, "mse:0"),
        lambda hook: collections.OrderedDict([("z", hook.loss), ("a", hook.loss)]),
        lambda hook: hook.noop,
        lambda hook: [hook.noop, hook.loss],
        lambda hook: [],
        lambda hook: {},
        lambda hook: "mse:0",
        lambda hook: b"mse:0",
    ):
        error = error_of(train, folder + "/%d" % len(log), Fetch(make), steps=1)
        if error[0] == "error":
            log.append(error[:2])
    return log


@case
def fetch_nothing(folder):
    log = []

    class Fetch(Hook):
        def before_run(self, run_context):
            return Args(None)

        def after_run(self, run_context, run_values):
            log.append(plain(run_values.results))

    return [error_of(train, folder, Fetch()), log]


@case
def before_run_returns_wrong_type(folder):
    class Wrong(Hook):
        def before_run(self, run_context):
            return {"loss": "mse:0"}

    return error_of(train, folder, Wrong())[:2]


@case
def sparse_and_ragged_fetches(folder):
    log = []

    class Fetch(Hook):
        def begin(self):
            dense = tf.constant([[1.0, 0.0], [0.0, 2.0]])
            self.sparse = tf.sparse.from_dense(dense)

        def before_run(self, run_context):
            return Args({"sparse": self.sparse})

        def after_run(self, run_context, run_values):
            value = run_values.results["sparse"]
            log.append([type(value).__name__, plain(value.values), plain(value.dense_shape)])

    train(folder, Fetch(), steps=1)
    return log


@case
def one_hook_given_twice(folder):
    log = []

    class Count(Hook):
        def begin(self):
            log.append("begin")

        def after_run(self, run_context, run_values):
            log.append("after")

        def end(self, session):
            log.append("end")

    hook = Count()
    train(folder, hook, hook, steps=2)
    return log


@case
def hooks_of_every_place(folder):
    """Those of the spec, of the chief, of the call, and the order of their calls."""
    log = []

    class Named(Hook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            log.append("begin " + self.name)

        def after_create_session(self, session, coord):
            log.append("created " + self.name)

        def before_run(self, run_context):
            log.append("before " + self.name)

        def after_run(self, run_context, run_values):
            log.append("after " + self.name)

        def end(self, session):
            log.append("end " + self.name)

    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        return spec._replace(
            training_hooks=[Named("spec")],
            training_chief_hooks=[Named("chief")],
            evaluation_hooks=[Named("evaluation")],
            prediction_hooks=[Named("prediction")],
        )

    train(folder, Named("call"), steps=1, model_fn=model_fn)
    estimator = linear_estimator(folder, model_fn)
    log.append("--")
    estimator.evaluate(rows(repeat=1), steps=1, hooks=[Named("call")])
    log.append("--")
    next(estimator.predict(rows(repeat=1, labels=False), hooks=[Named("call")]))
    return log


@case
def graph_finalized_for_hooks(folder):
    """New operations are refused once the session is made."""
    log = []

    class Late(Hook):
        def after_create_session(self, session, coord):
            log.append(error_of(lambda: tf.constant(1.0) and 0)[:2])

        def after_run(self, run_context, run_values):
            log.append(error_of(lambda: tf.constant(2.0) and 0)[:2])

        def end(self, session):
            log.append(error_of(lambda: tf.constant(3.0) and 0)[:2])

    train(folder, Late(), steps=1)
    return log


@case
def coordinator_of_hooks(folder):
    log = []

    class Look(Hook):
        def after_create_session(self, session, coord):
            self.coord = coord
            log.append([type(coord).__name__, coord.should_stop(), coord.joined])

        def before_run(self, run_context):
            log.append(self.coord.should_stop())

        def end(self, session):
            log.append(self.coord.should_stop())

    train(folder, Look(), steps=2)
    return log


@case
def stop_asked_twice(folder):
    log = []

    class Stop(Hook):
        def __init__(self, name):
            self.name = name

        def after_run(self, run_context, run_values):
            log.append([self.name, run_context.stop_requested])
            run_context.request_stop()

    return [train(folder, Stop("a"), Stop("b"), steps=5), log]


@case
def stop_in_evaluation(folder):
    train(folder)

    class Stop(Hook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    estimator = linear_estimator(folder)
    metrics = estimator.evaluate(rows(batch=1, repeat=1), hooks=[Stop()])
    whole_metrics = estimator.evaluate(rows(batch=1, repeat=1))
    return [metrics, whole_metrics]


@case
def variable_set_by_hook(folder):
    """A hook loads a value into a variable, as programs that schedule by hand did."""

    class Load(Hook):
        def begin(self):
            self.variable = tf.trainable_variables()[0]
            self.value = tf.placeholder(tf.float32, [2, 1])
            self.assign = tf.assign(self.variable, self.value).op

        def after_create_session(self, session, coord):
            session.run(self.assign, {self.value: [[1.0], [2.0]]})

        def end(self, session):
            session.run(self.assign, {self.value: [[8.0], [9.0]]})

    first = train(folder, Load())
    return [first, train(folder, Load(), steps=1)]


@case
def variable_load_method(folder):
    """tf.Variable.load, which was deprecated and used all the same."""

    class Load(Hook):
        def after_create_session(self, session, coord):
            tf.trainable_variables()[0].load([[1.0], [2.0]], session)

    return error_of(train, folder, Load())


@case
def learning_rate_fed_by_hook(folder):
    """A learning rate that is a placeholder with a default, fed by a hook each step."""

    def model_fn(features, labels, mode):
        rate = tf.placeholder_with_default(0.1, [], name="rate")
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(features, w)), name="mse")
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        tf.summary.scalar("rate", rate)
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    class Feed(Hook):
        step = 0

        def before_run(self, run_context):
            self.step += 1
            return Args(None, feed_dict={"rate:0": 0.5 / self.step})

    result = train(folder, Feed(), model_fn=model_fn, save_summary_steps=1)
    return [result, [row for row in events(folder) if row[0].startswith("rate")]]


@case
def session_in_threads_of_hook(folder):
    """A thread of a hook's reads a weight while steps run."""
    import threading

    log = []

    class Watch(Hook):
        def after_create_session(self, session, coord):
            self.weight = tf.trainable_variables()[0]

            def read_weight():
                log.append(list(session.run(self.weight).shape))

            self.thread = threading.Thread(target=read_weight)
            self.thread.start()

        def end(self, session):
            self.thread.join(20)

    return [train(folder, Watch()), log]


@case
def subclass_of_ready_hook(folder):
    """A LoggingTensorHook and a StopAtStepHook with methods of their own."""
    log = []

    class Stop(tf.train.StopAtStepHook):
        def after_run(self, run_context, run_values):
            log.append("after")
            super().after_run(run_context, run_values)

    return [train(folder, Stop(num_steps=2), steps=None), log]


@case
def feed_fn_for_named_placeholder(folder):
    def model_fn(features, labels, mode):
        scale = tf.placeholder_with_default(1.0, [], name="scale")
        return linear(features * scale, labels, mode)

    return train(folder, tf.train.FeedFnHook(lambda: {"scale:0": 3.0}), model_fn=model_fn)


@case
def global_step_waiter_and_others(folder):
    """Hooks of TensorFlow that a single machine needs no more, and that old programs gave."""
    hooks = [
        tf.train.GlobalStepWaiterHook(0),
        tf.train.StepCounterHook(every_n_steps=1, output_dir=folder + "/c"),
        tf.train.StopAtStepHook(last_step=2),
    ]
    result = train(folder, *hooks, steps=5)
    return [result["global_step"], sorted({row[0] for row in events(folder + "/c", skip=())})]


@case
def assert_in_model_reaches_hooks(folder):
    log = []

    class Look(Hook):
        def end(self, session):
            log.append("end")

    def model_fn(features, labels, mode):
        step = tf.train.get_global_step()
        check = tf.Assert(step < 1, ["step", step])
        with tf.control_dependencies([check]):
            return linear(tf.identity(features), labels, mode)

    result = error_of(train, folder, Look(), model_fn=model_fn)
    return [result[:2], log, variables(folder)]


@case
def labels_and_constant_features(folder):
    """A dataset of one element that repeats, and hooks that change nothing."""
    estimator = linear_estimator(folder)
    estimator.train(repeat(X[:2]), steps=2, hooks=[Hook(), Hook()])
    return [variables(folder), config(folder).model_dir == folder]
