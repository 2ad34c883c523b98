import functools

from estimator_bridge.model.fn_args import binding_error, describe_fn, fn_args


def model_fn(features, labels, mode, params=None, *args, config=None, **kwargs):
    return features, labels, mode, params, args, config, kwargs


class Callable:
    def __call__(self, features, mode):
        return features, mode

    def method(self, features, labels):
        return features, labels


def test_names_of_what_is_still_to_be_given():
    assert fn_args(model_fn) == ("features", "labels", "mode", "params", "config")
    assert fn_args(Callable()) == ("features", "mode")
    assert fn_args(Callable().method) == ("features", "labels")
    assert fn_args(functools.partial(model_fn, 1, params={})) == ("labels", "mode", "config")
    assert fn_args(functools.partial(Callable().method, labels=1)) == ("features",)


def test_binding_error_tells_why():
    assert binding_error(model_fn, [1, 2, 3]) is None
    assert binding_error(Callable().method, [1]) == "missing a required argument: 'labels'"
    assert "unexpected" in binding_error(
        Callable().method, kwargs={"features": 1, "labels": 2, "x": 3}
    )
    assert binding_error(lambda *args: args, [1, 2]) is None
    assert binding_error(dict.update, [1, 2, 3]) is None  # no signature to be had


def test_describe_fn_shows_what_it_takes():
    assert describe_fn(Callable().method) == "Callable.method(features, labels)"
    assert describe_fn(functools.partial(Callable().method, 1)) == "Callable.method(labels)"
    assert describe_fn(lambda a: a) == "<lambda>(a)"
