"""Namespaces of few names: resampler, nn, integrate, grid_rnn, mixed_precision and others."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, x
from contrib_goldens.observe import Case, Steps

contrib = tf.contrib
nn = contrib.nn
integrate = contrib.integrate
grid = contrib.grid_rnn
precision = contrib.mixed_precision
kernels = contrib.kernel_methods
deprecated = contrib.deprecated


def tensor(*shape):
    """Numbers whose gradient is observed."""
    return tf.constant(array(*shape), name="input")


def sampled(data, warp):
    """Images, sampled at points inside, on the border and outside."""
    return lambda: contrib.resampler.resampler(
        tf.constant(array(*data), name="input"), tf.constant(4 * array(*warp), name="input_1")
    )


def resampled(shape, *new_shape):
    return lambda: contrib.periodic_resample.periodic_resample(tensor(*shape), list(new_shape))


def loss_values():
    """What a candidate sampler would return."""
    return (
        tf.constant([3, 0, 4, 1], tf.int64),
        tf.constant([[0.5], [0.3]]),
        tf.constant([0.5, 0.2, 0.7, 0.4]),
    )


def sampled_loss(function, **more):
    options = {
        "weights": tensor(6, 3),
        "biases": tf.constant(array(6), name="input_1"),
        "labels": tf.constant([[2], [5]], tf.int64),
        "inputs": tf.constant(array(2, 3) + 0.3, name="input_2"),
        "num_sampled": 4,
        "num_classes": 6,
        "sampled_values": loss_values(),
    }
    options.update(more)
    return function(**options)


def ranked(**more):
    options = {
        "num_resampled": 2,
        "num_true": 1,
        "resampling_temperature": 0.7,
        "remove_accidental_hits": True,
        "partition_strategy": "div",
    }
    options.update(more)
    return lambda: sampled_loss(nn.rank_sampled_softmax_loss, **options)


def decay(y, t):
    return -0.7 * y + tf.cast(tf.sin(t), y.dtype)


def turned(y, t):
    del t
    return tf.stack([y[1], -y[0]])


def solved(function, y0, times, **options):
    return lambda: integrate.odeint(function, tf.constant(y0, name="input"), times, **options)


def stepped(function, y0, times, **options):
    return lambda: integrate.odeint_fixed(function, tf.constant(y0, name="input"), times, **options)


def in_grid(make, scope=None):
    """Two calls of a cell, the second with the first's state."""

    def build():
        with tf.variable_scope("net", initializer=tf.random_normal_initializer()):
            cell = make()
            inputs = x(2, 4)
            output, state = cell(
                inputs, cell.zero_state(2, tf.float32), *([scope] if scope else [])
            )
            tf.get_variable_scope().reuse_variables()
            again = cell(inputs, state, *([scope] if scope else []))
        return (output, state), again, [str(cell.output_size), str(cell.state_size)]

    return build


def general():
    return grid.GridRNNCell(
        3, num_dims=3, input_dims=[0, 1], output_dims=[1, 2], priority_dims=[2],
        non_recurrent_dims=[1],
    )  # fmt: skip


def flat():
    return grid.Grid2LSTMCell(3, state_is_tuple=False, output_is_tuple=False)


def scaled(finite, loss=2.0, **more):
    """Three steps of a loss scale that adapts."""

    def build():
        options = {"init_loss_scale": 8.0, "incr_every_n_steps": 2, "decr_every_n_nan_or_inf": 1}
        options.update(more)
        manager = precision.ExponentialUpdateLossScaleManager(**options)
        weight = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        optimizer = precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
        count = tf.get_variable("count", [], tf.int32, tf.zeros_initializer(), trainable=False)
        step = tf.assign_add(count, 1)
        with tf.control_dependencies([step]):
            good = tf.gather(tf.constant(finite), step - 1)
            factor = tf.where(good, loss, float("inf"))
            value = tf.reduce_sum(weight * tf.constant([1.0, 2.0])) * factor
        pairs = optimizer.compute_gradients(value, [weight])
        train = optimizer.apply_gradients(pairs)
        return Steps([[train], [train], [train], [train]])

    return Case(build, has_gradients=False)


def fixed():
    manager = precision.FixedLossScaleManager(128.0)
    weight = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    optimizer = precision.LossScaleOptimizer(tf.train.AdamOptimizer(0.1), manager)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(tf.reduce_sum(tf.square(weight)), step)
    pairs = optimizer.compute_gradients(tf.reduce_sum(tf.square(weight)), [weight])
    return Steps([[train], [train, pairs[0][0], manager.get_loss_scale()]])


def hinge(labels, **options):
    return lambda: kernels.sparse_multiclass_hinge_loss(
        tf.constant(labels), tf.constant(3 * array(3, 4), name="input"), **options
    )


def mapped(*shape):
    mapper = kernels.RandomFourierFeatureMapper(3, 5, 0.7, 2, "map")
    return mapper.map(tensor(*shape)), [mapper.name, mapper.input_dim, mapper.output_dim]


def classified(count, **options):
    """A classifier's weights and metrics after some steps."""

    def build():
        tf.logging.set_verbosity(tf.logging.FATAL)
        column = contrib.layers.real_valued_column("x", dimension=2)

        def input_fn():
            features = tf.constant([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
            return {"x": features}, tf.constant([[1], [0], [1], [count - 1]])

        maps = {column: [kernels.RandomFourierFeatureMapper(2, 6, 0.6, 1, "rffm")]}
        model = kernels.KernelLinearClassifier(
            feature_columns=[column], n_classes=count, kernel_mappers=maps, **options
        )
        model.fit(input_fn=input_fn, steps=5)
        metrics = model.evaluate(input_fn=input_fn, steps=1)
        weights = [model.get_variable_value(name) for name in sorted(model.get_variable_names())]
        shares = list(model.predict_proba(input_fn=input_fn))
        classes = [int(each) for each in model.predict_classes(input_fn=input_fn)]
        return metrics, weights, shares, classes, sorted(model.get_variable_names())

    return Case(build, has_gradients=False)


def copied(scope):
    """A sum of a variable, copied to this graph."""
    other = tf.Graph()
    with other.as_default():
        first = tf.Variable([1.0, 2.0], name="v", collections=["variables", "mine"])
        total = tf.identity(tf.square(first) + 3.0, name="total")
        with tf.control_dependencies([total]):
            late = tf.add(total, 1.0, name="late")
        other.add_to_collection("mine", late)
    here = tf.get_default_graph()
    variable = contrib.copy_graph.copy_variable_to_graph(first, here, scope)
    duplicate = contrib.copy_graph.copy_op_to_graph(late, here, [variable], scope)
    copied_op = contrib.copy_graph.get_copied_op(total, here, scope)
    return duplicate, [copied_op.name, variable.name]


def staged():
    """What comes out of a staging area after what went in."""
    area = contrib.staging.StagingArea([tf.float32, tf.int32], shapes=[[2], []], capacity=2)
    put = area.put([tf.constant([1.0, 2.0]), tf.constant(3)])
    return Steps([[put], [area.size()], area.get(), [area.size()]])


def summed():
    summaries = [
        deprecated.scalar_summary("a", 2.0),
        deprecated.scalar_summary(["b", "c"], [3.0, 4.0], name="both"),
        deprecated.histogram_summary("d", tf.constant([1.0, 5.0])),
        deprecated.image_summary("e", tf.ones([2, 3, 3, 1]), max_images=1),
        deprecated.audio_summary("f", tf.zeros([1, 8]), 4000, collections=["sounds"]),
    ]
    merged = deprecated.merge_summary(summaries[:2]), deprecated.merge_all_summaries()
    none = deprecated.merge_all_summaries("nothing")
    return [each.name for each in summaries], [each.name for each in merged], none is None


def analyzed():
    analyzer = contrib.tfprof.model_analyzer
    tf.get_variable("w", [3, 4])
    tf.get_variable("b", [4])
    tf.get_variable("fixed", [7], trainable=False)
    options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    options["output"] = "none"
    analysis = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=options)
    return [analysis.total_parameters, sorted(each.name for each in analysis.children)]


def found_again():
    """The copy of an operation in another graph."""
    with tf.Graph().as_default():
        original = tf.add(tf.constant(1.0, name="one"), tf.constant(2.0), name="both").op
    here = tf.get_default_graph()
    contrib.copy_graph.copy_op_to_graph(original, here, [], scope="new")
    return contrib.copy_graph.get_copied_op(original, here, scope="new").outputs[0]


CASES = {
    "resampler.resampler": sampled([2, 4, 5, 3], [2, 6, 2]),
    "resampler.resampler: grid": sampled([1, 3, 2, 1], [1, 4, 3, 2]),
    "resampler.resampler: integers": lambda: contrib.resampler.resampler(
        tensor(1, 3, 3, 2), tf.constant([[[0.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [2.5, 2.0]]])
    ),
    "resampler.resampler: doubles": lambda: contrib.resampler.resampler(
        tf.constant(array(1, 3, 3, 2), tf.float64), tf.constant([[[0.25, 1.5]]], tf.float64)
    ),
    "resampler.resampler: rank": sampled([2, 4, 5], [2, 6, 2]),
    "resampler.resampler: vector": sampled([2, 4, 5, 1], [2]),
    "resampler.resampler: three": sampled([2, 4, 5, 1], [2, 6, 3]),
    "resampler.resampler: batch": sampled([2, 4, 5, 1], [3, 6, 2]),
    "resampler.resampler: types": lambda: contrib.resampler.resampler(
        tf.zeros([1, 2, 2, 1]), tf.zeros([1, 2, 2], tf.float64)
    ),
    "periodic_resample.periodic_resample": resampled([3, 4], 6, None),
    "periodic_resample.periodic_resample: images": resampled([2, 2, 4, 8], 2, 4, 8, None),
    "periodic_resample.periodic_resample: first": resampled([4, 3], None, 6),
    "periodic_resample.periodic_resample: uneven": Case(resampled([3, 8], 5, None), False),
    "periodic_resample.periodic_resample: rank": resampled([3, 4], 6, 2, None),
    "periodic_resample.periodic_resample: small": resampled([3, 4], 2, None),
    "periodic_resample.periodic_resample: none": resampled([3, 4], 6, 4),
    "nn.alpha_dropout": lambda: nn.alpha_dropout(tensor(3, 4), 0.7),
    "nn.alpha_dropout: noise": lambda: nn.alpha_dropout(tensor(3, 4), 0.5, [3, 1], 2),
    "nn.alpha_dropout: all": lambda: nn.alpha_dropout(tensor(3, 4), 1.0),
    "nn.alpha_dropout: share": lambda: nn.alpha_dropout(tensor(3, 4), 1.5),
    "nn.alpha_dropout: vector": lambda: nn.alpha_dropout(tensor(3, 4), [0.5, 0.5]),
    "nn.scaled_softplus": lambda: nn.scaled_softplus(tensor(3, 4), 0.5),
    "nn.scaled_softplus: clipped": lambda: nn.scaled_softplus(
        tensor(3, 4),
        tf.constant([0.5, 0.1, 0.3, 2.0], name="input_1"),
        tf.constant(0.6, name="input_2"),
    ),
    "nn.conv1d_transpose": lambda: nn.conv1d_transpose(
        tensor(2, 3, 2), tf.constant(array(3, 4, 2), name="input_1"), [2, 6, 4], 2
    ),
    "nn.conv1d_transpose: valid": lambda: nn.conv1d_transpose(
        tensor(2, 3, 2), tf.constant(array(3, 4, 2)), [2, 7, 4], 2, padding="VALID", name="up"
    ),
    "nn.conv1d_transpose: channels": lambda: nn.conv1d_transpose(
        tensor(2, 3, 2), tf.constant(array(3, 4, 5)), [2, 6, 4], 2
    ),
    "nn.nth_element": lambda: nn.nth_element(tensor(3, 4), 2, reverse=True),
    "nn.deprecated_flipped_softmax_cross_entropy_with_logits": lambda: (
        nn.deprecated_flipped_softmax_cross_entropy_with_logits(tensor(2, 3), [[0.0, 1, 0]] * 2)
    ),
    "nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits": lambda: (
        nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(tensor(2, 3), [1, 2])
    ),
    "nn.deprecated_flipped_sigmoid_cross_entropy_with_logits": lambda: (
        nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(tensor(3), [0.0, 1.0, 0.5])
    ),
    "nn.rank_sampled_softmax_loss": ranked(),
    "nn.rank_sampled_softmax_loss: hits": lambda: ranked(
        remove_accidental_hits=False, labels=tf.constant([[3], [0]], tf.int64)
    )(),
    "nn.rank_sampled_softmax_loss: counts": ranked(num_resampled=4),
    "nn.rank_sampled_softmax_loss: classes": ranked(num_sampled=7),
    "nn.rank_sampled_softmax_loss: strategy": ranked(partition_strategy="other"),
    "nn.sampled_sparse_softmax_loss": lambda: sampled_loss(nn.sampled_sparse_softmax_loss),
    "nn.sampled_sparse_softmax_loss: hits": lambda: sampled_loss(
        nn.sampled_sparse_softmax_loss, labels=tf.constant([[3], [0]], tf.int64), name="own"
    ),
    "integrate.odeint": Case(solved(decay, [1.0, -2.0], [0.0, 0.5, 2.0, 7.0]), False),
    "integrate.odeint: output": Case(
        solved(turned, [1.0, 0.0], [0.0, 1.0, 6.0], rtol=1e-3, atol=1e-5, full_output=True), False
    ),
    "integrate.odeint: options": Case(
        solved(
            decay,
            np.float64(2.0),
            [0.0, 3.0],
            rtol=1e-4,
            method="dopri5",
            options={"first_step": 0.01, "safety": 0.8, "ifactor": 4.0, "dfactor": 0.5},
            full_output=True,
        ),
        False,
    ),
    "integrate.odeint: complex": Case(
        lambda: tf.abs(
            integrate.odeint(lambda y, t: 1j * y, tf.constant(1 + 1j, tf.complex64), [0.0, 2.0])
        ),
        False,
    ),
    "integrate.odeint: method": solved(decay, 1.0, [0.0, 1.0], method="euler"),
    "integrate.odeint: no method": solved(decay, 1.0, [0.0, 1.0], options={"safety": 0.5}),
    "integrate.odeint: option": solved(
        decay, 1.0, [0.0, 1.0], method="dopri5", options={"speed": 1}
    ),
    "integrate.odeint: integers": solved(decay, 1, [0.0, 1.0]),
    "integrate.odeint: times": solved(decay, 1.0, ["a", "b"]),
    "integrate.odeint: order": Case(solved(decay, 1.0, [0.0, 2.0, 1.0]), False),
    "integrate.odeint: steps": Case(
        solved(decay, 1.0, [0.0, 9.0], method="dopri5", options={"max_num_steps": 2}), False
    ),
    "integrate.odeint_fixed": stepped(decay, [1.0, -2.0], [0.0, 0.5, 2.0], dt=0.2),
    "integrate.odeint_fixed: midpoint": stepped(
        turned, [1.0, 0.0], [0.0, 0.5, 2.0], dt=[0.5, 0.3], method="midpoint"
    ),
    "integrate.odeint_fixed: whole": stepped(turned, [1.0, 0.0], [0.0, 0.1, 0.3]),
    "integrate.odeint_fixed: method": stepped(decay, 1.0, [0.0, 1.0], method="euler"),
    "integrate.odeint_fixed: lengths": stepped(decay, 1.0, [0.0, 1.0, 2.0], dt=[0.1, 0.2, 0.3]),
    "grid_rnn.Grid1BasicRNNCell": in_grid(lambda: grid.Grid1BasicRNNCell(3)),
    "grid_rnn.Grid2BasicRNNCell": in_grid(lambda: grid.Grid2BasicRNNCell(3)),
    "grid_rnn.Grid2BasicRNNCell: tied": in_grid(lambda: grid.Grid2BasicRNNCell(3, tied=True)),
    "grid_rnn.Grid1BasicLSTMCell": in_grid(lambda: grid.Grid1BasicLSTMCell(3, 0.5), "own"),
    "grid_rnn.Grid2BasicLSTMCell": in_grid(lambda: grid.Grid2BasicLSTMCell(3)),
    "grid_rnn.Grid2BasicLSTMCell: layer": in_grid(
        lambda: grid.Grid2BasicLSTMCell(3, non_recurrent_fn=tf.nn.tanh)
    ),
    "grid_rnn.Grid1LSTMCell": in_grid(lambda: grid.Grid1LSTMCell(3, use_peepholes=True)),
    "grid_rnn.Grid2LSTMCell": in_grid(lambda: grid.Grid2LSTMCell(3, tied=True)),
    "grid_rnn.Grid2LSTMCell: flat": in_grid(flat),
    "grid_rnn.Grid3LSTMCell": in_grid(lambda: grid.Grid3LSTMCell(3)),
    "grid_rnn.Grid2GRUCell": in_grid(lambda: grid.Grid2GRUCell(3)),
    "grid_rnn.Grid2GRUCell: layer": in_grid(
        lambda: grid.Grid2GRUCell(3, tied=True, non_recurrent_fn=tf.nn.relu)
    ),
    "grid_rnn.GridRNNCell": in_grid(general),
    "grid_rnn.GridRNNCell: none": in_grid(lambda: grid.GridRNNCell(3, num_dims=0)),
    "grid_rnn.GridRNNCell: dims": in_grid(lambda: grid.GridRNNCell(3, 2, input_dims=[2])),
    "grid_rnn.GridRNNCell: cell": in_grid(lambda: grid.GridRNNCell(3, cell_fn=lambda n: n)),
    "mixed_precision.ExponentialUpdateLossScaleManager": scaled([True, True, True, True]),
    "mixed_precision.ExponentialUpdateLossScaleManager: infinite": scaled(
        [True, False, True, False], decr_ratio=0.25
    ),
    "mixed_precision.ExponentialUpdateLossScaleManager: least": scaled(
        [False, False, False, True], init_loss_scale=1.5
    ),
    "mixed_precision.LossScaleOptimizer": Case(fixed, has_gradients=False),
    "mixed_precision.FixedLossScaleManager: eight": lambda: [
        precision.FixedLossScaleManager(8.0).get_loss_scale(),
        precision.FixedLossScaleManager(8.0).update_loss_scale(tf.constant(True)),
    ],
    "mixed_precision.FixedLossScaleManager": lambda: precision.FixedLossScaleManager(0.5),
    "kernel_methods.RandomFourierFeatureMapper": lambda: mapped(2, 3),
    "kernel_methods.RandomFourierFeatureMapper: rank": lambda: mapped(3),
    "kernel_methods.RandomFourierFeatureMapper: features": lambda: mapped(2, 4),
    "kernel_methods.sparse_multiclass_hinge_loss": hinge([1, 3, 0]),
    "kernel_methods.sparse_multiclass_hinge_loss: weights": hinge(
        [[1], [3], [0]], weights=2.0, scope="own"
    ),
    "kernel_methods.sparse_multiclass_hinge_loss: each": hinge(
        [1, 3, 0], weights=[0.5, 0.0, 2.0], reduction="none", loss_collection="mine"
    ),
    "kernel_methods.sparse_multiclass_hinge_loss: class": hinge([1, 4, 0]),
    "kernel_methods.sparse_multiclass_hinge_loss: type": hinge([1.0, 2.0, 0.0]),
    "kernel_methods.KernelLinearClassifier": classified(2),
    "kernel_methods.KernelLinearClassifier: three": classified(3, optimizer="SGD"),
    "kernel_methods.KernelLinearClassifier: none": lambda: kernels.KernelLinearClassifier(),
    "copy_graph.copy_op_to_graph": lambda: copied(""),
    "copy_graph.copy_variable_to_graph": lambda: copied("scope"),
    "copy_graph.get_copied_op": lambda: contrib.copy_graph.get_copied_op(
        tf.constant(1.0), tf.Graph()
    ),
    "copy_graph.get_copied_op: copied": found_again,
    "copy_graph.copy_variable_to_graph: type": lambda: contrib.copy_graph.copy_variable_to_graph(
        tf.constant(1.0), tf.Graph()
    ),
    "copy_graph.copy_op_to_graph: type": lambda: contrib.copy_graph.copy_op_to_graph(
        tf.Variable(1.0), tf.Graph(), []
    ),
    "staging.StagingArea": Case(staged, has_gradients=False),
    "memory_stats.BytesInUse": lambda: contrib.memory_stats.BytesInUse(),
    "memory_stats.MaxBytesInUse": lambda: contrib.memory_stats.MaxBytesInUse(),
    "memory_stats.BytesLimit": lambda: contrib.memory_stats.BytesLimit(),
    "deprecated.scalar_summary": summed,
    "tfprof.model_analyzer.print_model_analysis": Case(analyzed, has_gradients=False),
}
