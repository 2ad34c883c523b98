"""`estimator-bridge doctor`: reports the installation, the devices and the effect of --tpu."""

from __future__ import annotations

from estimator_bridge.commands.doctor.report import examine, explain_tpu_values

__all__ = ["examine", "explain_tpu_values"]
