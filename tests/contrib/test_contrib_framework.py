"""tf.contrib.framework: variables found and assigned, shapes checked, structures."""

from __future__ import annotations

import re

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import arg_scope as scopes
from estimator_bridge_contrib import framework

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def variables():
    """A model's variables, by op name."""
    with v1.variable_scope("A"):
        a = v1.get_variable("weights", [2], initializer=v1.zeros_initializer())
        with v1.variable_scope("inner"):
            b = v1.get_variable("biases", [1, 2], initializer=v1.ones_initializer())
    with v1.variable_scope("B"):
        c = v1.get_variable("weights", [], trainable=False, initializer=v1.zeros_initializer())
    return {v.op.name: v for v in (a, b, c)}


def names(variables):
    return [v.op.name for v in variables]


def started():
    session = v1.Session()
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
    return session


@pytest.mark.parametrize(
    ("find", "expected"),
    [
        (framework.get_variables, ["A/weights", "A/inner/biases", "B/weights"]),
        (lambda: framework.get_variables("A"), ["A/weights", "A/inner/biases"]),
        (lambda: framework.get_variables(scope="A/inner"), ["A/inner/biases"]),
        (lambda: framework.get_variables(suffix="weights"), ["A/weights", "B/weights"]),
        (lambda: framework.get_variables("A", "weights"), ["A/weights"]),
        (framework.get_trainable_variables, ["A/weights", "A/inner/biases"]),
        (lambda: framework.get_variables_by_suffix("biases"), ["A/inner/biases"]),
        (lambda: framework.get_variables_by_name("weights"), ["A/weights", "B/weights"]),
        (lambda: framework.get_variables_by_name("weights", "B"), ["B/weights"]),
        (lambda: [framework.get_unique_variable("A/weights")], ["A/weights"]),
        (
            framework.get_variables_to_restore,
            ["A/weights", "A/inner/biases", "B/weights"],
        ),
        (lambda: framework.get_variables_to_restore(include=["B"]), ["B/weights"]),
        (
            lambda: framework.get_variables_to_restore(exclude=["A/inner"]),
            ["A/weights", "B/weights"],
        ),
        (framework.get_model_variables, []),
        (framework.get_local_variables, []),
    ],
)
def test_finding(variables, find, expected):
    assert names(find()) == expected


def test_a_variable_scope_is_a_scope_too(variables):
    with v1.variable_scope("A") as scope:
        assert names(framework.get_variables(scope)) == ["A/weights", "A/inner/biases"]


def test_finding_what_is_not_there(variables):
    with pytest.raises(ValueError, match="Couldn't find variable C"):
        framework.get_unique_variable("C")
    with pytest.raises(ValueError, match=r"does not uniquely identify.*A/weights"):
        framework.get_unique_variable("A")
    with pytest.raises(TypeError, match="include is provided but is not a list"):
        framework.get_variables_to_restore(include="A")


def test_filter_variables(variables):
    candidates = list(variables.values())
    pick = framework.filter_variables
    assert names(pick(candidates, ["weights"])) == ["A/weights", "B/weights"]
    assert names(pick(candidates, exclude_patterns=["^A"])) == ["B/weights"]
    assert names(pick(candidates, ["inner", "B"], ["bias"])) == ["B/weights"]
    assert names(pick(candidates, ["weights"], reg_search=False)) == []


def test_model_variables_are_in_their_collection():
    weights = framework.model_variable("w", shape=[2], initializer=v1.ones_initializer())
    other = framework.variable("v", shape=[1], trainable=False)
    assert framework.get_model_variables() == [weights]
    framework.add_model_variable(other)
    framework.add_model_variable(other)
    assert names(framework.get_model_variables()) == ["w", "v"]
    with framework.arg_scope([framework.variable], trainable=False):
        assert not framework.variable("frozen", shape=[1]).trainable
    assert framework.arg_scope is scopes.arg_scope and framework.has_arg_scope(framework.variable)


def test_local_and_global_variables():
    local = framework.local_variable(1, name="count")
    stored = framework.global_variable(2.0, name="value")
    assert framework.get_local_variables() == [local] and v1.global_variables() == [stored]
    assert v1.trainable_variables() == []
    zeros = framework.zero_initializer(stored)
    with v1.Session() as session:
        session.run([zeros, local.initializer])
        assert session.run([local, stored]) == [1, 0.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="input is already initialized"):
            session.run(zeros)


def test_global_step():
    assert framework.get_global_step() is None
    step = framework.get_or_create_global_step()
    assert framework.assert_or_get_global_step() is step
    assert framework.assert_or_get_global_step(global_step_tensor=step) is step
    with pytest.raises(TypeError):
        framework.assert_or_get_global_step(global_step_tensor=tf.constant(1.0))


def test_assign_from_values(variables):
    init = framework.assign_from_values_fn({"A/weights": np.float32([[3], [4]]), "B/weights": 5.0})
    with started() as session:
        init(session)
        assert session.run(variables["A/weights"]).tolist() == [3, 4]
        assert session.run(variables["B/weights"]) == 5
    with pytest.raises(ValueError, match="Couldn't find variable A/nothing"):
        framework.assign_from_values({"A/nothing": 1})
    with pytest.raises(ValueError, match="unchanged for A/weights"):
        framework.assign_from_values({"A/weights": np.zeros(3)})


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("A/weights", initializer=tf.constant([7.0, 8.0]))
        v1.get_variable("old/biases", initializer=tf.constant([1.0, 2.0]))
        v1.get_variable("split", initializer=tf.constant([[1.0], [2.0], [3.0]]))
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))


def test_assign_from_checkpoint(variables, checkpoint):
    names_there = {"A/weights": variables["A/weights"]}
    operation, feed = framework.assign_from_checkpoint(checkpoint, names_there)
    with started() as session:
        session.run(operation, feed)
        assert session.run(variables["A/weights"]).tolist() == [7, 8]
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[B/weights\]"):
        framework.assign_from_checkpoint(checkpoint, [variables["B/weights"]])
    framework.assign_from_checkpoint(checkpoint, [variables["B/weights"]], ignore_missing_vars=True)
    with pytest.raises(ValueError, match="unchanged for old/biases"):
        framework.assign_from_checkpoint(checkpoint, {"old/biases": variables["A/inner/biases"]})


def test_assign_from_checkpoint_to_a_partitioned_variable(checkpoint):
    parts = v1.get_variable("split", [3, 1], partitioner=v1.fixed_size_partitioner(2))
    operation, feed = framework.assign_from_checkpoint(checkpoint, list(parts))
    with started() as session:
        session.run(operation, feed)
        assert [session.run(part).tolist() for part in parts] == [[[1.0], [2.0]], [[3.0]]]
    assert {framework.get_variable_full_name(part) for part in parts} == {"split"}


def test_assign_from_checkpoint_fn(variables, checkpoint):
    chosen = framework.get_variables_to_restore(exclude=["A/inner"])
    restore = framework.assign_from_checkpoint_fn(checkpoint, chosen, ignore_missing_vars=True)
    reshaped = framework.assign_from_checkpoint_fn(
        checkpoint, {"old/biases": variables["A/inner/biases"]}, reshape_variables=True
    )
    with started() as session:
        restore(session)
        reshaped(session)
        assert session.run(variables["A/weights"]).tolist() == [7, 8]
        assert session.run(variables["A/inner/biases"]).tolist() == [[1, 2]]
    none = [variables["B/weights"]]
    assert framework.assign_from_checkpoint_fn(checkpoint, none, ignore_missing_vars=True) is None
    with pytest.raises(ValueError, match="var_list cannot be empty"):
        framework.assign_from_checkpoint_fn(checkpoint, [])


def test_checkpoints_are_read(checkpoint):
    assert framework.list_variables(checkpoint) == [
        ("A/weights", [2]), ("old/biases", [2]), ("split", [3, 1]),
    ]  # fmt: skip
    assert framework.load_variable(checkpoint, "A/weights").tolist() == [7, 8]
    assert framework.load_checkpoint(checkpoint).has_tensor("split")


def test_a_scaffolds_init_fn_in_an_estimator(checkpoint, tmp_path):
    def model_fn(features, labels, mode):
        with v1.variable_scope("A"):
            weights = v1.get_variable("weights", [2], initializer=v1.zeros_initializer())
        restore = framework.assign_from_checkpoint_fn(
            checkpoint, framework.get_variables_to_restore(["A"]), ignore_missing_vars=True
        )
        scaffold = v1.train.Scaffold(init_fn=lambda scaffold, session: restore(session))
        step = v1.assign_add(framework.get_or_create_global_step(), 1)
        loss = tf.reduce_sum(weights * features)
        return eb.EstimatorSpec(mode, loss=loss, train_op=step, scaffold=scaffold)

    estimator = eb.Estimator(model_fn, str(tmp_path / "model"))
    estimator.train(lambda: tf.data.Dataset.from_tensors([1.0, 1.0]), steps=1)
    assert estimator.get_variable_value("A/weights").tolist() == [7, 8]


def test_shapes_are_checked(graph):
    zeros = tf.zeros([2, 3])
    assert framework.with_shape([2, 3], zeros) is zeros
    assert framework.with_shape([], tf.zeros([1])).shape.rank == 0
    with pytest.raises(ValueError, match="Invalid shape for tensor"):
        framework.with_shape([3, 2], zeros)
    unknown = v1.placeholder(tf.float32, [None, 3])
    assert framework.with_shape([2, 3], unknown).shape.as_list() == [2, 3]
    same = framework.with_same_shape(unknown, v1.placeholder_with_default(zeros, [None, None]))
    with v1.Session() as session:
        assert session.run(same, {unknown: np.zeros([2, 3])}).shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            session.run(same, {unknown: np.zeros([4, 3])})
    assert framework.assert_scalar_int(3).dtype == tf.int32
    with pytest.raises(ValueError, match="Expected integer type"):
        framework.assert_scalar_int(3.0)


def test_dimensions_of_one_are_squeezed():
    squeeze = framework.remove_squeezable_dimensions
    for shapes in (([2, 1], [2]), ([2], [2, 1]), ([2], [2])):
        got = squeeze(*(tf.zeros(shape) for shape in shapes))
        assert [tensor.shape.as_list() for tensor in got] == [[2], [2]]


def test_conditions_known_and_unknown():
    pick = framework.smart_cond
    assert pick(True, lambda: "yes", lambda: "no") == "yes"
    assert pick(tf.constant(False), lambda: "yes", lambda: "no") == "no"
    unknown = v1.placeholder_with_default(True, [])
    assert framework.smart_constant_value(unknown) is None
    chosen = pick(unknown, lambda: tf.constant(1), lambda: tf.constant(2))
    case = framework.smart_case([(False, lambda: 1), (True, lambda: 2)], lambda: 3)
    assert case == 2 and framework.smart_case([(False, lambda: 1)], lambda: 3) == 3
    with v1.Session() as session:
        assert session.run([chosen, framework.reduce_sum_n([chosen, chosen + 1])]) == [1, 3]
    with pytest.raises(TypeError, match="must be a Tensor, or a Python bool"):
        framework.smart_constant_value("yes")


@pytest.mark.parametrize("name", ["x", "a/x", "^x", "loc:@x"])
def test_name_scopes(name):
    there = framework.prepend_name_scope(name, "scope")
    assert "scope/" in there and framework.strip_name_scope(there, "scope") == name
    with tf.name_scope("outer"):
        assert framework.get_name_scope() == "outer"


def test_nest():
    nest = framework.nest
    nested = {"b": [1, (2, 3)], "a": 4}
    assert nest.flatten(nested) == [4, 1, 2, 3]
    assert nest.pack_sequence_as(nested, [0, 1, 2, 3]) == {"a": 0, "b": [1, (2, 3)]}
    assert nest.is_sequence([1]) and not nest.is_sequence("text")
    assert nest.flatten_up_to([0, 0], [[1, 2], 3]) == [[1, 2], 3]
    assert nest.map_structure(lambda x: x + 1, nested) == {"b": [2, (3, 4)], "a": 5}
    assert nest.flatten_with_joined_string_paths(nested)[1] == ("b/0", 1)


def test_devices_of_variables():
    choose = framework.VariableDeviceChooser(num_tasks=2)
    assert [choose(None) for _ in range(3)] == [f"/job:ps/task:{n}/device:CPU:0" for n in (0, 1, 0)]
    assert framework.VariableDeviceChooser(device_type="GPU")(None) == "/device:GPU:0"


def test_small_twins(graph):
    x = tf.constant([3, 1, 2])
    with v1.Session() as session:
        got = session.run(
            [
                framework.sort(x),
                framework.argsort(x),
                framework.is_strictly_increasing(framework.sort(x)),
                framework.is_non_decreasing(x),
            ]
        )
    assert got[0].tolist() == [1, 2, 3] and got[1].tolist() == [1, 2, 0]
    assert got[2:] == [True, False]
    v1.placeholder(tf.float32, [], "fed")
    assert [p.op.name for p in framework.get_placeholders(graph)] == ["fed"]


def test_what_is_missing_says_what_to_use():
    with pytest.raises(AttributeError, match=r"tf\.contrib\.framework\.print_op .*Use "):
        _ = framework.print_op


def _warned(caplog):
    return [record.getMessage() for record in caplog.records]


def test_deprecated_functions_work_and_say_so_once(caplog):
    @framework.deprecated("2018-05-01", "Use halve.")
    def half(x):
        """Half of it."""
        return x / 2

    assert (half(4), half(x=6), half.__name__, half.__doc__) == (2, 3, "half", "Half of it.")
    (message,) = _warned(caplog)
    assert re.search(
        r"half is deprecated and will be removed after 2018-05-01.*Use halve\.", message
    )
    with pytest.raises(ValueError, match="without conversion instructions"):
        framework.deprecated(None, "")(half)


def test_deprecated_arguments_say_so_where_they_are_given(caplog):
    @framework.deprecated_args(None, "Use axis.", "dim", ("keep", False))
    @framework.deprecated_arg_values("2019-01-01", "Give another.", axis=-1)
    def total(x, dim=None, axis=0, keep=False):
        return x, dim, axis, keep

    assert total(1, axis=2, keep=False) == (1, None, 2, False)
    assert not _warned(caplog)
    assert total(1, 3, -1, True) == (1, 3, -1, True)
    assert total(1, 3, -1, True) == (1, 3, -1, True)
    messages = _warned(caplog)
    assert len(messages) == 3
    assert "with dim is deprecated and will be removed in a future version" in messages[0]
    assert "with keep is deprecated" in messages[1]
    assert "with axis=-1 is deprecated and will be removed after 2019-01-01" in messages[2]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        total(1, other=2)
    with pytest.raises(ValueError, match="has no argument rank to be deprecated; it has x"):
        framework.deprecated_args(None, "No.", "rank")(lambda x: x)
