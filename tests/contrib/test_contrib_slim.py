"""tf.contrib.slim: its core alone, and the package tf_slim if it is installed."""

import importlib
import sys
from types import ModuleType

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge.errors import MissingImportError
from estimator_bridge_contrib import arg_scope as scopes
from estimator_bridge_contrib import layers
from estimator_bridge_contrib.namespaces import NAMESPACES

v1 = tf.compat.v1

TF_SLIM = {
    "__init__.py": """
        from tf_slim.ops import arg_scope as arg_scope_lib
        @arg_scope_lib.add_arg_scope
        def conv2d(x, filters=1, padding="SAME"):
            return ("theirs", x, filters, padding)
        def only_theirs():
            return 7
    """,
    "nets/__init__.py": "vgg = 'vgg'",
    "nets/resnet_v2.py": "depth = 50",
    "ops/__init__.py": "",
    "ops/arg_scope.py": """
        _ARGSTACK, _DECORATED_OPS = [{}], {}
        def add_arg_scope(function):
            def call(*args, **kwargs):
                return function(*args, **{**_ARGSTACK[-1].get(str(function), {}), **kwargs})
            call._key_op = str(function)
            _DECORATED_OPS[str(function)] = ("filters", "padding")
            return call
    """,
    "layers/__init__.py": "",
    "layers/initializers.py": "three = 3",
    "layers/regularizers.py": "four = 4",
    "layers/utils.py": "two = 2",
}


@pytest.fixture
def slim(monkeypatch):
    """The module as it is where tf_slim is not installed."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *args: None if name == "tf_slim" else find_spec(name, *args),
    )
    from estimator_bridge_contrib import slim

    return importlib.reload(slim)


def test_a_network_of_slim_s_core(slim):
    def build(images):
        with (
            slim.arg_scope(
                [slim.conv2d, slim.fully_connected],
                weights_regularizer=slim.l2_regularizer(0.1),
                normalizer_fn=slim.batch_norm,
            ),
            slim.arg_scope([slim.conv2d], padding="VALID") as scope,
        ):
            net = slim.repeat(images, 2, slim.conv2d, 4, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
        with slim.arg_scope(scope):
            net = slim.conv2d(net, 5, [1, 1], scope="conv2")
            net = slim.fully_connected(slim.flatten(net), 3, normalizer_fn=None, scope="logits")
        return slim.dropout(net, is_training=False)

    run = Run(build, np.ones((2, 8, 8, 1), np.float32))
    assert [name for name in run.shapes if "BatchNorm" not in name] == [
        "conv1/conv1_1/weights",
        "conv1/conv1_2/weights",
        "conv2/weights",
        "logits/weights",
        "logits/biases",
    ]
    assert run.shapes["logits/weights"] == (2 * 2 * 5, 3)
    assert len(run.names("regularization_losses")) == 4
    assert len(run.names("update_ops")) == 6


def test_slim_s_layers_are_those_of_contrib_layers(slim):
    assert slim.conv2d is layers.conv2d
    assert slim.utils is layers.utils
    # 1.15.5: `slim.layers.conv2d is tf.contrib.layers.conv2d`, and so on.
    assert slim.layers.conv2d is layers.conv2d
    assert slim.initializers.xavier_initializer is layers.xavier_initializer
    assert slim.regularizers.l2_regularizer is layers.l2_regularizer
    assert {"conv2d", "arg_scope", "get_variables_to_restore", "losses"} <= set(slim.__all__)
    assert len(slim.__all__) == len(set(slim.__all__))
    assert dir(slim) == sorted(slim.__all__)
    with slim.arg_scope([slim.model_variable], trainable=False), tf.Graph().as_default():
        slim.model_variable("kept", [1])
        assert v1.trainable_variables() == []


@pytest.mark.parametrize("name", ["learning", "nets", "evaluation", "tfexample_decoder"])
def test_what_needs_tf_slim_says_so(slim, name):
    with pytest.raises(AttributeError, match=f"tf.contrib.slim.{name} needs .* tf-slim"):
        getattr(slim, name)
    with pytest.raises(MissingImportError, match="pip install tf-slim"):
        importlib.import_module(f"estimator_bridge_contrib.slim.{name}")
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        _ = slim.no_such
    assert name in NAMESPACES["slim"].unsupported


def test_tf_slim_takes_the_place_and_shares_scopes(monkeypatch, tmp_path):
    for name, source in TF_SLIM.items():
        path = tmp_path / "tf_slim" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = source.split("\n")
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in lines))
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("_stack", "_arguments", "_twins"):
        monkeypatch.setattr(scopes, name, type(getattr(scopes, name))(getattr(scopes, name)))
    from estimator_bridge.base.lazy_namespace import loaded_names
    from estimator_bridge_contrib import slim

    ours = "estimator_bridge_contrib.slim.package"
    slim.__class__ = ModuleType  # reload() reads the __dict__, which would load all names first
    for name in slim.__all__:  # another test may have loaded them
        loaded_names(slim).pop(name, None)
    for name in ("initializers", "regularizers", "utils"):
        loaded_names(slim).pop(name, None)
    try:
        slim = importlib.reload(slim)
        assert slim.only_theirs() == 7
        assert slim.nets.vgg == "vgg"
        assert slim.resnet_v2.depth == 50  # as old programs import it, by its file
        assert slim.utils.two == 2
        assert (slim.initializers.three, slim.regularizers.four) == (3, 4)
        assert slim.layers.utils.two == 2
        with pytest.raises(AttributeError, match=r"'tf\.contrib\.slim' has no attribute 'nothing'"):
            _ = slim.nothing
        # Said of slim's layer, it holds for contrib.layers', and the other way round.
        with (
            slim.arg_scope([slim.conv2d], padding="VALID"),
            scopes.arg_scope([layers.conv2d], filters=3),
        ):
            assert slim.conv2d("x") == ("theirs", "x", 3, "VALID")
        with slim.arg_scope([slim.conv2d], padding="VALID"), tf.Graph().as_default():
            assert layers.conv2d(tf.zeros([1, 5, 5, 1]), 2, 3).shape[1] == 3
    finally:
        for name in [each for each in sys.modules if each.split(".")[0] == "tf_slim"] + [ours]:
            sys.modules.pop(name, None)
        monkeypatch.undo()
        importlib.reload(slim)
