"""tf.contrib.quantize: the operations and variables that each kind of layer gets, and its numbers.

The updates of moving averages run in steps of their own. In the step that also reads them, 1.15.5
may read an average before or after its update.
"""

import tempfile

import tensorflow as tf
from contrib_goldens.cases.inputs import array, x
from contrib_goldens.observe import Case, Steps
from tensorflow.contrib.quantize.python import (
    common,
    fold_batch_norms,
    graph_matcher,
    input_to_ops,
    quant_ops,
    quantize,
)

layers = tf.contrib.layers
rewrites = tf.contrib.quantize
_TYPES = (
    "BatchToSpaceND",
    "Conv2D",
    "DepthwiseConv2dNative",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
    "FakeQuantWithMinMaxArgs",
    "GreaterEqual",
    "MatMul",
    "Switch",
)
_NAMES = (
    "add_fold",
    "bias",
    "correction_add",
    "correction_mult",
    "correction_reshape",
    "correction_scale",
    "mul_fold",
    "offset_compute",
    "post_conv_mul",
    "reciprocal_compute",
    "scale_compute",
    "scale_reshape",
    "Undo_Bessel_Correction",
)


def images():
    return x(2, 5, 5, 3)


def normalized(fused=True, scale=True, **more):
    params = dict(more, fused=fused, scale=scale, decay=0.8)
    return {"normalizer_fn": layers.batch_norm, "normalizer_params": params}


def convolution(**options):
    options = dict({"scope": "conv", "activation_fn": tf.nn.relu6}, **options)
    return lambda: layers.conv2d(images(), 2, 3, **options)


def separable(outputs=4, **options):
    options = dict({"scope": "sep", "activation_fn": tf.nn.relu}, **options)
    return lambda: layers.separable_conv2d(images(), outputs, 3, 1, **options)


def product(**options):
    options = dict({"scope": "fc", "activation_fn": tf.nn.relu}, **options)
    return lambda: layers.fully_connected(x(6, 4), 3, **options)


def two_layers():
    net = layers.conv2d(images(), 2, 3, scope="a", **normalized())
    return layers.conv2d(net, 2, 3, scope="b/inner", activation_fn=tf.nn.relu6)


def last_layer():
    return layers.fully_connected(
        layers.flatten(layers.conv2d(images(), 2, 3, scope="conv")), 3, activation_fn=None
    )


def bypass(activation=tf.nn.relu, add=tf.add, **options):
    def build():
        arguments = dict({"activation_fn": None}, **options)
        net = layers.conv2d(images(), 3, 3, scope="block/conv", **arguments)
        with tf.name_scope("block/"):
            net = add(net, images_again(), name="AddV2")
        return net if activation is None else activation(net)

    return build


def images_again():
    return tf.constant(array(2, 5, 5, 3))


def late_bypass(activation=None):
    def build():
        net = layers.conv2d(images(), 3, 3, scope="block/conv")
        net = tf.add(net, images_again(), name="block/sum")
        return tf.identity(net) if activation is None else activation(net)

    return build


def arithmetic():
    net = layers.conv2d(images(), 3, 3, scope="conv")
    other = layers.conv2d(images_again(), 3, 3, scope="other")
    net = tf.multiply(net, other, name="product")
    net = tf.reshape(net, [2, 75]) + tf.ones([75])
    net = tf.add(net, tf.ones([75]), name="again")
    return tf.nn.relu(tf.add(net, 1.0))


def of_tf_layers():
    net = tf.layers.conv2d(images(), 2, 3, use_bias=False)
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=True, momentum=0.8))
    net = tf.layers.separable_conv2d(net, 2, 3, activation=tf.nn.relu, padding="same")
    return tf.layers.dense(tf.layers.flatten(net), 2)


def of_keras():
    net = tf.keras.layers.Conv2D(2, 3, use_bias=False)(images())
    net = tf.keras.layers.BatchNormalization(momentum=0.8)(net, training=True)
    net = tf.keras.layers.ReLU(6.0)(net)
    return tf.keras.layers.Dense(2)(tf.keras.layers.Flatten()(net))


def rewritten(build, rewrite=None, resource=False, steps=3, evaluated=False, **options):
    """A case that builds a network, rewrites it, and runs steps and updates in turn."""

    def make():
        with tf.variable_scope("", use_resource=resource):
            outputs = tf.identity(build(), name="outputs")
            before = {op.name for op in tf.get_default_graph().get_operations()}
            if rewrite is not None:
                rewrite(**options)
            elif evaluated:
                rewrites.experimental_create_eval_graph(**options)
            else:
                rewrites.experimental_create_training_graph(**options)
            loss = tf.reduce_sum(tf.square(outputs))
            updates = tf.group(
                *[getattr(each, "op", each) for each in tf.get_collection("update_ops")]
            )
            return Steps([added(before)] + [[loss], updates] * steps)

    return Case(make)


def added(before):
    """The names of the new operations that a program may look up."""
    return sorted(
        "%s %s" % (op.name, op.type)
        for op in tf.get_default_graph().get_operations()
        if op.name not in before
        and (op.type in _TYPES or op.name.rpartition("/")[2] in _NAMES)
        and op.type != "Const"
        and (op.type != "Switch" or op.name.endswith("_quant/Switch"))
    )


def trained(build, optimizer, **options):
    """A case that trains resource variables, of which each step reads the values before it."""

    def make():
        with tf.variable_scope("", use_resource=True):
            outputs = tf.identity(build(), name="outputs")
            rewrites.experimental_create_training_graph(**options)
            loss = tf.reduce_mean(tf.square(outputs - 1.0))
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                step = optimizer().minimize(loss)
            return Steps([[loss, step]] * 4)

    return Case(make, has_gradients=False)


def after_training():
    layers.conv2d(images(), 2, 3)
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.trainable_variables()[0]))
    rewrites.create_training_graph()


def after_adagrad():
    layers.conv2d(images(), 2, 3)
    tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.trainable_variables()[0]))
    rewrites.create_eval_graph()


def without_averages():
    net = layers.conv2d(images(), 2, 3, biases_initializer=None, activation_fn=None)
    net, _, _ = tf.nn.fused_batch_norm(net, tf.ones([2]), tf.zeros([2]))
    tf.nn.relu(net)
    rewrites.create_training_graph()


def unknown_activation():
    tf.nn.elu(layers.conv2d(images(), 2, 3, activation_fn=None, **normalized(False)))
    rewrites.create_training_graph()


def quantized(function, shape=(2, 3, 3, 4), **options):
    def build():
        values = tf.constant(array(*shape), name="input")
        quantized = getattr(quant_ops, function)(values, **options)
        return Steps([[quantized], [quantized], [quantized]])

    return Case(build)


def twice_with_one_scope():
    with tf.variable_scope("outer"):
        quantized = [quant_ops.MovingAvgQuantize(x(4, 3), name_prefix="q") for _ in range(2)]
    with tf.variable_scope("outer", reuse=True):
        quantized.append(quant_ops.LastValueQuantize(x(4, 3), name_prefix="q", init_max=2.0))
    return Steps([[each] for each in quantized])  # two of them assign the same variables


def reused_without_scope():
    quant_ops.MovingAvgQuantize(x(4, 3), name_prefix="q", reuse=True)


def other_graph(rewrite, **options):
    """A graph that is not the default one is changed, and only that one."""

    def build():
        with tf.Graph().as_default() as graph:
            convolution(**normalized(is_training=rewrite != "create_eval_graph"))()
        getattr(rewrites, rewrite)(graph, **options)
        names = [op.name for op in graph.get_operations() if op.type.startswith("FakeQuant")]
        return [names, len(tf.get_default_graph().get_operations())]

    return Case(build, has_gradients=False)


def helpers():
    """The functions that programs import from the old files."""
    graph = tf.get_default_graph()
    outputs = convolution(**normalized(False))()
    prefixes = common.BatchNormGroups(graph)
    activation = common.GetEndpointActivationOp(graph, "conv/")
    none = common.GetEndpointActivationOp(graph, "nothing/")
    consumers = input_to_ops.InputToOps(graph).ConsumerOperations(outputs.op.inputs[0].op)
    new = tf.identity(tf.zeros_like(outputs.op.inputs[0]))
    return [
        prefixes,
        activation.name,
        none,
        sorted(op.name for op in consumers),
        common.DropStringPrefix("ab/c", "ab/"),
        common.DropStringPrefix("ab/c", "b/"),
        common.RerouteTensor(new, outputs.op.inputs[0], can_modify=[]),
        common.RerouteTensor(new, outputs.op.inputs[0]),
        outputs,
    ]


def step():
    steps = [common.CreateOrGetQuantizationStep(), common.CreateOrGetQuantizationStep()]
    return Steps([[steps[0].name, steps[0] is steps[1]], steps[0], steps[0]])


def matched():
    graph = tf.get_default_graph()
    first, second = tf.split(x(2, 4), 2, axis=1)
    tf.nn.relu(tf.subtract(first, second, name="difference"))
    tf.add(second, second, name="sum")
    pattern = graph_matcher.OpTypePattern
    split = pattern("Split", name="split")
    difference = pattern("Sub|Mul", name="difference", inputs=[split, "*"])
    either = graph_matcher.OneofPattern([pattern("Relu", inputs=[difference]), pattern("Relu6")])
    rows = []
    for result in graph_matcher.GraphMatcher(either).match_graph(graph):
        rows.append(result.get_op("difference").name)
        rows.append(result.get_tensor(split).name)
        rows.append(result.get_op("none"))
        rows.append(result.get_op(either))
    swapped = pattern("Sub", inputs=["Const", split], ordered_inputs=False)
    counted = len(list(graph_matcher.GraphMatcher(swapped).match_ops(graph.get_operations())))
    return rows + [counted, graph_matcher.GraphMatcher(split).match_op(first.op) is None]


def bound_twice():
    first, second = tf.split(x(2, 4), 2, axis=1)
    op = tf.subtract(first, second).op
    result = graph_matcher.MatchResult()
    for _ in range(2):
        result.add(graph_matcher.OpTypePattern("*", name="same"), op, None)


def of_another_type():
    graph_matcher.MatchResult().get_op(3)


def many_inputs():
    graph_matcher.OpTypePattern("AddN", inputs=["*"] * 9)


def folded_only(fused, is_training=True, **options):
    def rewrite(**arguments):
        fold_batch_norms.FoldBatchNorms(tf.get_default_graph(), is_training, **arguments)

    build = convolution(**normalized(fused, is_training=is_training))
    return rewritten(build, rewrite, **options)


def quantized_only(build, **options):
    def rewrite(**arguments):
        quantize.Quantize(tf.get_default_graph(), True, **arguments)

    return rewritten(build, rewrite, **options)


def quantized_model_fn(features, labels, mode):
    is_training = mode == tf.estimator.ModeKeys.TRAIN

    def options(*shape):
        start = tf.constant_initializer(0.3 * array(*shape))
        return dict({"weights_initializer": start}, **normalized(is_training=is_training))

    # A resource variable's value is that before the step, wherever it is read.
    with tf.variable_scope("", use_resource=True):
        net = layers.conv2d(features, 3, 3, scope="conv", **options(3, 3, 2, 3))
        net = layers.separable_conv2d(net, None, 3, 1, scope="depth", **options(3, 3, 3, 1))
        start = tf.constant_initializer(0.1 * array(75, 2))
        logits = layers.fully_connected(
            layers.flatten(net), 2, None, weights_initializer=start, scope="logits"
        )
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if is_training:
            rewrites.create_training_graph(quant_delay=2)
        else:
            rewrites.create_eval_graph()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(loss, tf.train.get_global_step()) if is_training else None
    metrics = {"size": tf.metrics.mean(tf.abs(logits))}
    return tf.estimator.EstimatorSpec(mode, None, loss, train_op, metrics)


def estimated():
    """An estimator that trains and evaluates: its variables, and its metrics."""
    features, labels = array(16, 5, 5, 2), (array(16) > 0).astype("int64")

    def batches():
        return tf.data.Dataset.from_tensor_slices((features, labels)).batch(8).repeat()

    config = tf.estimator.RunConfig(tempfile.mkdtemp())
    estimator = tf.estimator.Estimator(quantized_model_fn, config=config)
    estimator.train(batches, steps=5)
    values = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    return [values, estimator.evaluate(batches, steps=2)]


_LATE = {"quant_delay": 2}
_TRAIN = "quantize.experimental_create_training_graph"
_EVAL = "quantize.experimental_create_eval_graph"
CASES = {
    "quantize.create_training_graph": other_graph("create_training_graph"),
    "quantize.create_training_graph: delayed": other_graph("create_training_graph", quant_delay=3),
    "quantize.create_training_graph: after training": after_training,
    "quantize.create_training_graph: without averages": without_averages,
    "quantize.create_training_graph: unknown activation": unknown_activation,
    "quantize.create_training_graph: estimator": Case(estimated, has_gradients=False),
    "quantize.create_eval_graph": other_graph("create_eval_graph"),
    "quantize.create_eval_graph: after training": after_adagrad,
    _TRAIN: rewritten(convolution(**normalized())),
    _TRAIN + ": resource": rewritten(convolution(**normalized()), resource=True),
    _TRAIN + ": late": rewritten(convolution(**normalized()), **_LATE),
    _TRAIN + ": late resource": rewritten(convolution(**normalized()), resource=True, **_LATE),
    _TRAIN + ": frozen": rewritten(convolution(**normalized()), steps=4, freeze_bn_delay=2),
    _TRAIN + ": frozen resource": rewritten(
        convolution(**normalized()), resource=True, steps=4, freeze_bn_delay=2, quant_delay=1
    ),
    _TRAIN + ": frozen unfused": rewritten(
        convolution(**normalized(False)), steps=4, freeze_bn_delay=2
    ),
    _TRAIN + ": bits": rewritten(
        convolution(**normalized()), weight_bits=4, activation_bits=6, symmetric=True
    ),
    _TRAIN + ": symmetric": rewritten(last_layer, symmetric=True),
    _TRAIN + ": scope": rewritten(two_layers, scope="b"),
    _TRAIN + ": scope with slash": rewritten(last_layer, scope="conv/"),
    _TRAIN + ": two layers": rewritten(two_layers, resource=True),
    _TRAIN + ": unscaled": rewritten(convolution(**normalized(scale=False))),
    _TRAIN + ": unfused": rewritten(convolution(**normalized(False))),
    _TRAIN + ": unfused unscaled": rewritten(convolution(**normalized(False, False))),
    _TRAIN + ": own updates": rewritten(convolution(**normalized(updates_collections=None))),
    _TRAIN + ": frozen statistics": rewritten(convolution(**normalized(is_training=False))),
    _TRAIN + ": no batch norm": rewritten(convolution()),
    _TRAIN + ": no batch norm resource": rewritten(convolution(), resource=True),
    _TRAIN + ": identity": rewritten(convolution(activation_fn=tf.identity)),
    _TRAIN + ": depthwise": rewritten(separable(None, **normalized())),
    _TRAIN + ": depthwise resource": rewritten(separable(None, **normalized()), resource=True),
    _TRAIN + ": depthwise unfused": rewritten(separable(None, **normalized(False))),
    _TRAIN + ": depthwise dilated": rewritten(separable(None, rate=2, **normalized())),
    _TRAIN + ": depthwise dilated unfused": rewritten(separable(None, rate=2, **normalized(False))),
    _TRAIN + ": depthwise without batch norm": rewritten(separable(None)),
    _TRAIN + ": separable": rewritten(separable(**normalized())),
    _TRAIN + ": separable unfused": rewritten(separable(**normalized(False))),
    _TRAIN + ": separable without batch norm": rewritten(separable()),
    _TRAIN + ": product": rewritten(product(**normalized())),
    _TRAIN + ": product resource": rewritten(product(**normalized()), resource=True),
    _TRAIN + ": product unfused": rewritten(product(**normalized(False))),
    _TRAIN + ": product without batch norm": rewritten(product()),
    _TRAIN + ": last layer": rewritten(last_layer),
    _TRAIN + ": tf.layers": rewritten(of_tf_layers),
    _TRAIN + ": tf.layers resource": rewritten(of_tf_layers, resource=True),
    _TRAIN + ": Keras": rewritten(of_keras),
    _TRAIN + ": bypass": rewritten(bypass()),
    _TRAIN + ": bypass without activation": rewritten(bypass(None)),
    _TRAIN + ": bypass with batch norm": rewritten(bypass(**normalized())),
    _TRAIN + ": bypass with unfused batch norm": rewritten(bypass(**normalized(False))),
    _TRAIN + ": late bypass": rewritten(late_bypass()),
    _TRAIN + ": late bypass with activation": rewritten(late_bypass(tf.nn.relu)),
    _TRAIN + ": arithmetic": rewritten(arithmetic),
    _TRAIN + ": arithmetic late": rewritten(arithmetic, **_LATE),
    _TRAIN + ": trained": trained(
        convolution(**normalized()), lambda: tf.train.GradientDescentOptimizer(0.05)
    ),
    _TRAIN + ": trained late": trained(
        two_layers, lambda: tf.train.MomentumOptimizer(0.05, 0.9), freeze_bn_delay=3, quant_delay=1
    ),
    _EVAL: rewritten(convolution(**normalized(is_training=False)), evaluated=True),
    _EVAL + ": resource": rewritten(
        convolution(**normalized(is_training=False)), evaluated=True, resource=True
    ),
    _EVAL + ": unfused": rewritten(
        convolution(**normalized(False, is_training=False)), evaluated=True
    ),
    _EVAL + ": options": rewritten(
        last_layer,
        evaluated=True,
        weight_bits=5,
        activation_bits=4,
        symmetric=True,
        quant_delay=2,
        scope="fully_connected",
    ),
    _EVAL + ": tf.layers": rewritten(of_tf_layers, evaluated=True),
    "quantize.python.fold_batch_norms.FoldBatchNorms": folded_only(True),
    "quantize.python.fold_batch_norms.FoldBatchNorms: unfused": folded_only(False),
    "quantize.python.fold_batch_norms.FoldBatchNorms: frozen": folded_only(
        True, freeze_batch_norm_delay=1
    ),
    "quantize.python.fold_batch_norms.FoldBatchNorms: evaluated": folded_only(True, False),
    "quantize.python.fold_batch_norms.FoldBatchNorms: unfused evaluated": folded_only(False, False),
    "quantize.python.quantize.Quantize": quantized_only(convolution()),
    "quantize.python.quantize.Quantize: options": quantized_only(
        convolution(), ema_decay=0.5, vars_collection="ranges", weight_bits=3
    ),
    "quantize.python.quant_ops.FixedQuantize": quantized("FixedQuantize"),
    "quantize.python.quant_ops.FixedQuantize: range": quantized(
        "FixedQuantize", init_min=-0.5, init_max=1.0, scope="fixed"
    ),
    "quantize.python.quant_ops.LastValueQuantize": quantized("LastValueQuantize"),
    "quantize.python.quant_ops.LastValueQuantize: channels": quantized(
        "LastValueQuantize", per_channel=True, narrow_range=True, vars_collection="ranges"
    ),
    "quantize.python.quant_ops.LastValueQuantize: rows": quantized(
        "LastValueQuantize", (3, 4), per_channel=True, num_bits=4
    ),
    "quantize.python.quant_ops.LastValueQuantize: vector": quantized(
        "LastValueQuantize", (5,), per_channel=True
    ),
    "quantize.python.quant_ops.LastValueQuantize: rank": quantized(
        "LastValueQuantize", (2, 3, 4), per_channel=True
    ),
    "quantize.python.quant_ops.LastValueQuantize: symmetric": quantized(
        "LastValueQuantize", symmetric=True
    ),
    "quantize.python.quant_ops.LastValueQuantize: evaluated": quantized(
        "LastValueQuantize", is_training=False, init_min=-1.0, init_max=0.5
    ),
    "quantize.python.quant_ops.MovingAvgQuantize": quantized("MovingAvgQuantize"),
    "quantize.python.quant_ops.MovingAvgQuantize: channels": quantized(
        "MovingAvgQuantize", per_channel=True, ema_decay=0.5, name_prefix="ema"
    ),
    "quantize.python.quant_ops.MovingAvgQuantize: symmetric": quantized(
        "MovingAvgQuantize", symmetric=True, narrow_range=True, num_bits=5
    ),
    "quantize.python.quant_ops.MovingAvgQuantize: evaluated": quantized(
        "MovingAvgQuantize", is_training=False, vars_collection=None
    ),
    "quantize.python.quant_ops.MovingAvgQuantize: twice": Case(
        twice_with_one_scope, has_gradients=False
    ),
    "quantize.python.quant_ops.MovingAvgQuantize: reused": reused_without_scope,
    "quantize.python.common.CreateOrGetQuantizationStep": Case(step, has_gradients=False),
    "quantize.python.common.RerouteTensor": helpers,
    "quantize.python.graph_matcher.GraphMatcher": Case(matched, has_gradients=False),
    "quantize.python.graph_matcher.MatchResult: bound twice": bound_twice,
    "quantize.python.graph_matcher.MatchResult: other type": of_another_type,
    "quantize.python.graph_matcher.OpTypePattern: many inputs": many_inputs,
}
