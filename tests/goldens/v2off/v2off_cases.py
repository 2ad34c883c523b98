"""Values of variables with v2 behavior off: only those that were the same in every run.

    python tests/goldens/v2off/v2off_cases.py FILE            # the original's, see make_v2off.py
    python tests/goldens/v2off/v2off_cases.py FILE --bridge   # the same of estimator_bridge

Runs on TensorFlow 1.15 (Python 3.7), on 2.15 and on today's.
"""

import json
import sys
import tempfile

import numpy as np
import tensorflow

is_tf1 = tensorflow.__version__.startswith("1.")
tf = tensorflow if is_tf1 else tensorflow.compat.v1
CASES = {}
X = np.array([1.0, 2.0], np.float32)


def case(function):
    """Adds a case: a function of the estimator module that returns what it saw."""
    CASES[function.__name__] = function
    return function


class Fetch(tf.train.SessionRunHook):
    """Fetches in each step, by functions of what the model keeps."""

    def __init__(self, fetches):
        self._fetches, self.rows = fetches, []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._fetches())

    def after_run(self, run_context, run_values):
        self.rows.append(run_values.results)


class Collect(tf.train.SessionRunHook):
    """Runs something of its own after each step."""

    def __init__(self, run):
        self._run, self.rows = run, []

    def after_run(self, run_context, run_values):
        self.rows.append(self._run(run_context.session))


def batches():
    return tf.data.Dataset.from_tensors(X).repeat()


def weight(name="w"):
    return tf.get_variable(name, [2], initializer=tf.ones_initializer())


def minimized(loss, rate=0.1):
    return tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())


def trained(est, model, steps=3, hooks=(), folder=None):
    """Trains ``model(features)``, which returns a loss and a train_op; returns the variables."""

    def model_fn(features, labels, mode):
        loss, train_op = model(features)
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    folder = folder or tempfile.mkdtemp()
    config = est.RunConfig(folder, tf_random_seed=7)
    est.Estimator(model_fn, config=config).train(batches, steps=steps, hooks=list(hooks))
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
    return {name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())}


def squared(tensors):
    """A model of one weight; ``tensors`` takes its loss, weight and train_op."""

    def model(features):
        w = weight()
        loss = tf.reduce_sum(tf.square(w * features - 3.0), name="the_loss")
        tensors.update(w=w, loss=loss, early=w.value(), copied=tf.identity(w))
        tensors["train"] = train = minimized(loss, 0.05)
        tensors["stopped"], tensors["again"] = tf.stop_gradient(w), w.read_value()
        return loss, train

    return model


@case
def fetches_beside_the_step(est):
    tensors = {}

    def fetches():
        step = tf.train.get_global_step()
        names = {name: name for name in ("w:0", "w/read:0", "global_step:0", "the_loss:0")}
        return dict(tensors, step=step, **names)

    hook = Fetch(fetches)
    trained(est, squared(tensors), hooks=[hook])
    return hook.rows


@case
def step_as_list(est):
    hook = Fetch(lambda: [tf.train.get_global_step(), "the_loss:0"])
    trained(est, squared({}), hooks=[hook])
    return hook.rows


@case
def logged_every_third_step(est):
    rows = []

    def formatter(values):
        rows.append(dict(values))
        return f"step {values['global_step']}"

    tensors = ["global_step", "the_loss", "w"]
    hook = tf.train.LoggingTensorHook(tensors, every_n_iter=3, formatter=formatter)
    trained(est, squared({}), steps=8, hooks=[hook])
    return rows


@case
def reads_after_the_update(est):
    tensors, fetched = {}, {}

    def model(features):
        loss, train = squared(tensors)(features)
        step = tf.train.get_global_step()
        with tf.control_dependencies([train]):
            fetched["early"] = tensors["early"] * 1.0
            fetched["copied"] = tensors["copied"] * 1.0
            fetched["new"] = tensors["w"] * 1.0
            fetched["by name"] = tf.get_default_graph().get_tensor_by_name("w/read:0") * 1.0
            fetched["step"] = step + 0
            waits = tf.identity(tensors["early"])
        with tf.control_dependencies([tf.no_op()]):
            fetched["through"] = waits * 1.0
        return loss, train

    hook = Fetch(lambda: fetched)
    trained(est, model, hooks=[hook])
    return hook.rows


@case
def what_needs_an_assignment_sees_it(est):
    fetched = {}

    def model(features):
        v = tf.get_variable("v", initializer=1.0, trainable=False)
        value = v.value()
        with tf.control_dependencies([features]):
            doubled = tf.assign(v, value * 2.0)
        fetched["sum"] = value + 0.0 * tf.identity(doubled)
        fetched["product"] = v * (doubled * 0.0 + 1.0)
        loss = tf.reduce_sum(tf.square(weight() * features - 3.0))
        with tf.control_dependencies([minimized(loss)]):
            return loss, tf.group(doubled)

    hook = Fetch(lambda: fetched)
    trained(est, model, hooks=[hook])
    return hook.rows


@case
def a_sessions_runs(est):
    tensors = {}

    def model(features):
        loss, train = squared({})(features)
        v = tf.get_variable("v", initializer=1.0, trainable=False)
        tensors["v"], tensors["one"] = v, tf.assign_add(v, 1.0)
        with tf.control_dependencies([tensors["one"]]):
            tensors["ten"] = tf.assign_add(v, 10.0)
        return loss, train

    def run(session):
        return [
            session.run([tensors["v"], tensors["one"]]),
            session.run([tensors["one"], tensors["ten"], "v:0"]),
            session.run("v/read:0"),
        ]

    hook = Collect(run)
    trained(est, model, hooks=[hook])
    return hook.rows


@case
def tensors_by_name_in_a_model(est):
    seen = []

    def model(features):
        x = tf.layers.dense(features[None], 1, name="d", kernel_initializer=tf.ones_initializer())
        graph = tf.get_default_graph()
        kernel, read = map(graph.get_tensor_by_name, ("d/kernel:0", "d/kernel/read:0"))
        seen.append([str(kernel.dtype.base_dtype), read.shape.as_list()])
        loss = tf.reduce_sum(tf.square(x - 1.0)) + tf.nn.l2_loss(kernel) + tf.reduce_sum(read)
        return loss, minimized(loss)

    return [trained(est, model), seen]


@case
def slots_beside_the_step(est):
    """Adam's slots are of the kind of their weight, its powers of that of the first weight."""

    def fetches():
        tensors = ["w", "w/Adam", "w/Adam_1", "beta1_power"]
        by_name = {name: name + ":0" for name in ("w/Adam", "w/Adam_1", "beta1_power")}
        every = {variable.op.name: variable for variable in tf.global_variables()}
        return {name: every[name] for name in tensors}, by_name

    def model(features):
        w = weight()
        z = tf.get_variable("z", [2], initializer=tf.ones_initializer(), use_resource=True)
        loss = tf.reduce_sum(tf.square(w * features - 3.0) + tf.square(z))
        adam = tf.train.AdamOptimizer(0.1)
        return loss, adam.minimize(loss, tf.train.get_global_step(), var_list=[w, z])

    hook = Fetch(fetches)
    trained(est, model, hooks=[hook])
    return hook.rows


@case
def adam_in_a_branch(est):
    def model(features):
        loss = tf.reduce_sum(tf.square(weight() * features - 3.0))
        step = tf.train.get_global_step()
        adam = tf.train.AdamOptimizer(0.01, 0.8, 0.9, 1e-3)
        pairs = adam.compute_gradients(loss)
        train = tf.cond(
            tf.equal(step % 2, 0),
            lambda: adam.apply_gradients(pairs, step),
            lambda: tf.group(tf.assign_add(step, 1)),
        )
        return loss, train

    return trained(est, model, steps=4)


@case
def variables_of_branches(est):
    def model(features):
        loss = tf.reduce_sum(tf.square(weight() * features - 3.0))

        def inner():
            with tf.name_scope("deep"):
                v = tf.Variable(lambda: tf.constant(3.0), name="v", trainable=False)
            return v + 0.0

        def branch():
            plain = tf.Variable(lambda: tf.constant(1.0), trainable=False)
            with tf.variable_scope("named"):
                got = tf.get_variable("got", initializer=lambda: tf.constant(2.0), trainable=False)
            return plain + got + tf.cond(features[0] > 0.0, inner, lambda: tf.constant(0.0))

        with tf.name_scope("outer"):
            choice = tf.cond(features[1] > 0.0, branch, lambda: tf.constant(0.0), name="choice")
        with tf.control_dependencies([choice]):
            return loss, minimized(loss)

    return trained(est, model)


@case
def a_variable_that_grows(est):
    def model(features):
        loss = tf.reduce_sum(tf.square(weight() * features - 3.0))
        v = tf.Variable(np.zeros([1], np.float32), validate_shape=False, name="v")
        longer = tf.concat([tf.reshape(v.read_value(), [-1]), features[:1]], 0)
        with tf.control_dependencies([tf.assign(v, longer, validate_shape=False)]):
            return loss, minimized(loss)

    return trained(est, model)


@case
def switch_and_merge(est):
    from tensorflow.python.ops import control_flow_ops

    hook = Fetch(lambda: {"step": tf.train.get_global_step(), "w": "w:0"})

    def model(features):
        w = weight()
        no, yes = control_flow_ops.switch(tf.reduce_sum(tf.square(w * features)), features[0] > 0)
        loss, _ = control_flow_ops.merge([no * 2.0, yes * 3.0])
        return loss, minimized(loss, 0.01)

    return [trained(est, model, hooks=[hook]), hook.rows]


@case
def counts_of_an_evaluation(est):
    def model_fn(features, labels, mode):
        loss = tf.reduce_sum(weight() * features)
        metrics = {"m": tf.metrics.mean(loss, name="m")}
        return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    hook = Fetch(lambda: ["m/total:0", "m/count:0", tf.train.get_global_step()])
    estimator = est.Estimator(model_fn, config=est.RunConfig(tempfile.mkdtemp()))
    result = estimator.evaluate(batches, steps=3, hooks=[hook])
    return [{name: float(value) for name, value in result.items()}, hook.rows]


@case
def a_resource_variable_among_them(est):
    def model(features):
        loss, train = squared({})(features)
        counter = tf.get_variable("kept", initializer=5.0, trainable=False, use_resource=True)
        with tf.control_dependencies([train]):
            one = tf.reduce_sum(features) * 0.0 + 1.0
        return loss, tf.group(train, tf.assign_add(counter, one))

    hook = Fetch(lambda: ["kept/Read/ReadVariableOp:0", "w:0"])
    return [trained(est, model, hooks=[hook]), hook.rows]


@case
def a_tpu_estimator_without_a_tpu(est):
    def model_fn(features, labels, mode, params):
        loss, train = squared({})(features)
        return est.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train)

    hook = Fetch(lambda: [tf.train.get_global_step(), "w:0"])
    estimator = est.tpu.TPUEstimator(
        model_fn, config=est.tpu.RunConfig(), use_tpu=False, train_batch_size=2
    )
    estimator.train(lambda params: batches(), steps=3, hooks=[hook])
    return hook.rows


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def main(path, is_bridge):
    """Writes what each case saw."""
    if is_bridge:
        import estimator_bridge

        estimator_bridge.install()
    if not is_tf1:
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    with open(path, "w") as file:
        rows = (
            f"{json.dumps(name)}: {json.dumps(plain(run(tf.estimator)), sort_keys=True)}"
            for name, run in CASES.items()
        )
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1], "--bridge" in sys.argv)
