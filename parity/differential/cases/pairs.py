"""Two estimators at a time: in one folder, in turns, one within the other."""

from __future__ import annotations

from parity.differential.cases.small_models import linear, linear_estimator, rows
from parity.differential.tools import captured_log, case, config, error_of, est, np, tf, variables


def other(features, labels, mode):
    """A model with variables of the same names and other shapes."""
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(w * tf.reduce_mean(features, 0) - 1.0))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return est.EstimatorSpec(
        mode, loss=loss, train_op=train_op, predictions={"p": w + 0 * features}
    )


@case
def pair_in_turns(folder):
    first = linear_estimator(folder + "/a")
    second = est.Estimator(other, config=config(folder + "/b"))
    for _ in range(2):
        first.train(rows(), steps=2)
        second.train(rows(), steps=1)
    return [variables(folder + "/a"), variables(folder + "/b")]


@case
def pair_of_one_folder(folder):
    """One trains, the other evaluates what it wrote."""
    trainer = linear_estimator(folder)
    reader = linear_estimator(folder)
    out = []
    for _ in range(2):
        trainer.train(rows(), steps=2)
        out.append(reader.evaluate(rows(repeat=1)))
        out.append(next(reader.predict(rows(repeat=1, labels=False))))
    return out


@case
def pair_trained_in_hook(folder):
    """A hook of one trains another."""

    class Inner(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            second = est.Estimator(other, config=config(folder + "/b"))
            second.train(rows(), steps=1)

    linear_estimator(folder + "/a").train(rows(), steps=2, hooks=[Inner()])
    return [variables(folder + "/a"), variables(folder + "/b")]


@case
def pair_evaluated_in_hook(folder):
    """A hook evaluates the estimator that is training, from its last checkpoint."""
    out = []
    estimator = linear_estimator(folder, save_checkpoints_steps=1)

    class Inner(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            out.append(estimator.evaluate(rows(repeat=1)))

    estimator.train(rows(), steps=3, hooks=[Inner()])
    return [[sorted(result), int(result["global_step"]) >= 0] for result in out]


@case
def pair_evaluated_in_listener(folder):
    """A listener evaluates what was just saved."""
    out = []
    estimator = linear_estimator(folder, save_checkpoints_steps=2)

    class Inner(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            out.append([int(global_step_value), estimator.evaluate(rows(repeat=1))])

    estimator.train(rows(), steps=4, saving_listeners=[Inner()])
    return out


@case
def pair_predictions_interleaved(folder):
    first = linear_estimator(folder + "/a")
    second = est.Estimator(other, config=config(folder + "/b"))
    first.train(rows(), steps=1)
    second.train(rows(), steps=1)
    data = rows(batch=1, repeat=1, labels=False)
    a, b = first.predict(data), second.predict(data)
    out = []
    for _ in range(3):
        out += [next(a), next(b)]
    return out


@case
def pair_predictions_as_input(folder):
    """The predictions of one are the input of the other, by a generator."""
    first = linear_estimator(folder + "/a")
    first.train(rows(), steps=1)

    def predictions():
        for row in first.predict(rows(repeat=1, labels=False)):
            yield np.array([row["y"][0], 1.0], np.float32)

    def data():
        return tf.data.Dataset.from_generator(predictions, tf.float32, [2]).batch(2)

    second = est.Estimator(other, config=config(folder + "/b"))
    second.train(data)
    return variables(folder + "/b")


@case
def pair_within_graph(folder):
    """An estimator trains another while a graph of the program's is the default one."""
    with tf.Graph().as_default():
        tf.get_variable("w", [7])
        linear_estimator(folder + "/a").train(rows(), steps=1)
        est.Estimator(other, config=config(folder + "/b")).train(rows(), steps=1)
        names = [v.name for v in tf.global_variables()]
    return [names, variables(folder + "/a"), variables(folder + "/b")]


@case
def pair_within_model_fn(folder):
    """A model_fn that asks another estimator for its predictions."""
    teacher = linear_estimator(folder + "/a")
    teacher.train(rows(), steps=2)

    def student(features, labels, mode):
        taught = np.array([row["y"] for row in teacher.predict(rows(repeat=1, labels=False))])
        y = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer(), name="student")
        loss = tf.reduce_mean(tf.square(y - taught[:3]))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    est.Estimator(student, config=config(folder + "/b")).train(rows(), steps=2)
    return variables(folder + "/b")


@case
def pair_of_seeds(folder):
    """Two configs of one seed draw the same first weights, one without draws its own."""

    def net(features, labels, mode):
        tf.get_variable("drawn", [3], initializer=tf.random_normal_initializer())
        return linear(features, labels, mode)

    weights = []
    for seed in (5, 5, 6):
        path = folder + "/%d" % len(weights)
        linear_estimator(path, net, tf_random_seed=seed).train(rows(), steps=1)
        weights.append(variables(path)["drawn"])
    return [
        np.array_equal(weights[0], weights[1]),
        np.array_equal(weights[0], weights[2]),
        weights[0],
    ]


@case
def pair_of_subclasses_sharing_model_fn(folder):
    """params of one do not reach the other."""

    def scaled(features, labels, mode, params):
        return linear(features * params["scale"], labels, mode)

    shared = {"scale": 2.0}
    first = linear_estimator(folder + "/a", scaled, params=shared)
    shared["scale"] = 3.0
    second = linear_estimator(folder + "/b", scaled, params=shared)
    with captured_log():
        first.train(rows(), steps=1)
        second.train(rows(), steps=1)
    return [
        first.params,
        second.params,
        variables(folder + "/a"),
        variables(folder + "/b"),
        error_of(lambda: first.params.update(scale=9.0)) and first.params,
    ]
