"""Cases of tf.contrib.learn's heads and canned estimators.

The estimators start from a checkpoint with fixed numbers under the names of 1.15.5, so a case fails
if a variable has another name, or a step another result.
"""

import os
import tempfile
import zlib

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case, Steps
from tensorflow.contrib.learn.python.learn import estimators

__all__ = ["CASES"]

learn, layers = tf.contrib.learn, tf.contrib.layers
_ROWS = np.array([[0.5, -1.0], [2.0, 0.1], [-1.0, 0.3], [0.7, 0.7]], np.float32)
_LOGITS = np.array([[0.5, 1.5, -1.0], [2.0, 0.0, 0.1], [1.0, 1.5, 1.0]], np.float32)
_WEIGHTS = np.array([1.0, 2.0, 0.5], np.float32)
_TRAINED = ("weights", "biases", "weight", "bias_weight", "centered_bias_weight")


def _ops(head, labels, mode="eval", size=1, weights=None):
    """A head's results on fixed logits; metrics are updated first."""

    def build():
        features = {} if weights is None else {"weights": tf.constant(weights)}
        logits = tf.constant(_LOGITS[:, :size], name="input")
        ops = head().create_model_fn_ops(
            features=features,
            mode=mode,
            labels=None if labels is None else tf.constant(labels),
            train_op_fn=learn.no_op_train_fn,
            logits=logits,
        )
        outputs = {}
        for name, (kind, tensors) in (ops.output_alternatives or {}).items():
            outputs[str(name)] = [kind, tensors]
        first = [ops.predictions, outputs] + ([] if ops.loss is None else [ops.loss])
        # A step of its own: it may change a bias that the others read.
        step = [] if ops.train_op is None else [ops.train_op]
        metrics = sorted((ops.eval_metric_ops or {}).items())
        # Their names are TensorFlow's own.
        updates = [tf.identity(update, "update") for _, (_, update) in metrics]
        values = {name: tf.identity(value, "value") for name, (value, _) in metrics}
        return Steps([first, step, updates, values])

    return build


def _heads():
    two, three = [[1], [0], [1]], [[2], [0], [1]]
    many = [[1, 0, 1], [0, 0, 1], [1, 1, 0]]
    multi = learn.multi_class_head
    return {
        "regression_head": _ops(learn.regression_head, [[1.0], [2.0], [0.5]]),
        "regression_head: weights": _ops(
            lambda: learn.regression_head(weight_column_name="weights", label_dimension=2),
            [[1.0, 0.0], [2.0, 1.0], [0.5, 0.0]],
            size=2,
            weights=_WEIGHTS,
        ),
        "regression_head: train": _ops(
            lambda: learn.regression_head(head_name="own", enable_centered_bias=True),
            [[1.0], [2.0], [0.5]],
            mode="train",
        ),
        "regression_head: predict": _ops(learn.regression_head, None, mode="infer"),
        "poisson_regression_head": _ops(learn.poisson_regression_head, [[1.0], [2.0], [0.0]]),
        "multi_class_head: two": _ops(lambda: multi(2, thresholds=[0.3, 0.7]), two),
        "multi_class_head: two, weights": _ops(
            lambda: multi(2, weight_column_name="weights"), two, weights=_WEIGHTS
        ),
        "multi_class_head": _ops(
            lambda: multi(3, metric_class_ids=[0, 2], head_name="own"), three, size=3
        ),
        "multi_class_head: weights": _ops(
            lambda: multi(3, weight_column_name="weights", metric_class_ids=[1]),
            three,
            size=3,
            weights=_WEIGHTS,
        ),
        "multi_class_head: names": _ops(
            lambda: multi(3, label_keys=["a", "b", "c"]), [["c"], ["a"], ["b"]], size=3
        ),
        "multi_class_head: one class": lambda: multi(1),
        "multi_class_head: names of two": lambda: multi(2, label_keys=["a", "b"]),
        "multi_class_head: too many names": lambda: multi(3, label_keys=["a", "b"]),
        "multi_class_head: floats": _ops(lambda: multi(3), [[1.0], [2.0], [0.5]], size=3),
        "multi_class_head: wrong logits": _ops(lambda: multi(3), three, size=2),
        "binary_svm_head": _ops(learn.binary_svm_head, two),
        "multi_label_head": _ops(
            lambda: learn.multi_label_head(3, metric_class_ids=[1]), many, size=3
        ),
        "multi_label_head: weights": _ops(
            lambda: learn.multi_label_head(
                3, weight_column_name="weights", metric_class_ids=[0], enable_centered_bias=True
            ),
            many,
            mode="train",
            size=3,
            weights=_WEIGHTS,
        ),
        "multi_head": _ops(_several, [[1], [0], [1]], size=2),
        "multi_head: train": _ops(_several, [[1], [0], [1]], mode="train", size=2),
        "multi_head: no names": lambda: learn.multi_head([learn.regression_head()]),
        "estimators.loss_only_head": _ops(_with_a_loss, [[1], [0], [1]]),
        "no_op_train_fn": lambda: learn.no_op_train_fn(None),
    }


def _several():
    heads = [learn.multi_class_head(2, head_name="a"), learn.regression_head(head_name="b")]
    return learn.multi_head(heads, loss_weights=[1.0, 0.25])


def _with_a_loss():
    own = estimators.loss_only_head(lambda: [tf.constant(1.5), tf.constant(2.0)], "own")
    return learn.multi_head([learn.multi_class_head(2, head_name="a"), own])


def _columns():
    number = layers.real_valued_column("x", dimension=2)
    word = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    wide = [number, word, layers.bucketized_column(layers.real_valued_column("n"), [0.0, 1.0])]
    return wide, [number, layers.embedding_column(word, dimension=2), layers.one_hot_column(word)]


def _input_fn(labels):
    def input_fn():
        words = tf.SparseTensor(
            [[0, 0], [1, 0], [1, 1], [3, 0]], ["a", "c", "a", "b"], [4, 2]
        )  # fmt: skip
        features = {
            "x": tf.constant(_ROWS),
            "n": tf.constant([[-1.0], [0.5], [3.0], [0.1]]),
            "word": words,
            "weights": tf.constant([1.0, 2.0, 0.5, 1.0]),
        }
        return features, tf.constant(labels)

    return input_fn


def _fixed(path, folder):
    """Writes a checkpoint with the names of another one, and numbers that depend on its names."""
    reader = tf.train.NewCheckpointReader(path)
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {}
        for name, shape in sorted(reader.get_variable_to_shape_map().items()):
            value = reader.get_tensor(name)
            if value.dtype == np.float32 and not name.endswith("learning_rate"):
                random = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
                value = np.asarray(0.3 * random.normal(size=shape), np.float32)
                if name.rpartition("/")[2] not in _TRAINED:  # such as sums of squares
                    value = np.abs(value) + 0.1
            variables[name] = tf.Variable(value)
        session.run(tf.global_variables_initializer())
        tf.train.Saver(variables).save(session, os.path.join(folder, "model.ckpt"), global_step=1)


def _trained(make, labels, classes=0, input_fn=None):
    """Trains an estimator from fixed numbers; returns all that a program sees of it."""
    input_fn = input_fn or _input_fn(labels)

    def build():
        folder = tempfile.mkdtemp()
        estimator = make(folder).fit(input_fn=input_fn, steps=1)
        _fixed(tf.train.latest_checkpoint(folder), folder)
        estimator.fit(input_fn=input_fn, steps=3)
        results = estimator.evaluate(input_fn=input_fn, steps=1)
        seen = {
            "metrics": {name: np.asarray(value, np.float64) for name, value in results.items()},
            "variables": {
                name: np.asarray(estimator.get_variable_value(name))
                for name in estimator.get_variable_names()
            },
        }
        inputs = {"input_fn": input_fn, "as_iterable": False}
        if classes:
            seen["probabilities"] = estimator.predict_proba(**inputs)
            if classes == 3:
                seen["classes"] = np.asarray(estimator.predict_classes(**inputs)).ravel()
        elif hasattr(estimator, "predict_scores"):
            seen["scores"] = estimator.predict_scores(**inputs)
        else:
            results = estimator.predict(**inputs)
            is_dict = isinstance(results, dict)
            seen["predictions"] = (
                {str(key): results[key] for key in results} if is_dict else results
            )
        return seen

    return Case(build, has_gradients=False)


def _counted():
    """The global step after some trainings, in which a step counts twice."""
    x = np.linspace(-1.0, 1.0, 6).reshape(3, 2).astype(np.float32)
    columns = learn.infer_real_valued_columns_from_input(x)
    estimator = learn.DNNLinearCombinedRegressor(
        linear_feature_columns=columns, dnn_feature_columns=columns, dnn_hidden_units=[2]
    )
    seen = []
    for counts in ({"steps": 4}, {"steps": 1}, {"max_steps": 11}):
        estimator.fit(x, x[:, 0], **counts)
        seen.append(int(estimator.get_variable_value("global_step")))
    return seen


def _logistic():
    def model_fn(features, labels, mode):
        del mode
        weight = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        logits = tf.matmul(features["x"], weight)
        loss = tf.losses.sigmoid_cross_entropy(tf.cast(labels, tf.float32), logits)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.sigmoid(logits), loss, train_op

    return lambda folder: learn.LogisticRegressor(model_fn, thresholds=[0.4], model_dir=folder)


def _inferred():
    inputs = np.zeros([4, 3]), {"a": np.zeros([2], np.float32), "b": np.zeros([2, 2], np.int64)}
    return [
        [[each.name, each.dimension, each.dtype.name] for each in columns]
        for columns in map(learn.infer_real_valued_columns_from_input, inputs)
    ]


def _inferred_of_input_fn():
    columns = learn.infer_real_valued_columns_from_input_fn(lambda: (tf.zeros([2, 3]), None))
    return [[each.name, each.dimension, each.dtype.name] for each in columns]


_TWO, _THREE = [[1], [0], [0], [1]], [[2], [0], [1], [1]]
_NUMBERS = [[1.0], [2.0], [0.5], [-1.0]]
_WIDE, _DEEP = _columns()
_BOTH = {
    "linear_feature_columns": _WIDE,
    "dnn_feature_columns": _DEEP,
    "dnn_hidden_units": [3],
}


def _regression(name, labels, **options):
    def build():
        x = tf.constant(_ROWS, name="input")
        return getattr(learn.models, name)(x, tf.constant(labels), **options)

    return build


def _of(kind, *args, **options):
    return lambda folder: kind(*args, model_dir=folder, **options)


_ESTIMATORS = {
    "DNNClassifier": _trained(
        _of(learn.DNNClassifier, [3, 2], _DEEP, n_classes=3, label_keys=["a", "b", "c"]),
        [["a"], ["c"], ["b"], ["a"]],
        3,
    ),
    "DNNClassifier: options": _trained(
        _of(
            learn.DNNClassifier,
            [3],
            _DEEP,
            n_classes=3,
            weight_column_name="weights",
            optimizer="Momentum",
            activation_fn="tanh",
            gradient_clip_norm=0.1,
            embedding_lr_multipliers={_DEEP[1]: 0.5},
        ),
        _THREE,
        3,
    ),
    "DNNRegressor": _trained(_of(learn.DNNRegressor, [3], _DEEP), _NUMBERS),
    "DNNEstimator": _trained(
        lambda folder: learn.DNNEstimator(_several(), [3], _DEEP, model_dir=folder), _TWO
    ),
    "LinearClassifier": _trained(_of(learn.LinearClassifier, _WIDE), _TWO, 2),
    "LinearClassifier: options": _trained(
        _of(
            learn.LinearClassifier,
            _WIDE,
            n_classes=3,
            weight_column_name="weights",
            optimizer="SGD",
            gradient_clip_norm=0.2,
        ),
        _THREE,
        3,
    ),
    "LinearClassifier: joint": _trained(
        _of(learn.LinearClassifier, _WIDE[1:2], _joint_weight=True), _TWO, 2
    ),
    "LinearClassifier: one class": lambda: learn.LinearClassifier(_WIDE, n_classes=1),
    "LinearRegressor": _trained(_of(learn.LinearRegressor, _WIDE), _NUMBERS),
    "LinearEstimator": _trained(
        lambda folder: learn.LinearEstimator(
            _WIDE, learn.poisson_regression_head(), model_dir=folder
        ),
        [[1.0], [2.0], [0.0], [3.0]],
    ),
    "DNNLinearCombinedClassifier": _trained(
        _of(learn.DNNLinearCombinedClassifier, fix_global_step_increment_bug=True, **_BOTH), _TWO, 2
    ),
    "DNNLinearCombinedRegressor": _trained(
        _of(
            learn.DNNLinearCombinedRegressor,
            fix_global_step_increment_bug=True,
            linear_feature_columns=_WIDE[:1],
            dnn_feature_columns=_DEEP[:1],
            dnn_hidden_units=[3],
        ),
        _NUMBERS,
    ),
    "DNNLinearCombinedEstimator": _trained(
        lambda folder: learn.DNNLinearCombinedEstimator(
            learn.multi_class_head(3),
            model_dir=folder,
            fix_global_step_increment_bug=True,
            dnn_dropout=0.0,
            linear_optimizer=tf.train.GradientDescentOptimizer(0.1),
            **_BOTH,
        ),
        _THREE,
    ),
    "DNNLinearCombinedRegressor: a step counts twice": Case(_counted, has_gradients=False),
    "DNNLinearCombinedEstimator: no columns": lambda: learn.DNNLinearCombinedEstimator(
        learn.multi_class_head(3)
    ),
    "models.linear_regression": _regression("linear_regression", _NUMBERS),
    "models.linear_regression: vector": _regression(
        "linear_regression", [1.0, 2.0, 0.5, 0.0], init_mean=1.0, init_stddev=0.1
    ),
    "models.linear_regression_zero_init": _regression("linear_regression_zero_init", _NUMBERS),
    "models.logistic_regression": _regression(
        "logistic_regression", np.eye(4, dtype=np.float32)[:, :3]
    ),
    "models.logistic_regression_zero_init": _regression(
        "logistic_regression_zero_init", np.eye(4, dtype=np.float32)[:, :3]
    ),
    "LogisticRegressor": _trained(_logistic(), _TWO),
    "infer_real_valued_columns_from_input": Case(_inferred, has_gradients=False),
    "infer_real_valued_columns_from_input_fn": Case(_inferred_of_input_fn, has_gradients=False),
}

CASES = {
    "learn.%s" % name: case for name, case in list(_heads().items()) + list(_ESTIMATORS.items())
}
