"""tf.contrib.model_pruning: masks, schedules, masked layers and cells, and stripped graphs."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, images, rows, unknown, x
from contrib_goldens.observe import Case, Steps

pruning = tf.contrib.model_pruning
framework = tf.contrib.framework


def weights(*shape, **options):
    """A variable of numbers that differ in size, without equal ones."""
    size = int(np.prod(shape))
    numbers = np.random.RandomState(size).permutation(size) + 1.0
    numbers *= np.where(np.arange(size) % 3, 0.01, -0.01)
    name = options.pop("name", "kernel")
    start = tf.constant(numbers.reshape(shape).astype(np.float32))
    return tf.get_variable(name, initializer=start, trainable=False, **options)


def applied(build, scope="", again=False):
    def make():
        masked = [pruning.apply_mask(build(), scope)]
        if again:
            with tf.variable_scope(tf.get_variable_scope(), reuse=True):
                masked.append(pruning.apply_mask(build(), scope))
        return masked

    return make


def partitioned():
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)) as scope:
        return pruning.apply_mask(weights(4, 3), scope)


def getter(name):
    """A function of the graph's masks; there are two."""

    def build():
        with tf.variable_scope("one"):
            pruning.apply_mask(weights(2, 3))
        pruning.apply_mask(x(4), "two")
        return getattr(pruning, name)()

    return Case(build, has_gradients=False)


def options(text=""):
    return pruning.get_pruning_hparams().parse(text)


def hparams(text):
    def build():
        params = options(text)
        return {name: str(value) for name, value in params.values().items()}

    return build


def pruned(text="", shapes=((4, 6),), steps=(0, 1), conditional=False, summaries=False, **settings):
    """Updates masks at some global steps, and observes the variables afterwards."""

    def build():
        step = tf.train.get_or_create_global_step()
        for index, shape in enumerate(shapes):
            with tf.variable_scope("layer%d" % index):
                pruning.apply_mask(weights(*shape))
        pruner = pruning.Pruning(options(text), **{name: make() for name, make in settings.items()})
        update = pruner.conditional_mask_update_op() if conditional else pruner.mask_update_op()
        if summaries:
            pruner.add_pruning_summaries()
        fetches = []
        for value in steps:
            fetches += [tf.assign(step, value, name="to_step_%d" % value), update]
            fetches.append(pruning.get_masks())
        return Steps(fetches)

    return Case(build, has_gradients=False)


def pruned_parts():
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)) as scope:
        masked = pruning.apply_mask(weights(7, 2), scope)
    update = pruning.Pruning(options("threshold_decay=0.25"), sparsity=0.5).mask_update_op()
    return Steps([update, masked, step])


def twice():
    tf.train.get_or_create_global_step()
    pruning.apply_mask(weights(6))
    first, second = (pruning.Pruning(sparsity=sparsity) for sparsity in (0.5, tf.constant(0.25)))
    return Steps([first.mask_update_op(), pruning.get_masks(), second.mask_update_op()])


def own_step():
    pruning.apply_mask(weights(6))
    pruner = pruning.Pruning(global_step=tf.constant(60, tf.int64))
    return Steps([pruner.conditional_mask_update_op(), pruning.get_masks()])


def trained_while_pruned():
    """A step of training, and then an update of the masks, three times."""
    step = tf.train.get_or_create_global_step()
    layer = pruning.masked_fully_connected(rows(), 3, activation_fn=None, scope="dense")
    loss = tf.reduce_sum(tf.square(layer - 1.0))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    text = "pruning_frequency=1,sparsity_function_end_step=3,target_sparsity=0.75"
    update = pruning.Pruning(options(text)).conditional_mask_update_op()
    return Steps([train, update] * 3 + [loss])


def layered(function, inputs=rows, args=(3,), **settings):
    def build():
        arguments = {name: each() if name in _MAKERS else each for name, each in settings.items()}
        return getattr(pruning, function)(inputs(), *args, **arguments)

    return build


_MAKERS = ("weights_regularizer", "biases_regularizer", "weights_initializer")


def regularizers():
    return {
        "weights_regularizer": lambda: tf.contrib.layers.l2_regularizer(0.1),
        "biases_regularizer": lambda: tf.contrib.layers.l1_regularizer(0.2),
    }


def reused(function, inputs, args):
    def build():
        call = getattr(pruning, function)
        first = call(inputs(), *args, scope="layer")
        return first, call(tf.constant(array(*first.shape.as_list()[:-1] + [4])), *args,
                           scope="layer", reuse=True)  # fmt: skip

    return build


def scoped():
    with framework.arg_scope(
        [pruning.masked_conv2d, pruning.masked_fully_connected], activation_fn=tf.tanh
    ):
        convolved = pruning.masked_conv2d(images(), 2, 3)
        return pruning.masked_fully_connected(tf.reshape(convolved, [2, 72]), 2)


def in_parts(function, inputs, args):
    def build():
        with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
            return getattr(pruning, function)(inputs(), *args)

    return build


def stepped(cell, size=4, steps=1, state=None, **settings):
    """Runs a cell by itself, or over a sequence."""

    def build():
        rnn_cell = getattr(pruning, cell)(size, **settings)
        if steps > 1:
            inputs = [tf.constant(array(2, 3) + step) for step in range(steps)]
            return tf.nn.static_rnn(rnn_cell, inputs, dtype=tf.float32)
        start = rnn_cell.zero_state(2, tf.float32) if state is None else state()
        return rnn_cell(x(2, 3), start)

    return build


def dynamic(cell, **settings):
    def build():
        return tf.nn.dynamic_rnn(
            getattr(pruning, cell)(4, **settings), x(2, 5, 3), dtype=tf.float32
        )

    return build


def two_cells():
    cells = [pruning.MaskedBasicLSTMCell(3), pruning.MaskedLSTMCell(2)]
    return tf.nn.static_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), [x(2, 3)] * 2, dtype=tf.float32)


def network():
    inputs = tf.placeholder(tf.float32, [None, 4], name="inputs")
    start = tf.constant_initializer(array(4, 3))
    scores = pruning.masked_fully_connected(inputs, 3, scope="dense", weights_initializer=start)
    return tf.nn.softmax(scores, name="scores")


def described(graph_def):
    """The operations of a graph and its outputs."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        scores = session.run("scores:0", {"inputs:0": array(3, 4)})
    constants = [
        node.name for node in graph_def.node if node.op == "Const" and "Reshape" not in node.name
    ]
    return {
        "constants": sorted(constants),
        "masks": [
            node.name for node in graph_def.node if node.name.endswith(("mask", "threshold"))
        ],
        "scores": scores,
    }


def frozen(strip):
    """A network's checkpoint as constants, with its masks or without."""

    def build():
        folder = tempfile.mkdtemp()
        with tf.Graph().as_default(), tf.Session() as session:
            network()
            tf.train.get_or_create_global_step()
            update = pruning.Pruning(sparsity=0.5).mask_update_op()
            session.run(tf.global_variables_initializer())
            session.run(update)
            tf.train.Saver().save(session, os.path.join(folder, "model"))
        with tf.Graph().as_default():
            graph_def = pruning.graph_def_from_checkpoint(folder, ["scores"])
        if strip:
            graph_def = pruning.strip_pruning_vars_fn(graph_def, ["scores"])
        return described(graph_def)

    return Case(build, has_gradients=False)


def wrong(text="", **arguments):
    def build():
        tf.train.get_or_create_global_step()
        pruning.apply_mask(weights(4, 4))
        return Steps([pruning.Pruning(options(text), **arguments).mask_update_op()])

    return Case(build, has_gradients=False)


_BLOCKS = ((4, 6), (5, 3), (1, 4, 4), (7,), (2, 2, 2, 2))
_MAP = "weight_sparsity_map=[layer0:0.25,layer1/kernel:0.875]"
CASES = {
    "model_pruning.MaskedBasicLSTMCell": stepped("MaskedBasicLSTMCell"),
    "model_pruning.MaskedBasicLSTMCell: dynamic": dynamic("MaskedBasicLSTMCell"),
    "model_pruning.MaskedBasicLSTMCell: one state": stepped(
        "MaskedBasicLSTMCell", state_is_tuple=False, forget_bias=0.5, activation=tf.nn.relu
    ),
    "model_pruning.MaskedBasicLSTMCell: sequence": stepped("MaskedBasicLSTMCell", steps=3),
    "model_pruning.MaskedBasicLSTMCell: two": two_cells,
    "model_pruning.MaskedBasicLSTMCell: name": stepped(
        "MaskedBasicLSTMCell", name="own", activation="sigmoid"
    ),
    "model_pruning.MaskedLSTMCell": stepped("MaskedLSTMCell"),
    "model_pruning.MaskedLSTMCell: all": stepped(
        "MaskedLSTMCell",
        steps=2,
        use_peepholes=True,
        cell_clip=0.5,
        num_proj=4,
        proj_clip=0.25,
        forget_bias=0.5,
        activation=tf.nn.softsign,
    ),
    "model_pruning.MaskedLSTMCell: dynamic": dynamic("MaskedLSTMCell", use_peepholes=True),
    "model_pruning.MaskedLSTMCell: one state": stepped(
        "MaskedLSTMCell", state_is_tuple=False, initializer=tf.constant_initializer(0.25)
    ),
    "model_pruning.MaskedLSTMCell: parts": stepped("MaskedLSTMCell", num_unit_shards=2),
    "model_pruning.MaskedLSTMCell: projection": stepped("MaskedLSTMCell", num_proj=2),
    "model_pruning.MaskedLSTMCell: unknown": lambda: pruning.MaskedLSTMCell(3)(
        unknown(array(2, 3)), (x(2, 3), x(2, 3))
    ),
    "model_pruning.Pruning": pruned(),
    "model_pruning.Pruning: a step": own_step,
    "model_pruning.Pruning: blocks": pruned(
        "block_height=2,block_width=3,threshold_decay=0.5", _BLOCKS, steps=(50, 100)
    ),
    "model_pruning.Pruning: blocks by maxima": pruned(
        "block_height=2,block_width=2,block_pooling_function=MAX", _BLOCKS, steps=(100,)
    ),
    "model_pruning.Pruning: blocks by names": pruned(
        "block_dims_map=[layer0:1x2,layer1/kernel:3x1]", _BLOCKS, steps=(100,)
    ),
    "model_pruning.Pruning: blocks on a TPU": pruned(
        "block_height=2,block_width=3,use_tpu=true", _BLOCKS, steps=(100,)
    ),
    "model_pruning.Pruning: blocks on a TPU by maxima": pruned(
        "block_height=3,block_width=2,use_tpu=true,block_pooling_function=MAX", steps=(100,)
    ),
    "model_pruning.Pruning: conditional": pruned(
        "begin_pruning_step=2,end_pruning_step=8,pruning_frequency=3,sparsity_function_end_step=6",
        steps=range(10),
        conditional=True,
    ),
    "model_pruning.Pruning: empty": pruned(shapes=()),
    "model_pruning.Pruning: large blocks": pruned(
        "block_height=1,block_width=-1", ((4, 6), (3, 12)), steps=(100,)
    ),
    "model_pruning.Pruning: names": pruned(_MAP, ((4, 6), (8,), (4, 3)), steps=(50, 100)),
    "model_pruning.Pruning: parts": Case(pruned_parts, has_gradients=False),
    "model_pruning.Pruning: schedule": pruned(
        "initial_sparsity=0.125,target_sparsity=0.9,sparsity_function_begin_step=10,"
        "sparsity_function_exponent=1.0,threshold_decay=0.25,name=own",
        ((5, 7),),
        steps=(0, 10, 40, 70, 100, 130),
    ),
    "model_pruning.Pruning: sparsity": pruned(sparsity=lambda: tf.Variable(0.75, name="share")),
    "model_pruning.Pruning: summaries": pruned(steps=(100,), summaries=True),
    "model_pruning.Pruning: training": Case(trained_while_pruned, has_gradients=False),
    "model_pruning.Pruning: twice": Case(twice, has_gradients=False),
    "model_pruning.Pruning: everything": wrong(sparsity=1.0),
    "model_pruning.Pruning: begin": wrong("begin_pruning_step=-1"),
    "model_pruning.Pruning: block": wrong("block_dims_map=[kernel:2]"),
    "model_pruning.Pruning: blocks twice": wrong("block_dims_map=[kernel:2x2,ker:1x1]"),
    "model_pruning.Pruning: decay": wrong("threshold_decay=1.0"),
    "model_pruning.Pruning: end": wrong("begin_pruning_step=5,end_pruning_step=5"),
    "model_pruning.Pruning: initial": wrong("initial_sparsity=-0.5"),
    "model_pruning.Pruning: map": wrong("weight_sparsity_map=[kernel:1.0]"),
    "model_pruning.Pruning: map of two": wrong("weight_sparsity_map=[kernel:0.5,ker:0.5]"),
    "model_pruning.Pruning: map without a number": wrong("weight_sparsity_map=[kernel]"),
    "model_pruning.Pruning: no step": lambda: pruning.Pruning(),
    "model_pruning.Pruning: pooling": wrong("block_height=2,block_pooling_function=MIN"),
    "model_pruning.Pruning: schedule's begin": wrong("sparsity_function_begin_step=-1"),
    "model_pruning.Pruning: schedule's end": wrong("sparsity_function_begin_step=100"),
    "model_pruning.Pruning: target": wrong("target_sparsity=1.0"),
    "model_pruning.apply_mask": applied(lambda: weights(3, 4)),
    "model_pruning.apply_mask: again": applied(lambda: weights(3, 4), again=True),
    "model_pruning.apply_mask: a tensor": applied(lambda: x(3, 4), "scope"),
    "model_pruning.apply_mask: double": applied(lambda: tf.constant(np.eye(2), name="input")),
    "model_pruning.apply_mask: parts": partitioned,
    "model_pruning.get_masked_weights": getter("get_masked_weights"),
    "model_pruning.get_masks": getter("get_masks"),
    "model_pruning.get_pruning_hparams": hparams(""),
    "model_pruning.get_pruning_hparams: parsed": hparams(
        "name=own,pruning_frequency=3,weight_sparsity_map=[a:0.5,b/c:0.25],block_dims_map=[d:4x4]"
    ),
    "model_pruning.get_pruning_hparams: unknown": hparams("no_such_name=1"),
    "model_pruning.get_thresholds": getter("get_thresholds"),
    "model_pruning.get_weight_sparsity": getter("get_weight_sparsity"),
    "model_pruning.get_weights": getter("get_weights"),
    "model_pruning.graph_def_from_checkpoint": frozen(strip=False),
    "model_pruning.graph_def_from_checkpoint: none": Case(
        lambda: pruning.graph_def_from_checkpoint(tempfile.mkdtemp(), ["scores"]),
        has_gradients=False,
    ),
    "model_pruning.masked_conv2d": layered("masked_conv2d", images, (3, 2)),
    "model_pruning.masked_convolution": layered("masked_convolution", images, (3, [2, 3])),
    "model_pruning.masked_convolution: arg_scope": scoped,
    "model_pruning.masked_convolution: collections": layered(
        "masked_convolution",
        images,
        (3, 2),
        variables_collections={"weights": ["w"], "biases": ["b"]},
        outputs_collections="out",
        **regularizers(),
    ),
    "model_pruning.masked_convolution: format": layered(
        "masked_convolution", images, (3, 2), data_format="NWCH"
    ),
    "model_pruning.masked_convolution: format of sequences": layered(
        "masked_convolution", images, (3, 2), data_format="NWC"
    ),
    "model_pruning.masked_convolution: no bias": layered(
        "masked_convolution", images, (3, 2), biases_initializer=None, activation_fn=None
    ),
    "model_pruning.masked_convolution: normalizer": layered(
        "masked_convolution",
        images,
        (3, 2),
        normalizer_fn=tf.contrib.layers.batch_norm,
        normalizer_params={"scale": True},
        trainable=False,
    ),
    "model_pruning.masked_convolution: parts": in_parts("masked_convolution", images, (4, 2)),
    "model_pruning.masked_convolution: rank 3": layered(
        "masked_convolution", lambda: x(2, 3, 4), (3, 2)
    ),
    "model_pruning.masked_convolution: rate": layered(
        "masked_convolution", images, (3, 2), rate=2, padding="VALID", scope="own"
    ),
    "model_pruning.masked_convolution: reuse": reused("masked_convolution", images, (4, 2)),
    "model_pruning.masked_convolution: stride": layered(
        "masked_convolution", images, (3, 2), stride=[2, 1], activation_fn=tf.sigmoid
    ),
    "model_pruning.masked_convolution: stride and rate": layered(
        "masked_convolution", images, (3, 2), stride=2, rate=2
    ),
    "model_pruning.masked_fully_connected": layered("masked_fully_connected"),
    "model_pruning.masked_fully_connected: a vector": layered(
        "masked_fully_connected", lambda: x(3)
    ),
    "model_pruning.masked_fully_connected: collections": layered(
        "masked_fully_connected",
        variables_collections=["all"],
        outputs_collections=["out"],
        **regularizers(),
    ),
    "model_pruning.masked_fully_connected: no bias": layered(
        "masked_fully_connected",
        biases_initializer=None,
        activation_fn=None,
        weights_initializer=lambda: tf.constant_initializer(0.5),
        scope="own",
    ),
    "model_pruning.masked_fully_connected: normalizer": layered(
        "masked_fully_connected", normalizer_fn=tf.contrib.layers.layer_norm, trainable=False
    ),
    "model_pruning.masked_fully_connected: parts": in_parts("masked_fully_connected", rows, (3,)),
    "model_pruning.masked_fully_connected: rank 3": layered(
        "masked_fully_connected", lambda: x(2, 3, 4)
    ),
    "model_pruning.masked_fully_connected: reuse": reused("masked_fully_connected", rows, (4,)),
    "model_pruning.masked_fully_connected: size": layered("masked_fully_connected", args=(3.0,)),
    "model_pruning.masked_fully_connected: unknown": layered(
        "masked_fully_connected", lambda: unknown(array(3, 4), [3, None])
    ),
    "model_pruning.strip_pruning_vars_fn": frozen(strip=True),
}
