"""Canned estimators with feature columns: both versions' classes, trained a few steps."""

from __future__ import annotations

from parity.differential.tools import (
    V2_OFF,
    case,
    config,
    error_of,
    est,
    events,
    np,
    outside_placeholder,
    tf,
    tf2,
    variables,
)

fc = tf.feature_column
A = np.array([0.1, 0.9, 0.4, 0.7, 0.3, 0.8], np.float32)
WORDS = np.array(["a", "b", "c", "a", "z", "b"])
CLASSES = np.array([0, 1, 2, 1, 0, 2], np.int64)
BINARY = np.array([0, 1, 1, 1, 0, 0], np.int64)
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0], np.float32)


def data(labels=BINARY, repeat=None, batch=3, weights=False):
    def input_fn():
        features = {"a": A, "s": WORDS}
        if weights:
            features["w"] = WEIGHTS
        both = features if labels is None else (features, labels)
        return tf.data.Dataset.from_tensor_slices(both).batch(batch).repeat(repeat)

    return input_fn


def wide():
    words = fc.categorical_column_with_vocabulary_list("s", ["a", "b", "c"])
    buckets = fc.bucketized_column(fc.numeric_column("a"), [0.35, 0.75])
    return [words, buckets, fc.crossed_column([buckets, "s"], 5)]


def deep():
    words = fc.categorical_column_with_vocabulary_list("s", ["a", "b", "c"], num_oov_buckets=1)
    initializer = tf.truncated_normal_initializer(seed=1, stddev=0.3)
    return [fc.numeric_column("a"), fc.embedding_column(words, 2, initializer=initializer)]


def outcome(folder, estimator, labels=BINARY, weights=False, steps=3, is_random=False):
    """Training, evaluation and predictions; of a model with drawn weights only their names."""
    estimator.train(data(labels, weights=weights), steps=steps)
    values = variables(folder)
    evaluation = estimator.evaluate(data(labels, 1, weights=weights))
    predictions = list(estimator.predict(data(None, 1, weights=weights)))
    if is_random:
        shapes = {name: list(np.shape(value)) for name, value in values.items()}
        return [shapes, sorted(evaluation), sorted(predictions[0]), len(predictions)]
    return [values, evaluation, predictions]


def both_versions(name):
    """The V1 class, and the V2 class where there is one and V2 can run."""
    classes = [getattr(est, name)]
    newer = getattr(tf2.estimator, name)
    return classes if V2_OFF else [*classes, newer]


def each_version(folder, name, labels=BINARY, is_random=False, **arguments):
    out = []
    for kind in both_versions(name):
        path = folder + "/%d" % len(out)
        estimator = kind(config=config(path), **arguments)
        weights = arguments.get("weight_column") is not None
        out.append(outcome(path, estimator, labels, weights, is_random=is_random))
    return out


@case
def linear_classifier(folder):
    return each_version(folder, "LinearClassifier", feature_columns=wide())


@case
def linear_classifier_of_three(folder):
    return each_version(
        folder,
        "LinearClassifier",
        CLASSES,
        feature_columns=wide(),
        n_classes=3,
        optimizer="Adagrad",
    )


@case
def linear_classifier_with_vocabulary_and_weights(folder):
    names = np.array(["no", "yes"])[BINARY]
    return each_version(
        folder,
        "LinearClassifier",
        names,
        feature_columns=wide(),
        label_vocabulary=["no", "yes"],
        weight_column="w",
        sparse_combiner="mean",
    )


@case
def linear_regressor(folder):
    return each_version(folder, "LinearRegressor", A * 2, feature_columns=wide(), weight_column="w")


@case
def linear_regressor_of_two(folder):
    labels = np.stack([A, 1 - A], 1)
    return each_version(
        folder, "LinearRegressor", labels, feature_columns=wide(), label_dimension=2
    )


@case
def dnn_classifier_names(folder):
    """Hidden layers are drawn: their names and shapes."""
    return each_version(
        folder, "DNNClassifier", is_random=True, feature_columns=deep(), hidden_units=[4, 3]
    )


@case
def dnn_regressor_names(folder):
    return each_version(
        folder,
        "DNNRegressor",
        A,
        is_random=True,
        feature_columns=deep(),
        hidden_units=[4],
        batch_norm=True,
        dropout=0.1,
        activation_fn=tf.nn.tanh,
    )


@case
def wide_and_deep_names(folder):
    return each_version(
        folder,
        "DNNLinearCombinedClassifier",
        CLASSES,
        is_random=True,
        n_classes=3,
        linear_feature_columns=wide(),
        dnn_feature_columns=deep(),
        dnn_hidden_units=[3],
    )


@case
def wide_only(folder):
    return each_version(folder, "DNNLinearCombinedRegressor", A, linear_feature_columns=wide())


@case
def baseline_classifier(folder):
    return each_version(folder, "BaselineClassifier", CLASSES, n_classes=3)


@case
def baseline_regressor(folder):
    return each_version(folder, "BaselineRegressor", A, weight_column="w")


@case
def dnn_estimator_with_head(folder):
    if V2_OFF:
        head = est.MultiClassHead(3) if hasattr(est, "MultiClassHead") else None
        kind = est.LinearEstimator
    else:
        head, kind = tf2.estimator.MultiClassHead(3), tf2.estimator.LinearEstimator
    estimator = kind(head, wide(), config=config(folder))
    return error_of(outcome, folder, estimator, CLASSES)


@case(only="v2on")
def linear_with_keras_optimizer(folder):
    optimizer = tf2.keras.optimizers.legacy.Adam(0.1)
    estimator = tf2.estimator.LinearClassifier(wide(), optimizer=optimizer, config=config(folder))
    return outcome(folder, estimator)


@case
def linear_with_v1_optimizer_function(folder):
    """An optimizer given as a function, which may read the global step."""

    def optimizer():
        rate = tf.train.exponential_decay(0.5, tf.train.get_global_step(), 2, 0.5)
        return tf.train.FtrlOptimizer(rate, l1_regularization_strength=0.01)

    estimator = est.LinearClassifier(wide(), optimizer=optimizer, config=config(folder))
    return outcome(folder, estimator)


@case
def canned_export(folder):
    estimator = est.LinearClassifier(wide(), config=config(folder + "/m"))
    estimator.train(data(), steps=3)
    spec = fc.make_parse_example_spec(wide())
    receivers = [
        est.export.build_parsing_serving_input_receiver_fn(spec),
        est.export.build_raw_serving_input_receiver_fn(
            {"a": outside_placeholder([None]), "s": outside_placeholder([None], tf.string)}
        ),
    ]
    out = [sorted((k, str(v)) for k, v in spec.items())]
    for receiver in receivers:
        path = estimator.export_saved_model(folder + "/e", receiver).decode()
        with tf.Graph().as_default(), tf.Session() as session:
            graph = tf.saved_model.loader.load(session, ["serve"], path)
            signatures = {
                key: [s.method_name, sorted(s.inputs), sorted(s.outputs)]
                for key, s in graph.signature_def.items()
            }
            predict = graph.signature_def["predict"]
            if "examples" in predict.inputs:
                feed = {predict.inputs["examples"].name: [example(0.4, b"b")]}
            else:
                feed = {predict.inputs["a"].name: [0.4], predict.inputs["s"].name: ["b"]}
            results = {key: session.run(t.name, feed) for key, t in predict.outputs.items()}
        out.append([signatures, results])
    return out


def example(a, word):
    features = {
        "a": tf.train.Feature(float_list=tf.train.FloatList(value=[a])),
        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[word])),
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


@case
def canned_summaries(folder):
    estimator = est.LinearClassifier(wide(), config=config(folder, save_summary_steps=1))
    estimator.train(data(), steps=2)
    estimator.evaluate(data(repeat=1))
    tags = sorted({(row[0], row[1]) for row in events(folder)})
    return [tags, events(folder + "/eval")]


@case
def canned_bad_labels(folder):
    out = []
    for labels in (
        np.array([0, 1, 2, 1, 0, 3]),
        np.array([0.5] * 6, np.float32),
        np.array(["a"] * 6),
        np.zeros([6, 2], np.int64),
        -np.ones([6], np.int64),
    ):
        estimator = est.LinearClassifier(wide(), config=config(folder + "/%d" % len(out)))
        out.append(error_of(lambda: estimator.train(data(labels), steps=2) and 0)[:2])
    return out


@case
def canned_bad_arguments(folder):
    columns = deep()
    attempts = [
        lambda: est.DNNClassifier([4], columns, n_classes=1),
        lambda: est.DNNClassifier([4], ["a"]),
        lambda: est.DNNClassifier(None, columns),
        lambda: est.LinearClassifier(columns, n_classes=0),
        lambda: est.LinearClassifier(wide(), label_vocabulary="ab"),
        lambda: est.LinearClassifier(wide(), optimizer="Nothing"),
        est.DNNLinearCombinedClassifier,
        lambda: est.LinearRegressor(wide(), label_dimension=0),
        lambda: est.BaselineClassifier(n_classes=3, label_vocabulary=["a"]),
    ]
    out = []
    for attempt in attempts:
        error = error_of(lambda: attempt().train(data(), steps=1) and 0)
        out.append(error[:2])
    return out


@case
def canned_missing_feature(folder):
    def empty():
        return tf.data.Dataset.from_tensors(({"b": A}, BINARY))

    estimator = est.LinearClassifier(wide(), config=config(folder))
    return error_of(lambda: estimator.train(empty, steps=1) and 0)[:2]


@case
def numpy_input_for_canned(folder):
    """The tutorial program of 2017: numpy_input_fn and a LinearClassifier."""
    make = lambda **more: est.inputs.numpy_input_fn(
        {"a": A, "s": WORDS}, BINARY, batch_size=4, shuffle=False, **more
    )
    estimator = est.LinearClassifier(wide(), config=config(folder))
    estimator.train(make(num_epochs=None), steps=4)
    return [
        variables(folder),
        estimator.evaluate(make(num_epochs=1)),
        [p["class_ids"] for p in estimator.predict(make(num_epochs=1))],
    ]


@case
def classifier_predictions_fields(folder):
    estimator = est.LinearClassifier(wide(), n_classes=3, config=config(folder))
    estimator.train(data(CLASSES), steps=1)
    first = next(estimator.predict(data(None, 1)))
    return {key: [str(value.dtype), list(value.shape)] for key, value in first.items()}


@case
def add_metrics_and_forward_features(folder):
    """tf.estimator.add_metrics on a canned estimator."""
    add = getattr(est, "add_metrics", None) or tf2.estimator.add_metrics

    def more(labels, predictions):
        return {"share": tf.metrics.mean(tf.cast(predictions["class_ids"], tf.float32))}

    estimator = est.LinearClassifier(wide(), config=config(folder))
    estimator_with_both = add(estimator, more)
    estimator_with_both.train(data(), steps=2)
    return [estimator_with_both.evaluate(data(repeat=1)), estimator_with_both.model_dir == folder]
