"""tf.contrib.eager.metrics: in eager execution, and in graphs."""

import glob
import os
import shutil
import tempfile

import tensorflow as tf
from contrib_goldens.observe import Case, Steps
from tensorflow.python.eager import context

metrics = tf.contrib.eager.metrics
LABELS = [0, 1, 2, 1]
SCORES = [[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
WEIGHTS = [1.0, 0.5, 0.0, 2.0]


def eagerly(build):
    """A case outside of its graph."""

    def built():
        with context.eager_mode():
            return build()

    return Case(built, has_gradients=False)


def in_graph(build):
    return Case(build, has_gradients=False, queues=None)


def plain(structure):
    """Eager tensors as numbers."""
    return tf.nest.map_structure(lambda each: each.numpy().tolist(), structure)


def seen(metric):
    result = metric.result()
    return [
        metric.name,
        result.dtype.name,
        float(result.numpy()),
        [each.name for each in metric.variables],
        [float(each.numpy()) for each in metric.variables],
    ]


def called(metric, *calls):
    """Calls a metric, each time with other arguments, and looks at it."""
    returned = [plain(metric(*each)) for each in calls]
    return returned, seen(metric)


def constants(*values):
    return [tf.constant(each) for each in values]


def lists_and_numbers():
    metric = metrics.Mean()
    metric([1, 10, 100])
    metric(1000)
    metric([10000.0, 100000.0])
    return seen(metric)


def weighted_mean():
    metric = metrics.Mean("weighted mean")
    metric([1, 100, 100000], weights=[1, 0.2, 0.3])
    metric([500000, 5000, 500])
    return seen(metric)


def reset():
    metric = metrics.Mean()
    metric([1.0, 2.0])
    metric.init_variables()
    empty = str(metric.result().numpy())
    metric(7.0)
    return empty, seen(metric), callable(metric.value()), float(metric.value()().numpy())


def built_first():
    metric = metrics.Mean(name="first")
    metric.build()
    before = metric.numer
    metric(3.0)
    return metric.numer is before, seen(metric)


def two_of_a_name():
    one, two = metrics.Mean(), metrics.Mean()
    one(1.0)
    two(2.0)
    with tf.variable_scope("outer"):
        inner = metrics.Mean()
    inner(3.0)
    return seen(one), seen(two), seen(inner)


def aggregated():
    means = [metrics.Mean(), metrics.Mean(), metrics.Mean()]
    for i, each in enumerate(means):
        each([float(i), 10.0])
    means[0].aggregate(means[1:])
    return seen(means[0]), seen(means[1])


def aggregated_kinds():
    one, two = metrics.Mean(), metrics.Accuracy()
    one(1.0)
    two([1], [1])
    one.aggregate([two])


def aggregated_names():
    one, two = metrics.Mean(), metrics.Mean("other")
    one(1.0)
    two(1.0)
    one.aggregate([two])


def summaries(**how):
    """What a metric's result writes."""
    folder = tempfile.mkdtemp()
    try:
        tf.train.get_or_create_global_step()
        metric = metrics.Mean("written")
        metric([1.0, 10.0, 100.0])
        with tf.contrib.summary.create_file_writer(folder, max_queue=0).as_default():
            with tf.contrib.summary.always_record_summaries():
                result = metric.result(**how)
            metric.result()
        (path,) = glob.glob(os.path.join(folder, "*"))
        values = [
            [value.tag, value.simple_value]
            for event in tf.train.summary_iterator(path)
            for value in event.summary.value
        ]
        return float(result.numpy()), values
    finally:
        shutil.rmtree(folder)


class Largest(metrics.Metric):
    """A metric of a program's own."""

    def build(self, values):
        self.largest = self.add_variable(
            "peak", shape=[], dtype=values.dtype, initializer=tf.constant_initializer(-1.0)
        )

    def call(self, values, factor=1.0):
        self.largest.assign(tf.maximum(self.largest, factor * tf.reduce_max(values)))
        return values

    def result(self):
        return tf.identity(self.largest)


def own():
    metric = Largest()
    metric(tf.constant([1.0, 3.0]))
    metric(tf.constant([2.0]), factor=2.0)
    before = seen(metric)
    metric.init_variables()
    return before, seen(metric)


def late_variable():
    metric = metrics.Mean()
    metric(1.0)
    metric.add_variable("late", shape=[])


def restored():
    """A checkpoint of objects, read before the variables are there."""
    folder = tempfile.mkdtemp()
    try:
        metric = Largest()
        metric(tf.constant([5.0]))
        path = tf.train.Checkpoint(metric=metric).save(os.path.join(folder, "model"))
        names = [name for name, _ in tf.train.list_variables(path) if "metric" in name]
        again = Largest()
        tf.train.Checkpoint(metric=again).restore(path)
        again(tf.constant([2.0]))
        return names, seen(again)
    finally:
        shutil.rmtree(folder)


def in_a_function():
    metric = metrics.Mean()
    update = tf.contrib.eager.defun(lambda x: metric(x))
    update(tf.constant([1.0, 2.0]))
    update(tf.constant([6.0]))
    return seen(metric)


def graph(make, *calls):
    """Updates, one after the other, and the result."""

    def build():
        metric = make()
        updates = [metric(*call) for call in calls]
        named = [
            tf.nest.map_structure(lambda x: tf.identity(x, name="update"), each) for each in updates
        ]
        return Steps([named[0], *named[1:], [tf.identity(metric.result(), name="result")]])

    return in_graph(build)


class Total(metrics.Metric):
    """Reads a variable after it was updated, branches by a tensor, and returns nothing."""

    def build(self, value):
        self.total = self.add_variable("total", [], value.dtype, tf.zeros_initializer())
        self.jumps = self.add_variable("jumps", [], value.dtype, tf.zeros_initializer())

    def call(self, value):
        self.total.assign_add(value)
        if self.total > 2.5:
            self.jumps.assign(self.total * 10.0)

    def result(self):
        return tf.stack([self.total, self.jumps])


def returns_nothing():
    metric = Total()
    update = metric(tf.constant(2.0))
    result = tf.identity(metric.result(), name="result")
    return Steps([[update], [result], [update], [result]])


def collections():
    names = []
    for is_global in (False, True):
        metric = metrics.Mean("kept_%s" % is_global, use_global_variables=is_global)
        metric(1.0)
        names.append([each.name for each in metric.variables])
        names.append([each.name for each in tf.global_variables()])
        names.append([each.name for each in tf.local_variables()])
        names.append([each.name for each in tf.trainable_variables()])
        names.append([each.name for each in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)])
    return names


def in_a_scope():
    with tf.variable_scope("outer"):
        metric = metrics.Mean("a name/of parts-1")
    metric(1.0)
    return metric.name, [each.op.name for each in metric.variables]


def initialized_again():
    metric = metrics.Mean()
    update = tf.group(metric(tf.constant([1.0, 5.0])))
    start = metric.init_variables()
    result = tf.identity(metric.value(), name="result")
    return Steps([[start], [update], [result], [start], [update], [update], [result]])


def aggregated_graph():
    one, two = metrics.Mean("one"), metrics.Mean("one_more")
    one(1.0)
    two(2.0)
    one.aggregate([two])


def two_in_a_graph():
    for _ in range(2):
        metrics.Mean()(1.0)


CASES = {
    "eager.metrics.Mean": eagerly(lists_and_numbers),
    "eager.metrics.Mean: weights": eagerly(weighted_mean),
    "eager.metrics.Mean: returns": eagerly(
        lambda: called(
            metrics.Mean(dtype=tf.float32),
            constants([1.0, 2.0]),
            constants([1.0, 2.0], [3.0, 0.5]),
            constants(4),
        )
    ),
    "eager.metrics.Mean: reset": eagerly(reset),
    "eager.metrics.Mean: built first": eagerly(built_first),
    "eager.metrics.Mean: two": eagerly(two_of_a_name),
    "eager.metrics.Mean: aggregate": eagerly(aggregated),
    "eager.metrics.Mean: aggregate kinds": eagerly(aggregated_kinds),
    "eager.metrics.Mean: aggregate names": eagerly(aggregated_names),
    "eager.metrics.Mean: late variable": eagerly(late_variable),
    "eager.metrics.Mean: summary": eagerly(summaries),
    "eager.metrics.Mean: no summary": eagerly(lambda: summaries(write_summary=False)),
    "eager.metrics.Mean: summary by a tensor": eagerly(
        lambda: summaries(write_summary=tf.constant(True))
    ),
    "eager.metrics.Mean: summary by a string": eagerly(lambda: summaries(write_summary="yes")),
    "eager.metrics.Mean: summary by a number": eagerly(lambda: summaries(write_summary=1)),
    "eager.metrics.Mean: summary by zero": eagerly(lambda: summaries(write_summary=0)),
    "eager.metrics.Mean: function": eagerly(in_a_function),
    "eager.metrics.Mean: graph": graph(metrics.Mean, ([1.0, 2.0, 6.0],), ([5.0, 1.0], [0.5, 2.0])),
    "eager.metrics.Mean: collections": in_graph(collections),
    "eager.metrics.Mean: scope": in_graph(in_a_scope),
    "eager.metrics.Mean: initialized again": in_graph(initialized_again),
    "eager.metrics.Mean: aggregate in a graph": in_graph(aggregated_graph),
    "eager.metrics.Mean: two in a graph": in_graph(two_in_a_graph),
    "eager.metrics.Metric": eagerly(own),
    "eager.metrics.Metric: checkpoint": eagerly(restored),
    "eager.metrics.Metric: returns nothing": in_graph(returns_nothing),
    "eager.metrics.Metric: no build": eagerly(lambda: metrics.Metric()(1.0)),
    "eager.metrics.Metric: no result": eagerly(lambda: metrics.Metric().result()),
    "eager.metrics.Accuracy": eagerly(
        lambda: called(
            metrics.Accuracy(),
            constants([0, 1, 2, 3], [0, 0, 0, 3]),
            constants(LABELS, LABELS, WEIGHTS),
        )
    ),
    "eager.metrics.Accuracy: shapes": eagerly(lambda: metrics.Accuracy()([[0], [0]], [0, 1])),
    "eager.metrics.Accuracy: types": eagerly(lambda: metrics.Accuracy()(*constants([0], [0.0]))),
    "eager.metrics.Accuracy: graph": graph(
        metrics.Accuracy, ([0, 1, 2], [0, 1, 1]), (LABELS, [0, 0, 2, 1], WEIGHTS)
    ),
    "eager.metrics.Accuracy: shapes in a graph": graph(metrics.Accuracy, ([0, 1], [0, 1, 1])),
    "eager.metrics.BinaryAccuracy": eagerly(
        lambda: called(
            metrics.BinaryAccuracy(0.5, name="share"),
            constants([[0, 1], [1, 1]], [[0.5, 0.7], [0.2, 0.6]]),
            constants([0, 1, 1, 0], [0.1, 0.9, 0.2, 0.8], WEIGHTS),
        )
    ),
    "eager.metrics.BinaryAccuracy: logits": eagerly(
        lambda: called(
            metrics.BinaryAccuracy(threshold=0, dtype=tf.float32),
            constants([[0, 0, 0, 0]], [[-4.2, 4.5, 1.2, -1.1]]),
        )
    ),
    "eager.metrics.BinaryAccuracy: graph": graph(
        lambda: metrics.BinaryAccuracy(0.5), ([0, 1, 1], [0.4, 0.6, 0.3])
    ),
    "eager.metrics.CategoricalAccuracy": eagerly(
        lambda: called(
            metrics.CategoricalAccuracy(),
            constants([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]], SCORES),
            constants([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]], SCORES, WEIGHTS),
        )
    ),
    "eager.metrics.CategoricalAccuracy: shapes": eagerly(
        lambda: metrics.CategoricalAccuracy()(LABELS, SCORES)
    ),
    "eager.metrics.SparseAccuracy": eagerly(
        lambda: called(
            metrics.SparseAccuracy(), constants(LABELS, SCORES), constants(LABELS, SCORES, WEIGHTS)
        )
    ),
    "eager.metrics.SparseAccuracy: shapes": eagerly(
        lambda: metrics.SparseAccuracy()([0, 1, 2], SCORES)
    ),
    "eager.metrics.SparseAccuracy: graph": graph(
        metrics.SparseAccuracy, (LABELS, SCORES), (LABELS, SCORES, WEIGHTS)
    ),
}
