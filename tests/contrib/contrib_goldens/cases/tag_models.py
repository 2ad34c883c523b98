"""tf.contrib.crf's cells; tf.contrib.legacy_seq2seq with one table, or with several decoders."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.cases.legacy_seq2seq import symbols
from contrib_goldens.observe import Case

crf = tf.contrib.crf
old = tf.contrib.legacy_seq2seq
cell = tf.nn.rnn_cell


def potentials():
    return tf.constant(array(2, 4, 3), name="input")


def transitions():
    return tf.get_variable("transitions", initializer=array(3, 3))


def over_sequence(kind):
    """A cell in tf.nn.dynamic_rnn, as tf.contrib.crf ran it."""

    def build():
        inputs = potentials()
        return tf.nn.dynamic_rnn(
            getattr(crf, kind)(transitions()),
            inputs[:, 1:],
            sequence_length=[3, 1],
            initial_state=inputs[:, 0],
            dtype=tf.float32 if kind == "CrfForwardRnnCell" else tf.int32,
        )

    return build


def sizes():
    cells = crf.CrfForwardRnnCell(transitions()), crf.CrfDecodeBackwardRnnCell(3)
    return [(each.state_size, each.output_size) for each in cells]


def backward():
    before = tf.constant([[2, 0, 1], [1, 1, 0]])
    return crf.CrfDecodeBackwardRnnCell(3)(before, tf.constant([[1], [2]]))


def tied(**options):
    def build():
        return old.embedding_tied_rnn_seq2seq(
            symbols(), symbols(2), cell.GRUCell(4), 5, 3, **options
        )

    return Case(build)


def tied_lstm():
    return old.embedding_tied_rnn_seq2seq(
        symbols(), symbols(2), cell.BasicLSTMCell(4), 5, 3, feed_previous=tf.constant(True)
    )


def projected(shape):
    def build():
        projection = (tf.constant(array(4, shape)), tf.constant(array(shape)))
        return old.embedding_tied_rnn_seq2seq(
            symbols(),
            symbols(),
            cell.GRUCell(4),
            5,
            3,
            output_projection=projection,
            feed_previous=True,
        )

    return build


def many(**options):
    def build():
        cells = {"b": cell.GRUCell(4), "a": cell.GRUCell(4)}
        cells = options.get("cells", cells)
        return old.one2many_rnn_seq2seq(
            symbols(),
            {"b": symbols(2, 4), "a": symbols(1, 5)},
            options.get("encoder", cell.GRUCell(4)),
            cells,
            5,
            {"a": 5, "b": 4},
            3,
            feed_previous=options.get("feed_previous", False),
        )

    return Case(build)


def fed_by_tensor(value):
    def build():
        return old.one2many_rnn_seq2seq(
            symbols(),
            {"a": symbols(2, 5)},
            cell.BasicLSTMCell(4),
            {"a": cell.BasicLSTMCell(4)},
            5,
            {"a": 5},
            3,
            feed_previous=tf.constant(value),
        )

    return build


CASES = {
    "crf.CrfForwardRnnCell": over_sequence("CrfForwardRnnCell"),
    "crf.CrfForwardRnnCell: sizes": sizes,
    "crf.CrfForwardRnnCell: step": lambda: crf.CrfForwardRnnCell(transitions())(
        potentials()[:, 1], potentials()[:, 0]
    ),
    "crf.CrfDecodeForwardRnnCell": over_sequence("CrfDecodeForwardRnnCell"),
    "crf.CrfDecodeForwardRnnCell: step": lambda: crf.CrfDecodeForwardRnnCell(transitions())(
        potentials()[:, 1], potentials()[:, 0]
    ),
    "crf.CrfDecodeBackwardRnnCell": backward,
    "legacy_seq2seq.embedding_tied_rnn_seq2seq": tied(),
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: first symbols": tied(num_decoder_symbols=2),
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: fed back": tied(feed_previous=True),
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: a tensor": tied_lstm,
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: double": tied(dtype=tf.float64),
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: scope": tied(scope="own"),
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: projected": projected(5),
    "legacy_seq2seq.embedding_tied_rnn_seq2seq: projection": projected(4),
    "legacy_seq2seq.one2many_rnn_seq2seq": many(),
    "legacy_seq2seq.one2many_rnn_seq2seq: fed back": many(feed_previous=True),
    "legacy_seq2seq.one2many_rnn_seq2seq: a true tensor": fed_by_tensor(True),
    "legacy_seq2seq.one2many_rnn_seq2seq: a false tensor": fed_by_tensor(False),
    "legacy_seq2seq.one2many_rnn_seq2seq: tasks": many(cells={}),
    "legacy_seq2seq.one2many_rnn_seq2seq: no cell": many(encoder=lambda x: x),
}
