"""Functions, inputs, receivers and warm starts of programs."""

from __future__ import annotations

import functools
import os
from unittest import mock

import tensorflow as tf
from goldens.duck_types.models import Delegate, case, make, model_fn_of, threes

v1 = tf.compat.v1
train = v1.train


@case
def callables(estimator, folder):
    class Input:
        def __call__(self):
            return threes()

    class Params:
        def __call__(self, params, mode):
            assert params["scale"] == 3.0 and mode == "train"
            return threes()

    class Method:
        def read(self, times, config):
            assert config.tf_random_seed == 1
            return threes().take(times)

        @classmethod
        def of_class(cls):
            return threes()

        @staticmethod
        def static():
            return threes()

        part = functools.partialmethod(read, 1)

    class Model:
        def __call__(self, features, labels, mode, params):
            return model_fn_of(estimator)(features, labels, mode)

    config = estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=50)
    model = estimator.Estimator(Model(), folder, config, params={"scale": 3.0})
    mocked = mock.Mock(side_effect=threes)
    for each in (
        Input(),
        Params(),
        functools.partial(Method().read, 1),
        Method().part,
        Method.of_class,
        Method.static,
        functools.partial(functools.partial(Method().read, times=1)),
        mocked,
    ):
        model.train(each, steps=1)
    return {"w": float(model.get_variable_value("w")), "called": mocked.call_count}


@case
def mocked_model_fn(estimator, folder):
    model_fn = mock.Mock(side_effect=model_fn_of(estimator))
    try:
        model = estimator.Estimator(model_fn, folder, estimator.RunConfig(tf_random_seed=1))
        model.train(threes, steps=2)
    except Exception as error:
        return {"error": type(error).__name__}
    return {"w": float(model.get_variable_value("w"))}


@case
def params_of_own_class(estimator, folder):
    class HParams(dict):
        def __getattr__(self, name):
            if name not in self:
                raise AttributeError(name)
            return self[name]

    def model_fn(features, labels, mode, params):
        assert params.rate == 0.1 and type(params).__name__ == "HParams"
        return model_fn_of(estimator)(features, labels, mode)

    config = estimator.RunConfig(tf_random_seed=1)
    model = estimator.Estimator(model_fn, folder, config, params=HParams(rate=0.1))
    model.train(threes, steps=2)
    return {"w": float(model.get_variable_value("w"))}


# Datasets and iterators


@case
def dataset_that_delegates(estimator, folder):
    """Not a dataset: what it is told to be, and the error, are the original's."""
    model = make(estimator, folder)
    try:
        model.train(lambda: Delegate(threes()), steps=1)
    except Exception as error:
        return {"error": type(error).__name__}
    return {"w": float(model.get_variable_value("w"))}


@case
def iterator_that_delegates(estimator, folder):
    """The tensors of an iterator that only has get_next()."""

    class Iterator:
        def __init__(self, inner):
            self.inner = inner

        def get_next(self):
            return self.inner.get_next()

    def input_fn():
        return Iterator(v1.data.make_one_shot_iterator(threes())).get_next()

    model = make(estimator, folder)
    model.train(input_fn, steps=2)
    return {"w": float(model.get_variable_value("w"))}


@case
def dataset_subclass(estimator, folder):
    class Counted(tf.data.Dataset):
        def __init__(self, inner):
            self.inner = inner
            super().__init__(inner._variant_tensor)

        def _inputs(self):
            return [self.inner]

        @property
        def element_spec(self):
            return self.inner.element_spec

    model = make(estimator, folder)
    model.train(lambda: Counted(threes()), steps=2)
    return {"w": float(model.get_variable_value("w"))}


class Receiver:
    """What an export reads."""

    def __init__(self, feature):
        self.features = feature
        self.receiver_tensors = {"x": feature}
        self.receiver_tensors_alternatives = None


@case
def receiver_by_hand(estimator, folder):
    model = make(estimator, folder)
    model.train(threes, steps=2)
    path = model.export_saved_model(
        os.path.join(folder, "export"), lambda: Receiver(v1.placeholder(tf.float32, [None, 1], "x"))
    )
    served = tf.saved_model.load(tf.compat.as_str(path)).signatures["serving_default"]
    return {"w": float(served(tf.constant([[1.0]]))["w"][0][0])}


@case
def warm_start_settings(estimator, folder):
    class Settings(estimator.WarmStartSettings):
        pass

    first, second = os.path.join(folder, "a"), os.path.join(folder, "b")
    make(estimator, first).train(threes, steps=3)
    model = estimator.Estimator(
        model_fn_of(estimator),
        second,
        estimator.RunConfig(tf_random_seed=1),
        warm_start_from=Settings(first, vars_to_warm_start="w"),
    )
    model.train(threes, steps=1)
    return {"w": float(model.get_variable_value("w"))}
