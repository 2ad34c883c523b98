"""tf.contrib.learn: monitors in a session, experiments, and classes to derive from."""

import logging
import os
import re
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case
from tensorflow.contrib.learn.python.learn import estimators

__all__ = ["CASES"]

learn = tf.contrib.learn
monitors = learn.monitors
_X = np.linspace(0.0, 1.0, 6).astype(np.float32).reshape(6, 1)
_NUMBER = re.compile(r"\d+\.\d+(e-?\d+)?")


def _watched(make, steps=5, loss_turns_nan=False, outcome=None):
    """What monitors log, and leave behind, while a variable halves with each step."""

    def build():
        folder = tempfile.mkdtemp()
        weight = tf.get_variable("w", initializer=[8.0, 4.0])
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(weight, name="loss")
        if loss_turns_nan:
            loss = tf.divide(tf.cast(step, tf.float32), 0.0 * tf.cast(step, tf.float32), name="nan")
        with tf.control_dependencies([loss]):
            update = weight.assign(weight / 2.0)
        with tf.control_dependencies([update]):
            train_op = tf.assign_add(step, 1).op
        monitor = make(folder)
        lines = []
        with _logged(lines):
            hook = monitors.RunHookAdapterForMonitors([monitor])
            with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
                for _ in range(steps):
                    if not session.should_stop():
                        session.run(train_op)
        return outcome(monitor, folder) if outcome else lines

    return Case(build, has_gradients=False)


class _logged(logging.Handler):
    """Collects the lines of monitors; numbers are rounded."""

    def __init__(self, lines):
        logging.Handler.__init__(self)
        self.lines = lines

    def emit(self, record):
        text = _NUMBER.sub(lambda match: "%.3g" % float(match.group()), record.getMessage())
        if not text.startswith(("Graph was", "Running local", "Done running", "Create", "From ")):
            self.lines.append(text)

    def __enter__(self):
        self.was = tf.logging.get_verbosity()
        tf.logging.set_verbosity(tf.logging.INFO)
        logging.getLogger("tensorflow").addHandler(self)

    def __exit__(self, *_):
        logging.getLogger("tensorflow").removeHandler(self)
        tf.logging.set_verbosity(self.was)


def _captured(monitor, folder):
    del folder
    values = monitor.values
    return {"steps": sorted(values), "values": np.array([values[key] for key in sorted(values)])}


def _files(monitor, folder):
    del monitor
    return sorted(name for name in os.listdir(folder) if "tfevents" not in name)


def _events(monitor, folder):
    """The steps and tags of an event file; a rate is no number to compare."""
    del monitor
    rows = []
    for name in sorted(os.listdir(folder)):
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            for value in event.summary.value:
                shown = None if value.tag.endswith("/sec") else value.simple_value
                rows.append([event.step, value.tag, shown])
    return rows


def _dumped(monitor, folder):
    del folder
    steps = sorted(monitor.data)
    last = monitor.data[steps[-1]]
    names = {getattr(each, "name", each): last[each] for each in last}
    return [steps, np.asarray(names["loss:0"]), sorted(type(each).__name__ for each in last)[0]]


def _summaries(folder):
    return monitors.SummarySaver(
        tf.summary.scalar("loss", tf.get_default_graph().get_tensor_by_name("loss:0")),
        save_steps=2,
        output_dir=folder,
    )


def _nan(**options):
    return lambda folder: monitors.NanLoss(
        tf.get_default_graph().get_tensor_by_name("nan:0"), every_n_steps=1, **options
    )


def _model_fn(features, labels, mode, params=None):
    rate = 0.1 if not params else params["rate"]
    weight = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features["x"], weight)
    loss = train_op = None
    if mode != learn.ModeKeys.INFER:
        loss = tf.reduce_mean(tf.square(predictions - labels))
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, {"scores": predictions}, loss, train_op)


def _input_fn():
    return {"x": tf.constant(_X)}, tf.constant(2.0 * _X)


def _serving():
    serialized = tf.placeholder(tf.string, [None], name="examples")
    parsed = tf.parse_example(serialized, {"x": tf.FixedLenFeature([1], tf.float32)})
    return learn.InputFnOps(parsed, None, {"examples": serialized})


def _experiment(config, **more):
    options = {"train_steps": 4, "eval_steps": 1}
    options.update(more)
    estimator = learn.Estimator(_model_fn, config=config, params=options.pop("params", None))
    return learn.Experiment(estimator, _input_fn, _input_fn, **options)


def _shown(metrics):
    return {name: np.asarray(value, np.float64) for name, value in metrics.items()}


def _experimented():
    """Trained, evaluated and exported by one call."""
    folder = tempfile.mkdtemp()
    exporter = learn.utils.make_export_strategy(_serving, exports_to_keep=1)
    config = learn.RunConfig(model_dir=folder)
    experiment = _experiment(config, export_strategies=[exporter], min_eval_frequency=0)
    metrics, exports = experiment.train_and_evaluate()
    place = os.path.relpath(tf.compat.as_str(exports[0]), folder)
    return [
        _shown(metrics),
        len(exports),
        os.path.dirname(place),
        sorted(os.listdir(folder + "/export")),
    ]


def _ran(**options):
    def build():
        config = learn.RunConfig(model_dir=tempfile.mkdtemp())

        def experiment_fn(run_config, hparams):
            del hparams
            return _experiment(run_config)

        result = learn.learn_runner.run(experiment_fn, run_config=config, **options)
        return _shown(result) if isinstance(result, dict) else repr(type(result))

    return Case(build, has_gradients=False)


def _tuned():
    seen = []

    class Rates:
        def __init__(self):
            self.rates = [0.1, 0.2]

        def next_trial(self):
            return bool(self.rates)

        def run_experiment(self, experiment_fn):
            config = learn.RunConfig(model_dir=tempfile.mkdtemp())
            hparams = tf.contrib.training.HParams(rate=self.rates.pop())
            experiment = experiment_fn(config, hparams)
            experiment.train()
            seen.append([hparams.rate, float(experiment.evaluate(delay_secs=0)["loss"])])

    def experiment_fn(run_config, hparams):
        return _experiment(run_config, params={"rate": hparams.rate}, train_steps=2)

    learn.learn_runner.tune(experiment_fn, Rates())
    return np.array(seen)


def _strategy(name, *args, **options):
    def build():
        here = hasattr(learn.utils, name)  # 1.15.5 has one of them in this file
        place = learn.utils if here else learn.utils.saved_model_export_utils
        strategy = getattr(place, name)(*args, **options)
        return [strategy.name, strategy.strip_default_attrs, callable(strategy.export_fn)]

    return build


def _own_strategy():
    def export_fn(estimator, path, checkpoint_path, eval_result):
        return [estimator, path, checkpoint_path, eval_result]

    strategy = learn.ExportStrategy("own", export_fn)
    return [strategy.name, strategy.export("e", "p", checkpoint_path="c", eval_result=3)]


def _short_strategy():
    return learn.ExportStrategy("own", lambda estimator, path: [estimator, path]).export(
        "e", "p", "c"
    )


def _wrong_strategy():
    return learn.ExportStrategy("own", lambda estimator, path, eval_result: 1).export("e", "p")


def _fitted():
    def model_fn(features, labels, mode):
        return _model_fn({"x": features}, labels, mode)

    estimator = learn.SKCompat(learn.Estimator(model_fn, model_dir=tempfile.mkdtemp()))
    estimator.fit(_X, 2.0 * _X, batch_size=6, steps=3)
    score = estimator.score(_X, 2.0 * _X, batch_size=6, steps=1)
    return [_shown(score), estimator.predict(_X)["scores"]]


def _types(x, y):
    """What a model_fn gets of arrays."""

    def build():
        seen = []

        def model_fn(features, labels, mode):
            if not seen:
                seen.extend([each.dtype.name, each.shape.ndims] for each in (features, labels))
            inputs = {"x": tf.cast(tf.reshape(features, [-1, 1]), tf.float32)}
            return _model_fn(inputs, tf.cast(tf.reshape(labels, [-1, 1]), tf.float32), mode)

        estimator = learn.SKCompat(learn.Estimator(model_fn, model_dir=tempfile.mkdtemp()))
        estimator.fit(x, y, steps=1)
        return seen

    return Case(build, has_gradients=False)


def _clusters():
    estimator = learn.KMeansClustering(
        2,
        tempfile.mkdtemp(),
        initial_clusters=np.array([[0.0, 0.0], [1.0, 1.0]], np.float32),
        use_mini_batch=False,  # with it, 1.15.5 races: a count is read before or after its update
    )
    points = np.concatenate([_X, 3.0 * _X], axis=1)

    def input_fn():
        return tf.constant(points), None

    estimator.fit(input_fn=input_fn, steps=3)
    return {
        "clusters": estimator.clusters(),
        "score": np.asarray(estimator.score(input_fn=input_fn, steps=1), np.float64),
        "indices": np.array([int(each) for each in estimator.predict_cluster_idx(input_fn)]),
    }


def _config(**options):
    def build():
        config = learn.RunConfig(**options)
        names = """evaluation_master master num_ps_replicas num_worker_replicas task_id task_type
            is_chief tf_random_seed save_summary_steps save_checkpoints_secs save_checkpoints_steps
            keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps model_dir
            environment cluster_spec"""
        seen = [[name, getattr(config, name)] for name in names.split()]
        options_of = config.tf_config
        return seen[:-1] + [
            bool(seen[-1][1]),
            options_of.inter_op_parallelism_threads,
            options_of.intra_op_parallelism_threads,
            options_of.log_device_placement,
            round(options_of.gpu_options.per_process_gpu_memory_fraction, 3),
            config.get_task_id(),
        ]

    return build


def _alone(build):
    return Case(build, has_gradients=False)


CASES = {
    "learn.monitors.CaptureVariable": _watched(
        lambda folder: monitors.CaptureVariable("w:0", every_n=2, first_n=1), outcome=_captured
    ),
    "learn.monitors.CheckpointSaver": _watched(
        lambda folder: monitors.CheckpointSaver(folder, save_steps=2, saver=tf.train.Saver()),
        outcome=_files,
    ),
    "learn.monitors.CheckpointSaver: both": lambda: monitors.CheckpointSaver(
        tempfile.mkdtemp(), save_secs=1, save_steps=1
    ),
    "learn.monitors.ExportMonitor": lambda: type(monitors.ExportMonitor(1, "x")).__name__,
    "learn.monitors.GraphDump": _watched(lambda folder: monitors.GraphDump(), outcome=_dumped),
    "learn.monitors.LoggingTrainable": _watched(
        lambda folder: monitors.LoggingTrainable(every_n=2, first_n=1)
    ),
    "learn.monitors.LoggingTrainable: scope": _watched(
        lambda folder: monitors.LoggingTrainable(scope="other", every_n=2)
    ),
    "learn.monitors.NanLoss": _watched(_nan(), loss_turns_nan=True),
    "learn.monitors.NanLoss: stop": _watched(_nan(fail_on_nan_loss=False), loss_turns_nan=True),
    "learn.monitors.NanLossDuringTrainingError": lambda: (
        [each.__name__ for each in monitors.NanLossDuringTrainingError.__mro__]
        + [str(monitors.NanLossDuringTrainingError())]
    ),
    "learn.monitors.PrintTensor": _watched(
        lambda folder: monitors.PrintTensor(["w:0", "loss:0"], every_n=3, first_n=2)
    ),
    "learn.monitors.PrintTensor: tags": _watched(
        lambda folder: monitors.PrintTensor({"total": "loss:0"}, every_n=2)
    ),
    "learn.monitors.RunHookAdapterForMonitors": _watched(
        lambda folder: monitors.StopAtStep(last_step=3),
        steps=9,
        outcome=lambda monitor, _: [monitor.run_on_all_workers, monitor._last_step],
    ),
    "learn.monitors.StepCounter": _watched(
        lambda folder: monitors.StepCounter(every_n_steps=2, output_dir=folder), outcome=_events
    ),
    "learn.monitors.SummarySaver": _watched(_summaries, outcome=_events),
    "learn.BaseEstimator": lambda: learn.BaseEstimator(),
    "learn.Evaluable": lambda: learn.Evaluable(),
    "learn.Trainable": lambda: learn.Trainable(),
    "learn.Head": lambda: learn.Head(),
    "learn.estimators.MetricKey": lambda: {
        name: getattr(estimators.MetricKey, name)
        for name in dir(estimators.MetricKey)
        if name.isupper()
    },
    "learn.Experiment": _alone(_experimented),
    "learn.Experiment: no estimator": lambda: learn.Experiment(len, _input_fn, _input_fn),
    "learn.ExportStrategy": _own_strategy,
    "learn.ExportStrategy: short": _short_strategy,
    "learn.ExportStrategy: no checkpoint": _wrong_strategy,
    "learn.KMeansClustering": _alone(_clusters),
    "learn.RunConfig": _config(),
    "learn.RunConfig: options": _config(
        num_cores=3,
        log_device_placement=True,
        gpu_memory_fraction=0.5,
        tf_random_seed=7,
        save_summary_steps=3,
        save_checkpoints_steps=9,
        save_checkpoints_secs=None,
        keep_checkpoint_max=2,
        model_dir="somewhere",
    ),
    "learn.SKCompat": _alone(_fitted),
    "learn.SKCompat: doubles": _types(_X.astype(np.float64), np.arange(6.0)),
    "learn.SKCompat: integers": _types(np.arange(6), np.arange(6).reshape(6, 1)),
    "learn.learn_runner.run": _ran(schedule="train_and_evaluate"),
    "learn.learn_runner.run: unknown": _ran(schedule="sing"),
    "learn.learn_runner.tune": _alone(_tuned),
    "learn.make_export_strategy": _strategy(
        "make_export_strategy", _serving, strip_default_attrs=True
    ),
    "learn.utils.make_parsing_export_strategy": _strategy(
        "make_parsing_export_strategy", [tf.contrib.layers.real_valued_column("x")]
    ),
}
