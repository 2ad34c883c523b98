"""Runs a case in a graph of its own, and writes down everything that a program can see of it.

Runs under TensorFlow 1.15.5 with Python 3.7, and under `estimator-bridge run --tf1`.

Numbers that a random operation draws are replaced by fixed ones of the same shape, so initializers,
dropout and noise can be compared although the graphs' seeds differ.
"""

import inspect
import sys
import zlib

import numpy as np
import tensorflow as tf

__all__ = ["Steps", "observe", "signature"]

# Collections that TensorFlow itself fills, or whose content the observation has elsewhere.
_BOOKKEEPING = (
    "cond_context",
    "while_context",
    "variables",
    "trainable_variables",
    "local_variables",
    "summaries",
    "table_initializer",
    "savers",
    "resources",
    "queue_runners",
    "replicate_model_fn_graph_states",
)
_RANDOM = {
    "RandomUniform": lambda random, shape: random.uniform(0.001, 0.999, shape),
    "RandomStandardNormal": lambda random, shape: random.normal(size=shape),
    "TruncatedNormal": lambda random, shape: np.clip(random.normal(size=shape), -1.9, 1.9),
}
_LARGEST_SHOWN = 6


class Steps(list):
    """Fetches that run one after the other, such as a metric's update and then its value."""


class Case:
    """A case: a function that builds a graph and returns what to observe.

    Args:
      build: the function, without arguments.
      has_gradients: whether gradients with respect to the trainable variables, and to constants
        that are named "input", are observed.
      queues: whether queue runners run; None if not, and the last values of variables count too.
    """

    def __init__(self, build, has_gradients=True, queues=False):
        self.build, self.has_gradients, self.queues = build, has_gradients, queues


def observe(case):
    """Returns a case's observation, a tree of JSON values."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(4)
        try:
            result = case.build()
        except Exception as error:
            return {"error": _kinds(error), "text": _line(error)}
        try:
            return _observe_graph(graph, case, result)
        except Exception as error:
            return {"error at run time": _kinds(error), "text": _line(error)}


def _observe_graph(graph, case, result):
    seen = {"result": _described(result)}
    collections = {}
    for key in sorted(graph.get_all_collection_keys(), key=str):
        if isinstance(key, str) and key not in _BOOKKEEPING:
            names = [
                getattr(each, "name", type(each).__name__) for each in graph.get_collection(key)
            ]
            if names:
                collections[key] = names
    seen.update(collections and {"collections": collections})
    variables = tf.global_variables() + [
        each for each in tf.local_variables() if each not in tf.global_variables()
    ]
    trained = tf.trainable_variables()
    gradients = _gradients(graph, result, trained) if case.has_gradients else {}
    summaries = tf.summary.merge_all()
    with tf.Session(graph=graph, config=_config()) as session:
        feeds = _fixed_draws(graph, session)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()], feeds)
        session.run(tf.tables_initializer())
        starts = session.run({each.op.name: each for each in variables})
        seen.update(
            variables
            and {
                "variables": {
                    each.op.name: {"start": _number(starts[each.op.name])}
                    for each in variables
                    if "global_step" not in each.op.name
                },
                "trained": sorted(each.op.name for each in trained),
            }
        )
        _perturb(trained, starts, session)
        threads = tf.train.start_queue_runners(session) if case.queues else []
        values, after_each = [], isinstance(result, Steps)
        for part in result if after_each else [result]:
            fetched = [each for _, each in _flat(part) if _is_fetch(each)]
            values += [_number(value) for value in session.run(fetched, feeds)]
        seen["values"] = values
        if gradients:
            gradient_values = session.run(gradients, feeds)
            seen["gradients"] = {name: _number(value) for name, value in gradient_values.items()}
        if summaries is not None:
            seen["summaries"] = _summary_values(session.run(summaries, feeds))
        if case.queues is None or (after_each and not case.queues):  # a queue's threads go on
            ends = session.run({each.op.name: each for each in variables})
            seen["ends"] = {name: _number(value) for name, value in sorted(ends.items())}
        del threads
    return seen


def _config():
    """Returns a session's settings: a case's few runs are over before optimizing a graph pays."""
    config = tf.ConfigProto(operation_timeout_in_ms=5000)  # a queue that nobody fills
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return config


def _perturb(trained, starts, session):
    """Adds noise to the trained variables, in one run, so that zeros hide nothing."""
    values = {}
    for each in trained:
        if each.dtype.base_dtype.is_floating:
            random = np.random.RandomState(zlib.crc32(each.op.name.encode()) % 2**31)
            start = starts[each.op.name]
            value = np.asarray(start + 0.1 * random.normal(size=start.shape))
            values[each] = value.astype(each.dtype.base_dtype.as_numpy_dtype)
    feeds = {each.initializer.inputs[1]: value for each, value in values.items()}
    session.run([each.initializer for each in values], feeds)


def _kinds(error):
    """Returns an error's classes, the most special one first."""
    return [each.__name__ for each in type(error).__mro__ if each not in (object, BaseException)]


def _line(error):
    """Returns the start of an error's text; the original's is not recorded, as it names paths."""
    return "" if sys.version_info < (3, 8) else str(error)[:300]


def _flat(structure, path=""):
    """Yields pairs of a path and a leaf."""
    if isinstance(structure, dict):
        for key in sorted(structure, key=str):
            for pair in _flat(structure[key], "%s/%s" % (path, key)):
                yield pair
    elif isinstance(structure, (tf.SparseTensor, tf.IndexedSlices)):
        parts = ("indices", "values", "dense_shape")
        for part in parts:
            if getattr(structure, part) is not None:
                yield "%s.%s" % (path, part), getattr(structure, part)
    elif isinstance(structure, (list, tuple)):
        names = getattr(structure, "_fields", range(len(structure)))
        for name, each in zip(names, structure):
            for pair in _flat(each, "%s/%s" % (path, name)):
                yield pair
    elif (
        type(structure).__name__ == "_LazyEvalTensor"
    ):  # a regularization loss of today's TensorFlow
        yield path, tf.convert_to_tensor(structure)
    else:
        yield path, structure


def _is_fetch(leaf):
    return isinstance(leaf, (tf.Tensor, tf.Operation)) or _is_variable(leaf)


def _is_variable(leaf):
    """Today, a resource variable and its assignment are no tf.compat.v1.Variable."""
    names = ("ResourceVariable", "_UnreadVariable")
    return isinstance(leaf, tf.Variable) or type(leaf).__name__ in names


def _described(structure):
    rows = {}
    for path, leaf in _flat(structure):
        if isinstance(leaf, tf.Operation):
            rows[path] = "operation"
        elif isinstance(leaf, tf.Tensor) or _is_variable(leaf):
            shape = leaf.shape
            sizes = None if shape.ndims is None else shape.as_list()
            rows[path] = [leaf.name, leaf.dtype.base_dtype.name, sizes]
        elif isinstance(leaf, (np.ndarray, np.generic)):
            rows[path] = _number(leaf)
        elif isinstance(leaf, tf.DType):
            rows[path] = leaf.name
        elif isinstance(leaf, (tf.TensorShape, bytes)):
            rows[path] = str(leaf)
        elif leaf is None or isinstance(leaf, (bool, int, float, str)):
            rows[path] = leaf
        else:
            rows[path] = "a " + type(leaf).__name__
    return rows


def _gradients(graph, structure, trained):
    """Returns gradients of a weighted sum of the result's floats, by name."""
    sums, inputs = [], [op.outputs[0] for op in graph.get_operations() if _is_input(op)]
    for _, leaf in _flat(structure):
        if isinstance(leaf, tf.Tensor) and leaf.dtype in (tf.float32, tf.float64):
            flat = tf.cast(tf.reshape(leaf, [-1]), tf.float32)
            weights = tf.cos(tf.cast(tf.range(tf.size(flat)), tf.float32))
            sums.append(tf.reduce_sum(flat * weights))
    sources = [each for each in trained if each.dtype.base_dtype.is_floating] + inputs
    if not sums or not sources:
        return {}
    gradients = tf.gradients(sums, sources)
    names = [each.op.name for each in sources]
    return {
        name: tf.convert_to_tensor(each) for name, each in zip(names, gradients) if each is not None
    }


def _is_input(op):
    return op.type == "Const" and op.name.split("_")[0] == "input" and "/" not in op.name


def _fixed_draws(graph, session):
    feeds = {}
    for op in graph.get_operations():
        if op.type in _RANDOM and graph.is_feedable(op.outputs[0]):
            if op._get_control_flow_context() is not None:
                continue
            constant = tf.contrib.util.constant_value(op.inputs[0])
            try:
                sizes = session.run(op.inputs[0]) if constant is None else constant
                shape = [int(size) for size in sizes]
            except tf.errors.OpError:
                continue
            random = np.random.RandomState(len(shape) + int(np.prod(shape)) % 1000)
            drawn = _RANDOM[op.type](random, shape)
            feeds[op.outputs[0]] = np.asarray(drawn, op.outputs[0].dtype.as_numpy_dtype)
    return feeds


def _summary_values(serialized):
    summaries = {}
    for value in tf.Summary.FromString(serialized).value:
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            summaries[value.tag] = _rounded(value.simple_value)
        elif kind == "histo":
            summaries[value.tag] = [_rounded(value.histo.min), _rounded(value.histo.max)]
        elif kind == "tensor":
            summaries[value.tag] = _number(tf.make_ndarray(value.tensor))
        else:
            summaries[value.tag] = kind
    return summaries


def _rounded(value):
    if not np.isfinite(value):
        return str(value)
    return float("%.6g" % value)


def _number(value):
    """Returns an array's shape, its first elements, and two sums that see every element."""
    if value is None or hasattr(value, "_fields"):
        return None if value is None else [_number(each) for each in value]
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        texts = [_text(each) for each in array.flat]
        return texts if array.shape else texts[0]
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iuf":  # such as bfloat16
        array = array.astype(np.float32)
    wide = array.astype(np.float64).ravel()
    if not array.shape:
        return _rounded(wide[0])
    if array.size <= _LARGEST_SHOWN:
        return {"shape": list(array.shape), "all": [_rounded(each) for each in wide]}
    return {
        "shape": list(array.shape),
        "first": [_rounded(each) for each in wide[:_LARGEST_SHOWN]],
        "sum": _rounded(wide.sum()),
        "weighted": _rounded(float(wide.dot(np.cos(np.arange(wide.size))))),
        "largest": _rounded(np.abs(wide).max()),
    }


def _text(value):
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "%d bytes" % len(value)


def signature(function):
    """Returns a callable's parameters: pairs of a name and its default, "" for none."""
    if inspect.isclass(function):
        function = function.__init__
    if sys.version_info < (3, 8):  # TensorFlow 1.15, whose decorators hide signatures
        from tensorflow.python.util import tf_decorator

        function = tf_decorator.unwrap(function)[1]
    rows = []
    for each in inspect.signature(function).parameters.values():
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else "=" + _shown(each.default)
        rows.append(star + each.name + default)
    return rows


def _shown(default):
    if default is None or isinstance(default, (bool, int, float, str)):
        return repr(default)
    if isinstance(default, (tuple, list)):
        return "(%s)" % ", ".join(_shown(each) for each in default)
    return default.name if isinstance(default, tf.DType) else "an object"
