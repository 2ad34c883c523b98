"""Keras models as estimators: model_to_estimator, and layers within a model_fn."""

from __future__ import annotations

from parity.differential.tools import (
    V2_OFF,
    case,
    config,
    error_of,
    est,
    files,
    np,
    outside_placeholder,
    tf,
    variables,
)

keras = tf.keras
X = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
Y = X.sum(1, keepdims=True)


def to_estimator(model, folder, **arguments):
    return keras.estimator.model_to_estimator(model, config=config(folder), **arguments)


def data(key=None, repeat=None, x=X, y=Y):
    def input_fn():
        features = {key: x} if key else x
        both = features if y is None else (features, y)
        return tf.data.Dataset.from_tensor_slices(both).batch(3).repeat(repeat)

    return input_fn


def sgd(rate=0.1):
    """A v1 optimizer, which Keras models of graphs take as well."""
    return tf.train.GradientDescentOptimizer(rate) if V2_OFF else "sgd"


def sequential(compiled=True):
    model = keras.Sequential(
        [
            keras.layers.Dense(2, "relu", input_shape=(2,), kernel_initializer="ones", name="one"),
            keras.layers.Dense(1, kernel_initializer="ones", name="two"),
        ]
    )
    if compiled:
        model.compile(sgd(), "mse", metrics=["mae"])
    return model


def numbers(weights):
    """A checkpoint's weights, without the names that differ with the kind of checkpoint."""
    return sorted([list(np.shape(v)), np.sum(v)] for v in weights.values() if np.size(v) > 1)


@case
def keras_sequential(folder):
    estimator = to_estimator(sequential(), folder)
    estimator.train(data("one_input"), steps=3)
    return [
        numbers(variables(folder)),
        estimator.evaluate(data("one_input", 1)),
        list(estimator.predict(data("one_input", 1, y=None))),
    ]


@case
def keras_features_without_name(folder):
    estimator = to_estimator(sequential(), folder)
    estimator.train(data(), steps=2)
    return estimator.evaluate(data(repeat=1))


@case
def keras_checkpoint_names(folder):
    out = []
    for kind in ("saver", "checkpoint"):
        path = folder + "/" + kind
        names = error_of(
            lambda: (
                to_estimator(sequential(), path, checkpoint_format=kind).train(data(), steps=1)
                and sorted(variables(path))
            )
        )
        out.append(names)
    return out


@case
def keras_two_inputs_and_outputs(folder):
    a = keras.layers.Input([2], name="a")
    b = keras.layers.Input([2], name="b")
    both = keras.layers.Concatenate()([a, b])
    first = keras.layers.Dense(1, kernel_initializer="ones", name="first")(both)
    second = keras.layers.Dense(1, kernel_initializer="ones", name="second")(a)
    model = keras.Model([a, b], [first, second])
    model.compile(sgd(0.01), {"first": "mse", "second": "mae"}, loss_weights={"first": 2.0})
    estimator = to_estimator(model, folder)

    def input_fn():
        features, labels = {"a": X, "b": X * 2}, {"first": Y, "second": Y * 2}
        return tf.data.Dataset.from_tensor_slices((features, labels)).batch(3)

    estimator.train(input_fn, steps=2)
    predictions = list(estimator.predict(lambda: input_fn().map(lambda x, y: x)))
    return [estimator.evaluate(input_fn), predictions[:2]]


@case
def keras_export(folder):
    estimator = to_estimator(sequential(), folder + "/m")
    estimator.train(data("one_input"), steps=2)
    receiver = est.export.build_raw_serving_input_receiver_fn(
        {"one_input": outside_placeholder([None, 2])}
    )
    path = estimator.export_saved_model(folder + "/e", receiver).decode()
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        signature = graph.signature_def["serving_default"]
        (output,) = signature.outputs.values()
        values = session.run(output.name, {signature.inputs["one_input"].name: X})
        return [sorted(graph.signature_def), sorted(signature.outputs), values]


@case
def keras_refused(folder):
    return [
        error_of(to_estimator, sequential(False), folder)[:2],
        error_of(keras.estimator.model_to_estimator)[:2],
        error_of(keras.estimator.model_to_estimator, sequential(), "/no/such.h5")[:2],
        error_of(to_estimator, sequential(), folder, checkpoint_format="other")[:2],
    ]


@case
def keras_wrong_feature_name(folder):
    estimator = to_estimator(sequential(), folder)
    return error_of(lambda: estimator.train(data("nothing"), steps=1) and 0)[:2]


@case
def keras_weights_of_model_are_the_start(folder):
    model = sequential()
    model.set_weights([np.full(w.shape, 0.5, np.float32) for w in model.get_weights()])
    estimator = to_estimator(model, folder)
    before = list(estimator.predict(data(repeat=1, y=None)))
    return [before, files(folder)]


@case
def keras_custom_metric_and_loss(folder):
    def doubled(y_true, y_pred):
        return 2.0 * tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)

    model = sequential(False)
    model.compile(sgd(), doubled, metrics=[doubled, "mse"])
    estimator = to_estimator(model, folder)
    estimator.train(data(), steps=2)
    return estimator.evaluate(data(repeat=1))


@case
def keras_metric_names_hook(folder):
    """A metric_names_map, and metrics by objects."""
    model = sequential(False)
    model.compile(sgd(), "mse", metrics=[keras.metrics.MeanAbsoluteError(name="far")])
    estimator = to_estimator(model, folder, metric_names_map={"far": "distance"})
    estimator.train(data(), steps=1)
    return estimator.evaluate(data(repeat=1))


@case
def keras_layers_in_model_fn(folder):
    """A Keras network that model_fn makes and calls, with its losses and updates."""

    def model_fn(features, labels, mode):
        network = keras.Sequential(
            [
                keras.layers.Dense(
                    2, kernel_initializer="ones", kernel_regularizer=keras.regularizers.l2(0.1)
                ),
                keras.layers.BatchNormalization(momentum=0.5),
                keras.layers.Dense(1, kernel_initializer="ones"),
            ]
        )
        y = network(features, training=mode == est.ModeKeys.TRAIN)
        loss = tf.losses.mean_squared_error(labels, y) + tf.add_n(network.losses)
        if mode == est.ModeKeys.EVAL:
            return est.EstimatorSpec(mode, loss=loss)
        updates = network.get_updates_for(None) + network.get_updates_for(features)
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        with tf.control_dependencies(updates):
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = est.Estimator(model_fn, config=config(folder))
    estimator.train(data(), steps=2)
    return [numbers(variables(folder)), estimator.evaluate(data(repeat=1))]


@case
def keras_train_and_evaluate(folder):
    estimator = to_estimator(sequential(), folder)
    train = est.TrainSpec(data(), max_steps=4)
    evaluate = est.EvalSpec(data(repeat=1), steps=None, start_delay_secs=0, throttle_secs=0)
    return est.train_and_evaluate(estimator, train, evaluate)[0]
