"""Shared fixtures of the tests of model/."""

import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph
