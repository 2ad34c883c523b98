"""Traces a model in one mode, as the original did and in its order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import CheckpointingSession
from estimator_bridge.graph import Resources, trace_graph
from estimator_bridge.model import ModeKeys
from estimator_bridge.tensorflow_private.names import global_step_read
from estimator_bridge.training.execution import Execution, TracedModel, metric_values
from estimator_bridge.training.initialize import prepare_saver, with_default_local_init
from estimator_bridge.training.input_plan import InputPlan, ProgramInput, TracedBatch
from estimator_bridge.training.program import ModelSource, Program
from estimator_bridge.training.xla_mode import tracing_context, xla_mode

__all__ = ["trace_model", "trace_program"]

_v1 = tf.compat.v1


def trace_program(
    execution: Execution,
    model_fn: Callable[..., Any],
    input_fn: Callable[..., Any],
    mode: str,
    params: Mapping[str, Any],
    after_model: Callable[[], None] | None = None,
    shared: Resources | None = None,
) -> Program:
    """Calls input_fn and model_fn in a new graph, as the original did and in its order.

    Args:
      execution: the layout of the model.
      model_fn: a checked model_fn.
      input_fn: the user's input_fn.
      mode: one of ModeKeys.
      params: a copy for this call.
      after_model: called in the graph after model_fn, for a warm start.
      shared: the variables of another trace of the same model.
    """
    config = execution.config
    if config.device_fn is not None:
        logging.log_first_n(
            logging.WARN,
            "RunConfig's device_fn sets the devices of the traced graph's operations; what runs is "
            "placed by the strategy, not by them.",
            1,
        )
    with (
        trace_graph(config.tf_random_seed, execution.shards) as graph,
        execution.scope(mode),
        _v1.device(config.device_fn),
    ):
        plan, batch, traced = trace_model(
            execution, model_fn, input_fn, graph, mode, params, after_model
        )
    session = CheckpointingSession(graph, execution.strategy, shared)
    program = Program(
        execution,
        mode,
        session,
        ProgramInput(plan, session),
        batch,
        traced,
        ModelSource(model_fn, params),
    )
    program.check_runtime()
    return program


def trace_model(
    execution: Execution,
    model_fn: Callable[..., Any],
    input_fn: Callable[..., Any],
    graph: tf.Graph,
    mode: str,
    params: Mapping[str, Any],
    after_model: Callable[[], None] | None = None,
) -> tuple[InputPlan, TracedBatch, TracedModel]:
    """Makes a mode's whole graph in the default graph, which is empty.

    Args:
      execution: the layout of the model.
      model_fn: a checked model_fn.
      input_fn: the user's input_fn.
      graph: the default graph.
      mode: one of ModeKeys.
      params: a copy for this call.
      after_model: called after model_fn, for a warm start.
    """
    config = execution.config
    if execution.makes_global_step:
        _make_global_step(execution, mode)
    plan = execution.plan_input(input_fn, graph, mode, params)
    batch = plan.trace_batch(mode)
    if mode == ModeKeys.PREDICT:
        _warn_of_no_end(plan)
    with tracing_context(xla_mode(config, execution.strategy), execution.strategy):
        traced = execution.trace(model_fn, batch, mode, params)
    if mode == ModeKeys.TRAIN:
        global_step_read()  # of a model's own step; otherwise it has been made
    if after_model:
        after_model()
    if mode == ModeKeys.TRAIN:
        _add_loss_summary(traced.spec.loss)
    results = metric_values(traced.spec) if mode == ModeKeys.EVAL else {}
    scaffold = traced.spec.scaffold or _v1.train.Scaffold()
    if mode == ModeKeys.EVAL:
        scaffold = with_default_local_init(scaffold)
    prepare_saver(scaffold, config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours)
    return plan, batch, dataclasses.replace(traced, scaffold=scaffold, results=results)


def _make_global_step(execution: Execution, mode: str) -> None:
    use_resource = True if execution.step_is_resource else None
    with _v1.variable_scope(_v1.get_variable_scope(), use_resource=use_resource):
        _v1.train.create_global_step()
    if mode == ModeKeys.TRAIN:
        global_step_read()


def _warn_of_no_end(plan: InputPlan) -> None:
    if not plan.input.may_end:
        _v1.logging.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
            "yields forever. This is probably a mistake: return a tf.data.Dataset, or take as many "
            "predictions as you need with itertools.islice."
        )


def _add_loss_summary(loss: tf.Tensor) -> None:
    """Adds the loss to the summaries, unless the model has a summary of that name."""
    if not any(s.op.name == "loss" for s in _v1.get_collection(_v1.GraphKeys.SUMMARIES)):
        _v1.summary.scalar("loss", loss)  # 'loss_1' where the model's scope took the name
    _v1.add_to_collection(_v1.GraphKeys.LOSSES, loss)
