"""AutoGraph leaves contrib's layers as they are, and converts the callers of programs' models."""

from __future__ import annotations

import importlib

import pytest
from tensorflow.python.autograph.core import config

importlib.import_module("estimator_bridge_contrib.rnn.base")  # which asks for it


def is_left(module):
    actions = (rule.get_action(module) for rule in config.CONVERSION_RULES)
    return config.Action.DO_NOT_CONVERT in actions


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((f"estimator_bridge_contrib.{name}", True) for name in ("rnn.base", "layers.dense")),
        *((f"estimator_bridge_contrib.{name}", False) for name in ("tpu", "learn.estimator")),
        ("estimator_bridge_contrib.saved_model.keras_saved_model", False),
        ("estimator_bridge.training", False),
    ],
)
def test_functions_of_a_module_are_left(name, expected):
    assert is_left(importlib.import_module(name)) is expected
