"""The absl flags that TPU programs share: defined, parsed and checked without TensorFlow."""

from __future__ import annotations

from absl import flags as absl_flags

from flags.config_file import flags_in_force, write_config
from flags.parse import parse_flags
from flags.paths import define_path_flags
from flags.rules import RateRule, define_rule_flags, profiled_steps, resolve_batch_sizes
from flags.tpu import Accelerator, choose_accelerator, define_tpu_flags
from flags.training import define_training_flags, phases
from flags.validate import FlagsError, check_flags

__all__ = [
    "Accelerator",
    "FlagsError",
    "RateRule",
    "check_flags",
    "choose_accelerator",
    "define_flags",
    "define_path_flags",
    "define_rule_flags",
    "define_tpu_flags",
    "define_training_flags",
    "flags_in_force",
    "parse_flags",
    "phases",
    "profiled_steps",
    "resolve_batch_sizes",
    "write_config",
]

absl_flags.disclaim_key_flags()


def define_flags(
    flag_values: absl_flags.FlagValues = absl_flags.FLAGS,
    *,
    tpu: dict | None = None,
    training: dict | None = None,
    paths: dict | None = None,
) -> None:
    """Defines all shared flags.

    Args:
        flag_values: where to define them.
        tpu: a model's defaults, for `define_tpu_flags`.
        training: a model's defaults, for `define_training_flags`.
        paths: a model's defaults, for `define_path_flags`.
    """
    define_tpu_flags(flag_values, **(tpu or {}))
    define_training_flags(flag_values, **(training or {}))
    define_path_flags(flag_values, **(paths or {}))
    define_rule_flags(flag_values)
