"""Maps of single examples that become maps of batches: the same bits in the same order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.data.graph_iterators import lifted_dataset
from estimator_bridge.graph import LiftedSession, Snapshot, trace_graph
from estimator_bridge.graph.batched_maps import maps_of_single_examples
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.monitoring.input_advice import advice_on_input

import tensorflow as tf  # isort: skip
from rewritten_datasets import both, read, same  # isort: skip

v1 = tf.compat.v1
ROWS, WIDTH = 43, 6
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40, -1e-45, 3.4e38, 1.5, -2.5, 0.1, 7.0]
SEED = np.random.RandomState(3)
FLOATS = SEED.choice(SPECIAL, [2, ROWS, WIDTH]).astype(np.float32)
INTEGERS = SEED.randint(-9, 9, [2, ROWS, WIDTH])
TEXTS = np.array([f"{i},{i / 7},x{i}" for i in range(ROWS)])


def moved(make):
    """Returns how many maps of a dataset move behind their batch."""
    with trace_graph() as graph:
        make()
    return len(maps_of_single_examples(Snapshot.of(graph), graph))


def mapped(function, *arrays, size=8):
    return lambda: tf.data.Dataset.from_tensor_slices(arrays).map(function).batch(size)


FLOAT_FUNCTIONS = {
    "linear": lambda a, b: a * 2.0 - b,
    "division": lambda a, b: (a / b, b / 3.0, 1.0 / a),
    "rounding": lambda a, b: (abs(a), -b, a // b, a % b),
    "squares": lambda a, b: (tf.square(a), tf.math.squared_difference(a, b)),
    "comparisons": lambda a, b: (
        a < b,
        a >= 0.0,
        tf.equal(a, b),
        tf.not_equal(a, b),
        a <= b,
        a > b,
    ),
    "types": lambda a, b: tuple(tf.cast(a, kind) for kind in (*KINDS, tf.bool)),
    "of a constant": lambda a, b: (
        a * tf.constant(SPECIAL[:WIDTH]) + tf.constant(np.ones([3, 1, WIDTH], "f"))
    ),
    "one number of each": lambda a, b: a * b[0] + tf.reshape(b, [2, 3, 1]) * a[1],
    "choice": lambda a, b: (
        tf.where(a > b, a, b),
        v1.where(a > b, a, b),
        v1.where(a[0] > 0.0, a, b),
    ),
    "a constant result": lambda a, b: {"a": a, "weight": 1.0, "name": tf.constant(["x", "y"])},
    "no copy": lambda a, b: (
        tf.stop_gradient(b),
        tf.identity(a),
        tf.zeros_like(a),
        tf.ones_like(b),
    ),
}
INTEGER_FUNCTIONS = {
    "arithmetic": lambda a, b: (
        a + b,
        a * b,
        a - b,
        abs(a),
        -b,
        tf.maximum(a, b),
        tf.minimum(a, 2),
        tf.clip_by_value(b, -3, 4),
        tf.sign(a),
    ),
    "logic": lambda a, b: tf.logical_and(a > b, tf.logical_or(a == 0, tf.logical_not(b == 0))),
    "bits": lambda a, b: (
        tf.bitwise.bitwise_xor(a, b),
        tf.bitwise.invert(a),
        tf.bitwise.left_shift(a, 2),
    ),
    "types": lambda a, b: (
        tf.cast(a, tf.int32),
        tf.cast(b, tf.float32),
        tf.cast(a, tf.int8),
        v1.to_float(a),
    ),
    "sums": lambda a, b: (
        tf.reduce_sum(a),
        tf.reduce_max(a, -1),
        tf.reduce_any(a > b, 0, True),
        tf.reduce_min(a, 0),
    ),
    "slices": lambda a, b: (
        a[1:4],
        a[::-1],
        a[None, 2],
        a[..., None],
        a[-1],
        tf.slice(b, [1], [3]),
        a[:, tf.newaxis][2:, 0],
    ),
    "shapes": lambda a, b: (
        tf.expand_dims(a, 0),
        tf.expand_dims(a, -1),
        tf.squeeze(a[None, :, None]),
        tf.squeeze(a[None], 0),
        tf.reshape(a, [-1, 2]),
    ),
    "joins": lambda a, b: (
        tf.stack([a, b]),
        tf.stack([a, b], -1),
        tf.concat([a, b], 0),
        tf.concat([a[None], [[1] * WIDTH]], 0),
    ),
    "parts": lambda a, b: (*tf.split(a, 3), *tf.split(b, [2, 4]), *tf.unstack(a)),
    "moves": lambda a, b: (
        tf.transpose(tf.reshape(a, [2, 3])),
        tf.tile(a, [2]),
        tf.pad(b, [[1, 2]]),
        tf.pad(b, [[1, 0]], constant_values=5),
    ),
    "one-hot": lambda a, b: (tf.one_hot(a, 7), tf.one_hot(a[0], 7, 5, 2, axis=0)),
    "rows of a table": lambda a, b: (
        tf.gather(tf.constant(np.eye(9)), abs(a) % 9),
        tf.gather(b, [2, 0]),
    ),
    "division": lambda a, b: (a // 3, a % 4, tf.truncatediv(a, 5), a / 7),
}
TEXT_FUNCTIONS = {
    "csv": lambda t: tf.io.decode_csv(t, [[0], [0.0], [""]]),
    "csv of a dict": lambda t: dict(zip("abc", v1.decode_csv(t, [[0], [0.0], ["?"]]))),
    "texts": lambda t: (
        tf.strings.upper(t),
        tf.strings.length(t),
        tf.strings.to_hash_bucket_fast(t, 10),
    ),
    "numbers": lambda t: tf.strings.to_number(tf.strings.regex_replace(t, ",.*", "")),
    "no result of its own": lambda t: 3,
}
KINDS = [tf.float16, tf.bfloat16, tf.float64]


def of_kind(kind):
    def function(a, b):
        a, b = tf.cast(a, kind), tf.cast(b, kind)
        return a * b[0] - 2, a / b, a // b, tf.square(a), a > b, abs(a), tf.where(a > b, a, b)

    return function


CASES = [
    *((f, FLOATS) for f in FLOAT_FUNCTIONS.values()),
    *((of_kind(kind), FLOATS) for kind in KINDS),
    *((f, INTEGERS) for f in INTEGER_FUNCTIONS.values()),
    *((f, [TEXTS]) for f in TEXT_FUNCTIONS.values()),
]
IDS = [
    *(f"floats: {name}" for name in FLOAT_FUNCTIONS),
    *(kind.name for kind in KINDS),
    *(f"integers: {name}" for name in INTEGER_FUNCTIONS),
    *(f"texts: {name}" for name in TEXT_FUNCTIONS),
]


@pytest.mark.parametrize(("function", "arrays"), CASES, ids=IDS)
def test_a_function_gives_the_same_bits_for_a_batch(function, arrays):
    for size in (1, 8):
        make = mapped(function, *arrays, size=size)
        assert moved(make) == 1
        same(*both(make))


STEPS = st.lists(
    st.sampled_from([
        ("shuffle", 5, 3), ("shuffle", 50, None), ("repeat", 2), ("repeat", None),
        ("skip", 4), ("take", 30), ("prefetch", 2),
    ]),
    max_size=2,
)  # fmt: skip


@given(
    steps=st.tuples(STEPS, STEPS, STEPS),
    size=st.integers(1, 50),
    drop=st.booleans(),
    parallel=st.sampled_from([None, 1, 3, -1]),
    form=st.sampled_from(["batch", "in parallel", "fused"]),
)
@settings(deadline=None, max_examples=25)
def test_the_order_is_the_same(steps, size, drop, parallel, form):
    def applied(dataset, steps):
        for name, *arguments in steps:
            dataset = getattr(dataset, name)(*arguments)
        return dataset

    def make():
        dataset = applied(tf.data.Dataset.from_tensor_slices((INTEGERS[0], TEXTS)), steps[0])
        dataset = dataset.map(lambda a, text: {"row": a * 2, "text": text}, parallel)
        dataset = applied(dataset, steps[1])

        def last(row):
            return {**row, "first": row["row"][0]}

        if form == "fused":
            way = tf.data.experimental.map_and_batch(last, size, None, drop, parallel)
            dataset = dataset.apply(way)
        else:
            calls = 2 if form == "in parallel" else None
            dataset = dataset.map(last).batch(size, drop, num_parallel_calls=calls)
        return applied(dataset, steps[2])

    assert moved(make) == 2
    same(*both(make))


def records(*examples):
    def one(i):
        features = {
            "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=[i, i + 1, i + 2])),
            "text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"t%d" % i])),
            "raw": tf.train.Feature(
                bytes_list=tf.train.BytesList(value=[np.arange(i, i + 4, dtype="i4").tobytes()])
            ),
        }
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    return [one(e) if isinstance(e, int) else e for e in examples]


def parse(record):
    example = tf.io.parse_single_example(
        record,
        {
            "ids": tf.io.FixedLenFeature([3], tf.int64),
            "text": tf.io.FixedLenFeature([], tf.string),
            "raw": tf.io.FixedLenFeature([], tf.string),
            "weight": tf.io.FixedLenFeature([], tf.float32, default_value=0.5),
        },
    )
    example["raw"] = tf.reshape(tf.io.decode_raw(example["raw"], tf.int32), [2, 2])
    return {**example, "ids": v1.to_int32(example["ids"])}


def of_records(*examples, size=3):
    return lambda: tf.data.Dataset.from_tensor_slices(records(*examples)).map(parse).batch(size)


def test_records_are_parsed_a_batch_at_a_time(tmp_path):
    assert moved(of_records(*range(10))) == 1
    same(*both(of_records(*range(10))))
    path = str(tmp_path / "some.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for record in records(*range(10)):
            writer.write(record)

    def read_files():
        source = tf.data.Dataset.from_tensor_slices([path] * 3)
        source = source.interleave(tf.data.TFRecordDataset, cycle_length=2).shuffle(5, 1)
        return source.apply(tf.data.experimental.map_and_batch(parse, 4, 2))

    assert moved(read_files) == 1
    same(*both(read_files))


def test_a_lookup_takes_a_batch():
    def make():
        keys = tf.constant([f"x{i}" for i in range(5)])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.range(5, dtype=tf.int64))
        table = tf.lookup.StaticHashTable(initializer, -1)
        rows = tf.data.Dataset.from_tensor_slices([["x1", "x9"], ["x4", "x0"], ["", "x3"]])
        return rows.map(table.lookup).batch(2)

    assert moved(make) == 1
    with trace_graph() as graph:
        dataset = make()
        variant = tf.data.experimental.to_variant(dataset)
        init = v1.tables_initializer()
    session = LiftedSession(graph, tf.distribute.get_strategy())
    session.run(init)
    with eager_mode():
        batches = read(lifted_dataset(session, variant.name, dataset.element_spec))
    session.close()
    same(batches, [np.array([[1, -1], [4, 0]]), np.array([[-1, 3]])])


def read_until_error(make, keeps_positions):
    """Returns the batches before an error, and the error."""
    with trace_graph() as graph:
        dataset = make()
        variant = tf.data.experimental.to_variant(dataset)
    session = LiftedSession(graph, tf.distribute.get_strategy())
    session.resources.inputs.keeps_positions = keeps_positions
    batches = []
    with eager_mode(), pytest.raises(tf.errors.InvalidArgumentError) as raised:
        for batch in lifted_dataset(session, variant.name, dataset.element_spec):
            batches.append(tf.nest.map_structure(lambda t: t.numpy(), batch))
    session.close()
    return batches, str(raised.value)


def test_a_damaged_record_is_an_error_of_its_batch():
    make = of_records(0, 1, 2, 3, b"damaged", 5)
    assert moved(make) == 1
    (plain, error), (rewritten, our_error) = (read_until_error(make, k) for k in (True, False))
    assert len(plain) == 1
    same(plain, rewritten)
    assert "Could not parse example input, value: 'damaged'" in error
    assert "Could not parse example input, value: 'damaged'" in our_error


def test_values_of_a_wrong_size_do_not_become_fewer_examples():
    def make():
        texts = tf.data.Dataset.from_tensor_slices(["abcd"] * 8)  # half of what is wanted

        def eight(text):
            return tf.reshape(tf.io.decode_raw(text, tf.uint8), [8])

        return texts.map(eight).batch(4)

    assert moved(make) == 1
    assert [read_until_error(make, keeps)[0] for keeps in (True, False)] == [[], []]


LEFT_ALONE = {
    "complex numbers": lambda a, b: tf.complex(a, b) * tf.complex(b, a),
    "a sum of complex numbers": lambda a, b: tf.reduce_sum(tf.cast(a, tf.complex64)),
    "the larger of floats": tf.maximum,
    "a float in an integer": lambda a, b: tf.cast(a, tf.int32),
    "a square root": lambda a, b: tf.sqrt(a),
    "a sum of floats": lambda a, b: tf.reduce_sum(a),
    "random": lambda a, b: a + tf.random.uniform([]),
    "Python": lambda a, b: tf.numpy_function(lambda x: x, [a], tf.float32),
    "a branch": lambda a, b: tf.cond(a[0] > 0, lambda: a, lambda: b),
    "printing": lambda a, b: v1.Print(a, [a]),
    "of any length": lambda a, b: tf.boolean_mask(a, a > 0)[:1],
    "large": lambda a, b: tf.tile(a, [5000]),
    "a choice by a vector": lambda a, b: v1.where(
        a[:2] > 0, tf.reshape(a, [2, 3]), tf.reshape(b, [2, 3])
    ),
    "a place in each": lambda a, b: tf.gather(a, tf.cast(abs(b) > 0, tf.int32)),
}


@pytest.mark.parametrize("function", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_other_functions_take_one_example(function):
    assert moved(mapped(function, *FLOATS)) == 0


def test_datasets_in_which_an_error_drops_an_example_are_left_alone():
    def make():
        return of_records(0, 1, b"\xff", 3)().apply(tf.data.experimental.ignore_errors())

    assert moved(make) == 0


def test_sparse_features_and_batches_of_unknown_shapes_are_left_alone():
    sparse = {"ids": tf.io.VarLenFeature(tf.int64)}
    source = tf.data.Dataset.from_tensor_slices
    assert (
        moved(
            lambda: source(records(1)).map(lambda r: tf.io.parse_single_example(r, sparse)).batch(2)
        )
        == 0
    )
    assert moved(lambda: source([3, 1]).map(tf.range).map(lambda x: x + 1).padded_batch(2)) == 0
    assert moved(lambda: source([3, 1]).map(lambda x: tf.range(x) + 1).batch(1)) == 0


def test_only_the_maps_next_to_the_batch_move():
    def make():
        source = tf.data.Dataset.from_tensor_slices(INTEGERS[0])
        changed = source.map(lambda a: a + 1).filter(lambda a: a[0] > 0).map(lambda a: a * 2)
        return changed.cache().map(lambda a: a - 1).repeat(2).map(lambda a: a * a).batch(4)

    assert moved(make) == 2
    same(*both(make))


def test_a_map_that_takes_batches_now_is_not_named_in_advice():
    def advice(function):
        with trace_graph() as graph:
            v1.data.make_initializable_iterator(mapped(function, *FLOATS)())
        return advice_on_input(graph)

    assert "for each single example" not in advice(lambda a, b: a * b)
    assert "for each single example" in advice(lambda a, b: tf.sqrt(a))
