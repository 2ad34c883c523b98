"""Effects of single arguments of TPUEstimator, TPUConfig, tpu.RunConfig and TPUEstimatorSpec."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
Pipeline = eb.tpu.InputPipelineConfig
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


class Watched:
    """A model that keeps the params and shapes it is traced with; 'seen' adds up its features."""

    def __init__(self, **spec):
        self.calls = []
        self.spec = spec

    def __call__(self, features, labels, mode, params):
        shapes = [x.shape.as_list() for x in tf.nest.flatten([features, labels]) if x is not None]
        self.calls.append((mode, shapes, dict(params)))
        first = tf.nest.flatten(features)[0]
        seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
        total = eb.tpu.cross_replica_sum(tf.reduce_sum(first))
        train_op = None
        if mode == TRAIN:
            step = v1.train.get_global_step()
            with tf.control_dependencies([seen.assign_add(total)]):
                train_op = v1.assign_add(step, 1)
        fields = {k: v(first) if k in ("eval_metrics",) else v for k, v in self.spec.items()}
        return eb.tpu.TPUEstimatorSpec(
            mode, predictions={"x": first}, loss=tf.reduce_mean(first), train_op=train_op, **fields
        )


class Counter(v1.train.SessionRunHook):
    """Keeps the global step, or the number of calls, after each call."""

    def __init__(self):
        self.steps = []

    def after_run(self, run_context, run_values):
        self.steps.append(int(run_context.session.run(v1.train.get_global_step())))


def make(model=None, master="emulated:2", size=4, run=None, options=None, **tpu_config):
    tpu_config.setdefault("iterations_per_loop", 1)
    config = eb.tpu.RunConfig(
        master=master, tpu_config=eb.tpu.TPUConfig(**tpu_config), **(run or {})
    )
    sizes = {"train_batch_size": size, "eval_batch_size": size, "predict_batch_size": size}
    return eb.tpu.TPUEstimator(model or Watched(), config=config, **{**sizes, **(options or {})})


def numbers(params):
    data = tf.data.Dataset.from_tensor_slices(np.arange(24, dtype=np.float32))
    return data.batch(params["batch_size"], drop_remainder=True)


def test_batch_axis_of_features_and_labels():
    model = Watched()

    def input_fn(params):
        def transposed(x):
            return tf.stack([x, x, x + 10]), x  # [3, batch] and [batch]

        return numbers(params).map(transposed)

    estimator = make(model, options={"batch_axis": (1, 0)})
    estimator.train(input_fn, steps=1)
    assert model.calls[0][1] == [[3, 2], [2]]
    assert estimator.get_variable_value("seen") == 3 * 6 + 40


@pytest.mark.parametrize("batch_axis", [None, (1, 0)])
@pytest.mark.parametrize("pipeline", [Pipeline.PER_SHARD_V1, Pipeline.PER_HOST_V2])
def test_transposed_batches_of_a_core_reach_it_as_they_are(pipeline, batch_axis):
    """As ResNet's programs have it: images [height, batch] beside labels [batch]."""
    seen = []

    def model_fn(features, labels, mode, params):
        def keep(x, y):
            if mode == TRAIN:
                seen.append((x.tolist(), y.tolist()))

        assert features.shape.as_list() == [3, 2] and labels.shape.as_list() == [2]
        step = v1.train.get_global_step()
        host_call = (
            lambda x, y: v1.py_func(keep, [x, y], []),
            [features, eb.tpu.cross_replica_sum(labels)],
        )
        spec = eb.tpu.TPUEstimatorSpec(
            mode,
            loss=tf.reduce_mean(features),
            train_op=v1.assign_add(step, 1),
            host_call=host_call,
        )
        return spec

    def input_fn(params):
        def transposed(x):
            return tf.stack([x, x + 100, x + 200]), x

        return numbers(params).map(transposed)

    estimator = make(
        model_fn, per_host_input_for_training=pipeline, options={"batch_axis": batch_axis}
    )
    estimator.train(input_fn, steps=1)
    ((features, sums),) = seen
    second = [0, 1] if pipeline == Pipeline.PER_SHARD_V1 else [2, 3]  # each call starts anew
    rows = [[x + i * 100 for x in core] for core in ([0, 1], second) for i in range(3)]
    assert features == rows
    assert sums == [0 + second[0], 1 + second[1]] * 2
    if pipeline == Pipeline.PER_HOST_V2:
        assert estimator.evaluate(input_fn)["loss"] == 11.5 + 100


def test_transposed_input_in_prediction():
    def model_fn(features, labels, mode, params):
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"x": tf.transpose(features)})

    def input_fn(params):
        return numbers(params).map(lambda x: tf.stack([x, x + 100]))  # [2, batch]

    estimator = make(model_fn, options={"batch_axis": [1]})
    assert [p["x"].tolist() for p in estimator.predict(input_fn)] == [
        [x, x + 100] for x in range(24)
    ]


def test_batch_axis_that_does_not_fit():
    with pytest.raises(ValueError, match=r"batch_axis \[0, 1\] has 2 entries.*returned 1 tensors"):
        make(options={"batch_axis": [0, 1]}).train(numbers, steps=1)


@pytest.mark.parametrize("pipeline", [Pipeline.PER_HOST_V2, Pipeline.BROADCAST, True])
def test_sliced_evaluation_splits_one_batch(pipeline):
    model, batch_sizes = Watched(), []

    def input_fn(params):
        batch_sizes.append(params["batch_size"])
        return numbers(params)

    estimator = make(
        model,
        per_host_input_for_training=pipeline,
        eval_training_input_configuration=Pipeline.SLICED,
    )
    assert estimator.evaluate(input_fn, steps=2)["loss"] == 3.5
    assert [p["x"] for p in estimator.predict(input_fn)] == list(range(24))
    assert batch_sizes == [4, 4]
    assert [shapes for _, shapes, _ in model.calls] == [[[2]], [[2]]]


def test_sliced_training_splits_one_batch():
    model = Watched()
    estimator = make(model, per_host_input_for_training=Pipeline.SLICED)
    estimator.train(numbers, steps=1)
    assert model.calls[0][1] == [[2]]
    assert estimator.get_variable_value("seen") == 0 + 1 + 2 + 3


def test_sliced_needs_replicas_to_slice_for():
    sliced = {"eval_training_input_configuration": Pipeline.SLICED}
    estimator = make(options={"use_tpu": False}, **sliced)
    estimator.train(numbers, steps=1)  # it says nothing about training
    with pytest.raises(ValueError, match="SLICED is not supported with use_tpu=False"):
        estimator.evaluate(numbers)
    broadcast = {"per_host_input_for_training": Pipeline.BROADCAST}
    with pytest.raises(ValueError, match="eval batch size 5 must be divisible"):
        make(size=5, **sliced, **broadcast).evaluate(numbers)


def test_eval_on_tpu_false_evaluates_on_one_replica():
    model, calls = Watched(), []

    def input_fn(params):
        calls.append(dict(params))
        return numbers(params)

    estimator = make(model, options={"eval_on_tpu": False})
    estimator.train(input_fn, steps=1)
    assert estimator.evaluate(input_fn)["loss"] == 11.5
    assert (calls[0]["batch_size"], calls[0]["use_tpu"]) == (4, True)
    assert calls[1] == {"batch_size": 4}
    (_, train_shapes, _), (mode, eval_shapes, params) = model.calls
    assert (train_shapes, mode, eval_shapes) == ([[2]], EVAL, [[4]])
    assert params == {"batch_size": 4, "use_tpu": False}


def test_each_mode_has_its_batch_size():
    model, batch_sizes = Watched(), []

    def input_fn(params):
        batch_sizes.append(params["batch_size"])
        return numbers(params)

    sizes = {"train_batch_size": 2, "eval_batch_size": 4, "predict_batch_size": 6}
    estimator = make(model, options=sizes)
    estimator.train(input_fn, steps=1)
    estimator.evaluate(input_fn, steps=1)
    assert len(list(estimator.predict(input_fn))) == 24
    assert batch_sizes == [2, 4, 6]
    assert [(mode, shapes, p["batch_size"]) for mode, shapes, p in model.calls] == [
        (TRAIN, [[1]], 1),
        (EVAL, [[2]], 2),
        (PREDICT, [[3]], 3),
    ]


@pytest.mark.parametrize(("loop", "called"), [(4, [4, 8, 10]), ("4", [4, 8, 10]), (100, [10])])
def test_iterations_per_loop_as_a_number(loop, called):
    hook = Counter()
    make(master="emulated:1", size=1, iterations_per_loop=loop).train(numbers, [hook], steps=10)
    assert hook.steps == called


@pytest.mark.parametrize("loop", ["30s", "5m", "1h"])
def test_iterations_per_loop_as_a_time(loop):
    """After two steps that measure, all others fit into one loop."""
    hook = Counter()
    make(master="emulated:1", size=1, iterations_per_loop=loop).train(numbers, [hook], steps=20)
    assert hook.steps == [1, 2, 20]


def test_num_shards_of_the_cores_that_are_there():
    model = Watched()
    make(model, num_shards=2).train(numbers, steps=1)
    assert model.calls[0][2]["context"].num_replicas == 2


class _Unused:
    def __init__(self, *arguments):
        raise AssertionError(f"made with {arguments}")


@pytest.mark.parametrize(
    "accepted",
    [
        {"tpu_job_name": "worker"},
        {"initial_infeed_sleep_secs": 100_000},
        {"experimental_allow_per_host_v2_parallel_get_next": True},
        {"experimental_feed_hook": _Unused},
        {"num_cores_per_replica": 1, "input_partition_dims": [[1]]},
    ],
    ids=lambda accepted: next(iter(accepted)),
)
def test_accepted_without_effect(accepted):
    estimator = make(per_host_input_for_training=Pipeline.PER_HOST_V2, **accepted)
    estimator.train(numbers, steps=2)
    assert estimator.get_variable_value("seen") == sum(range(8))  # in order


def test_cluster_says_which_tpu():
    model = Watched()
    config = eb.tpu.RunConfig(cluster=eb.tpu.TPUClusterResolver("emulated:4"))
    eb.tpu.TPUEstimator(model, config=config, train_batch_size=8).train(numbers, steps=1)
    assert model.calls[0][2]["context"].num_replicas == 4


@pytest.mark.parametrize(("master", "cores"), [("emulated:4", 4), ("", 2), ("emulated:2", 2)])
def test_evaluation_master_is_where_evaluation_runs(master, cores):
    model = Watched()
    estimator = make(model, run={"evaluation_master": master})
    estimator.train(numbers, steps=1)
    assert estimator.evaluate(numbers, steps=1)["loss"] == 1.5
    list(estimator.predict(numbers))
    replicas = {mode: params["context"].num_replicas for mode, _, params in model.calls}
    assert replicas == {TRAIN: 2, EVAL: cores, PREDICT: 2}


def test_batch_size_is_divided_where_evaluation_runs():
    estimator = make(run={"evaluation_master": "emulated:8"})
    estimator.train(numbers, steps=1)
    with pytest.raises(ValueError, match=r"eval batch size 4 must be divisible by .* replicas 8"):
        estimator.evaluate(numbers)


def test_evaluation_master_that_is_another_tpu(monkeypatch):
    estimator = make(run={"evaluation_master": "grpc://127.0.0.1:1"})
    estimator.train(numbers, steps=1)
    with pytest.raises(eb.errors.AcceleratorNotFoundError, match=r"127\.0\.0\.1:1"):
        estimator.evaluate(numbers)
    described = eb.testing.described_tpu(2)
    monkeypatch.setattr("estimator_bridge.tpu.estimator.tpu_strategy", lambda *_: described)
    estimator = make(master="grpc://a:1", run={"evaluation_master": "grpc://b:1"})
    with pytest.raises(
        ValueError, match=r"another TPU than master='grpc://a:1'.*in a separate process"
    ):
        estimator.evaluate(numbers)


def test_evaluation_master_of_cores_that_are_too_many():
    with pytest.raises(eb.errors.TooLateError, match="64 emulated cores were asked for"):
        make(run={"evaluation_master": "emulated:64"})


def test_params_model_dir_and_config_reach_the_functions(tmp_path):
    seen = []

    def model_fn(features, labels, mode, params, config):
        seen.append((params["mine"], config.model_dir))
        return Watched()(features, labels, mode, params)

    def input_fn(params):
        seen.append(params["mine"])
        return numbers(params)

    config = eb.tpu.RunConfig(master="emulated:2")
    estimator = eb.tpu.TPUEstimator(
        model_fn, str(tmp_path), config, {"mine": 7}, train_batch_size=4
    )
    estimator.train(input_fn, steps=2)
    assert seen == [7, (7, str(tmp_path))]
    assert estimator.latest_checkpoint() == str(tmp_path / "model.ckpt-2")


def test_warm_start_from_a_checkpoint(tmp_path):
    first = make(run={"model_dir": str(tmp_path)})
    first.train(numbers, steps=2)
    second = make(options={"warm_start_from": eb.WarmStartSettings(str(tmp_path), ["seen"])})
    second.train(numbers, steps=1)
    assert second.get_variable_value("global_step") == 1
    assert second.get_variable_value("seen") == sum(range(8)) + sum(range(4))


def mean_of(x):
    return {"mean": v1.metrics.mean(x)}


def mean_of_nothing():
    return {"mean": v1.metrics.mean(tf.constant(11.5))}


@pytest.mark.parametrize("use_tpu", [True, False])
@pytest.mark.parametrize(
    "eval_metrics",
    [
        lambda x: (mean_of, [x]),
        lambda x: (mean_of, (x,)),
        lambda x: (mean_of, {"x": x}),
        lambda x: (mean_of_nothing, []),
        lambda x: (mean_of_nothing, {}),
    ],
    ids=["list", "tuple", "dict", "no tensors", "no named tensors"],
)
def test_eval_metrics(eval_metrics, use_tpu):
    estimator = make(Watched(eval_metrics=eval_metrics), options={"use_tpu": use_tpu})
    results = estimator.evaluate(numbers)
    assert (results["mean"], results["loss"]) == (11.5, 11.5)


@pytest.mark.parametrize("use_tpu", [True, False])
def test_host_call_in_evaluation(use_tpu):
    seen = []

    def model_fn(features, labels, mode, params):
        host_call = (lambda x: v1.py_func(lambda x: seen.append(x.tolist()), [x], []), [features])
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(features), host_call=host_call)

    make(model_fn, options={"use_tpu": use_tpu}).evaluate(numbers, steps=2)
    assert seen == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_hooks_of_the_spec_run_in_their_mode():
    hooks = {f"{name}_hooks": [Counter()] for name in ("training", "evaluation", "prediction")}
    estimator = make(Watched(**hooks), iterations_per_loop=3)

    def counts():
        steps = {name: list(hook.steps) for name, (hook,) in hooks.items()}
        for (hook,) in hooks.values():
            hook.steps.clear()
        return steps

    none = {name: [] for name in hooks}
    estimator.train(numbers, steps=5)
    assert counts() == {**none, "training_hooks": [3, 5]}  # once a loop
    estimator.evaluate(numbers, steps=4)
    assert counts() == {**none, "evaluation_hooks": [5]}  # once for all its steps
    estimator.evaluate(numbers)
    assert counts() == {**none, "evaluation_hooks": [5] * 6}  # once a batch, of unknown number
    list(estimator.predict(numbers))
    assert counts() == {**none, "prediction_hooks": [5] * 6}


def test_export_outputs_are_the_exports_signatures(tmp_path):
    def model_fn(features, labels, mode, params):
        x = features["x"] if isinstance(features, dict) else features
        outputs = {
            "doubled": eb.export.PredictOutput({"y": 2 * x}),
            "serving_default": eb.export.PredictOutput({"x": x}),
        }
        spec = Watched()(x, labels, mode, params)
        return spec._replace(export_outputs=outputs if mode == PREDICT else None)

    estimator = make(model_fn)
    estimator.train(numbers, steps=1)
    receiver = eb.export.build_raw_serving_input_receiver_fn({"x": np.ones([2], np.float32)})
    path = estimator.export_saved_model(tmp_path, receiver).decode()
    signatures = tf.saved_model.load(path).signatures
    assert set(signatures) == {"doubled", "serving_default"}
    assert signatures["doubled"](x=tf.constant([1.0, 3.0]))["y"].numpy().tolist() == [2.0, 6.0]


def test_mode_of_the_spec_may_be_left_out():
    def model_fn(features, params):
        mean = tf.reduce_mean(features)
        return eb.tpu.TPUEstimatorSpec(None, {"x": features}, mean, tf.no_op())

    estimator = make(model_fn)
    assert estimator.evaluate(numbers)["loss"] == 11.5
    assert len(list(estimator.predict(numbers))) == 24
