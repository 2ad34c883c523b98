"""tensorflow.python.distribute.estimator_training, which left TensorFlow with Estimator."""

from __future__ import annotations

from typing import Any

from absl import logging

from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.legacy.tf1.private_names import ROOT, advice_on

__all__ = ["should_run_distribute_coordinator"]

_MODES = ("standalone_client", "independent_worker")
_NAME = f"{ROOT}distribute.estimator_training"
_TRAIN = f"{_NAME}.train_and_evaluate"
__getattr__ = missing_getattr(
    __name__, {"train_and_evaluate": f"is not supported. {advice_on(_TRAIN)}"}, _NAME
)


def should_run_distribute_coordinator(config: Any) -> bool:
    """Returns whether the original would run the distribute coordinator.

    Args:
      config: a RunConfig. This library's never asks for a coordinator, so that the answer is False.

    Returns:
      Whether the config has a mode of the coordinator and a cluster.
    """
    mode = getattr(config, "_distribute_coordinator_mode", None)
    if mode is None:
        logging.info("Not using Distribute Coordinator.")
        return False
    if mode not in _MODES:
        logging.warning("Unexpected distribute_coordinator_mode: %r", mode)
        return False
    if not config.cluster_spec:
        logging.warning(
            "Running `train_and_evaluate` locally, ignoring "
            "`experimental_distribute_coordinator_mode`."
        )
        return False
    return True
