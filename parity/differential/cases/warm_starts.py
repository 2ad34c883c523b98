"""Warm starts: which variables are taken from where, and when they are not."""

from __future__ import annotations

import pathlib

from parity.differential.cases.small_models import linear, linear_estimator, rows
from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    outside_placeholder,
    tf,
    variables,
)


def first_run(folder, steps=3):
    linear_estimator(folder).train(rows(), steps=steps)
    return folder


def renamed(features, labels, mode, params=None):
    with tf.variable_scope("inner"):
        return linear(features, labels, mode)


def from_settings(folder, settings, model_fn=linear, steps=1):
    estimator = linear_estimator(folder, model_fn, warm_start_from=settings)
    estimator.train(rows(), steps=steps)
    return variables(folder)


@case
def warm_start_from_folder(folder):
    return from_settings(folder + "/b", first_run(folder + "/a"))


@case
def warm_start_from_checkpoint_path(folder):
    return from_settings(folder + "/b", first_run(folder + "/a") + "/model.ckpt-3")


@case
def warm_start_of_some_variables(folder):
    first_run(folder + "/a")
    out = []
    for patterns in (".*", "w", "b", ["w"], ["^w"], [".*"], [], None, "nothing"):
        settings = est.WarmStartSettings(folder + "/a", vars_to_warm_start=patterns)
        result = error_of(from_settings, folder + "/" + str(len(out)), settings)
        out.append([str(patterns), result])
    return out


@case
def warm_start_renamed_variables(folder):
    first_run(folder + "/a")
    names = {"inner/w": "w", "inner/b": "b"}
    settings = est.WarmStartSettings(folder + "/a", var_name_to_prev_var_name=names)
    return from_settings(folder + "/b", settings, renamed)


@case
def warm_start_of_absent_variables(folder):
    first_run(folder + "/a")
    return error_of(from_settings, folder + "/b", folder + "/a", renamed)


@case
def warm_start_from_nothing(folder):
    pathlib.Path(folder, "empty").mkdir()
    return [
        error_of(from_settings, folder + "/b", folder + "/empty")[:2],
        error_of(from_settings, folder + "/c", folder + "/no/such")[:2],
        error_of(from_settings, folder + "/d", 5)[:2],
    ]


@case
def warm_start_once(folder):
    """A run that resumes takes its own checkpoint, not the other's again."""
    first_run(folder + "/a")
    estimator = linear_estimator(folder + "/b", warm_start_from=folder + "/a")
    estimator.train(rows(), steps=1)
    first = variables(folder + "/b")
    estimator.train(rows(), steps=2)
    return [first, variables(folder + "/b")]


@case
def warm_start_without_training(folder):
    """Evaluation and prediction of an estimator that has only a warm start."""
    first_run(folder + "/a")
    estimator = linear_estimator(folder + "/b", warm_start_from=folder + "/a")
    return [
        error_of(estimator.evaluate, rows(repeat=1)),
        error_of(lambda: list(estimator.predict(rows(repeat=1, labels=False)))),
    ]


@case
def warm_start_shape_mismatch(folder):
    first_run(folder + "/a")

    def wider(features, labels, mode):
        tf.get_variable("w", [5, 1])
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return est.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=step)

    return error_of(from_settings, folder + "/b", folder + "/a", wider)[0]


@case
def warm_start_partitioned(folder):
    """A variable in parts from one that was whole."""

    def parts(pieces):
        def model_fn(features, labels, mode):
            partitioner = tf.fixed_size_partitioner(pieces) if pieces > 1 else None
            with tf.variable_scope("net", partitioner=partitioner):
                table = tf.get_variable("t", [6, 2], initializer=tf.ones_initializer())
            loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(table) - tf.reduce_sum(features)))
            optimizer = tf.train.GradientDescentOptimizer(0.01)
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
            return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return model_fn

    linear_estimator(folder + "/a", parts(1)).train(rows(), steps=2)
    return [
        from_settings(folder + "/b", folder + "/a", parts(3)),
        from_settings(folder + "/c", folder + "/b", parts(2)),
        from_settings(folder + "/d", folder + "/b", parts(1)),
    ]


def vocabulary(folder, name, words):
    path = pathlib.Path(folder, name)
    path.write_text("\n".join(words) + "\n")
    return str(path)


@case
def warm_start_with_another_vocabulary(folder):
    """An embedding's rows follow their words to other places."""

    def model(path, size):
        column = tf.feature_column.categorical_column_with_vocabulary_file("word", path, size)
        embedded = tf.feature_column.embedding_column(
            column, 2, initializer=tf.truncated_normal_initializer(seed=1)
        )

        def model_fn(features, labels, mode):
            x = tf.feature_column.input_layer(features, [embedded])
            loss = tf.reduce_sum(tf.square(x - 1.0))
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
            return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return model_fn

    data = lambda: tf.data.Dataset.from_tensors({"word": [["a"], ["c"]]}).repeat()
    old = vocabulary(folder, "old.txt", ["a", "b", "c"])
    new = vocabulary(folder, "new.txt", ["c", "d", "a", "e"])
    linear_estimator(folder + "/a", model(old, 3)).train(data, steps=3)
    name = "input_layer/word_embedding/embedding_weights"
    info = est.VocabInfo(new, 4, 0, old, backup_initializer=tf.constant_initializer(0.25))
    settings = est.WarmStartSettings(folder + "/a", var_name_to_vocab_info={name: info})
    estimator = linear_estimator(folder + "/b", model(new, 4), warm_start_from=settings)
    estimator.train(data, steps=1)
    return [variables(folder + "/a"), variables(folder + "/b")]


@case
def warm_start_from_saved_model(folder):
    first_run(folder + "/a")
    receiver = est.export.build_raw_serving_input_receiver_fn({"x": outside_placeholder([None, 2])})
    path = linear_estimator(folder + "/a").export_saved_model(folder + "/export", receiver)
    return from_settings(folder + "/b", path.decode() + "/variables/variables")


@case
def warm_start_canned(folder):
    """The weights of one classifier for another with one more class."""
    columns = [tf.feature_column.numeric_column("x", [2])]

    def make(path, units, **options):
        return est.DNNClassifier(
            units, columns, n_classes=2, config=config(path), optimizer="Adagrad", **options
        )

    make(folder + "/a", [3, 2]).train(rows(key="x"), steps=2)
    weights = variables(folder + "/a")
    some_weights = est.WarmStartSettings(folder + "/a", vars_to_warm_start="dnn/hiddenlayer_0/.*")
    out = [sorted(weights)]
    for settings in (folder + "/a", some_weights):
        path = folder + "/b%d" % len(out)
        make(path, [3, 2], warm_start_from=settings).train(rows(key="x"), steps=1)
        after = variables(path)
        out.append({k: v for k, v in after.items() if k.startswith("dnn/hiddenlayer_0")})
    return out


@case
def init_from_checkpoint_in_model(folder):
    """Fine-tuning as BERT's programs did it, by tf.train.init_from_checkpoint."""
    first_run(folder + "/a")

    def tuned(features, labels, mode):
        spec = renamed(features, labels, mode)
        tf.train.init_from_checkpoint(folder + "/a", {"/": "inner/"})
        return spec

    def some(features, labels, mode):
        spec = renamed(features, labels, mode)
        tf.train.init_from_checkpoint(folder + "/a", {"w": "inner/w"})
        return spec

    def wrong(features, labels, mode):
        spec = renamed(features, labels, mode)
        tf.train.init_from_checkpoint(folder + "/a", {"zz": "inner/w"})
        return spec

    return [
        error_of(from_settings, folder + "/%d" % i, None, model_fn)[: 3 if i < 2 else 2]
        for i, model_fn in enumerate((tuned, some, wrong))
    ]


@case
def warm_start_settings_repr(folder):
    settings = est.WarmStartSettings("/p", ["a"], {}, {"x": "y"})
    return [
        settings._fields,
        settings._asdict(),
        error_of(est.WarmStartSettings)[:2],
    ]
