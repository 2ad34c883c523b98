"""Cases of tf.contrib.timeseries.

The estimators start from a checkpoint with fixed numbers under the names of 1.15.5, so a case fails
if a variable has another name, or a step another result.
"""

import functools
import os
import tempfile
import zlib

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case, Steps
from tensorflow.contrib.timeseries.python.timeseries import ar_model
from tensorflow.contrib.timeseries.python.timeseries import model as models

__all__ = ["CASES"]

ts = tf.contrib.timeseries
utils = ts.saved_model_utils
_TIMES = np.arange(24).reshape(2, 12)
_VALUES = np.sin(0.7 * _TIMES)[..., None] + 0.05 * _TIMES[..., None]
_EXOGENOUS = np.cos(0.3 * _TIMES)[..., None]


def _file(rows, header=()):
    path = os.path.join(tempfile.mkdtemp(), "series.csv")
    with open(path, "w") as file:
        file.write("".join(row + "\n" for row in list(header) + rows))
    return path


def _rows(first, count):
    return ["%d,%g" % (time, 0.5 * time) for time in range(first, first + count)]


def _queued(build):
    """A case of queues, whose summaries are left out: they say how full a queue is by chance."""

    def build_quietly():
        result = build()
        tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
        return result

    return Case(build_quietly, has_gradients=False, queues=True)


def _whole(*arguments, **options):
    return _queued(lambda: ts.CSVReader(*arguments, **options).read_full())


def _some():
    read = ts.CSVReader(_file(_rows(0, 5)), read_num_records_hint=3).read()
    return Steps([read, read, read])


def _csv():
    two = [_file(_rows(0, 3), ["time,value"]), _file(_rows(3, 2), ["time,value"])]
    text = _file(["0,1,2,a", "1,3,4,b", "5,5,6,c"])
    names = ("times", "values", "values", "letter")
    kinds = (tf.int64, tf.float64, tf.float64, tf.string)
    return {
        "CSVReader": _queued(_some),
        "CSVReader: whole": _whole(_file(_rows(0, 4))),
        "CSVReader: files": _whole(two, skip_header_lines=1),
        "CSVReader: types": _whole(text, column_names=names, column_dtypes=kinds),
        "CSVReader: no times": lambda: ts.CSVReader("f", column_names=("values",)),
        "CSVReader: no values": lambda: ts.CSVReader("f", column_names=("times",)),
        "CSVReader: two times": lambda: ts.CSVReader("f", ("times", "times", "values")),
        "CSVReader: other types": lambda: ts.CSVReader("f", column_dtypes=(tf.int64,)),
    }


def _arrays(length=5, **more):
    return dict({"times": np.arange(length), "values": 0.5 * np.arange(length)}, **more)


def _numpy(data, **options):
    return _queued(lambda: ts.NumpyReader(data, **options).read_full())


def _read_arrays():
    read = ts.NumpyReader(_arrays(), read_num_records_hint=3).read()
    return Steps([read, read])


def _readers():
    two = np.arange(10.0).reshape(5, 2)
    return {
        "NumpyReader": _queued(_read_arrays),
        "NumpyReader: whole": _numpy(_arrays(known=np.arange(5, 10))),
        "NumpyReader: two features": _numpy(_arrays(values=two)),
        "NumpyReader: one time": _numpy({"times": 3, "values": 4.0}),
        "NumpyReader: batch": lambda: ts.NumpyReader({"times": _TIMES, "values": _VALUES}),
        "NumpyReader: no values": lambda: ts.NumpyReader({"times": [1]}),
        "NumpyReader: shapes": lambda: ts.NumpyReader(_arrays(known=[1])),
        "NumpyReader: many dimensions": lambda: ts.NumpyReader(_arrays(values=two[..., None])),
        "NumpyReader: dimensions of times": lambda: ts.NumpyReader(
            {"times": np.zeros([1, 1, 1]), "values": np.zeros([1, 1, 1])}
        ),
    }


def _random(size=4, length=9, **options):
    """Windows whose order does not depend on threads: each is taken from a full queue."""

    def build():
        settings = {
            "batch_size": 1,
            "queue_capacity_multiplier": 3,
            "jitter": False,
            "num_threads": 1,
            "shuffle_seed": 2,
        }
        settings.update(options)
        reader = ts.NumpyReader(_arrays(length), read_num_records_hint=length)
        features, labels = ts.RandomWindowInputFn(reader, window_size=size, **settings)()
        assert labels is None
        return Steps([features, features, features])

    return _queued(build)


def _inputs():
    reader = functools.partial(ts.NumpyReader, _arrays(known=np.arange(5.0)))
    return {
        "WholeDatasetInputFn": _queued(lambda: ts.WholeDatasetInputFn(reader())()[0]),
        "RandomWindowInputFn": _random(),
        # Equal windows: two are taken at once, and which ones depends on the queue's thread.
        "RandomWindowInputFn: all kept": _random(2, 2, batch_size=2, discard_out_of_order=False),
        "RandomWindowInputFn: short": _random(size=3),
        "RandomWindowInputFn: too long": _random(size=10),
    }


def _evaluation():
    return {"times": np.array([[3, 4], [7, 9]]), "start_tuple": (np.ones([2, 2]), np.zeros([2]))}


def _continued(**options):
    def build():
        features, labels = ts.predict_continuation_input_fn(_evaluation(), **options)()
        assert labels is None
        return features

    return Case(build, has_gradients=False)


def _continuations():
    exogenous = {"known": np.ones([2, 3, 1])}
    return {
        "predict_continuation_input_fn": _continued(steps=3),
        "predict_continuation_input_fn: known": _continued(steps=3, exogenous_features=exogenous),
        "predict_continuation_input_fn: times": _continued(times=[[6, 8], [12, 13]]),
        "predict_continuation_input_fn: neither": _continued(),
        "predict_continuation_input_fn: both": _continued(steps=1, times=[[6], [10]]),
        "predict_continuation_input_fn: batch": _continued(times=[6, 8]),
        "predict_continuation_input_fn: early": _continued(times=[[6], [9]]),
    }


def _names(keys):
    return lambda: {name: getattr(keys, name) for name in dir(keys) if name.isupper()}


def _features(has_known=False, features=1):
    values = np.concatenate([_VALUES * (n + 1) + n for n in range(features)], axis=-1)
    tensors = {
        "times": tf.constant(_TIMES, tf.int64),
        "values": tf.constant(values, tf.float32),
    }
    if has_known:
        tensors["known"] = tf.constant(_EXOGENOUS, tf.float32)
    return tensors


def _outputs(outputs):
    return [
        outputs.loss,
        outputs.predictions,
        outputs.prediction_times,
        outputs.end_state,
    ]


def _ar(mode, has_known=False, **options):
    """A model's loss and predictions, without an estimator."""

    def build():
        settings = {
            "periodicities": [5],
            "input_window_size": 8,
            "output_window_size": 4,
            "num_features": 1,
        }
        settings.update(options)
        columns = [tf.feature_column.numeric_column("known")] if has_known else None
        model = ts.ARModel(exogenous_feature_columns=columns, **settings)
        with tf.variable_scope("model", use_resource=True):
            model.initialize_graph()
            if mode == "predict":
                state = tf.contrib.framework.nest.map_structure(
                    lambda each: tf.stack([each, each]), model.get_start_state()
                )
                features = {"times": tf.constant(_TIMES[:, :6]), "start_tuple": state}
                if has_known:
                    features["known"] = tf.constant(_EXOGENOUS[:, :6], tf.float32)
                outputs = model.predict(features)
            else:
                outputs = _outputs(model.define_loss(_features(has_known), mode))
        return _renamed(outputs)

    return Case(build, has_gradients=False)


def _renamed(tensors):
    """Tensors under other names: theirs are those of a formula's last operation."""
    return tf.contrib.framework.nest.map_structure(lambda each: tf.identity(each, "made"), tensors)


def _models():
    make = functools.partial(ts.ARModel, input_window_size=1, output_window_size=1, num_features=1)
    return {
        "ARModel": _ar("train"),
        "ARModel: evaluated": _ar("eval", output_window_size=2, num_time_buckets=3),
        "ARModel: evaluated in parts": _ar("eval", output_window_size=3, input_window_size=4),
        "ARModel: predicted": _ar("predict", output_window_size=4, input_window_size=3),
        "ARModel: predicted from few": _ar("predict", output_window_size=2, input_window_size=5),
        "ARModel: predicted by time": _ar("predict", input_window_size=0),
        "ARModel: squares": _ar("eval", loss=ts.ARModel.SQUARED_LOSS),
        "ARModel: squares predicted": _ar("predict", loss=ts.ARModel.SQUARED_LOSS),
        "ARModel: known": _ar("eval", has_known=True, periodicities=None),
        "ARModel: known, predicted": _ar("predict", has_known=True),
        "ARModel: two periods": _ar("train", periodicities=(5, 7), num_time_buckets=2),
        "ARModel: another window": _ar("train", output_window_size=5),
        "ARModel: a short window": _ar("eval", input_window_size=12),
        "ARModel: no mode": _ar("infer"),
        "ARModel: another loss": _ar("train", loss="other"),
        "ARModel: no buckets": lambda: make(5, num_time_buckets=0),
        "ARModel: a negative period": lambda: make([5, -1]),
        "ARModel: nothing": lambda: ts.ARModel(None, 0, 1, 1),
        "ARModel: no output": lambda: ts.ARModel(5, 1, 0, 1),
    }


_DRAWN = ("kernel", "prior_state_mean", "bias", "weights")


def _fixed(name, value):
    """A fixed number for a variable, whatever was drawn for it at first."""
    if value.dtype.kind != "f" or name.startswith("input_stat") or "_power" in name:
        return value
    if name.endswith(("Adam", "Adam_1", "Adagrad")):
        return np.full_like(value, 0.1 if name.endswith("Adagrad") else 0.0)
    random = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
    base = 0.0 if name.endswith(_DRAWN) else np.round(value)
    return (base + 0.2 * random.normal(size=value.shape)).astype(value.dtype)


def _start(folder, first):
    """Writes a checkpoint of a model with fixed numbers, for one that was trained for a step."""
    with tf.Graph().as_default(), tf.Session() as session:
        variables = []
        for name, _ in tf.train.list_variables(first):
            value = np.asarray(tf.train.load_variable(first, name))
            variables.append(tf.Variable(np.asarray(_fixed(name, value), value.dtype), name=name))
        session.run(tf.global_variables_initializer())
        path = os.path.join(folder, "model.ckpt-1")
        tf.train.Saver(variables).save(session, path, write_meta_graph=False)


def _estimated(make, has_known=False, features=1, window=12, steps=4):
    """What an estimator returns, and its variables, after three steps of training."""

    def input_fn():
        tensors = _features(has_known, features)
        return {name: value[:, :window] for name, value in tensors.items()}, None

    def one_fn():
        tensors = _features(has_known, features)
        return {name: value[:1] for name, value in tensors.items()}, None

    def build():
        first, folder = tempfile.mkdtemp(), tempfile.mkdtemp()
        make(model_dir=first).train(input_fn, steps=1)
        _start(folder, first)
        estimator = make(model_dir=folder).train(input_fn, steps=3)
        variables = {
            name: tf.train.load_variable(folder, name)
            for name, _ in tf.train.list_variables(folder)
        }
        evaluation = estimator.evaluate(one_fn, steps=1)
        results = [variables, evaluation]
        if steps:
            exogenous = {"known": _EXOGENOUS[1:, :steps].astype(np.float32)} if has_known else None
            following = ts.predict_continuation_input_fn(
                evaluation, steps=steps, exogenous_features=exogenous
            )
            results.append(list(estimator.predict(following)))
        return results

    return Case(build, has_gradients=False)


def _config():
    return tf.estimator.RunConfig(tf_random_seed=3)


def _ar_regressor(has_known=False, **options):
    settings = {
        "periodicities": 5,
        "input_window_size": 8,
        "output_window_size": 4,
        "num_features": 1,
        "config": _config(),
    }
    settings.update(options)
    if has_known:
        settings["exogenous_feature_columns"] = [tf.feature_column.numeric_column("known")]
    return functools.partial(ts.ARRegressor, **settings)


def _is_high(times, features):
    del times
    return tf.squeeze(features["known"], axis=-1) > 0.5


def _structural(has_known=False, **options):
    settings = {
        "periodicities": [4, 2.5],
        "num_features": 1,
        "cycle_num_latent_values": 3,
        "moving_average_order": 1,
        "config": _config(),
    }
    settings.update(options)
    if has_known:
        settings["exogenous_feature_columns"] = [tf.feature_column.numeric_column("known")]
    return functools.partial(ts.StructuralEnsembleRegressor, **settings)


class _Drift(models.SequentialTimeSeriesModel):
    """Predicts the value before, and a drift."""

    def __init__(self, **options):
        super().__init__(["mean"], ["mean"], num_features=1, **options)

    def initialize_graph(self, input_statistics=None):
        super().initialize_graph(input_statistics)
        self._drift = tf.get_variable("drift", [1], initializer=tf.ones_initializer())

    def get_start_state(self):
        return (tf.zeros([], tf.int64), tf.zeros([1]), tf.zeros([1]))

    def _filtering_step(self, current_times, current_values, state, predictions):
        scaled = self._scale_data(current_values)
        predictions["loss"] = tf.reduce_mean((state[1] - scaled) ** 2, axis=-1)
        return (current_times, scaled, state[2]), predictions

    def _prediction_step(self, current_times, state):
        mean = state[1] + self._drift + state[2]
        return (current_times, mean, state[2]), {"mean": self._scale_back_data(mean)}

    def _imputation_step(self, current_times, state):
        return state

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        return state[0], state[1], current_exogenous_regressors


def _regressor(make, **options):
    return lambda model_dir: ts.TimeSeriesRegressor(
        model=make(), model_dir=model_dir, config=_config(), **options
    )


def _lstm():
    return ar_model.ARModel(
        [5],
        8,
        4,
        1,
        prediction_model_factory=functools.partial(ar_model.LSTMPredictionModel, num_units=3),
    )


def _estimators():
    exogenous = [tf.feature_column.numeric_column("known")]
    mixture = {"anomaly_prior_probability": 0.1}
    cauchy = dict(mixture, anomaly_distribution="cauchy")
    gaussian = dict(mixture, anomaly_distribution="gaussian")
    squares = ts.ARModel.SQUARED_LOSS
    sgd = tf.train.GradientDescentOptimizer(0.1)
    return {
        "ARRegressor": _estimated(_ar_regressor()),
        "ARRegressor: hidden": _estimated(_ar_regressor(hidden_layer_sizes=[3, 2], optimizer=sgd)),
        "ARRegressor: squares": _estimated(_ar_regressor(loss=squares)),
        "ARRegressor: two features": _estimated(_ar_regressor(num_features=2), features=2),
        "ARRegressor: known": _estimated(_ar_regressor(has_known=True), has_known=True),
        "ARRegressor: gaussian": _estimated(_ar_regressor(**gaussian)),
        "ARRegressor: cauchy": _estimated(_ar_regressor(**cauchy)),
        "ARRegressor: no distribution": _ar_regressor(**mixture),
        "ARRegressor: no probability": _ar_regressor(anomaly_distribution="cauchy"),
        "ARRegressor: squares and outliers": _ar_regressor(loss=squares, **cauchy),
        "StructuralEnsembleRegressor": _estimated(_structural()),
        "StructuralEnsembleRegressor: autoregression": _estimated(
            _structural(periodicities=[], autoregressive_order=2, dtype=tf.float32)
        ),
        "StructuralEnsembleRegressor: two features": _estimated(
            _structural(num_features=2, periodicities=[]), features=2
        ),
        "StructuralEnsembleRegressor: outliers": _estimated(
            _structural(periodicities=3, anomaly_prior_probability=0.1)
        ),
        "StructuralEnsembleRegressor: known": _estimated(
            _structural(True, periodicities=[], exogenous_update_condition=_is_high),
            has_known=True,
        ),
        "StructuralEnsembleRegressor: even": _structural(cycle_num_latent_values=4),
        "StructuralEnsembleRegressor: lengths": _structural(cycle_num_latent_values=[3, 5, 7]),
        "TimeSeriesRegressor": _estimated(
            _regressor(lambda: _Drift(exogenous_feature_columns=exogenous)), has_known=True
        ),
        "TimeSeriesRegressor: unrolled": _estimated(
            _regressor(
                lambda: _Drift(
                    exogenous_feature_columns=exogenous, static_unrolling_window_size_threshold=12
                )
            ),
            has_known=True,
        ),
        "TimeSeriesRegressor: LSTM": _estimated(_regressor(_lstm, optimizer=sgd)),
        "OneShotPredictionHead": _estimated(
            _regressor(_lstm, optimizer=sgd, head_type=ts.OneShotPredictionHead), steps=0
        ),
    }


def _exported(make, run):
    """What an export of a model with fixed numbers computes."""

    def build():
        first, folder = tempfile.mkdtemp(), tempfile.mkdtemp()

        def input_fn():
            return _features(), None

        make(model_dir=first).train(input_fn, steps=1)
        _start(folder, first)
        estimator = make(model_dir=folder)
        receiver_fn = estimator.build_raw_serving_input_receiver_fn()
        place = estimator.export_saved_model(tempfile.mkdtemp(), receiver_fn)
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.loader.load(session, ["serve"], place)
            inputs = {
                name: [sorted(each.inputs), sorted(each.outputs)]
                for name, each in loaded.signature_def.items()
            }
            return [inputs, run({"signatures": loaded, "session": session})]

    return Case(build, has_gradients=False)


def _series(values=_VALUES):
    return {"times": _TIMES, "values": values}


def _cold(options):
    return utils.cold_start_filter(features=_series(), **options)


def _cold_then_warm(options):
    state = utils.cold_start_filter(features={"times": [1, 2], "values": [0.5, 1.0]}, **options)
    later = {"times": 4, "values": 1.5}
    return [state, utils.filter_continuation(state, features=later, **options)]


def _predicted(options):
    state = _cold(options)
    return [
        utils.predict_continuation(state, steps=3, **options),
        utils.predict_continuation(state, times=[[13, 15], [25, 29]], **options),
    ]


def _exports():
    cycle = _structural(periodicities=4)
    saved = "saved_model_utils."
    return {
        saved + "cold_start_filter": _exported(cycle, _cold),
        saved + "cold_start_filter: windows": _exported(_ar_regressor(), _cold),
        saved + "filter_continuation": _exported(cycle, _cold_then_warm),
        saved + "predict_continuation": _exported(cycle, _predicted),
        saved + "predict_continuation: windows": _exported(_ar_regressor(), _predicted),
        saved + "predict_continuation: neither": lambda: utils.predict_continuation(
            _evaluation(), None, None
        ),
        saved + "filter_continuation: no model": lambda: utils.filter_continuation(
            _evaluation(), None, None, _series()
        ),
        saved + "cold_start_filter: no values": lambda: utils.cold_start_filter(
            None, None, {"times": [1]}
        ),
    }


CASES = {
    "timeseries." + name: case
    for table in (
        _csv(),
        _readers(),
        _inputs(),
        _continuations(),
        _models(),
        _estimators(),
        _exports(),
    )
    for name, case in table.items()
}
CASES["timeseries.TrainEvalFeatures"] = _names(ts.TrainEvalFeatures)
CASES["timeseries.FilteringResults"] = _names(ts.FilteringResults)
