"""tf.contrib.tensorboard.plugins.projector leads to tensorboard's."""

import sys
import types

import pytest

from estimator_bridge.errors import MissingNameError
from estimator_bridge_contrib.tensorboard import projector


def test_names_are_those_of_tensorboard(monkeypatch):
    for name in ("tensorboard", "tensorboard.plugins", "tensorboard.plugins.projector"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["tensorboard.plugins.projector"].ProjectorConfig = dict
    assert projector.ProjectorConfig is dict
    assert not hasattr(projector, "no_such_name")


def test_without_tensorboard_the_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingNameError, match="pip install tensorboard"):
        _ = projector.visualize_embeddings
