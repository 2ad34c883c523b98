"""Loops over graphs, of tf.contrib.learn: training, evaluation and runs with feeds."""

import tensorflow as tf

from estimator_bridge_contrib.framework.checkpoints import load_variable
from estimator_bridge_contrib.learn.graph_actions.evaluation import evaluate
from estimator_bridge_contrib.learn.graph_actions.graph_parts import (
    clear_summary_writers,
    get_summary_writer,
)
from estimator_bridge_contrib.learn.graph_actions.runs import (
    infer,
    run_feeds,
    run_feeds_iter,
    run_n,
)
from estimator_bridge_contrib.learn.graph_actions.training import train

coordinator = tf.compat.v1.train  # programs patch coordinator.Coordinator

__all__ = [
    "clear_summary_writers",
    "evaluate",
    "get_summary_writer",
    "infer",
    "load_variable",
    "run_feeds",
    "run_feeds_iter",
    "run_n",
    "train",
]
