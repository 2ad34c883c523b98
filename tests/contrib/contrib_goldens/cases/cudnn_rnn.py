"""tf.contrib.cudnn_rnn: what 1.15.5 computes of it on a CPU.

Its networks run on a GPU only, but the cells with the same variables do not: `tests/contrib/
test_contrib_cudnn_rnn_ops.py` compares this library's networks with the numbers of the cells.
"""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from tensorflow.contrib.cudnn_rnn.python.layers import cudnn_rnn as layers_file
from tensorflow.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops as ops

__all__ = ["CASES", "LENGTHS", "MODES", "SHAPE", "UNITS"]

cudnn = tf.contrib.cudnn_rnn
UNITS = 3
SHAPE = (5, 2, 4)  # time, batch, size
LENGTHS = [5, 3]
MODES = {
    "lstm": ("LSTM", lambda: cudnn.CudnnCompatibleLSTMCell(UNITS)),
    "gru": ("GRU", lambda: cudnn.CudnnCompatibleGRUCell(UNITS)),
    "rnn_tanh": ("Tanh", lambda: tf.nn.rnn_cell.BasicRNNCell(UNITS)),
    "rnn_relu": ("Relu", lambda: tf.nn.rnn_cell.BasicRNNCell(UNITS, tf.nn.relu)),
}
CONSTANTS = [
    name
    for words in (
        "GRU GRU_PARAMS_PER_LAYER INPUT_AUTO_MODE INPUT_LINEAR_MODE INPUT_SKIP_MODE LSTM",
        "LSTM_PARAMS_PER_LAYER RNN_BIDIRECTION RNN_RELU RNN_RELU_PARAMS_PER_LAYER RNN_TANH",
        "RNN_TANH_PARAMS_PER_LAYER RNN_UNIDIRECTION",
    )
    for name in words.split()
]


def fixed(getter, *args, **kwargs):
    """Makes variables that are not trained, so that they keep their values."""
    kwargs["trainable"] = False
    kwargs["initializer"] = lambda shape, dtype=None, partition_info=None: tf.constant(
        array(*[int(size) for size in shape])
    )
    return getter(*args, **kwargs)


def parts(states):
    """The states of cells as cuDNN has them: outputs, and the LSTM's memory."""
    if hasattr(states[0], "h"):
        return [tf.stack([each.h for each in states]), tf.stack([each.c for each in states])]
    return [tf.stack(states)]


def cells(mode, layers, both_ways=False, lengths=None):
    """Runs a stack of cells; returns outputs and states."""

    def run():
        make = MODES[mode][1]
        inputs = tf.constant(array(*SHAPE), name="input")
        with tf.variable_scope("fixed", custom_getter=fixed):
            if not both_ways:
                cell = tf.nn.rnn_cell.MultiRNNCell([make() for _ in range(layers)])
                outputs, states = tf.nn.dynamic_rnn(
                    cell, inputs, lengths, dtype=tf.float32, time_major=True
                )
                return [outputs] + parts(states)
            ways = [[make() for _ in range(layers)] for _ in range(2)]
            results = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
                ways[0], ways[1], inputs, None, None, tf.float32, lengths, time_major=True
            )
            states = [each for pair in zip(results[1], results[2]) for each in pair]
            return [results[0]] + parts(states)

    return run


def converter(mode, layers=1, direction="unidirectional", **options):
    kind = getattr(cudnn, "CudnnParamsFormatConverter" + MODES[mode][0])
    return kind(layers, UNITS, SHAPE[2], direction=direction, **options)


def canonical(mode, layers, ways, projection=None):
    """Matrices and biases in cuDNN's order."""
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    out = projection or UNITS
    weights, biases = [], []
    for layer in range(layers):
        for way in range(ways):
            width = out * ways if layer else SHAPE[2]
            shapes = [(UNITS, width)] * gates + [(UNITS, out)] * gates
            shapes += [(out, UNITS)] if projection else []
            scale = 1.0 + layer + 2 * way
            weights += [array(*each) * (scale + number) for number, each in enumerate(shapes)]
            biases += [array(UNITS) * (scale + number) for number in range(2 * gates)]
    return weights, biases


def named(tensors):
    return [tf.identity(each, name="part") for each in tensors]


def converted(mode, layers, direction="unidirectional", **options):
    """Converts cuDNN's parameters to those of cells, and back."""

    def run():
        ways = 1 + (direction != "unidirectional")
        format_converter = converter(mode, layers, direction, **options)
        weights, biases = canonical(mode, layers, ways, options.get("num_proj"))
        canonical_parts = format_converter._cu_canonical_to_tf_canonical(weights, biases)
        back = format_converter._tf_canonical_to_cu_canonical(
            list(canonical_parts[0]) + list(canonical_parts[1]),
            canonical_parts[2] if len(canonical_parts) > 2 else None,
        )
        return [named(each) for each in canonical_parts] + [named(each) for each in back]

    return run


def single(mode):
    """Converts one cell's weights and biases with the methods that programs override."""

    def run():
        format_converter = converter(mode)
        weights, biases = canonical(mode, 1, 1)
        kernels = format_converter._cudnn_to_tf_weights(*weights)
        sums = format_converter._cudnn_to_tf_biases(*biases)
        return [
            named(kernels),
            named(sums),
            named(format_converter._tf_to_cudnn_weights(0, *kernels)),
            named(format_converter._tf_to_cudnn_biases(*sums)),
        ]

    return run


def gate_order():
    format_converter = converter("lstm")
    return [
        list(format_converter._cudnn_to_tf_gate_params("i", "f", "c", "o")),
        list(format_converter._tf_to_cudnn_gate_params("i", "c", "f", "o")),
    ]


def apart(make):
    """Runs in another graph: 1.15.5 cannot place these operations on a CPU."""

    def run():
        with tf.Graph().as_default():
            return make()

    return run


def saveable(kind_name, layers, direction, size, own_names=False, **options):
    """The names under which an opaque variable is saved."""

    def run():
        variable = tf.get_variable("opaque", [size], trainable=False)
        kind = getattr(cudnn, kind_name)
        if own_names:

            class Own(kind):
                def _tf_canonical_name_prefix(self, layer, is_fwd=True):
                    return "own/%s_%d" % ("fw" if is_fwd else "bw", layer)

            kind = Own
        saveable = kind(variable, layers, UNITS, SHAPE[2], direction=direction, **options)
        return [
            saveable.name,
            [each.name for each in saveable.specs],
            [each.slice_spec for each in saveable.specs],
            [each.dtype for each in saveable.specs],
            saveable._param_names,
            type(saveable.format_converter).__name__,
        ]

    return apart(run)


def sized(mode, layers, direction):
    """A size that fits, as this library checks it when the saveable is made."""
    weights, biases = canonical(mode, layers, 1 + (direction != "unidirectional"))
    return sum(int(np.prod(each.shape)) for each in weights + biases)


def attributes(name, **options):
    def run():
        network = getattr(ops, name)(2, UNITS, SHAPE[2], **options)
        names = "num_layers num_units input_size rnn_mode input_mode direction num_proj"
        return [getattr(network, each) for each in names.split()] + [network._NUM_PARAMS_PER_LAYER]

    return run


def layer_attributes(name):
    def run():
        layer = getattr(cudnn, name)(2, UNITS, direction="bidirectional")
        layer._input_size = SHAPE[2]
        return [
            layer.rnn_mode, layer.input_mode, layer.input_size,
            [list(each) for each in layer.canonical_weight_shapes],
            [list(each) for each in layer.canonical_bias_shapes],
            [list(each) for each in layer.state_shape(7)],
        ]  # fmt: skip

    return run


def constants(module):
    return lambda: {name: getattr(module, "CUDNN_" + name) for name in CONSTANTS}


def network(name, **options):
    """Makes a network's operations, for what is refused."""
    rnn = getattr(ops, name)(1, UNITS, SHAPE[2])
    return rnn(
        tf.zeros(SHAPE, options.get("dtype", tf.float32)),
        *[tf.zeros([1, 2, UNITS])] * (2 if name == "CudnnLSTM" else 1),
        params=tf.zeros([sized(rnn.rnn_mode, 1, "unidirectional")]),
        is_training=options.get("training", True),
    )


def both(name):
    """Calls a function with an unknown direction."""
    states = [tf.zeros([1, 2, UNITS])] * (2 if name == "cudnn_lstm" else 1)
    return getattr(ops, name)(tf.zeros(SHAPE), *states, tf.zeros([9]), True, direction="both")


def shapes(name, time_major=True, lengths=None):
    def run():
        rnn = getattr(ops, name)(1, UNITS, SHAPE[2], direction="bidirectional")
        params = tf.zeros([sized(rnn.rnn_mode, 1, "bidirectional")])
        state = (2, 2, UNITS)
        x = SHAPE if time_major else (SHAPE[1], SHAPE[0], SHAPE[2])
        states = [tf.zeros(state)] * (2 if name == "CudnnLSTM" else 1)
        results = rnn(
            tf.zeros(x), *states, params=params, time_major=time_major, sequence_lengths=lengths
        )
        return [each.shape.as_list() for each in results]

    return apart(run)


def size(**options):
    arguments = {"rnn_mode": "lstm", "num_layers": 1, "num_units": UNITS, "input_size": SHAPE[2]}
    arguments.update(options)
    return lambda: ops.cudnn_rnn_opaque_params_size(**arguments)


CASES = {
    "cudnn_rnn.CudnnGRU: settings": layer_attributes("CudnnGRU"),
    "cudnn_rnn.CudnnLSTM: settings": layer_attributes("CudnnLSTM"),
    "cudnn_rnn.CudnnLSTM: its file's constants": constants(layers_file),
    "cudnn_rnn.CudnnLSTM: input_mode": lambda: cudnn.CudnnLSTM(1, UNITS, input_mode="some"),
    "cudnn_rnn.CudnnLSTM: integers": lambda: cudnn.CudnnLSTM(1, UNITS, dtype=tf.int32),
    "cudnn_rnn.CudnnLSTM: not built": lambda: cudnn.CudnnLSTM(1, UNITS).input_size,
    "cudnn_rnn.CudnnLSTM: no shapes": lambda: cudnn.CudnnLSTM(1, UNITS).canonical_weight_shapes,
    "cudnn_rnn.CudnnLSTM: rank": lambda: cudnn.CudnnLSTM(1, UNITS).build([3, 4]),
    "cudnn_rnn.CudnnRNNTanh: settings": layer_attributes("CudnnRNNTanh"),
    "cudnn_rnn.CudnnRNNRelu: settings": layer_attributes("CudnnRNNRelu"),
    "cudnn_rnn.CudnnParamsFormatConverterLSTM": single("lstm"),
    "cudnn_rnn.CudnnParamsFormatConverterLSTM: gates": gate_order,
    "cudnn_rnn.CudnnParamsFormatConverterLSTM: projected": converted("lstm", 2, num_proj=2),
    "cudnn_rnn.CudnnParamsFormatConverterLSTM: projected both ways": converted(
        "lstm", 2, "bidirectional", num_proj=2
    ),
    "cudnn_rnn.CudnnParamsFormatConverterGRU": single("gru"),
    "cudnn_rnn.CudnnParamsFormatConverterTanh": single("rnn_tanh"),
    "cudnn_rnn.CudnnParamsFormatConverterRelu": single("rnn_relu"),
    "cudnn_rnn.CudnnLSTMSaveable: own names": saveable(
        "CudnnLSTMSaveable", 2, "bidirectional", sized("lstm", 2, "bidirectional"), own_names=True
    ),
    "cudnn_rnn.CudnnLSTMSaveable: scope": saveable(
        "CudnnLSTMSaveable",
        1,
        "unidirectional",
        sized("lstm", 1, "unidirectional"),
        scope="there",
        name="me",
    ),
    "cudnn_rnn.ops.check_direction": lambda: ops.check_direction("both"),
    "cudnn_rnn.ops.check_direction: right": lambda: ops.check_direction("bidirectional"),
    "cudnn_rnn.ops.check_input_mode": lambda: ops.check_input_mode("none"),
    "cudnn_rnn.ops.check_input_mode: right": lambda: ops.check_input_mode("skip_input"),
    "cudnn_rnn.ops.CudnnGRU": attributes("CudnnGRU", direction="bidirectional"),
    "cudnn_rnn.ops.CudnnGRU: constants": constants(ops),
    "cudnn_rnn.ops.CudnnGRU: direction": attributes("CudnnGRU", direction="both"),
    "cudnn_rnn.ops.CudnnGRU: integers": lambda: network("CudnnGRU", dtype=tf.int32),
    "cudnn_rnn.ops.CudnnGRU: shapes": shapes("CudnnGRU"),
    "cudnn_rnn.ops.CudnnLSTM": attributes("CudnnLSTM", num_proj=2, seed=3, dropout=0.5),
    "cudnn_rnn.ops.CudnnLSTM: direction later": attributes("CudnnLSTM", direction="both"),
    "cudnn_rnn.ops.CudnnLSTM: shapes": shapes("CudnnLSTM"),
    "cudnn_rnn.ops.CudnnLSTM: shapes with lengths": shapes("CudnnLSTM", lengths=LENGTHS),
    "cudnn_rnn.ops.CudnnLSTM: shapes, batch first": shapes("CudnnLSTM", time_major=False),
    "cudnn_rnn.ops.CudnnLSTM: training": lambda: network("CudnnLSTM", training=tf.constant(True)),
    "cudnn_rnn.ops.CudnnRNNRelu": attributes("CudnnRNNRelu"),
    "cudnn_rnn.ops.CudnnRNNTanh": attributes("CudnnRNNTanh", input_mode="auto_select"),
    "cudnn_rnn.ops.cudnn_gru": lambda: both("cudnn_gru"),
    "cudnn_rnn.ops.cudnn_lstm": lambda: both("cudnn_lstm"),
    "cudnn_rnn.ops.cudnn_rnn_relu": lambda: both("cudnn_rnn_relu"),
    "cudnn_rnn.ops.cudnn_rnn_tanh": lambda: both("cudnn_rnn_tanh"),
    "cudnn_rnn.ops.cudnn_rnn_opaque_params_size": size(rnn_mode="lstms"),
    "cudnn_rnn.ops.cudnn_rnn_opaque_params_size: direction": size(direction="both"),
    "cudnn_rnn.ops.cudnn_rnn_opaque_params_size: input_mode": size(input_mode="none"),
    "cudnn_rnn.ops.cudnn_rnn_opaque_params_size: integers": size(dtype=tf.int32),
    "cudnn_rnn.ops.cudnn_rnn_canonical_to_opaque_params": lambda: (
        ops.cudnn_rnn_canonical_to_opaque_params("rnn_tanh", 1, 2, 2, [[1.0]] * 2, [[1.0]])
    ),
    "cudnn_rnn.ops.cudnn_rnn_opaque_params_to_canonical": lambda: (
        ops.cudnn_rnn_opaque_params_to_canonical("gru", 1, 2, 2, [1.0], direction="both")
    ),
}
for _mode, (_name, _) in MODES.items():
    _cell = {"lstm": "CudnnLSTM", "gru": "CudnnGRU"}.get(_mode, "CudnnRNN" + _name)
    CASES["cudnn_rnn.%s: cells" % _cell] = cells(_mode, 2)
    CASES["cudnn_rnn.%s: cells, lengths" % _cell] = cells(_mode, 2, lengths=LENGTHS)
    CASES["cudnn_rnn.%s: cells both ways" % _cell] = cells(_mode, 2, True, LENGTHS)
    for _direction in ("unidirectional", "bidirectional"):
        CASES["cudnn_rnn.CudnnParamsFormatConverter%s: %s" % (_name, _direction)] = converted(
            _mode, 2, _direction
        )
        CASES["cudnn_rnn.%sSaveable%s" % (_cell, "" if _direction[0] == "u" else ": both ways")] = (
            saveable(_cell + "Saveable", 2, _direction, sized(_mode, 2, _direction))
        )
