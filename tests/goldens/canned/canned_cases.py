"""Canned estimators on a small table, for the real tf.estimator and for the bridge.

Each case is made, trained, evaluated, asked for predictions and exported in the same way on both
sides, by ``observe``. The graph's seed is set, and the initial weights follow from it.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = [
    "CASES",
    "FACES",
    "RESUMED",
    "STEPS",
    "build",
    "input_of",
    "observe",
    "resumed",
    "rounded",
    "table",
]

FACES = ("v1", "v2")
SEED, STEPS, BATCH, ROWS = 5, 6, 8, 48
CITIES = ["Bergen", "Cadiz", "Gdansk", "Ulm"]

_fc = tf.feature_column
_v1 = tf.compat.v1


def table() -> dict[str, np.ndarray]:
    """Features and labels of all rows: numbers, words, lists of words, ids with weights."""
    random = np.random.RandomState(3)
    city = random.randint(0, 4, size=[ROWS, 1])
    age = random.uniform(18, 70, size=[ROWS, 1]).astype(np.float32)
    size = random.normal(size=[ROWS, 2]).astype(np.float32)
    tags = random.choice(["", "a", "b", "c", "d"], size=[ROWS, 3])
    score = age[:, 0] / 30 + city[:, 0] - size[:, 1]
    return {
        "age": age,
        "size": size,
        "city": np.array(CITIES, dtype=object)[city],
        "tags": tags.astype(object),
        "item": random.randint(0, 5, size=[ROWS, 2]),
        "item_weight": random.uniform(0.5, 2, size=[ROWS, 2]).astype(np.float32),
        "importance": random.uniform(0.2, 2, size=[ROWS, 1]).astype(np.float32),
        "two": (score > 3).astype(np.int64)[:, None],
        "three": np.digitize(score, [2, 4])[:, None],
        "word": np.array(["low", "mid", "high"], dtype=object)[np.digitize(score, [2, 4])][:, None],
        "real": score.astype(np.float32)[:, None],
        "pair": np.stack([score, size[:, 0]], axis=1).astype(np.float32),
    }


_LABELS = ("two", "three", "word", "real", "pair")


def _input(label: str, keys: list[str] | None = None, rows: int = ROWS) -> Callable[[], Any]:
    def input_fn():
        values = {key: value[:rows] for key, value in table().items()}
        labels = {key: values.pop(key) for key in _LABELS}
        if keys is not None:
            values = {key: values[key] for key in keys}
        data = tf.data.Dataset.from_tensor_slices((values, labels[label]))
        return data.batch(BATCH).map(_with_sparse_items)

    return input_fn


def _with_sparse_items(features, labels):
    # Weighted ids have to agree with their weights entry by entry.
    features = dict(features)
    for key in ("item", "item_weight"):
        if key in features:
            features[key] = tf.sparse.from_dense(features[key] + 1)
    return features, labels


def _age():
    return _fc.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 20.0)


def _buckets():
    return _fc.bucketized_column(_fc.numeric_column("age"), [30.0, 45.0, 60.0])


def _city():
    return _fc.categorical_column_with_vocabulary_list("city", CITIES[:3], num_oov_buckets=1)


def _tags():
    return _fc.categorical_column_with_hash_bucket("tags", 7)


def _deep():
    return [
        _age(),
        _fc.numeric_column("size", shape=[2]),
        _fc.indicator_column(_city()),
        _fc.embedding_column(_tags(), 3),
    ]


def _wide():
    return [_buckets(), _city(), _tags(), _fc.crossed_column([_buckets(), "city"], 11)]


def _weighted():
    items = _fc.categorical_column_with_identity("item", 8)
    return _fc.weighted_categorical_column(items, "item_weight")


def _optimizer(face: str, name: str, rate: float) -> Any:
    if face == "v2":
        kinds = _legacy_optimizers()
        return lambda: getattr(kinds, name)(rate)
    names = {"SGD": "GradientDescent", "RMSprop": "RMSProp"}
    return getattr(_v1.train, f"{names.get(name, name)}Optimizer")(rate)


def _legacy_optimizers() -> Any:
    return tf.keras.optimizers.legacy


# By name: the class, the label, and a function of the face that gives the arguments.
CASES: dict[str, tuple[str, str, Callable[[str], dict[str, Any]]]] = {
    "dnn_two": (
        "DNNClassifier", "two", lambda face: {"hidden_units": [4, 3], "feature_columns": _deep()},
    ),
    "dnn_words": (
        "DNNClassifier", "word",
        lambda face: {
            "hidden_units": [4],
            "feature_columns": _deep(),
            "n_classes": 3,
            "label_vocabulary": ["low", "mid", "high"],
            "weight_column": "importance",
            "optimizer": _optimizer(face, "Adam", 0.05),
            "batch_norm": True,
        },
    ),
    "dnn_pair": (
        "DNNRegressor", "pair",
        lambda face: {
            "hidden_units": [3],
            "feature_columns": _deep(),
            "label_dimension": 2,
            "activation_fn": tf.nn.tanh,
            "optimizer": "SGD",
        },
    ),
    "linear_two": ("LinearClassifier", "two", lambda face: {"feature_columns": _wide()}),
    "linear_three": (
        "LinearClassifier", "three",
        lambda face: {
            "feature_columns": [*_wide(), _weighted(), _fc.numeric_column("size", shape=[2])],
            "n_classes": 3,
            "optimizer": _optimizer(face, "RMSprop", 0.05),
            "sparse_combiner": "mean",
        },
    ),
    "linear_real": (
        "LinearRegressor", "real",
        lambda face: {
            "feature_columns": [_age(), _fc.embedding_column(_tags(), 2)],
            "weight_column": "importance",
        },
    ),
    "combined_two": (
        "DNNLinearCombinedClassifier", "two",
        lambda face: {
            "linear_feature_columns": _wide(),
            "dnn_feature_columns": _deep(),
            "dnn_hidden_units": [4],
        },
    ),
    "combined_three": (
        "DNNLinearCombinedClassifier", "three",
        lambda face: {
            "linear_feature_columns": _wide(),
            "linear_optimizer": _optimizer(face, "SGD", 0.1),
            "dnn_feature_columns": _deep(),
            "dnn_optimizer": _optimizer(face, "Adagrad", 0.1),
            "dnn_hidden_units": [4, 2],
            "n_classes": 3,
            "batch_norm": True,
        },
    ),
    "combined_only_linear": (
        "DNNLinearCombinedRegressor", "real", lambda face: {"linear_feature_columns": _wide()},
    ),
    "combined_only_deep": (
        "DNNLinearCombinedRegressor", "real",
        lambda face: {"dnn_feature_columns": _deep(), "dnn_hidden_units": [3]},
    ),
    "baseline_three": (
        "BaselineClassifier", "three",
        lambda face: {"n_classes": 3, "weight_column": "importance"},
    ),
    "baseline_pair": ("BaselineRegressor", "pair", lambda face: {"label_dimension": 2}),
}  # fmt: skip


# An export takes as long as the rest of a case together, and heads alone decide what it has.
_EXPORTED = ("dnn_two", "dnn_words", "linear_real", "combined_three", "baseline_pair")
# Of this case there are checkpoints that the original wrote, after three steps.
RESUMED = "combined_three"


def build(est: Any, face: str, case: str, model_dir: str, **settings: Any) -> Any:
    """The estimator of a case.

    Args:
      est: tf.estimator or tf.compat.v1.estimator, of either side.
      face: which of the two, "v1" or "v2".
      case: of CASES.
      model_dir: its folder.
      **settings: further arguments of the RunConfig or the class.
    """
    kind, _, arguments = CASES[case]
    config = est.RunConfig(
        tf_random_seed=SEED,
        save_summary_steps=1,
        model_dir=model_dir,
        **settings.pop("config", {}),
    )
    return getattr(est, kind)(**arguments(face), config=config, **settings)


def _keys(case: str) -> list[str] | None:
    # A baseline counts all features' rows, and cannot those of sparse ones. That of tf.estimator
    # failed with two features or more.
    return {"baseline_three": ["age", "importance"], "baseline_pair": ["age"]}.get(case)


def observe(est: Any, face: str, case: str) -> dict[str, Any]:
    """All that a user sees of a case: names, numbers, tags, signatures."""
    observed: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        estimator = build(est, face, case, folder)
        inputs = input_of(case)
        estimator.train(inputs, steps=STEPS)
        observed["weights"] = _variables(estimator)
        observed["scalars"] = _scalars(folder)
        observed["evaluation"] = {k: float(v) for k, v in estimator.evaluate(inputs).items()}
        predictions = estimator.predict(input_of(case, rows=3))
        observed["predictions"] = [_plain_values(p) for p in predictions]
        if case in _EXPORTED:
            observed["signatures"] = _signatures(est, estimator, case)
    return observed


def input_of(case: str, rows: int = ROWS) -> Callable[[], Any]:
    """The input_fn of a case: batches of features and labels."""
    return _input(CASES[case][1], _keys(case), rows)


def resumed(est: Any, face: str, folder: str) -> dict[str, Any]:
    """Returns the results of three more steps from a folder with a checkpoint of RESUMED."""
    estimator = build(est, face, RESUMED, folder)
    estimator.train(input_of(RESUMED), steps=3)
    return {"weights": _variables(estimator), "losses": _scalars(folder)["loss"][-3:]}


def rounded(value: Any) -> Any:
    """Numbers to seven digits, as many as float32 has."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _variables(estimator: Any) -> dict[str, Any]:
    names = sorted(estimator.get_variable_names())
    return {name: np.asarray(estimator.get_variable_value(name)).tolist() for name in names}


def _scalars(folder: str) -> dict[str, list[float]]:
    """By tag: the values, one a step; the tags of histograms with none.

    Those of variables with none too: whether a step's update came before was a race.
    """
    scalars: dict[str, list[tuple[int, float]]] = {}
    for path in glob.glob(os.path.join(folder, "events.out.tfevents.*")):
        for event in _v1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag.startswith("global_step/"):
                    continue
                values = scalars.setdefault(value.tag, [])
                if value.HasField("simple_value") and not value.tag.endswith(_RACES):
                    values.append((event.step, value.simple_value))
    return {
        tag: [number for _, number in sorted(values)] for tag, values in sorted(scalars.items())
    }


_RACES = ("bias", "fraction_of_zero_weights", "approximate_duality_gap", "examples_seen")


def _plain_values(prediction: dict[str, Any]) -> dict[str, Any]:
    plain = {}
    for key, value in prediction.items():
        array = np.asarray(value)
        plain[key] = (array.astype(str) if array.dtype == object else array).tolist()
    return plain


def _signatures(est: Any, estimator: Any, case: str) -> dict[str, Any]:
    keys = _keys(case)
    if keys:
        serving = est.export.build_raw_serving_input_receiver_fn(
            {key: tf.constant(table()[key]) for key in keys}
        )
    else:
        _, _, arguments = CASES[case]
        options = arguments("v2")
        columns = [c for key, value in options.items() if "columns" in key for c in value]
        spec = _fc.make_parse_example_spec(columns)
        serving = est.export.build_parsing_serving_input_receiver_fn(spec)
    with tempfile.TemporaryDirectory() as folder:
        path = estimator.export_saved_model(folder, serving)
        return _signatures_of(os.fsdecode(path))


def _signatures_of(path: str) -> dict[str, Any]:
    with tf.Graph().as_default(), _v1.Session() as session:
        model = _v1.saved_model.load(session, ["serve"], path)
        return {
            name: {
                "method": signature.method_name,
                "inputs": {k: _described(t) for k, t in sorted(signature.inputs.items())},
                "outputs": {k: _described(t) for k, t in sorted(signature.outputs.items())},
            }
            for name, signature in sorted(model.signature_def.items())
        }


def _described(tensor: Any) -> str:
    shape = [dimension.size for dimension in tensor.tensor_shape.dim]
    return f"{tf.as_dtype(tensor.dtype).name} {shape}"
