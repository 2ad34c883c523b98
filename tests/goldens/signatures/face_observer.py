"""Reads constructors and configurations in the same way on both sides."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any
from unittest import mock

# As much of an error as users search for; what follows is each side's own.
_PHRASE = 28

DEFAULTS = {
    "model_dir": None,
    "tf_random_seed": None,
    "save_summary_steps": 100,
    "save_checkpoints_steps": None,
    "save_checkpoints_secs": 600,
    "session_config": None,
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
    "train_distribute": None,
    "eval_distribute": None,
    "device_fn": None,
    "protocol": None,
    "cluster_spec": {},
    "task_type": "worker",
    "task_id": 0,
    "global_id_in_cluster": 0,
    "is_chief": True,
    "master": "",
    "evaluation_master": "",
    "num_ps_replicas": 0,
    "num_worker_replicas": 1,
    "service": None,
    "experimental_max_worker_delay_secs": None,
    "session_creation_timeout_secs": 7200,
    "checkpoint_save_graph_def": True,
}


def signature(fn: Any) -> list[str]:
    """Lists a callable's parameters, as "mode", "loss=None", "**kwargs"."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    described = []
    for parameter in inspect.signature(fn).parameters.values():
        text = stars.get(parameter.kind, "") + parameter.name
        if parameter.default is not inspect.Parameter.empty:
            text += f"={_default(parameter.default)}"
        described.append(text)
    return described


def _default(value: Any) -> str:
    # A sentinel means "not given"; each side has its own.
    if type(value) is object or type(value).__name__ == "_Unset":
        return "<unset>"
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def outcome(constructors: dict[str, Any], case: Any) -> dict[str, Any]:
    """Makes a case's configuration.

    Args:
      constructors: the class for each `target`.
      case: what to make.

    Returns:
      The public values that are not as in `DEFAULTS`, or the error that it raised.
    """
    environment = {} if case.tf_config is None else {"TF_CONFIG": json.dumps(case.tf_config)}
    with mock.patch.dict(os.environ, environment):
        if case.tf_config is None:
            os.environ.pop("TF_CONFIG", None)
        try:
            instance = constructors[case.target](**case.kwargs)
            if case.replace is not None:
                instance = instance.replace(**case.replace)
        except (TypeError, ValueError) as error:
            return {"error": type(error).__name__, "message": str(error)[:_PHRASE]}
    if case.target == "tpu.TPUConfig":
        return {"values": list(instance)}
    values = {name: _plain(getattr(instance, name)) for name in DEFAULTS}
    return {name: value for name, value in values.items() if value != DEFAULTS[name]}


def _plain(value: Any) -> Any:
    if hasattr(value, "as_dict"):
        return value.as_dict()
    return str(value) if hasattr(value, "SerializeToString") else value
