"""tf.contrib.training.HParams: its documented behavior, and its use in estimators."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge_contrib.training import HParams, parse_values

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def some():
    return HParams(rate=0.1, layers=[64, 32], name="net", bias=True, count=3, rates=[0.5, 0.25])


def test_values_are_attributes():
    params = some()
    assert (params.rate, params.layers, params.name, params.bias) == (0.1, [64, 32], "net", True)
    assert params.values() == {
        "rate": 0.1, "layers": [64, 32], "name": "net", "bias": True, "count": 3,
        "rates": [0.5, 0.25],
    }  # fmt: skip
    assert "rate" in params and "nothing" not in params


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("rate=1e-3", {"rate": 1e-3}),
        ("rate=2", {"rate": 2.0}),
        ("count=-7,name=other_1", {"count": -7, "name": "other_1"}),
        ("layers=[1,2,3]", {"layers": [1, 2, 3]}),
        ("layers=[1, 2]", {"layers": [1, 2]}),
        ("rates=[1, 1e-12],bias=false", {"rates": [1.0, 1e-12], "bias": False}),
        ("bias=0", {"bias": False}),
        ("bias=True, rate = 3", {"bias": True, "rate": 3.0}),
        ("name=", {"name": ""}),
        ("", {}),
    ],
)
def test_parse(text, changed):
    params = some()
    assert params.parse(text) is params
    assert params.values() == {**some().values(), **changed}
    for name, value in changed.items():
        assert type(getattr(params, name)) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing=1", "Unknown hyperparameter type for nothing"),
        ("count=1.5", "Could not parse hparam 'count' of type 'int' with value '1.5'"),
        ("bias=maybe", "Could not parse hparam 'bias'"),
        ("layers=3", "Must pass a list for multi-valued parameter: layers"),
        ("count=[1,2]", "Must not pass a list for single-valued parameter: count"),
        ("rate", "Malformed hyperparameter value: rate"),
        ("rate=1,rate=2", "Multiple assignments to variable 'rate'"),
        ("layers=[1,x]", "Could not parse hparam 'layers'"),
    ],
)
def test_parse_refuses(text, message):
    params = some()
    with pytest.raises(ValueError, match=re.escape(message)):
        params.parse(text)
    assert params.values() == some().values()


def test_parse_values_with_an_index():
    kinds = {"x": int, "list": int, "arr": float}
    assert parse_values("x=5,list=[1,2],arr[1]=3,arr[0]=4", kinds) == {
        "x": 5, "list": [1, 2], "arr": {1: 3.0, 0: 4.0},
    }  # fmt: skip
    assert parse_values("other=1,x=2", kinds, ignore_unknown=True) == {"x": 2}
    for text in ("arr[1]=[2]", "arr[1]=1,arr[1]=2", "arr=[1],arr[0]=1", "arr[0]=1,arr=[1]"):
        with pytest.raises(ValueError, match=r"list index|Multiple assignments"):
            parse_values(text, kinds)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("rate", 1, 1.0),
        ("count", np.int64(4), 4),
        ("rates", [1, 2], [1.0, 2.0]),
        ("name", "a", "a"),
    ],
)
def test_set_hparam_casts(name, value, expected):
    params = some()
    params.set_hparam(name, value)
    assert getattr(params, name) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("count", 1.0), ("bias", 1), ("count", True), ("name", 3), ("rate", "0.1"), ("layers", [1.5])],
)
def test_set_hparam_refuses_another_kind(name, value):
    with pytest.raises(ValueError, match=f"Could not cast hparam '{name}'"):
        some().set_hparam(name, value)


def test_names_that_are_refused():
    with pytest.raises(ValueError, match="Hyperparameter name is reserved: rate"):
        some().add_hparam("rate", 2)
    with pytest.raises(ValueError, match="reserved: parse"):
        HParams(parse=1)
    with pytest.raises(ValueError, match="cannot be empty: layers"):
        HParams(layers=[])
    with pytest.raises(KeyError):
        some().set_hparam("nothing", 1)
    with pytest.raises(TypeError, match=r"as HParams\.to_proto returns it"):
        HParams(hparam_def=object())


def test_json_goes_there_and_back():
    params = HParams(**{name: value for name, value in some().values().items() if name != "name"})
    text = some().to_json(sort_keys=True)
    assert json.loads(text) == some().values()
    with pytest.raises(KeyError):
        params.parse_json(text)  # it has no `name`
    assert some().parse_json('{"rate": 7, "layers": [1]}').layers == [1]


def test_get_add_and_delete():
    params = some()
    assert params.get("count") == 3 and params.get("nothing", 5) == 5
    assert params.get("rate", 1) == 0.1
    with pytest.raises(ValueError, match=r"incompatible with default=1\.5"):
        params.get("count", 1.5)
    with pytest.raises(ValueError, match="incompatible with default=4"):
        params.get("layers", 4)
    params.del_hparam("rate")
    params.del_hparam("rate")
    assert "rate" not in params and not hasattr(params, "rate")
    params.add_hparam("rate", "fast")
    assert params.parse("rate=slow").rate == "slow"
    params.add_hparam("unset", None)
    assert params.override_from_dict({"unset": 4}).unset == 4


def test_shown():
    params = HParams(b=1, a=[2])
    assert str(params) == "b=1,a=[2]"
    assert repr(params) == "HParams([('a', [2]), ('b', 1)])"


@given(st.dictionaries(st.from_regex(r"h_[a-z]{1,8}", fullmatch=True), st.integers()))
def test_what_is_shown_can_be_parsed(values):
    params = HParams(**dict.fromkeys(values, 0))
    assert params.parse(str(HParams(**values))).values() == values


def numbers(params):
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1, keepdims=True))).repeat()
    return data.batch(params.batch_size, drop_remainder=True)


def linear(features, labels, mode, params):
    logits = v1.layers.dense(features, 1, kernel_initializer=v1.zeros_initializer(), name="dense")
    loss = tf.reduce_mean(tf.square(logits - labels))
    optimizer = v1.train.GradientDescentOptimizer(params.learning_rate)
    if params.get("use_tpu", False):
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


@pytest.mark.parametrize("cores", [0, 2])
def test_params_of_a_tpu_estimator(cores, tmp_path):
    params = HParams(learning_rate=0.1).parse("learning_rate=0.01")
    config = eb.tpu.RunConfig(master=f"emulated:{cores or 1}", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(
        linear, config=config, params=params, train_batch_size=6, use_tpu=bool(cores)
    )
    estimator.train(numbers, steps=1)
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    step = 0.01 * 2 * x.T @ x.sum(axis=1, keepdims=True) / 6  # gradient descent from 0
    np.testing.assert_allclose(estimator.get_variable_value("dense/kernel"), step, rtol=1e-5)
    assert "batch_size" not in params  # the program's own object is left alone


def test_params_of_an_estimator(tmp_path):
    seen = []

    def model_fn(features, labels, mode, params):
        seen.append(params)
        return linear(features, labels, mode, params).as_estimator_spec()

    params = HParams(learning_rate=0.0, batch_size=2)
    estimator = eb.Estimator(model_fn, str(tmp_path), params=params)
    estimator.train(numbers, steps=1)
    assert isinstance(seen[0], HParams) and seen[0] is not params
    assert isinstance(estimator.params, HParams)


def test_reserved_params_are_refused():
    with pytest.raises(ValueError, match=r"batch_size are reserved keys.*got 4"):
        eb.tpu.TPUEstimator(linear, config=eb.tpu.RunConfig(), params=HParams(batch_size=4))


def test_a_message_keeps_every_kind():
    params = HParams(a=1, b=0.5, c="text", d=True, e=[1, 2], f=[0.5], g=["x"], h=[False])
    message = params.to_proto()
    assert HParams(hparam_def=message).values() == params.values()
    assert HParams.from_proto(type(message).FromString(message.SerializeToString())).a == 1
    with pytest.raises(ValueError, match="type NoneType"):
        HParams(a=None).to_proto()
