"""tf.contrib.framework."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, rows, unknown, x

framework = tf.contrib.framework
arg_scope, add_arg_scope = framework.arg_scope, framework.add_arg_scope


@add_arg_scope
def scoped(first, second=2, third=3):
    """A function with defaults from arg_scope."""
    return [first, second, third]


def plain(first):
    """A function without them."""
    return first


def scopes():
    with arg_scope([scoped], second=5) as scope:
        inner = scoped(1), scoped(1, third=6), framework.current_arg_scope() == scope
    with arg_scope(scope):
        again = scoped(1)
    with arg_scope({}):
        return [
            inner,
            again,
            scoped(1),
            framework.has_arg_scope(scoped),
            sorted(framework.arg_scoped_arguments(scoped)),
            framework.has_arg_scope(plain),
        ]


def with_scope(functions, **options):
    with arg_scope(functions, **options):
        return scoped(1)


def variables():
    """Model variables, others, and a local one."""
    with tf.variable_scope("a"):
        framework.model_variable("weights", [2, 2], initializer=tf.ones_initializer())
        framework.variable("biases", [2], trainable=False, collections=["mine", "variables"])
    with tf.variable_scope("b"):
        framework.model_variable("weights", [3], regularizer=lambda w: tf.reduce_sum(w) * 0.1)
        framework.local_variable(tf.zeros([2]), name="state")


def names(elements):
    return [each.op.name for each in elements]


def found_by(finder):
    def build():
        variables()
        return names(finder())

    return build


def assigned(make):
    """Variables after an assignment."""
    first = tf.get_variable("s/a", initializer=np.zeros([2, 2], np.float32))
    second = tf.get_variable("s/b", initializer=np.ones([3], np.float32))
    assign, feed = make(first, second)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        if callable(assign):
            assign(session)
        else:
            session.run(assign, feed)
        return session.run([first, second])


def saved(names=("s/a", "other")):
    """The path of a checkpoint of two variables."""
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as session:
        shapes = {"s/a": [2, 2], "other": [3], "flat": [4]}
        variables = [tf.get_variable(each, initializer=array(*shapes[each])) for each in names]
        session.run(tf.global_variables_initializer())
        return tf.train.Saver(variables).save(session, os.path.join(folder, "c", "model.ckpt"))


def restored(variables_of, **options):
    return lambda: assigned(
        lambda a, b: framework.assign_from_checkpoint(saved(), variables_of(a, b), **options)
    )


def restored_fn(variables_of, names=("s/a", "other"), **options):
    return lambda: assigned(
        lambda a, b: (
            framework.assign_from_checkpoint_fn(saved(names), variables_of(a, b), **options),
            None,
        )
    )


def beside_a_folder():
    path = saved()
    os.mkdir(path)
    return assigned(lambda a, b: framework.assign_from_checkpoint(path, {"s/a": a, "other": b}))


def devices():
    chooser = framework.VariableDeviceChooser(num_tasks=2, job_name="ps", device_type="GPU")
    with tf.Graph().as_default(), tf.device(chooser):
        return [tf.get_variable(name, [2]).device for name in "abc"]


def deprecated(decorator, *args, **kwargs):
    @decorator
    def own(a=1, b=2, c=3):
        """Does it."""
        return [a, b, c]

    return [own(*args, **kwargs), own.__name__]


def cased(*values):
    return framework.smart_case(
        [(value, lambda number=number: tf.constant(number)) for number, value in enumerate(values)],
        default=lambda: tf.constant(-1),
        exclusive=True,
    )


def steps():
    step = framework.create_global_step()
    return [
        step,
        framework.get_global_step().op.name,
        framework.get_or_create_global_step().op.name,
        framework.assert_global_step(step),
        framework.assert_or_get_global_step(None).op.name,
    ]


def placeholders():
    tf.placeholder(tf.float32, [2], name="p")
    with tf.name_scope("s"):
        tf.placeholder(tf.int32, name="q")
        return [each.name for each in framework.get_placeholders(tf.get_default_graph())]


def scope_names():
    with tf.name_scope("a"), tf.name_scope("b"):
        return framework.get_name_scope()


def shaped(expected, value, shape=None):
    return lambda: framework.with_shape(expected, unknown(value, shape))


def zeroed():
    variable = tf.Variable(tf.ones([2]), name="z", collections=["own"], use_resource=False)
    with tf.control_dependencies([framework.zero_initializer(variable)]):
        return tf.identity(variable)


def begun():
    path = saved()
    with tf.variable_scope("new"):
        variable = tf.get_variable("a", first_shape(path), trainable=False)
    framework.init_from_checkpoint(checkpoint_dir=path, assignment_map={"s/": "new/"})
    return variable


def first_shape(path):
    return dict(framework.list_variables(path))["s/a"]


def fused(inputs, outputs):
    """The nodes of a graph, after a part of it became one."""
    with tf.Graph().as_default() as graph:
        first = tf.placeholder(tf.float32, [2], name="in")
        other = tf.placeholder(tf.float32, [2], name="other")
        middle = tf.square(tf.add(first, 1.0, name="plus"), name="square")
        tf.identity(tf.add(middle, tf.identity(other, name="aside"), name="sum"), name="out")
        tf.negative(graph.get_tensor_by_name("out:0"), name="after")
    graph_def = framework.fuse_op(
        graph.as_graph_def(), inputs, outputs, [tf.float32.as_datatype_enum], True, "one", "Custom"
    )
    return ["%s %s %s" % (node.name, node.op, ",".join(node.input)) for node in graph_def.node]


def nested():
    def own(pair, scale=None):
        return {"sum": pair[0] + pair[1]["b"], "both": [pair[0] * scale, pair[1]["b"]]}

    results = framework.py_func(
        own,
        [(tf.constant([1.0, 2.0]), {"b": tf.constant([3.0, 4.0])})],
        {"scale": tf.constant(2.0)},
        output_types={"sum": tf.float32, "both": [tf.float32, tf.float32]},
        output_shapes={"sum": [2], "both": [[2], [None]]},
    )
    return [results["sum"], results["both"][0], results["both"][1]]


CASES = {
    "framework.VariableDeviceChooser": devices,
    "framework.add_arg_scope": scopes,
    "framework.arg_scope": scopes,
    "framework.arg_scope: unknown function": lambda: with_scope([plain], second=1),
    "framework.arg_scope: no list": lambda: with_scope(scoped, second=1),
    "framework.arg_scope: a scope and arguments": lambda: with_scope({"a": {}}, second=1),
    "framework.arg_scoped_arguments": scopes,
    "framework.current_arg_scope": scopes,
    "framework.has_arg_scope": scopes,
    "framework.add_model_variable": lambda: framework.add_model_variable(tf.get_variable("v", [2])),
    "framework.assert_global_step": steps,
    "framework.assert_global_step: floats": lambda: framework.assert_global_step(
        tf.get_variable("v", [])
    ),
    "framework.assert_or_get_global_step": steps,
    "framework.assert_or_get_global_step: none": lambda: framework.assert_or_get_global_step(None),
    "framework.assert_scalar_int": lambda: framework.assert_scalar_int(tf.constant(37)),
    "framework.assert_scalar_int: float": lambda: framework.assert_scalar_int(tf.constant(3.0)),
    "framework.assert_scalar_int: vector": lambda: framework.assert_scalar_int(tf.constant([3])),
    "framework.assign_from_checkpoint": restored(lambda a, b: {"s/a": a, "other": b}),
    "framework.assign_from_checkpoint: list": restored(lambda a, b: [a]),
    "framework.assign_from_checkpoint: missing": restored(lambda a, b: [a, b]),
    "framework.assign_from_checkpoint: ignored": restored(
        lambda a, b: [a, b], ignore_missing_vars=True
    ),
    "framework.assign_from_checkpoint: shape": restored(lambda a, b: {"s/a": b}),
    "framework.assign_from_checkpoint: a folder of the name": beside_a_folder,
    "framework.assign_from_checkpoint_fn": restored_fn(lambda a, b: {"s/a": a, "other": b}),
    "framework.assign_from_checkpoint_fn: ignored": restored_fn(
        lambda a, b: [a, b], ignore_missing_vars=True
    ),
    "framework.assign_from_checkpoint_fn: missing": restored_fn(lambda a, b: [a, b]),
    "framework.assign_from_checkpoint_fn: reshaped": restored_fn(
        lambda a, b: {"flat": a}, names=("flat",), reshape_variables=True
    ),
    "framework.assign_from_checkpoint_fn: shape": restored_fn(
        lambda a, b: {"flat": a}, names=("flat",)
    ),
    "framework.assign_from_checkpoint_fn: none": lambda: framework.assign_from_checkpoint_fn(
        saved(), []
    ),
    "framework.assign_from_values": lambda: assigned(
        lambda a, b: framework.assign_from_values({"s/a": array(2, 2), "s/b": array(3)})
    ),
    "framework.assign_from_values: shape": lambda: assigned(
        lambda a, b: framework.assign_from_values({"s/a": array(3)})
    ),
    "framework.assign_from_values: unknown": lambda: assigned(
        lambda a, b: framework.assign_from_values({"s/c": array(3)})
    ),
    "framework.assign_from_values_fn": lambda: assigned(
        lambda a, b: (framework.assign_from_values_fn({"s/a": array(2, 2)}), None)
    ),
    "framework.create_global_step": steps,
    "framework.create_global_step: twice": lambda: [
        framework.create_global_step(),
        framework.create_global_step(),
    ],
    "framework.get_global_step": steps,
    "framework.get_or_create_global_step": steps,
    "framework.deprecated": lambda: deprecated(framework.deprecated("2030-01-01", "use b"), 5),
    "framework.deprecated: date": lambda: framework.deprecated("soon", "use b"),
    "framework.deprecated: no text": lambda: framework.deprecated("2030-01-01", ""),
    "framework.deprecated_arg_values": lambda: deprecated(
        framework.deprecated_arg_values("2030-01-01", "use b", a=1), a=1
    ),
    "framework.deprecated_args": lambda: deprecated(
        framework.deprecated_args("2030-01-01", "use b", "a"), a=1
    ),
    "framework.deprecated_args: unknown": lambda: deprecated(
        framework.deprecated_args("2030-01-01", "use b", "z"), a=1
    ),
    "framework.filter_variables": lambda: [
        variables(),
        names(framework.filter_variables(tf.global_variables(), ["weights"], ["^b"])),
    ],
    "framework.filter_variables: whole": lambda: [
        variables(),
        names(framework.filter_variables(tf.global_variables(), ["w"], reg_search=False)),
    ],
    "framework.get_local_variables": found_by(framework.get_local_variables),
    "framework.get_model_variables": found_by(lambda: framework.get_model_variables("a")),
    "framework.get_trainable_variables": found_by(framework.get_trainable_variables),
    "framework.get_unique_variable": found_by(lambda: [framework.get_unique_variable("a/weights")]),
    "framework.get_unique_variable: none": found_by(lambda: [framework.get_unique_variable("z")]),
    "framework.get_variable_full_name": lambda: framework.get_variable_full_name(
        tf.get_variable("s/v", [2])
    ),
    "framework.get_variables": found_by(lambda: framework.get_variables("a", suffix="weights")),
    "framework.get_variables: collection": found_by(
        lambda: framework.get_variables(collection="mine")
    ),
    "framework.get_variables_by_name": found_by(
        lambda: framework.get_variables_by_name("weights", "b")
    ),
    "framework.get_variables_by_suffix": found_by(lambda: framework.get_variables_by_suffix("ses")),
    "framework.get_variables_to_restore": found_by(
        lambda: framework.get_variables_to_restore(exclude=["a/bi"])
    ),
    "framework.get_variables_to_restore: include": found_by(
        lambda: framework.get_variables_to_restore(include=["a", "b/weights"])
    ),
    "framework.get_variables_to_restore: text": found_by(
        lambda: framework.get_variables_to_restore(include="a")
    ),
    "framework.global_variable": lambda: framework.global_variable(tf.ones([2]), name="g"),
    "framework.local_variable": lambda: framework.local_variable(
        np.float32(2.0), validate_shape=False, name="l"
    ),
    "framework.model_variable": lambda: [variables(), names(tf.get_collection("mine"))],
    "framework.model_variable: device": lambda: framework.model_variable(
        "v", [2], initializer=tf.ones_initializer(), device="/cpu:0", collections=["c"]
    ),
    "framework.variable": lambda: framework.variable(
        "v", initializer=tf.constant([1.0, 2.0]), trainable=False
    ),
    "framework.variable: regularizer": lambda: framework.variable(
        "v",
        [2],
        tf.float64,
        tf.ones_initializer(),
        regularizer=tf.contrib.layers.l2_regularizer(0.1),
    ),
    "framework.init_from_checkpoint": begun,
    "framework.list_variables": lambda: [
        "%s %s" % pair for pair in framework.list_variables(checkpoint_dir=saved())
    ],
    "framework.load_checkpoint": lambda: framework.load_checkpoint(filepattern=saved()).get_tensor(
        "s/a"
    ),
    "framework.load_variable": lambda: framework.load_variable(saved(), name="other"),
    "framework.load_variable: not there": lambda: framework.load_variable(saved(), "b"),
    "framework.zero_initializer": zeroed,
    "framework.fuse_op": lambda: fused(["in"], ["out"]),
    "framework.fuse_op: two inputs": lambda: fused(["in", "other"], ["out", "aside"]),
    "framework.fuse_op: another input": lambda: fused(["in"], ["out", "aside"]),
    "framework.fuse_op: a string": lambda: fused("in", ["out"]),
    "framework.fuse_op: no such node": lambda: fused(["nowhere"], ["out"]),
    "framework.py_func": nested,
    "framework.py_func: no list": lambda: framework.py_func(abs, tf.constant(1.0)),
    "framework.py_func: another structure": lambda: framework.py_func(
        lambda: 1.0, (), output_types={"a": tf.float32}
    ),
    "framework.get_name_scope": scope_names,
    "framework.get_placeholders": placeholders,
    "framework.prepend_name_scope": lambda: (
        [framework.prepend_name_scope(name, "s") for name in ("a", "^a", "loc:@a", "a/b")]
        + [framework.prepend_name_scope("a", "")]
    ),
    "framework.strip_name_scope": lambda: (
        [framework.strip_name_scope(name, "s") for name in ("s/a", "^s/a", "loc:@s/a", "t/a")]
        + [framework.strip_name_scope("a", "")]
    ),
    "framework.reduce_sum_n": lambda: framework.reduce_sum_n([rows(), x(2, 2)]),
    "framework.reduce_sum_n: one": lambda: framework.reduce_sum_n([rows()], name="own"),
    "framework.reduce_sum_n: none": lambda: framework.reduce_sum_n([]),
    "framework.remove_squeezable_dimensions": lambda: framework.remove_squeezable_dimensions(
        x(3, 1), x(3)
    ),
    "framework.remove_squeezable_dimensions: labels": lambda: (
        framework.remove_squeezable_dimensions(x(3), x(3, 1))
    ),
    "framework.remove_squeezable_dimensions: both unknown": lambda: (
        framework.remove_squeezable_dimensions(unknown(array(3, 1)), unknown(array(3)))
    ),
    "framework.remove_squeezable_dimensions: labels unknown": lambda: (
        framework.remove_squeezable_dimensions(x(3), unknown(array(3, 1)))
    ),
    "framework.remove_squeezable_dimensions: predictions unknown": lambda: (
        framework.remove_squeezable_dimensions(unknown(array(3, 2)), x(3, 2))
    ),
    "framework.smart_case": lambda: cased(False, True),
    "framework.smart_case: default": lambda: cased(False, False),
    "framework.smart_case: tensors": lambda: cased(unknown(False, []), unknown(True, [])),
    "framework.smart_case: two": lambda: cased(True, True),
    "framework.smart_cond": lambda: framework.smart_cond(
        True, lambda: tf.constant(1), lambda: tf.constant(2)
    ),
    "framework.smart_cond: tensor": lambda: framework.smart_cond(
        unknown(False, []), lambda: tf.constant(1), lambda: tf.constant(2)
    ),
    "framework.smart_constant_value": lambda: (
        [framework.smart_constant_value(each) for each in (True, 0, 1, tf.constant(True))]
        + [framework.smart_constant_value(unknown(True, []))]
    ),
    "framework.smart_constant_value: text": lambda: framework.smart_constant_value("yes"),
    "framework.smart_constant_value: number": lambda: framework.smart_constant_value(5),
    "framework.with_same_shape": lambda: framework.with_same_shape(x(3, 4), unknown(array(3, 4))),
    "framework.with_same_shape: wrong": lambda: framework.with_same_shape(x(3, 4), x(4, 3)),
    "framework.with_shape": lambda: framework.with_shape([3, 4], rows()),
    "framework.with_shape: wrong": lambda: framework.with_shape([4, 3], rows()),
    "framework.with_shape: unknown": shaped([3, 4], array(3, 4)),
    "framework.with_shape: unknown, wrong": shaped([4, 3], array(3, 4)),
    "framework.with_shape: broadcasts": shaped([1, 4], array(3, 4)),
    "framework.with_shape: other rank": shaped([4], array(1, 4)),
    "framework.with_shape: any size": shaped([None, 4], array(3, 4), [None, 4]),
    "framework.with_shape: tensor": lambda: framework.with_shape(
        unknown(np.array([3, 4], np.int32), [2]), rows()
    ),
    "framework.with_shape: tensor, broadcasts": lambda: framework.with_shape(
        unknown(np.array([1, 4], np.int32), [2]), rows()
    ),
    "framework.with_shape: tensor, rank": lambda: framework.with_shape(
        unknown(np.array([4], np.int32), [1]), rows()
    ),
    "framework.with_shape: tensor, type": lambda: framework.with_shape(
        unknown(np.array([3.0, 4.0]), [2]), rows()
    ),
    "framework.with_shape: scalar": lambda: framework.with_shape([], unknown(array(1), [1])),
    "framework.with_shape: scalar, unknown": shaped([], np.float32(2.0)),
    "framework.with_shape: list of lists": lambda: framework.with_shape([[3], [4]], rows()),
    "framework.with_shape: part": shaped([2, 1], array(3, 2), [None, 2]),
    "framework.with_shape: floats": lambda: framework.with_shape([3.0, 4.5], rows()),
    "framework.get_graph_from_inputs": lambda: (
        framework.get_graph_from_inputs([rows(), 1.0]) is tf.get_default_graph()
    ),
    "framework.get_graph_from_inputs: other": lambda: framework.get_graph_from_inputs(
        [rows()], tf.Graph()
    ),
    "framework.with_shape: sparse": lambda: framework.with_shape(
        [2, 2], tf.contrib.layers.dense_to_sparse([[1, 2]])
    ),
}
