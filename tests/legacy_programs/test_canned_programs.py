"""Old programs of canned estimators: their output follows from their checkpoints."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from running_programs import numbers, run_program


def layers(saved, net, names):
    """A DNN by hand: relu behind all layers but the last."""
    for name in names:
        net = net @ saved.get_tensor(f"dnn/{name}/kernel") + saved.get_tensor(f"dnn/{name}/bias")
        net = np.maximum(net, 0) if name != names[-1] else net
    return net


def test_dnn_classifier_with_numpy_input_fn(tmp_path):
    done = run_program("flowers.py", f"--model_dir={tmp_path}")
    saved = tf.train.load_checkpoint(str(tmp_path))
    rows = np.arange(60, 81)
    kinds = rows % 3
    inputs = np.array([[1.5, 0.2], [4.3, 1.3], [5.6, 2.1]])[kinds]
    inputs = inputs + (rows[:, None] * np.array([3, 5]) % 7) / 20.0
    logits = layers(saved, inputs, ["hiddenlayer_0", "hiddenlayer_1", "logits"])
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    shown = done.lines("Prediction ")
    assert len(shown) == 21
    names = np.array(["Setosa", "Versicolor", "Virginica"])
    assert [line.split()[0] for line in shown] == names[chances.argmax(axis=1)].tolist()
    np.testing.assert_allclose([numbers(line) for line in shown], chances, atol=2e-5)
    accuracy, step = numbers(done.line("Test set: accuracy"))
    assert accuracy == pytest.approx(np.mean(chances.argmax(axis=1) == kinds), abs=1e-3)
    assert step == 30
    # A batch's loss is the sum over its rows, as it was for TF1's DNNClassifier: 10, 10 and 1 rows.
    losses = -np.log(chances[np.arange(21), kinds])
    average, of_batches = numbers(done.line("losses"))
    assert average == pytest.approx(losses.mean(), abs=1e-4)
    assert of_batches == pytest.approx(losses.sum() / 3, abs=1e-3)
    assert "dnn/hiddenlayer_0/kernel/t_0/Adagrad" in done.line("Variables").split()


PEOPLE = [
    (22, "Bachelors", "Sales", 40, "<=50K"),
    (31, "HS-grad", "Craft", 45, "<=50K"),
    (47, "Masters", "Exec", 50, ">50K"),
    (58, "Doctorate", "Exec", 60, ">50K"),
    (29, "Masters", "Sales", 38, ">50K"),
    (41, "HS-grad", "Farming", 55, "<=50K"),
] * 4


def one_hot(column, features):
    layer = tf.keras.layers.DenseFeatures([tf.feature_column.indicator_column(column)])
    return layer(features).numpy()


def wide_and_deep(saved, parts):
    """The probabilities by hand; columns are TensorFlow's own."""
    fc = tf.feature_column
    keys = ("age", "education", "occupation", "hours_per_week")
    features = {key: tf.constant([[row[i]] for row in PEOPLE]) for i, key in enumerate(keys)}
    school = fc.categorical_column_with_vocabulary_list(
        "education", ["Bachelors", "HS-grad", "Masters"]
    )
    job = fc.categorical_column_with_hash_bucket("occupation", 20)
    ages = fc.bucketized_column(fc.numeric_column("age"), [25, 35, 50])
    logits = np.zeros([len(PEOPLE), 1])
    if "wide" in parts:
        crossed = [
            fc.crossed_column(["education", "occupation"], 30),
            fc.crossed_column([ages, "education"], 30),
        ]
        for column in [school, job, *crossed]:
            weights = saved.get_tensor(f"linear/linear_model/{column.name}/weights")
            logits = logits + one_hot(column, features) @ weights
        buckets = np.digitize([row[0] for row in PEOPLE], [25, 35, 50])
        logits = logits + saved.get_tensor("linear/linear_model/age_bucketized/weights")[buckets]
        logits = logits + saved.get_tensor("linear/linear_model/bias_weights")
    if "deep" in parts:
        place = "dnn/input_from_feature_columns/input_layer/occupation_embedding"
        table = saved.get_tensor(f"{place}/embedding_weights")
        inputs = [  # by the columns' names
            [[float(row[0])] for row in PEOPLE],
            one_hot(school, features),
            [[float(row[3])] for row in PEOPLE],
            one_hot(job, features) @ table,
        ]
        net = np.concatenate(inputs, axis=1)
        logits = logits + layers(saved, net, ["hiddenlayer_0", "hiddenlayer_1", "logits"])
    return 1 / (1 + np.exp(-logits[:, 0]))


@pytest.mark.parametrize("model_type", ["wide_deep", "wide"])
def test_wide_and_deep(model_type, tmp_path):
    data, model = tmp_path / "people.csv", tmp_path / "model"
    data.write_text("".join(",".join(map(str, row)) + "\n" for row in PEOPLE))
    done = run_program(
        "wide_deep.py", f"--model_dir={model}", f"--data={data}", f"--model_type={model_type}"
    )
    chances = wide_and_deep(tf.train.load_checkpoint(str(model)), model_type)
    np.testing.assert_allclose(
        [numbers(line)[0] for line in done.lines("rich ")], chances, atol=1e-4
    )
    rich = np.array([row[-1] == ">50K" for row in PEOPLE])
    average = -np.mean(np.log(np.where(rich, chances, 1 - chances)))
    results = {key: [numbers(line)[0] for line in done.lines(f"{key}: ")] for key in
               ("accuracy", "average_loss", "loss", "global_step", "label/mean")}  # fmt: skip
    assert results["global_step"] == [6, 12]
    assert results["label/mean"] == pytest.approx([0.5, 0.5])
    assert results["average_loss"][1] == pytest.approx(average, abs=1e-4)
    assert results["loss"][1] == pytest.approx(average * len(PEOPLE), rel=1e-4)
    assert results["accuracy"][1] == pytest.approx(np.mean((chances > 0.5) == rich))

    example = tf.train.Example()
    for key, value in zip(("age", "education", "occupation", "hours_per_week"), PEOPLE[2]):
        feature = example.features.feature[key]
        if isinstance(value, str):
            feature.bytes_list.value.append(value.encode())
        else:
            feature.float_list.value.append(value)
    served = tf.saved_model.load(done.line("exported")).signatures["predict"]
    probabilities = served(examples=tf.constant([example.SerializeToString()]))["logistic"]
    assert float(probabilities[0, 0]) == pytest.approx(chances[2], abs=1e-4)
