"""The training loop of slim, with an update of the masks after each step."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from estimator_bridge.errors import MissingImportError

__all__ = ["train"]

_USE_DEFAULT = 0


def train(
    train_op: Any,
    logdir: str | None,
    mask_update_op: Any,
    train_step_fn: Callable[..., Any] | None = None,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Callable[[Any], None] | None = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: int = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: int = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    trace_every_n_steps: int | None = None,
) -> Any:
    """Trains as ``tf.contrib.slim.learning.train``, and runs an operation after each step.

    It needs the package tf-slim, whose documentation describes the arguments.

    Args:
      train_op: a tensor whose value is the loss, as ``create_train_op`` returns it.
      logdir: the folder of checkpoints and summaries; None for none.
      mask_update_op: the operation to run after each step, as
        ``Pruning.conditional_mask_update_op`` returns it.
      train_step_fn: a function that runs a step; slim's by default.
      train_step_kwargs: a dict for that function.
      log_every_n_steps: the number of steps between lines of the log.
      graph: the graph; the default graph by default.
      master: the address of the server.
      is_chief: whether this worker saves and initializes.
      global_step: the global step; the graph's by default.
      number_of_steps: the global step to stop at; None for none.
      init_op: initializes the variables.
      init_feed_dict: values that init_op reads.
      local_init_op: initializes local variables and tables.
      init_fn: called with the session after init_op.
      ready_op: checks that the variables have values.
      summary_op: the summaries.
      save_summaries_secs: the seconds between summaries.
      summary_writer: writes the summaries.
      startup_delay_steps: the number of steps to wait for before the first one.
      saver: saves checkpoints.
      save_interval_secs: the seconds between checkpoints.
      sync_optimizer: optimizers that wait for all workers.
      session_config: the session's settings.
      trace_every_n_steps: the number of steps between traces; None for no traces.

    Returns:
      The last loss.

    Raises:
      MissingImportError: tf-slim is not installed.
      ValueError: arguments that slim refuses.
    """
    arguments = {name: value for name, value in locals().items() if name not in _OWN}
    slim = _slim_learning()
    run_step = slim.train_step if train_step_fn is None else train_step_fn

    def train_step(session: Any, *args: Any) -> Any:
        result = run_step(session, *args)
        session.run(mask_update_op)
        return result

    return slim.train(train_op, logdir, train_step_fn=train_step, **arguments)


_OWN = ("train_op", "logdir", "mask_update_op", "train_step_fn")


def _slim_learning() -> Any:
    try:
        return importlib.import_module("tf_slim.learning")
    except ImportError as error:
        raise MissingImportError(
            "tf.contrib.model_pruning.train needs the package tf-slim, whose loop it runs. "
            "Run: pip install tf-slim; or put the operation into the train_op of a model_fn: "
            "with tf.control_dependencies([train_op]): train_op = "
            "pruning.conditional_mask_update_op()"
        ) from error
