"""Programs of a cluster with parameter servers; TF_CONFIG gives the role of the process.

    python programs_on_servers.py NAME FOLDER

They run under the real tf.estimator and here. A process that trains prints one line of JSON: the
devices of its variables and tables, how many steps it ran, and the step at which it ended.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import tensorflow as tf

if hasattr(tf, "estimator"):
    api: Any = tf.compat.v1.estimator
else:
    import estimator_bridge.v1 as api  # type: ignore[no-redef]

__all__ = ["NAMES", "STEPS", "main"]

NAMES = (
    "wide_and_deep",
    "server_strategy",
    "synchronous",
    "tables",
    "k_means",
    "baseline",
    "stopped_early",
    "tpu_estimator",
    "own_servers",
)
STEPS = 24
_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_WORDS = [f"w{number}" for number in range(8)]


class _Sight(_Hook):
    """Prints what its process saw."""

    def begin(self):
        """Notes where variables and tables are."""
        operations = _v1.get_default_graph().get_operations()
        self._seen: dict[str, Any] = {
            "variables": {v.name: v.device for v in _v1.global_variables()},
            "tables": sorted(op.device for op in operations if "HashTable" in op.type),
        }
        self._steps = 0

    def before_run(self, run_context):
        """Requests the step."""
        return _v1.train.SessionRunArgs(_v1.train.get_global_step())

    def after_run(self, run_context, run_values):
        """Counts."""
        self._steps += 1
        self._last = int(run_values.results)

    def end(self, session):
        """Prints."""
        print(json.dumps({**self._seen, "steps": self._steps, "last": self._last}), flush=True)


def _input_fn():
    numbers = tf.data.Dataset.range(64).repeat()

    def example(number):
        word = tf.gather(_WORDS, number % len(_WORDS))
        return {"number": tf.cast(number, tf.float32) / 64, "word": word}, number % 2

    return numbers.map(example).batch(8)


def _eval_input_fn():
    return _input_fn().take(4)


def _config(folder: str, **settings: Any) -> Any:
    return api.RunConfig(
        folder,
        tf_random_seed=7,
        save_checkpoints_steps=8,
        log_step_count_steps=8,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=60,
        **settings,
    )


def _columns() -> tuple[Any, Any, Any]:
    number = tf.feature_column.numeric_column("number")
    bucket = tf.feature_column.bucketized_column(number, [0.25, 0.5, 0.75])
    word = tf.feature_column.categorical_column_with_hash_bucket("word", 40)
    return number, bucket, word


def wide_and_deep(folder: str) -> Any:
    """Each kind of column; weights and embeddings in two parts."""
    number, bucket, word = _columns()
    crossed = tf.feature_column.crossed_column([bucket, "word"], 60)
    listed = tf.feature_column.categorical_column_with_vocabulary_list("word", _WORDS)
    return api.DNNLinearCombinedClassifier(
        linear_feature_columns=[bucket, word, crossed],
        dnn_feature_columns=[
            number,
            tf.feature_column.embedding_column(word, 8),
            tf.feature_column.indicator_column(listed),
        ],
        dnn_hidden_units=[6],
        input_layer_partitioner=_v1.min_max_variable_partitioner(2, min_slice_size=64),
        config=_config(folder),
    )


def _model_fn(optimizer: Any) -> Any:
    def model_fn(features, labels, mode, config):
        table = _v1.get_variable("table", [40, 4])
        rows = tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(features["word"], 40))
        logits = _v1.layers.dense(rows, 1, name="dense")[:, 0]
        loss = _v1.losses.sigmoid_cross_entropy(labels, logits)
        train_op, hooks = None, []
        if mode == api.ModeKeys.TRAIN:
            own = optimizer()
            train_op = own.minimize(loss, _v1.train.get_global_step())
            if isinstance(own, _v1.train.SyncReplicasOptimizer):
                hooks = [own.make_session_run_hook(config.is_chief)]
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


def _adam() -> Any:
    return _v1.train.AdamOptimizer(0.1)


def server_strategy(folder: str) -> Any:
    """RunConfig with TF1's ParameterServerStrategy."""
    strategy = _v1.distribute.experimental.ParameterServerStrategy()
    config = _config(folder, train_distribute=strategy)
    return api.Estimator(_model_fn(_adam), config=config)


def synchronous(folder: str) -> Any:
    """Gradients that are applied together, by a queue of tokens on the chief."""

    def optimizer():
        return _v1.train.SyncReplicasOptimizer(
            _v1.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1, total_num_replicas=1
        )

    return api.Estimator(_model_fn(optimizer), config=_config(folder))


def tables(folder: str) -> Any:
    """A table of words from a file, in the input and in the model."""
    path = Path(folder).with_name("words.txt")
    if not path.exists():
        own = path.with_name(f"words{os.getpid()}")
        own.write_text("\n".join(_WORDS))
        own.rename(path)

    def table():
        lines = tf.lookup.TextFileInitializer(
            str(path),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        return tf.lookup.StaticVocabularyTable(lines, 2)

    def model_fn(features, labels, mode):
        ids = table().lookup(features["word"])
        rows = tf.nn.embedding_lookup(_v1.get_variable("w", [10, 2]), ids)
        loss = tf.reduce_mean(tf.square(rows - tf.cast(labels[:, None], tf.float32)))
        train_op = _adam().minimize(loss, _v1.train.get_global_step())
        metrics = {"id": _v1.metrics.mean(ids)}
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return api.Estimator(model_fn, config=_config(folder))


def k_means(folder: str) -> Any:
    """Clusters whose first centers come from the first batches."""
    number, bucket, _ = _columns()
    columns = [number, tf.feature_column.indicator_column(bucket)]
    return api.experimental.KMeans(2, feature_columns=columns, config=_config(folder))


def baseline(folder: str) -> Any:
    """A bias for each class."""
    return api.BaselineClassifier(config=_config(folder))


def stopped_early(folder: str) -> Any:
    """A linear model; `main` adds the hook that ends it."""
    return api.LinearClassifier(_columns()[1:], config=_config(folder))


def tpu_estimator(folder: str) -> Any:
    """A TPUEstimator that does not use a TPU."""

    def model_fn(features, labels, mode, params):
        assert params["batch_size"] == 8
        logits = _v1.layers.dense(features["number"][:, None], 1, name="dense")[:, 0]
        loss = _v1.losses.sigmoid_cross_entropy(labels, logits)
        train_op = _adam().minimize(loss, _v1.train.get_global_step())
        return api.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    config = api.tpu.RunConfig(
        model_dir=folder,
        tf_random_seed=7,
        save_checkpoints_steps=8,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=60,
    )
    return api.tpu.TPUEstimator(
        model_fn, config=config, use_tpu=False, train_batch_size=8, eval_batch_size=8
    )


def own_servers(folder: str) -> None:
    """A program without an Estimator: its own server, and a MonitoredTrainingSession."""
    tf_config = json.loads(os.environ["TF_CONFIG"])
    job, index = tf_config["task"]["type"], tf_config["task"]["index"]
    cluster = tf.train.ClusterSpec(tf_config["cluster"])
    server = _v1.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
    device = f"/job:{job}/task:{index}"
    setter = _v1.train.replica_device_setter(worker_device=device, cluster=cluster)
    with tf.Graph().as_default(), _v1.device(setter):
        step = _v1.train.get_or_create_global_step()
        examples = tf.random.normal([8, 4], seed=3)
        loss = tf.reduce_mean(tf.square(_v1.layers.dense(examples, 1) - examples[:, :1]))
        train_op = _adam().minimize(loss, step)
        with _v1.train.MonitoredTrainingSession(
            server.target,
            is_chief=job == "chief",
            checkpoint_dir=folder,
            config=_v1.ConfigProto(device_filters=["/job:ps", device]),
            hooks=[_v1.train.StopAtStepHook(last_step=STEPS), _Sight()],
        ) as session:
            while not session.should_stop():
                session.run(train_op)


def _without_labels(input_fn: Any) -> Any:
    return lambda: input_fn().map(lambda features, labels: features)


def _of_batch_size(input_fn: Any) -> Any:
    return lambda params: input_fn()


def main(name: str, folder: str) -> None:
    """Runs the role of this process."""
    _v1.logging.set_verbosity(_v1.logging.INFO)
    if name == "own_servers":
        own_servers(folder)
        return
    make_estimator = globals()[name]
    estimator = make_estimator(folder)
    input_fn, eval_input_fn, hooks, steps = _input_fn, _eval_input_fn, [_Sight()], STEPS
    if name == "k_means":
        input_fn, eval_input_fn = map(_without_labels, (input_fn, eval_input_fn))
    if name == "tpu_estimator":
        input_fn, eval_input_fn = map(_of_batch_size, (input_fn, eval_input_fn))
    if name == "stopped_early":
        steps = 10_000
        asked = iter(range(10_000))
        stop = api.experimental.make_early_stopping_hook(
            estimator, lambda: next(asked) >= 3, run_every_secs=None, run_every_steps=4
        )
        hooks.append(stop)
    results = api.train_and_evaluate(
        estimator,
        api.TrainSpec(input_fn, max_steps=steps, hooks=hooks),
        api.EvalSpec(eval_input_fn, steps=2, start_delay_secs=0, throttle_secs=0),
    )
    if results:
        print(json.dumps({"metrics": {k: float(v) for k, v in results[0].items()}}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
