"""Monitors that look at tensors: they log, capture or compare values, or check the loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.names import tf_logging
from estimator_bridge_contrib.learn.monitor_bases import BaseMonitor, EveryN, output_of

__all__ = [
    "CaptureVariable",
    "GraphDump",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
]

_v1 = tf.compat.v1


class PrintTensor(EveryN):
    """Logs tensors.

    Args:
      tensor_names: names of tensors, or a dict of them by the name to log.
      every_n: see `EveryN`.
      first_n: see `EveryN`.
    """

    def __init__(
        self, tensor_names: Mapping[str, str] | Iterable[str], every_n: int = 100, first_n: int = 1
    ):
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, Mapping):
            tensor_names = {name: name for name in tensor_names}
        self._names = dict(tensor_names)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Requests the tensors."""
        super().every_n_step_begin(step)
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        tf_logging.info("Step %d: %s", step, _listed(self._names, outputs))
        return False


class LoggingTrainable(EveryN):
    """Logs trainable variables.

    Args:
      scope: the start of their names, a regular expression; by default all.
      every_n: see `EveryN`.
      first_n: see `EveryN`.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: dict[str, str] = {}

    def begin(self, max_steps: int | None = None) -> None:
        """Reads the variables, while operations can still be added to the graph."""
        super().begin(max_steps)
        variables = _v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in variables}

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Requests the variables' values."""
        super().every_n_step_begin(step)
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        tf_logging.info("Logging Trainable: Step %d: %s", step, _listed(self._names, outputs))
        return False


def _listed(names: Mapping[str, str], outputs: Mapping[Any, Any]) -> str:
    pairs = ((label, name) for label, name in names.items() if name in outputs)
    return ", ".join(f"{label} = {output_of(outputs, name)}" for label, name in pairs)


class CaptureVariable(EveryN):
    """Keeps a tensor's values.

    Args:
      var_name: the tensor's name.
      every_n: see `EveryN`.
      first_n: see `EveryN`.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by step."""
        return self._values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Requests the tensor."""
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Keeps its value."""
        super().every_n_step_end(step, outputs)
        self._values[step] = output_of(outputs, self._var_name)
        return False


class GraphDump(BaseMonitor):
    """Keeps the values of almost all tensors of the graph at every step.

    Args:
      ignore_ops: types of operations whose tensors are left out; by default IGNORE_OPS.
    """

    IGNORE_OPS: tuple[str, ...] = (
        "Const",
        "Assign",
        "Identity",
        "Placeholder",
        "RandomUniform",
        "Cast",
        "RestoreSlice",
    )

    def __init__(self, ignore_ops: Iterable[str] | None = None):
        super().__init__()
        self._ignored = list(ignore_ops or self.IGNORE_OPS)
        self._tensors: list[tf.Tensor] = []
        self._data: dict[int, dict[str, Any]] = {}

    @property
    def data(self) -> dict[int, dict[str, Any]]:
        """By step, the values by tensors' names."""
        return self._data

    def begin(self, max_steps: int | None = None) -> None:
        """Lists the graph's tensors."""
        super().begin(max_steps=max_steps)
        operations = _v1.get_default_graph().get_operations()
        ops = [op for op in operations if op.type not in self._ignored and op.outputs]
        self._tensors = [op.outputs[0] for op in ops]

    def step_begin(self, step: int) -> list[Any]:
        """Requests the tensors."""
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool:
        """Keeps their values."""
        super().step_end(step, output)
        self._data[step] = {getattr(key, "name", key): value for key, value in output.items()}
        return False

    def compare(
        self, other_dump: GraphDump, step: int, atol: float = 1e-06
    ) -> tuple[list[str], dict[str, Any]]:
        """Compares the values of a step.

        Args:
          other_dump: another monitor.
          step: the step.
          atol: the largest difference of equal numbers.

        Returns:
          The names of equal tensors, and by name what differs: arrays' difference, or both values.

        Raises:
          ValueError: a monitor has no values of the step.
        """
        matched: list[str] = []
        other: dict[str, Any] = {}
        for dump in (self, other_dump):
            if step not in dump.data:
                raise ValueError(f"Dump does not have data of step {step}: {sorted(dump.data)}.")
        there = other_dump.data[step]
        for name, value in self.data[step].items():
            if name not in there:
                raise ValueError(f"{name} missing at step {step} in the other dump.")
            if isinstance(value, np.ndarray):
                if not np.allclose(value, there[name], atol=atol):
                    other[name] = value - there[name]
                    continue
            elif value != there[name]:
                other[name] = (value, there[name])
                continue
            matched.append(name)
        return matched, other


class NanLossDuringTrainingError(RuntimeError):
    """The loss is NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanLoss(EveryN):
    """Ends training if the loss is NaN.

    Args:
      loss_tensor: the loss.
      every_n_steps: see `EveryN`.
      fail_on_nan_loss: whether to raise a `NanLossDuringTrainingError`, or to stop.
    """

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Requests the loss."""
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Checks it.

        Raises:
          NanLossDuringTrainingError: it is NaN, and fail_on_nan_loss is true.
        """
        super().every_n_step_end(step, outputs)
        if not np.isnan(output_of(outputs, self._loss_tensor)):
            return False
        log = tf_logging.error if self._fail_on_nan_loss else tf_logging.warning
        log("Model diverged with loss = NaN.")
        if self._fail_on_nan_loss:
            raise NanLossDuringTrainingError
        return True
