"""tf.contrib.seq2seq: attention, helpers, decoders."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes, x

seq2seq, rnn = tf.contrib.seq2seq, tf.contrib.rnn
LENGTHS = np.array([4, 2], np.int32)


def memory():
    """Two sequences of four steps with three features."""
    return x(2, 4, 3)


def attended(make, **options):
    """An attention mechanism in a wrapped cell, called twice."""

    def build():
        cell = seq2seq.AttentionWrapper(rnn.GRUCell(5), make(), **options)
        state = cell.zero_state(2, tf.float32)
        first, state = cell(x(2, 3), state)
        second, state = cell(x(2, 3), state)
        return first, second, state.attention, state.alignments, state.time, cell.output_size

    return build


def scored(make, state_size=None):
    """A mechanism, called by itself."""

    def build():
        mechanism = make()
        alignments, state = mechanism(x(2, 5), mechanism.initial_state(2, tf.float32))
        return alignments, state, mechanism.alignments_size, mechanism.keys, mechanism.values

    return build


def two_mechanisms():
    mechanisms = [seq2seq.LuongAttention(5, memory()), seq2seq.BahdanauAttention(4, memory())]
    cell = seq2seq.AttentionWrapper(
        rnn.BasicLSTMCell(5), mechanisms, [3, 2], alignment_history=True, output_attention=False
    )
    return cell(x(2, 3), cell.zero_state(2, tf.float32))[0]


def decoded(helper, layer=False, attention=False, **options):
    """A decoder of a helper, run to its end."""

    def build():
        cell = rnn.GRUCell(5)
        if attention:
            cell = seq2seq.AttentionWrapper(
                cell, seq2seq.LuongAttention(5, memory()), 4, alignment_history=True
            )
        output_layer = tf.layers.Dense(5, name="out") if layer else None
        decoder = seq2seq.BasicDecoder(cell, helper(), cell.zero_state(2, tf.float32), output_layer)
        outputs, state, lengths = seq2seq.dynamic_decode(decoder, **options)
        state = state.alignment_history.stack() if attention else state
        return outputs, state, lengths

    return build


def read():
    return seq2seq.TrainingHelper(memory(), LENGTHS)


def table():
    return tf.get_variable("table", initializer=array(5, 3))


def greedy():
    return seq2seq.GreedyEmbeddingHelper(table(), tf.constant([1, 2]), 0)


def custom():
    inputs = tf.unstack(memory(), axis=1)
    return seq2seq.CustomHelper(
        lambda: (tf.constant([False, False]), inputs[0]),
        lambda time, outputs, state: tf.cast(tf.argmax(outputs, -1), tf.int32),
        lambda time, outputs, state, sample_ids: (
            tf.greater_equal(time + 1, [3, 2]),
            tf.stack(inputs)[tf.minimum(time + 1, 3)],
            state,
        ),
    )


def inference():
    return seq2seq.InferenceHelper(
        lambda outputs: outputs[:, :3],
        [3],
        tf.float32,
        array(2, 3),
        lambda sample: tf.reduce_sum(sample, 1) > 10.0,
    )


def searched(layer=True, **options):
    """A beam search with a model of fixed weights."""

    def build():
        cell = rnn.GRUCell(5)
        state = seq2seq.tile_batch(tf.constant(array(2, 5)), 3)
        arguments = {"length_penalty_weight": 0.0}
        arguments.update(options)
        steps = arguments.pop("steps", 4)
        decoder = seq2seq.BeamSearchDecoder(
            cell,
            table(),
            tf.constant([1, 2]),
            0,
            state,
            3,
            tf.layers.Dense(5, name="out"),
            **arguments,
        )
        final, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
        return (
            final.predicted_ids,
            final.beam_search_decoder_output.scores,
            final.beam_search_decoder_output.parent_ids,
            state.log_probs,
            lengths,
        )

    return build


def loss(**options):
    return lambda: seq2seq.sequence_loss(
        x(2, 4, 5),
        tf.constant(classes(8, 5).reshape(2, 4)),
        tf.constant([[1.0, 1.0, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]]),
        **options,
    )


def fields(name):
    return lambda: list(getattr(seq2seq, name)._fields)


def members(name):
    """The public members of a class."""
    return lambda: [
        each for each in sorted(dir(getattr(seq2seq, name))) if not each.startswith("_")
    ]


def scheduled(kind, probability):
    def build():
        if kind == "embedding":
            return seq2seq.ScheduledEmbeddingTrainingHelper(
                memory(), LENGTHS, table(), probability, seed=3, scheduling_seed=4
            )
        return seq2seq.ScheduledOutputTrainingHelper(
            memory(), LENGTHS, probability, next_inputs_fn=lambda outputs: outputs[:, :3], seed=3
        )

    return build


CASES = {
    "seq2seq.AttentionMechanism": lambda: [
        issubclass(each, seq2seq.AttentionMechanism)
        for each in (seq2seq.LuongAttention, seq2seq.BahdanauMonotonicAttention)
    ],
    "seq2seq.AttentionWrapper": attended(lambda: seq2seq.LuongAttention(5, memory(), LENGTHS)),
    "seq2seq.AttentionWrapper: layer": attended(
        lambda: seq2seq.BahdanauAttention(4, memory(), LENGTHS), attention_layer_size=6, name="own"
    ),
    "seq2seq.AttentionWrapper: input": attended(
        lambda: seq2seq.LuongAttention(5, memory()),
        cell_input_fn=lambda inputs, attention: inputs + attention[:, :3],
        output_attention=False,
    ),
    "seq2seq.AttentionWrapper: attention layer": attended(
        lambda: seq2seq.LuongAttention(5, memory()),
        attention_layer=tf.layers.Dense(2, name="attend"),
    ),
    "seq2seq.AttentionWrapper: two": two_mechanisms,
    "seq2seq.AttentionWrapper: no mechanism": lambda: seq2seq.AttentionWrapper(rnn.GRUCell(5), 5),
    "seq2seq.AttentionWrapper: sizes": lambda: seq2seq.AttentionWrapper(
        rnn.GRUCell(5), [seq2seq.LuongAttention(5, memory())], [3, 2]
    ),
    "seq2seq.AttentionWrapperState": fields("AttentionWrapperState"),
    "seq2seq.BahdanauAttention": scored(lambda: seq2seq.BahdanauAttention(5, memory(), LENGTHS)),
    "seq2seq.BahdanauAttention: normalized": scored(
        lambda: seq2seq.BahdanauAttention(
            5, memory(), normalize=True, probability_fn=tf.nn.sigmoid, name="own"
        )
    ),
    "seq2seq.LuongAttention": scored(lambda: seq2seq.LuongAttention(5, memory(), LENGTHS)),
    "seq2seq.LuongAttention: scaled": scored(
        lambda: seq2seq.LuongAttention(5, memory(), scale=True, score_mask_value=-3.0)
    ),
    "seq2seq.LuongAttention: size": scored(lambda: seq2seq.LuongAttention(4, memory())),
    "seq2seq.BahdanauMonotonicAttention": scored(
        lambda: seq2seq.BahdanauMonotonicAttention(5, memory(), LENGTHS, normalize=True)
    ),
    "seq2seq.BahdanauMonotonicAttention: recursive": scored(
        lambda: seq2seq.BahdanauMonotonicAttention(5, memory(), mode="recursive", sigmoid_noise=0.5)
    ),
    "seq2seq.LuongMonotonicAttention": scored(
        lambda: seq2seq.LuongMonotonicAttention(5, memory(), LENGTHS, scale=True)
    ),
    "seq2seq.LuongMonotonicAttention: hard": scored(
        lambda: seq2seq.LuongMonotonicAttention(5, memory(), mode="hard", score_bias_init=0.5)
    ),
    "seq2seq.BasicDecoder": decoded(read),
    "seq2seq.BasicDecoder: layer": decoded(read, True, impute_finished=True),
    "seq2seq.BasicDecoder: attention": decoded(read, attention=True, scope="own"),
    "seq2seq.BasicDecoder: helper": lambda: seq2seq.BasicDecoder(rnn.GRUCell(5), 3, None),
    "seq2seq.BasicDecoderOutput": fields("BasicDecoderOutput"),
    "seq2seq.dynamic_decode": decoded(read, output_time_major=True, maximum_iterations=2),
    "seq2seq.dynamic_decode: decoder": lambda: seq2seq.dynamic_decode(3),
    "seq2seq.dynamic_decode: iterations": decoded(read, maximum_iterations=tf.float32),
    "seq2seq.TrainingHelper": decoded(read),
    "seq2seq.TrainingHelper: time major": decoded(
        lambda: seq2seq.TrainingHelper(x(4, 2, 3), LENGTHS, time_major=True)
    ),
    "seq2seq.TrainingHelper: lengths": lambda: seq2seq.TrainingHelper(memory(), [[1]]),
    "seq2seq.GreedyEmbeddingHelper": decoded(greedy, True, maximum_iterations=4),
    "seq2seq.GreedyEmbeddingHelper: tokens": lambda: seq2seq.GreedyEmbeddingHelper(
        table(), tf.constant(1), 0
    ),
    "seq2seq.SampleEmbeddingHelper": lambda: (
        decoded(
            lambda: seq2seq.SampleEmbeddingHelper(table(), tf.constant([1, 2]), 0, 0.01, seed=3),
            True,
            maximum_iterations=3,
        )()[2].shape
    ),
    "seq2seq.CustomHelper": decoded(custom),
    "seq2seq.InferenceHelper": decoded(inference, maximum_iterations=3),
    "seq2seq.Helper": members("Helper"),
    "seq2seq.Decoder": members("Decoder"),
    "seq2seq.ScheduledEmbeddingTrainingHelper": decoded(scheduled("embedding", 0.0), True),
    "seq2seq.ScheduledEmbeddingTrainingHelper: always": decoded(scheduled("embedding", 1.0), True),
    "seq2seq.ScheduledEmbeddingTrainingHelper: probability": scheduled("embedding", [0.5]),
    "seq2seq.ScheduledOutputTrainingHelper": decoded(scheduled("output", 0.0)),
    "seq2seq.ScheduledOutputTrainingHelper: always": decoded(scheduled("output", 1.0)),
    "seq2seq.BeamSearchDecoder": searched(),
    "seq2seq.BeamSearchDecoder: penalty": searched(length_penalty_weight=0.6, steps=6),
    "seq2seq.BeamSearchDecoder: coverage": searched(
        length_penalty_weight=0.6, coverage_penalty_weight=0.0, reorder_tensor_arrays=False
    ),
    "seq2seq.BeamSearchDecoderOutput": fields("BeamSearchDecoderOutput"),
    "seq2seq.BeamSearchDecoderState": fields("BeamSearchDecoderState"),
    "seq2seq.FinalBeamSearchDecoderOutput": fields("FinalBeamSearchDecoderOutput"),
    "seq2seq.gather_tree": lambda: seq2seq.gather_tree(
        classes(18, 5).reshape(3, 2, 3).astype(np.int32),
        classes(18, 3).reshape(3, 2, 3).astype(np.int32),
        np.array([3, 2], np.int32),
        4,
    ),
    "seq2seq.hardmax": lambda: seq2seq.hardmax(x(3, 4)),
    "seq2seq.hardmax: name": lambda: seq2seq.hardmax(x(2, 3, 4), name="own"),
    "seq2seq.monotonic_attention": lambda: [
        seq2seq.monotonic_attention(
            tf.nn.sigmoid(x(2, 4)), tf.constant([[1.0, 0.0, 0.0, 0.0]] * 2), mode
        )
        for mode in ("recursive", "parallel")
    ],
    "seq2seq.monotonic_attention: hard": lambda: seq2seq.monotonic_attention(
        tf.constant([[0.0, 1.0, 1.0, 0.0]]), tf.constant([[1.0, 0.0, 0.0, 0.0]]), "hard"
    ),
    "seq2seq.monotonic_attention: mode": lambda: seq2seq.monotonic_attention(
        x(2, 4), x(2, 4), "soft"
    ),
    "seq2seq.safe_cumprod": lambda: seq2seq.safe_cumprod(
        tf.nn.sigmoid(x(2, 4)), axis=1, exclusive=True
    ),
    "seq2seq.sequence_loss": loss(),
    "seq2seq.sequence_loss: steps": loss(average_across_batch=False, name="own"),
    "seq2seq.sequence_loss: batch": loss(average_across_timesteps=False),
    "seq2seq.sequence_loss: sums": loss(
        average_across_timesteps=False,
        average_across_batch=False,
        sum_over_batch=True,
        sum_over_timesteps=True,
    ),
    "seq2seq.sequence_loss: both": loss(sum_over_batch=True),
    "seq2seq.sequence_loss: own": loss(
        softmax_loss_function=lambda labels, logits: tf.reduce_sum(logits, -1)
    ),
    "seq2seq.sequence_loss: rank": lambda: seq2seq.sequence_loss(x(2, 4), [[1]], [[1.0]]),
    "seq2seq.tile_batch": lambda: seq2seq.tile_batch((x(2, 3), tf.constant([1, 2])), 3),
    "seq2seq.tile_batch: name": lambda: seq2seq.tile_batch(x(2, 3), 2, name="own"),
}
