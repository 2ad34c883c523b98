"""A resumed run sees the next examples: the input's position is saved with the model."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.checkpoint import InputPositionError, step_of
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training import CheckpointInputPipelineHook
from estimator_bridge.training.input_position import with_whole_position

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
NUMBERS = np.arange(24, dtype=np.float32)


def shuffled():
    numbers = tf.data.Dataset.from_tensor_slices(NUMBERS).shuffle(10, seed=7).repeat(5)
    return numbers.batch(4, drop_remainder=True)


def mapped_in_parallel():
    twice = tf.data.Dataset.range(60).map(
        lambda x: tf.cast(x, tf.float32), num_parallel_calls=tf.data.AUTOTUNE
    )
    return twice.batch(4, drop_remainder=True).prefetch(3)


def interleaved():
    numbers = tf.data.Dataset.from_tensor_slices(NUMBERS)
    parts = tf.data.Dataset.range(4).interleave(
        lambda i: numbers.shard(4, i), cycle_length=3, num_parallel_calls=2
    )
    return parts.shuffle(5, seed=1).repeat().batch(4, drop_remainder=True)


def with_a_table():
    keys = tf.constant(np.arange(24).astype(str))
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.constant(NUMBERS)), -1.0
    )
    text = tf.data.Dataset.from_tensor_slices(keys).shuffle(9, seed=2).repeat()
    return text.map(table.lookup).batch(4, drop_remainder=True)


def tensors():
    return v1.data.make_one_shot_iterator(shuffled()).get_next()


INPUTS = [shuffled, mapped_in_parallel, interleaved, with_a_table, tensors]


class Sums:
    """A model whose weight is all that it has seen, with dropout."""

    def __call__(self, features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        dropped = v1.nn.dropout(features, rate=0.5, seed=3)
        step = v1.train.get_global_step()
        both = (
            v1.tpu.cross_replica_sum(tf.reduce_sum(dropped)) if params else tf.reduce_sum(dropped)
        )
        with tf.control_dependencies([v1.assign(weight, 1.5 * weight + both)]):
            train_op = v1.assign_add(step, 1)
        loss = tf.reduce_sum(features)
        if params:
            return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make(folder, **settings):
    settings = {"save_checkpoints_steps": 3, **settings}
    return eb.Estimator(Sums(), str(folder), eb.RunConfig(tf_random_seed=1, **settings), {})


def make_tpu(folder):
    config = eb.tpu.RunConfig(
        master="emulated:2",
        model_dir=str(folder),
        tf_random_seed=1,
        save_checkpoints_steps=3,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=3),
    )
    return eb.tpu.TPUEstimator(Sums(), config=config, train_batch_size=4)


def train(estimator, input_fn, *steps, policy=None):
    """Trains in several runs, each with a hook of its own; returns the weight."""
    for count in steps:
        hook = CheckpointInputPipelineHook(estimator, policy)
        estimator.train(input_fn, hooks=[hook], steps=count)
    return estimator.get_variable_value("weight")


def positions(folder):
    names = [re.fullmatch(r"input\.ckpt-(\d+)\.index", path.name) for path in folder.iterdir()]
    return sorted(int(name[1]) for name in names if name)


@pytest.mark.parametrize("input_fn", INPUTS)
def test_runs_in_parts_see_what_one_run_sees(tmp_path, input_fn):
    whole = train(make(tmp_path / "whole"), input_fn, 10)
    parts = train(make(tmp_path / "parts"), input_fn, 4, 1, 5)
    assert parts == whole
    again = make(tmp_path / "again")
    for count in (4, 1, 5):
        again.train(input_fn, steps=count)
    assert again.get_variable_value("weight") != whole


@pytest.mark.parametrize("input_fn", [shuffled, with_a_table])
def test_on_replicas_too(tmp_path, input_fn):
    whole = train(make_tpu(tmp_path / "whole"), lambda params: input_fn(), 9)
    parts = train(make_tpu(tmp_path / "parts"), lambda params: input_fn(), 4, 5)
    assert parts == whole


def drawing_by_values(features, labels, mode, params):
    """Draws as often in a loop as a row of the batch says, so each replica in its own number."""
    weight = v1.get_variable("weight", [2], initializer=v1.zeros_initializer())
    count = tf.cast(tf.reduce_sum(features), tf.int32) % 4
    drawn = tf.while_loop(
        lambda i, _: i < count,
        lambda i, total: (i + 1, 0.5 * total + v1.random_uniform([2], seed=5)),
        [0, tf.zeros([2])],
    )[1]
    both = v1.tpu.cross_replica_sum(drawn)
    with tf.control_dependencies([v1.assign(weight, 0.7 * weight + both)]):
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)


def train_drawing(folder, master, *steps, hook=CheckpointInputPipelineHook):
    config = eb.tpu.RunConfig(
        master=master, model_dir=str(folder), tf_random_seed=1, save_checkpoints_steps=3,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=3),
    )  # fmt: skip
    estimator = eb.tpu.TPUEstimator(drawing_by_values, config=config, train_batch_size=4)
    for count in steps:
        estimator.train(lambda params: shuffled(), hooks=[hook(estimator)], steps=count)
    return estimator.get_variable_value("weight").tolist()


@pytest.mark.parametrize("name", ["emulated", "jax:cpu"])
def test_draws_go_on_whose_number_depends_on_values(tmp_path, name):
    if name == "jax:cpu":
        pytest.importorskip(
            "jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'"
        )
    whole = train_drawing(tmp_path / "whole", f"{name}:2", 9)
    assert train_drawing(tmp_path / "parts", f"{name}:2", 4, 2, 3) == whole
    train_drawing(tmp_path / "other", "emulated:2", 4)  # and from another runtime
    np.testing.assert_allclose(train_drawing(tmp_path / "other", f"{name}:2", 5), whole, rtol=1e-6)


def test_draws_of_other_replicas_begin_anew_with_a_warning(tmp_path, caplog):
    train_drawing(tmp_path, "emulated:2", 4)
    assert "random draws" not in caplog.text
    train_drawing(tmp_path, "emulated:1", 2)
    assert "has the random draws of 2 replicas in this process, which now has 1." in caplog.text


def test_each_checkpoint_has_its_position_beside_it(tmp_path):
    estimator = make(tmp_path, keep_checkpoint_max=2)
    train(estimator, shuffled, 10)
    assert positions(tmp_path) == [9, 10]
    listed = v1.train.get_checkpoint_state(str(tmp_path), "checkpoint_input")
    assert listed.model_checkpoint_path == str(tmp_path / "input.ckpt-10")
    assert len(listed.all_model_checkpoint_paths) == 2
    assert estimator.latest_checkpoint() == str(tmp_path / "model.ckpt-10")
    train(estimator, shuffled, 2)
    assert positions(tmp_path) == [10, 12]


def test_the_position_is_that_of_the_restored_checkpoint(tmp_path):
    """If training returns to an older checkpoint, the input does too."""
    whole = train(make(tmp_path / "whole"), shuffled, 9)
    estimator = make(tmp_path / "back")
    train(estimator, shuffled, 8)
    for file in (tmp_path / "back").glob("model.ckpt-8.*"):
        file.unlink()
    assert estimator.latest_checkpoint().endswith("model.ckpt-6")
    assert train(estimator, shuffled, 3) == whole


def cut_off(file):
    file.write_bytes(file.read_bytes()[:20])


def flip_a_bit(file):
    contents = bytearray(file.read_bytes())
    contents[len(contents) // 2] ^= 1
    file.write_bytes(contents)


@pytest.mark.parametrize(
    ("ending", "harm"),
    [("index", cut_off), ("data-00000-of-00001", cut_off), ("data-00000-of-00001", flip_a_bit)],
)
def test_with_a_damaged_position_the_checkpoint_before_it_counts(tmp_path, caplog, ending, harm):
    whole = train(make(tmp_path / "whole"), shuffled, 9)
    estimator = make(tmp_path / "model")
    train(estimator, shuffled, 8)
    harm(tmp_path / "model" / f"input.ckpt-8.{ending}")
    assert train(estimator, shuffled, 3) == whole
    assert "input.ckpt-8 is damaged" in caplog.text
    assert f"taking {tmp_path}/model/model.ckpt-6" in caplog.text


def test_with_a_lost_position_the_checkpoint_before_it_counts(tmp_path, caplog):
    """The file that lists the positions says that it was there."""
    whole = train(make(tmp_path / "whole"), shuffled, 9)
    estimator = make(tmp_path / "model")
    train(estimator, shuffled, 8)
    for file in (tmp_path / "model").glob("input.ckpt-8.*"):
        file.unlink()
    assert train(estimator, shuffled, 3) == whole
    assert f"taking {tmp_path}/model/model.ckpt-6" in caplog.text


@pytest.mark.parametrize("damage", ["missing", "foreign", "the only one"])
def test_without_its_position_the_input_begins_anew(tmp_path, caplog, damage):
    anew = make(tmp_path / "anew")
    for count in (4, 5):
        anew.train(shuffled, steps=count)
    estimator = make(tmp_path / "model")
    train(estimator, shuffled, 4)
    index = tmp_path / "model" / "input.ckpt-4.index"
    if damage == "missing":
        for file in (tmp_path / "model").glob("input.ckpt-4.*"):
            file.unlink()
        (tmp_path / "model" / "checkpoint_input").unlink()
    elif damage == "the only one":
        for file in (tmp_path / "model").glob("model.ckpt-[0-3].index"):
            file.unlink()
        cut_off(tmp_path / "model" / "input.ckpt-4.data-00000-of-00001")
    else:  # such as TensorFlow's own hook wrote
        index.write_bytes((tmp_path / "model" / "model.ckpt-4.index").read_bytes())
        data = (tmp_path / "model" / "model.ckpt-4.data-00000-of-00001").read_bytes()
        (tmp_path / "model" / "input.ckpt-4.data-00000-of-00001").write_bytes(data)
    assert train(estimator, shuffled, 5) == anew.get_variable_value("weight")
    assert "input.ckpt-4" in caplog.text
    assert 4 in positions(tmp_path / "model")  # of the new beginning


def test_a_new_training_takes_no_position_of_an_old_one(tmp_path):
    whole = train(make(tmp_path / "whole"), shuffled, 6)
    train(make(tmp_path / "model"), shuffled, 3)
    for file in [*(tmp_path / "model").glob("model*"), tmp_path / "model" / "checkpoint"]:
        file.unlink()
    assert train(make(tmp_path / "model"), shuffled, 6) == whole


def test_a_position_of_another_input_is_an_error(tmp_path):
    estimator = make(tmp_path)
    train(estimator, shuffled, 3)
    with pytest.raises(InputPositionError, match=r"input\.ckpt-3 does not fit.*delete"):
        train(estimator, interleaved, 3)


def test_a_generator_is_refused_before_the_first_step(tmp_path):
    def generated():
        return tf.data.Dataset.from_generator(lambda: iter(NUMBERS), tf.float32, []).batch(4)

    for policy, reason in ((None, "stateful.*external_state_policy"), ("warn", "does not support")):
        estimator = make(tmp_path / str(policy))
        with pytest.raises(InputPositionError, match=f"cannot be saved: .*{reason}"):
            train(estimator, generated, 3, policy=policy)
        assert estimator.get_variable_value("global_step") == 0


@pytest.mark.parametrize(
    "policy", ["warn", "ignore", tf.data.experimental.ExternalStatePolicy.WARN]
)
def test_the_rest_is_saved_where_a_function_has_a_state(tmp_path, policy):
    def called():
        calls = tf.data.Dataset.range(40).map(lambda x: v1.py_func(np.float32, [x], tf.float32))
        return calls.map(lambda x: tf.ensure_shape(x, [])).batch(4, drop_remainder=True)

    with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
        train(make(tmp_path / "refused"), called, 1)
    whole = train(make(tmp_path / "whole"), called, 8, policy=policy)
    assert train(make(tmp_path / "parts"), called, 5, 3, policy=policy) == whole


def test_input_that_has_ended_stays_ended(tmp_path):
    estimator = make(tmp_path)
    for _ in range(2):
        estimator.train(
            lambda: shuffled().take(5), hooks=[CheckpointInputPipelineHook(estimator)], steps=50
        )
    assert estimator.get_variable_value("global_step") == 5


def test_a_saver_of_the_users_own_is_followed(tmp_path):
    whole = train(make(tmp_path / "whole"), shuffled, 9)
    estimator = make(tmp_path / "own")
    for count in (4, 5):
        own = v1.train.CheckpointSaverHook(
            str(tmp_path / "own"), save_steps=2, checkpoint_basename="mine"
        )
        estimator.train(shuffled, hooks=[CheckpointInputPipelineHook(estimator), own], steps=count)
    assert estimator.get_variable_value("weight") == whole
    assert positions(tmp_path / "own") == [2, 4, 6, 8, 9]


def test_a_saver_elsewhere_is_refused(tmp_path):
    estimator = make(tmp_path / "model")
    own = v1.train.CheckpointSaverHook(str(tmp_path / "other"), save_steps=2)
    with pytest.raises(ValueError, match=r"needs a CheckpointSaverHook that saves into .*model"):
        estimator.train(shuffled, hooks=[CheckpointInputPipelineHook(estimator), own], steps=1)


def test_bad_arguments(tmp_path):
    with pytest.raises(ValueError, match=r"Supported values include 'warn'.* Received 'perhaps'"):
        CheckpointInputPipelineHook(make(tmp_path), "perhaps")
    unsaved = make(tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=None)
    with pytest.raises(
        ValueError, match=r"every_secs or every_steps.*save_checkpoints_steps=\.\.\."
    ):
        CheckpointInputPipelineHook(unsaved)


def test_one_hook_serves_several_runs(tmp_path):
    whole = train(make(tmp_path / "whole"), shuffled, 7)
    estimator = make(tmp_path / "parts")
    hook = CheckpointInputPipelineHook(estimator)
    for count in (3, 4):
        estimator.train(shuffled, hooks=[hook], steps=count)
    assert estimator.get_variable_value("weight") == whole


def test_a_worker_beside_the_chief_saves_its_own_positions(tmp_path, monkeypatch):
    """The chief saves the model, the worker at the same steps where its input stands."""
    cluster = {"chief": ["localhost:1"], "worker": ["localhost:2", "localhost:3"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    estimator = make(tmp_path)
    hook = CheckpointInputPipelineHook(estimator)
    assert hook.steps_until_due(0) == float("inf")
    hook.follow([])
    iterator = iter(shuffled())
    hook.open(iterator, 6, is_resumed=False)
    assert hook.steps_until_due(7) == 2
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.create_global_step()
        for now in (8, 9, 10):
            with eager_mode():
                next(iterator)
            step.load(now, session)
            hook.after_run(v1.train.SessionRunContext(None, session), None)
        hook.end(session)
    names = {path.name.partition(".index")[0] for path in tmp_path.glob("*.index")}
    assert names == {"input_worker_1.ckpt-9", "input_worker_1.ckpt-10"}
    expected = next(iterator).numpy()
    again = iter(shuffled())
    hook.open(again, 10, is_resumed=True)
    assert next(again).numpy().tolist() == expected.tolist()


def test_the_chief_goes_on_from_a_step_of_which_each_worker_has_its_position(
    tmp_path, monkeypatch, caplog
):
    """A kill may come after the chief's checkpoint, and before a worker saved its position."""
    cluster = {"chief": ["localhost:1"], "worker": ["localhost:2"]}
    hooks = {}
    for task in ("chief", "worker"):
        place = {"cluster": cluster, "task": {"type": task, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(place))
        hooks[task] = CheckpointInputPipelineHook(make(tmp_path))
        hooks[task].open(iter(shuffled()), 2, is_resumed=False)
    for step in (2, 4, 6):
        with eager_mode():
            tf.raw_ops.SaveV2(
                prefix=f"{tmp_path}/model.ckpt-{step}",
                tensor_names=["global_step"],
                shape_and_slices=[""],
                tensors=[tf.constant(step, tf.int64)],
            )
    hooks["chief"].save(4)
    hooks["chief"].save(6)
    hooks["worker"].save(4)

    def newest():
        def older(path):
            return {6: f"{tmp_path}/model.ckpt-4", 4: f"{tmp_path}/model.ckpt-2"}.get(step_of(path))

        return step_of(with_whole_position(f"{tmp_path}/model.ckpt-6", [hooks["chief"]], older))

    assert newest() == 4
    assert "worker 0 was killed before it saved its input's position at step 6" in caplog.text
    hooks["worker"].save(6)
    assert newest() == 6
    # One that saves at other steps: no older checkpoint is better.
    for step in (4, 6):
        for file in tmp_path.glob(f"input_worker_0.ckpt-{step}.*"):
            file.unlink()
    assert newest() == 6
