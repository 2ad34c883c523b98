"""Specs for parsing examples with labels and weights."""

from __future__ import annotations

import pytest

import estimator_bridge as eb
from estimator_bridge import heads
from estimator_bridge.legacy.api_modules import api_module_v1, api_module_v2

import tensorflow as tf  # isort: skip

age = tf.feature_column.numeric_column("age")
COLUMNS = [age]
AGE = tf.io.FixedLenFeature((1,), tf.float32)
CLASSIFIER = (
    eb.classifier_parse_example_spec,
    heads.classifier_parse_example_spec_v1,
)
REGRESSOR = (eb.regressor_parse_example_spec, heads.regressor_parse_example_spec_v1)


@pytest.mark.parametrize("make", CLASSIFIER)
def test_classifier(make):
    assert make(COLUMNS, "y") == {"age": AGE, "y": tf.io.FixedLenFeature((1,), tf.int64)}
    spec = make(COLUMNS, "y", tf.string, label_default="no", weight_column="w")
    assert spec == {
        "age": AGE,
        "y": tf.io.FixedLenFeature((1,), tf.string, "no"),
        "w": AGE,
    }


@pytest.mark.parametrize("make", REGRESSOR)
def test_regressor(make):
    weight = tf.feature_column.numeric_column("w", shape=(2,))
    assert make(COLUMNS, "y", label_dimension=3, weight_column=weight) == {
        "age": AGE,
        "y": tf.io.FixedLenFeature((3,), tf.float32),
        "w": tf.io.FixedLenFeature((2,), tf.float32),
    }


def test_what_was_parsed_is_what_a_head_takes():
    feature = {
        "age": tf.train.Feature(float_list=tf.train.FloatList(value=[40])),
        "y": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"yes"])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    spec = eb.classifier_parse_example_spec(COLUMNS, "y", tf.string)
    features = tf.io.parse_example([example], spec)
    head = eb.BinaryClassHead(label_vocabulary=["no", "yes"])
    loss = head.loss(features.pop("y"), [[0.0]], features)
    assert float(loss) == pytest.approx(0.6931472)


@pytest.mark.parametrize("make", [*CLASSIFIER, *REGRESSOR])
def test_what_is_refused(make):
    with pytest.raises(ValueError, match=r"label should not be used as feature. label_key: age"):
        make(COLUMNS, "age")
    with pytest.raises(ValueError, match=r"weight_column should not be used as feature.*age"):
        make(COLUMNS, "y", weight_column="age")
    bucketized = tf.feature_column.bucketized_column(age, [1.0])
    with pytest.raises(ValueError, match=r"should be an instance of.*numeric_column"):
        make([], "y", weight_column=bucketized)


def test_each_face_has_its_own():
    assert api_module_v1().classifier_parse_example_spec is CLASSIFIER[1]
    assert api_module_v2().classifier_parse_example_spec is CLASSIFIER[0]
    assert api_module_v1().regressor_parse_example_spec is REGRESSOR[1]
    assert api_module_v2().regressor_parse_example_spec is REGRESSOR[0]
