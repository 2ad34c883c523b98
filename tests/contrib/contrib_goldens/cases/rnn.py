"""tf.contrib.rnn: cells, wrappers, and functions that run them."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes, x

rnn = tf.contrib.rnn
LENGTHS = [3, 1]


def steps():
    """Two sequences of three steps with four features."""
    return x(2, 3, 4)


def run(make, **options):
    """A cell, run over sequences by dynamic_rnn."""
    options.setdefault("dtype", tf.float32)
    return lambda: tf.nn.dynamic_rnn(make(), steps(), **options)


def static(make):
    """A cell, run by static_rnn in a scope."""
    return lambda: rnn.static_rnn(make(), tf.unstack(steps(), axis=1), dtype=tf.float32, scope="s")


def called(make, state=None):
    """A cell, called once."""

    def build():
        cell = make()
        inputs = x(2, 4)
        start = cell.zero_state(2, tf.float32) if state is None else state()
        return cell(inputs, start), [cell.output_size, cell.state_size]

    return build


def images(dims, skip=False):
    """A convolutional cell, run once."""
    sizes = [3, 4, 2][:dims]

    def build():
        kind = [rnn.Conv1DLSTMCell, rnn.Conv2DLSTMCell, rnn.Conv3DLSTMCell][dims - 1]
        cell = kind(
            input_shape=sizes + [2],
            output_channels=3,
            kernel_shape=[2] * dims,
            skip_connection=skip,
        )
        return cell(x(*([2] + sizes + [2])), cell.zero_state(2, tf.float32)), cell.output_size

    return build


def plain_conv():
    cell = rnn.ConvLSTMCell(2, [3, 4, 2], 3, [2, 2], use_bias=False, forget_bias=0.5)
    return cell(x(2, 3, 4, 2), cell.zero_state(2, tf.float32))


def fused(**options):
    def build():
        cell = rnn.LSTMBlockFusedCell(5, **options)
        return cell(x(3, 2, 4), dtype=tf.float32, sequence_length=LENGTHS)

    return build


def reversed_time():
    cell = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(5))
    return cell(x(3, 2, 4), dtype=tf.float32, sequence_length=LENGTHS)


def adapted(use_dynamic_rnn):
    cell = rnn.FusedRNNCellAdaptor(rnn.BasicLSTMCell(5), use_dynamic_rnn)
    return lambda: cell(x(3, 2, 4), dtype=tf.float32, sequence_length=LENGTHS, scope="s")


def phased():
    cell = rnn.PhasedLSTMCell(5, use_peepholes=True)
    times = tf.constant([[0.5], [3.0]])
    return cell((times, x(2, 4)), cell.zero_state(2, tf.float32))


def both_ways(static_ones=False, **options):
    def build():
        forward, backward = ([rnn.GRUCell(3), rnn.GRUCell(2)] for _ in range(2))
        if static_ones:
            return rnn.stack_bidirectional_rnn(
                forward, backward, tf.unstack(steps(), axis=1), dtype=tf.float32, **options
            )
        return rnn.stack_bidirectional_dynamic_rnn(
            forward, backward, steps(), dtype=tf.float32, sequence_length=LENGTHS, **options
        )

    return build


def embedded():
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(3), 5, 4)
    return cell(tf.constant(classes(2, 5)[:, None]), cell.zero_state(2, tf.float32))


def shared(make):
    """A cell whose variables are used by a second one in the same scope."""

    def build():
        cell = make()
        one = cell(x(2, 4), cell.zero_state(2, tf.float32), scope="shared")
        again = make()
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            return one, again(x(2, 4), cell.zero_state(2, tf.float32), scope="shared")

    return build


def kinds():
    """What the classes derive from."""
    return [
        issubclass(rnn.LSTMBlockFusedCell, rnn.LSTMBlockWrapper),
        issubclass(rnn.LSTMBlockWrapper, rnn.FusedRNNCell),
        issubclass(rnn.TimeReversedFusedRNN, rnn.FusedRNNCell),
        issubclass(rnn.FusedRNNCellAdaptor, rnn.FusedRNNCell),
        issubclass(rnn.IndRNNCell, rnn.LayerRNNCell),
        issubclass(rnn.LayerRNNCell, rnn.RNNCell),
        issubclass(rnn.GRUBlockCell, rnn.LayerRNNCell),
        issubclass(rnn.Conv2DLSTMCell, rnn.ConvLSTMCell),
    ]


def sliced(name, **options):
    """A cell over slices of a spectrum, called once with a state of numbers."""
    options.setdefault("feature_size", 2)
    options.setdefault("frequency_skip", 1)

    def build():
        cell = getattr(rnn, name)(3, **options)
        if name == "TimeFreqLSTMCell":
            return cell(x(2, 4), tf.constant(array(2, 18))), [cell.output_size, cell.state_size]
        if isinstance(cell.state_size, tuple):
            parts = [
                tf.constant(array(2, 3)) * 0.1 * index for index in range(len(cell.state_size))
            ]
            return cell(x(2, 4), cell.state_tuple_type(*parts)), cell.output_size
        return cell(x(2, 4), tf.constant(array(2, cell.state_size))), cell.output_size

    return build


CASES = {
    "rnn.AttentionCellWrapper": run(lambda: rnn.AttentionCellWrapper(rnn.GRUCell(5), 2)),
    "rnn.AttentionCellWrapper: LSTM": static(
        lambda: rnn.AttentionCellWrapper(rnn.BasicLSTMCell(5), 2, attn_size=3, attn_vec_size=4)
    ),
    "rnn.AttentionCellWrapper: flat": called(
        lambda: rnn.AttentionCellWrapper(
            rnn.LSTMCell(5, state_is_tuple=False), 2, input_size=3, state_is_tuple=False
        )
    ),
    "rnn.AttentionCellWrapper: length": lambda: rnn.AttentionCellWrapper(rnn.GRUCell(5), 0),
    "rnn.AttentionCellWrapper: state": lambda: rnn.AttentionCellWrapper(
        rnn.BasicLSTMCell(5), 2, state_is_tuple=False
    ),
    "rnn.BidirectionalGridLSTMCell": sliced(
        "BidirectionalGridLSTMCell", num_frequency_blocks=[3], use_peepholes=True
    ),
    "rnn.BidirectionalGridLSTMCell: offset": sliced(
        "BidirectionalGridLSTMCell",
        num_frequency_blocks=[3],
        share_time_frequency_weights=True,
        backward_slice_offset=-1,
    ),
    "rnn.CompiledWrapper": called(lambda: rnn.CompiledWrapper(rnn.GRUCell(5))),
    "rnn.GridLSTMCell": sliced("GridLSTMCell", num_frequency_blocks=[3]),
    "rnn.GridLSTMCell: blocks": sliced(
        "GridLSTMCell",
        num_frequency_blocks=[1, 2],
        start_freqindex_list=[0, 1],
        end_freqindex_list=[2, 4],
        num_unit_shards=2,
    ),
    "rnn.GridLSTMCell: coupled": sliced(
        "GridLSTMCell",
        num_frequency_blocks=[3],
        couple_input_forget_gates=True,
        use_peepholes=True,
        share_time_frequency_weights=True,
        state_is_tuple=False,
    ),
    "rnn.GridLSTMCell: none": lambda: rnn.GridLSTMCell(3),
    "rnn.GridLSTMCell: peepholes": sliced(
        "GridLSTMCell", num_frequency_blocks=[3], use_peepholes=True, cell_clip=0.1, forget_bias=0.5
    ),
    "rnn.GridLSTMCell: wrong": sliced("GridLSTMCell", num_frequency_blocks=[2]),
    "rnn.TimeFreqLSTMCell": sliced("TimeFreqLSTMCell"),
    "rnn.TimeFreqLSTMCell: peepholes": sliced(
        "TimeFreqLSTMCell", use_peepholes=True, cell_clip=0.1, num_unit_shards=3, forget_bias=0.0
    ),
    "rnn.BasicLSTMCell": run(lambda: rnn.BasicLSTMCell(5)),
    "rnn.BasicRNNCell": run(lambda: rnn.BasicRNNCell(5)),
    "rnn.GRUCell": run(lambda: rnn.GRUCell(5)),
    "rnn.LSTMCell": run(lambda: rnn.LSTMCell(5, use_peepholes=True, num_proj=3)),
    "rnn.DropoutWrapper": called(lambda: rnn.DropoutWrapper(rnn.GRUCell(5), 0.5, 0.5)),
    "rnn.ResidualWrapper": run(lambda: rnn.ResidualWrapper(rnn.GRUCell(4))),
    "rnn.MultiRNNCell": run(lambda: rnn.MultiRNNCell([rnn.GRUCell(5), rnn.BasicLSTMCell(3)])),
    "rnn.Conv1DLSTMCell": images(1),
    "rnn.Conv2DLSTMCell": images(2),
    "rnn.Conv2DLSTMCell: skip": images(2, True),
    "rnn.Conv3DLSTMCell": images(3),
    "rnn.ConvLSTMCell": plain_conv,
    "rnn.ConvLSTMCell: dims": lambda: rnn.ConvLSTMCell(2, [3, 2], 3, [2, 2]),
    "rnn.CoupledInputForgetGateLSTMCell": run(lambda: rnn.CoupledInputForgetGateLSTMCell(5)),
    "rnn.CoupledInputForgetGateLSTMCell: all": run(
        lambda: rnn.CoupledInputForgetGateLSTMCell(
            5, use_peepholes=True, num_proj=3, proj_clip=0.5, forget_bias=0.5, layer_norm=True
        )
    ),
    "rnn.CoupledInputForgetGateLSTMCell: flat": called(
        lambda: rnn.CoupledInputForgetGateLSTMCell(5, state_is_tuple=False)
    ),
    "rnn.EmbeddingWrapper": embedded,
    "rnn.EmbeddingWrapper: classes": lambda: rnn.EmbeddingWrapper(rnn.GRUCell(3), 0, 4),
    "rnn.FusedRNNCell": kinds,
    "rnn.FusedRNNCellAdaptor": adapted(False),
    "rnn.FusedRNNCellAdaptor: dynamic": adapted(True),
    "rnn.GLSTMCell": run(lambda: rnn.GLSTMCell(4, number_of_groups=2)),
    "rnn.GLSTMCell: projected": run(lambda: rnn.GLSTMCell(4, num_proj=2, number_of_groups=2)),
    "rnn.GLSTMCell: groups": called(lambda: rnn.GLSTMCell(5, number_of_groups=2)),
    "rnn.GRUBlockCell": run(lambda: rnn.GRUBlockCell(5)),
    "rnn.GRUBlockCell: size": called(lambda: rnn.GRUBlockCell(cell_size=5)),
    "rnn.GRUBlockCellV2": run(lambda: rnn.GRUBlockCellV2(5)),
    "rnn.HighwayWrapper": run(lambda: rnn.HighwayWrapper(rnn.GRUCell(4))),
    "rnn.HighwayWrapper: both": called(
        lambda: rnn.HighwayWrapper(rnn.GRUCell(4), couple_carry_transform_gates=False)
    ),
    "rnn.HighwayWrapper: size": called(lambda: rnn.HighwayWrapper(rnn.GRUCell(5))),
    "rnn.IndRNNCell": run(lambda: rnn.IndRNNCell(5)),
    "rnn.IndyGRUCell": run(lambda: rnn.IndyGRUCell(5)),
    "rnn.IndyLSTMCell": run(lambda: rnn.IndyLSTMCell(5)),
    "rnn.InputProjectionWrapper": run(lambda: rnn.InputProjectionWrapper(rnn.GRUCell(5), 3)),
    "rnn.InputProjectionWrapper: activation": called(
        lambda: rnn.InputProjectionWrapper(rnn.GRUCell(5), 3, activation=tf.nn.relu)
    ),
    "rnn.OutputProjectionWrapper": run(lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(5), 3)),
    "rnn.OutputProjectionWrapper: size": lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(5), 0),
    "rnn.IntersectionRNNCell": run(lambda: rnn.IntersectionRNNCell(4)),
    "rnn.IntersectionRNNCell: projected": called(
        lambda: rnn.IntersectionRNNCell(5, num_in_proj=5, forget_bias=0.5)
    ),
    "rnn.IntersectionRNNCell: size": called(lambda: rnn.IntersectionRNNCell(5)),
    "rnn.LSTMBlockCell": run(lambda: rnn.LSTMBlockCell(5)),
    "rnn.LSTMBlockCell: peephole": called(
        lambda: rnn.LSTMBlockCell(5, forget_bias=0.5, cell_clip=0.5, use_peephole=True)
    ),
    "rnn.LSTMBlockFusedCell": fused(),
    "rnn.LSTMBlockFusedCell: peephole": fused(use_peephole=True, cell_clip=0.5, forget_bias=0.5),
    "rnn.LSTMBlockFusedCell: no type": lambda: rnn.LSTMBlockFusedCell(5)(x(3, 2, 4)),
    "rnn.LSTMBlockWrapper": kinds,
    "rnn.LayerRNNCell": kinds,
    "rnn.LayerNormBasicLSTMCell": run(lambda: rnn.LayerNormBasicLSTMCell(5)),
    "rnn.LayerNormBasicLSTMCell: dropout": called(
        lambda: rnn.LayerNormBasicLSTMCell(5, layer_norm=False, dropout_keep_prob=0.5)
    ),
    "rnn.LayerNormBasicLSTMCell: gain": called(
        lambda: rnn.LayerNormBasicLSTMCell(5, norm_gain=0.5, norm_shift=0.1, forget_bias=0.0)
    ),
    "rnn.LayerNormBasicLSTMCell: shared": shared(lambda: rnn.LayerNormBasicLSTMCell(5)),
    "rnn.NASCell": run(lambda: rnn.NASCell(5)),
    "rnn.NASCell: projected": run(lambda: rnn.NASCell(5, num_proj=3, use_bias=True)),
    "rnn.PhasedLSTMCell": phased,
    "rnn.SRUCell": run(lambda: rnn.SRUCell(4)),
    "rnn.SRUCell: projected": run(lambda: rnn.SRUCell(5)),
    "rnn.TimeReversedFusedRNN": reversed_time,
    "rnn.UGRNNCell": run(lambda: rnn.UGRNNCell(5)),
    "rnn.UGRNNCell: bias": called(lambda: rnn.UGRNNCell(5, forget_bias=0.0, activation=tf.nn.relu)),
    "rnn.UGRNNCell: shared": shared(lambda: rnn.UGRNNCell(5)),
    "rnn.best_effort_input_batch_size": lambda: rnn.best_effort_input_batch_size(
        [tf.placeholder(tf.float32, [None, None]), x(3, 2)]
    ),
    "rnn.best_effort_input_batch_size: unknown": lambda: rnn.best_effort_input_batch_size(
        [tf.placeholder_with_default(array(3, 2), [None, None])]
    ),
    "rnn.stack_bidirectional_dynamic_rnn": both_ways(),
    "rnn.stack_bidirectional_dynamic_rnn: scope": both_ways(scope="own"),
    "rnn.stack_bidirectional_dynamic_rnn: cells": lambda: rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(3)], [], steps(), dtype=tf.float32
    ),
    "rnn.stack_bidirectional_rnn": both_ways(True),
    "rnn.stack_bidirectional_rnn: lengths": both_ways(True, sequence_length=LENGTHS, scope="own"),
    "rnn.stack_bidirectional_rnn: list": lambda: rnn.stack_bidirectional_rnn(
        rnn.GRUCell(3), [rnn.GRUCell(3)], [x(2, 4)], dtype=tf.float32
    ),
    "rnn.static_rnn": static(lambda: rnn.GRUCell(5)),
    "rnn.transpose_batch_time": lambda: rnn.transpose_batch_time(steps()),
    "rnn.transpose_batch_time: vector": lambda: rnn.transpose_batch_time(tf.constant([1.0, 2.0])),
}
