"""Records are read in parallel, each once an epoch, and by one host only."""

import collections

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import records
from estimator_bridge.errors import DataError
from estimator_bridge.tpu.context import TPUContext

COUNT = 60
v1 = tf.compat.v1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    values = np.arange(COUNT)
    source = records.from_arrays({"x": np.float32(values)[:, None], "label": values})
    records.write(source, folder, shards=6)
    return str(folder)


def numbers(dataset, batches=None):
    return [x.ravel().astype(int).tolist() for x in _features(dataset.take(batches or -1))]


def _features(dataset):
    for batch in dataset.as_numpy_iterator():
        yield (batch[0] if isinstance(batch, tuple) else batch)["x"]


def flat(batches):
    return [number for batch in batches for number in batch]


def test_evaluation_reads_each_record_once_in_order(folder):
    input_fn = records.input_fn(folder, False, 7, label="label")
    batches = numbers(input_fn())
    assert [len(batch) for batch in batches] == [7] * 8 + [4]
    assert flat(batches) == list(range(COUNT))
    for features, labels in input_fn():
        np.testing.assert_array_equal(features["x"][:, 0], tf.cast(labels, tf.float32))


def test_training_repeats_shuffles_and_has_static_shapes(folder):
    input_fn = records.input_fn(folder, True, 8, label="label", shuffle=60)
    dataset = input_fn()
    features, labels = dataset.element_spec
    assert (features["x"].shape.as_list(), labels.shape.as_list()) == ([8, 1], [8])
    seen = flat(numbers(dataset, 15))  # two epochs
    assert len(seen) == 120
    assert seen[:COUNT] != sorted(seen[:COUNT])
    assert collections.Counter(seen) == dict.fromkeys(range(COUNT), 2)


def test_a_seed_gives_the_same_order_in_each_run(folder):
    runs = [numbers(records.input_fn(folder, True, 8, seed=s)(), 20) for s in (5, 5, 6)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    epochs = flat(runs[0])[:COUNT], flat(runs[0])[COUNT : 2 * COUNT]
    assert epochs[0] != epochs[1]


def test_what_is_cached_is_shuffled_anew_in_each_epoch(folder):
    seen = flat(numbers(records.input_fn(folder, True, 12, seed=1, cache=True)(), 10))
    assert sorted(seen[:COUNT]) == sorted(seen[COUNT:]) == list(range(COUNT))
    assert seen[:COUNT] != seen[COUNT:]
    once = records.input_fn(folder, False, 12, cache=True)()
    assert flat(numbers(once)) == flat(numbers(once)) == list(range(COUNT))


def test_what_is_decoded_is_decoded_once_and_shuffled_anew_in_each_epoch(folder):
    calls = []

    def double(x):
        calls.append(x)
        return 2 * x

    def decode(features):
        x = tf.numpy_function(double, [features["x"]], tf.float32)
        return {"x": tf.ensure_shape(x, [1])}

    train = records.input_fn(folder, True, 12, decode=decode, seed=1, cache="decoded")
    seen = flat(numbers(train(), 15))  # three epochs
    epochs = [seen[start : start + COUNT] for start in (0, COUNT, 2 * COUNT)]
    assert all(sorted(epoch) == list(range(0, 2 * COUNT, 2)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert len(calls) == COUNT
    assert flat(numbers(train(), 15)) == seen  # the seed's order


def test_a_cache_that_cannot_be(folder):
    with pytest.raises(ValueError, match=r"cache='disk'\): want True, False or \"decoded\""):
        records.input_fn(folder, True, 12, cache="disk")
    with pytest.raises(ValueError, match=r"has no decode: .* cache=True to keep the records"):
        records.input_fn(folder, True, 12, cache="decoded")


def test_hosts_read_files_of_their_own(folder):
    input_fn = records.input_fn(folder, False, 100)
    for total in (1, 2, 3, 6, 8):  # of six files; eight hosts share them
        parts = [
            flat(numbers(input_fn({"context": TPUContext(8, total, i, i, total)})))
            for i in range(total)
        ]
        assert sorted(flat(parts)) == list(range(COUNT))
        contexts = [tf.distribute.InputContext(total, i, total) for i in range(total)]
        assert [flat(numbers(input_fn(input_context=one))) for one in contexts] == parts


def test_hosts_share_the_records_of_fewer_files(folder, caplog):
    """In training too, where the order of files differs from host to host."""
    bad = {f"{folder}/data-00000-of-00006.tfrecord": [0, 3]}
    input_fn = records.input_fn(folder, True, 1, leave_out=bad)
    own = [(COUNT - 10) // 10 + 1 if i < 2 else 5 for i in range(10)]
    contexts = [{"context": TPUContext(20, 10, i, i, 10)} for i in range(10)]
    parts = [flat(numbers(input_fn(context), own[i])) for i, context in enumerate(contexts)]
    assert len(flat(parts)) == len(set(flat(parts)))
    assert not {0, 3} & set(flat(parts))
    warnings = [one.getMessage() for one in caplog.records if "readers" in one.getMessage()]
    assert "6 file(s) of records for 10 readers (hosts, workers or cores)" in warnings[0]
    assert "Write at least 10 files" in warnings[0]


def test_a_function_of_one_example_and_one_of_a_batch(folder):
    input_fn = records.input_fn(
        folder, False, 4, label="label",
        decode=lambda features, label: ({"x": features["x"] + 1}, label * 2),
        transform=lambda features, label: ({"x": features["x"] * 10}, label),
    )  # fmt: skip
    features, labels = next(input_fn().as_numpy_iterator())
    assert features["x"].ravel().tolist() == [10, 20, 30, 40]
    assert labels.tolist() == [0, 2, 4, 6]
    shapes = [(f["x"].shape, labels.shape) for f, labels in input_fn()]
    assert shapes == [((4, 1), (4,))] * 15


def test_predictions_have_no_labels(folder):
    input_fn = records.input_fn(
        folder, False, 4, label="label", transform=lambda features: features
    )
    assert set(next(input_fn(mode=eb.ModeKeys.PREDICT).as_numpy_iterator())) == {"x"}


def test_files_and_patterns_need_to_be_told_their_features(folder):
    spec = {"x": tf.io.FixedLenFeature([1], tf.float32)}
    pattern = f"{folder}/data-*"
    with pytest.raises(DataError, match=r"Pass features=\{'name'"):
        records.input_fn(pattern, False)
    assert flat(numbers(records.input_fn(pattern, False, 9, spec)())) == list(range(COUNT))
    both = [f"{folder}/data-00001-of-00006.tfrecord", f"{folder}/data-00000-of-00006.tfrecord"]
    read = numbers(records.input_fn(both, False, 100, spec)())
    assert flat(read) == [*range(10, 20), *range(10)]
    one = records.input_fn(both, False, 3, spec, decode=lambda f: {"x": f["x"] * 2})
    assert numbers(one(), 1) == [[20, 22, 24]]


def lose(folder):
    next(iter(sorted(folder.glob("*.tfrecord")))).unlink()


def cut(folder):
    file = next(iter(sorted(folder.glob("*.tfrecord"))))
    file.write_bytes(file.read_bytes()[:-3])


def forget(folder):
    (folder / "manifest.json").unlink()


def forget_and_mix(folder):
    forget(folder)
    (folder / "table.csv").write_text("a,b\n1,2\n1,2\n")


def forget_and_nest(folder):
    forget(folder)
    (folder / "test").mkdir()


def spoil_manifest(folder):
    (folder / "manifest.json").write_text("{")


def later_manifest(folder):
    (folder / "manifest.json").write_text('{"format": 9}')


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lose, r"data-00000-of-00002\.tfrecord: missing: manifest\.json lists it with 5 records"),
        (cut, r"data-00000-of-00002\.tfrecord: damaged: it has \d+ bytes, want \d+"),
        (forget, "the features of its records are not known"),
        (forget_and_mix, r"mixed: 1 of 3 files are not TFRecord files, the first .*table\.csv"),
        (forget_and_nest, "has sub-folders"),
        (spoil_manifest, r"manifest\.json: damaged manifest"),
        (later_manifest, "a manifest of format 9, want 1"),
    ],
)
def test_folders_that_cannot_be_read(tmp_path, spoil, message):
    records.write(records.from_arrays({"x": np.arange(10)}), tmp_path, shards=2)
    spoil(tmp_path)
    with pytest.raises(DataError, match=message):
        records.input_fn(str(tmp_path), True)


def test_paths_that_lead_nowhere(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain.bin").write_bytes(b"not records at all")
    (tmp_path / "packed.tfrecord").write_bytes(b"\x1f\x8b" + bytes(20))
    for path, message in {
        "nowhere": "no such file or folder",
        "none-*": "no file matches the pattern",
        "empty": "empty: no file of records",
        "plain.bin": "not a TFRecord file: the header 6e 6f 74",
        "packed.tfrecord": "compressed by gzip",
    }.items():
        with pytest.raises(DataError, match=message):
            records.input_fn(str(tmp_path / path), True)
    with pytest.raises(DataError, match="no path of records was given"):
        records.input_fn([], True)


def test_wrong_arguments(folder):
    with pytest.raises(DataError, match="no feature 'class' for label=, but label, x"):
        records.input_fn(folder, True, label="class")
    with pytest.raises(ValueError, match="must be a positive whole number, got 0"):
        records.input_fn(folder, True, 0)
    with pytest.raises(ValueError, match="shuffle must be a positive whole number"):
        records.input_fn(folder, True, 1, shuffle=0)
    with pytest.raises(ValueError, match="No batch size"):
        records.input_fn(folder, True)()


def model_fn(features, labels, mode, params):
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features["x"][:, 0] * weight - tf.cast(labels, tf.float32)))
    step = v1.train.get_or_create_global_step()
    optimizer = v1.train.GradientDescentOptimizer(1e-4)
    if params.get("use_tpu"):
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))
    return eb.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))


class Seen(v1.train.SessionRunHook):
    """Remembers the examples of each step."""

    def __init__(self):
        self.steps = []

    def before_run(self, context):
        graph = context.session.graph
        return v1.train.SessionRunArgs(graph.get_collection("seen")[0])

    def after_run(self, context, values):
        self.steps.append(values.results.ravel().astype(int).tolist())


def seeing(features, labels, mode, params):
    v1.add_to_collection("seen", features["x"])
    return model_fn(features, labels, mode, params)


def seen_steps(train, model_dir, *stops):
    """Trains up to each of some steps, each in a training of its own; returns all batches."""
    seen = []
    for steps in stops:
        config = eb.RunConfig(save_checkpoints_steps=100)
        estimator = eb.Estimator(seeing, str(model_dir), config, params={})
        hook = Seen()
        position = eb.training.CheckpointInputPipelineHook(estimator)
        estimator.train(train, max_steps=steps, hooks=[hook, position])
        seen += hook.steps
    return seen


@pytest.mark.parametrize(("seed", "cache"), [(1, False), (None, False), (1, True), (1, "decoded")])
def test_a_resumed_training_goes_on_with_the_records_it_had_not_seen(folder, tmp_path, seed, cache):
    decode = (lambda *both: both) if cache == "decoded" else None
    train = records.input_fn(
        folder, True, 6, label="label", decode=decode, seed=seed, shuffle=20, cache=cache
    )

    resumed = seen_steps(train, tmp_path / "resumed", 3, 10)
    assert len(resumed) == 10
    assert sorted(flat(resumed)) == list(range(COUNT))  # an epoch: each record once
    if seed is not None:
        assert resumed == seen_steps(train, tmp_path / "whole", 10)


def test_a_resumed_training_of_a_later_epoch_has_the_records_it_had_not_seen(folder, tmp_path):
    """The cache is full by then; a new process fills it again."""
    train = records.input_fn(folder, True, 6, label="label", seed=1, shuffle=20, cache=True)
    resumed = seen_steps(train, tmp_path, 14, 20)
    assert sorted(flat(resumed[10:])) == list(range(COUNT))


def test_both_estimators_train_and_evaluate(folder, tmp_path):
    train = records.input_fn(folder, True, 20, label="label")
    test = records.input_fn(folder, False, 20, label="label")
    plain = eb.Estimator(model_fn, str(tmp_path / "plain"), params={})
    plain.train(train, max_steps=60)
    assert plain.evaluate(test)["loss"] < 1.0
    on_cores = eb.tpu.TPUEstimator(
        model_fn,
        config=eb.tpu.RunConfig(master="emulated:2", model_dir=str(tmp_path / "tpu")),
        params={},
        train_batch_size=20,
        eval_batch_size=20,
    )
    on_cores.train(train, max_steps=60)
    assert abs(plain.get_variable_value("weight") - 1) < 0.1
    assert abs(on_cores.get_variable_value("weight") - 1) < 0.1


def test_cores_that_read_for_themselves_divide_the_files(folder, tmp_path):
    asked = []
    train = records.input_fn(folder, True, label="label")

    def input_fn(params):
        asked.append((params["context"].current_input_fn_deployment()[1:3], params["batch_size"]))
        return train(params)

    pipeline = eb.tpu.InputPipelineConfig.PER_SHARD_V1
    estimator = eb.tpu.TPUEstimator(
        model_fn,
        config=eb.tpu.RunConfig(
            master="emulated:2", model_dir=str(tmp_path),
            tpu_config=eb.tpu.TPUConfig(per_host_input_for_training=pipeline),
        ),
        params={},
        train_batch_size=20,
    )  # fmt: skip
    estimator.train(input_fn, max_steps=2)
    assert asked == [((0, 2), 10), ((1, 2), 10)]
