"""Flags for what TPU guides advise: sizes per core, scaled rates, warm-up, short trial runs."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any

from absl import flags as absl_flags

__all__ = [
    "AUTO",
    "RateRule",
    "define_rule_flags",
    "profiled_steps",
    "resolve_batch_sizes",
    "rule_problems",
    "xla_choice",
]

absl_flags.disclaim_key_flags()

_BATCH_SIZES = ("train_batch_size", "eval_batch_size", "predict_batch_size")
# A TPU stores a batch in tiles of 8 rows, and its matrix units take 128.
_ADVISED, _LEAST = 128, 8
_SCALINGS = ("none", "linear", "sqrt")
AUTO = "auto"


def define_rule_flags(flag_values: absl_flags.FlagValues = absl_flags.FLAGS) -> None:
    """Defines config, the batch size per core, the rules of the rate, and the trial runs."""
    absl_flags.DEFINE_string(
        "config",
        None,
        "A YAML file of flags, a line `name: value` each. Flags of the command line win. Each "
        "training writes its own to run.yaml in the model_dir.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_integer(
        "batch_size_per_core",
        None,
        f"Examples per core and step, in place of the global batch sizes; {_ADVISED} is the usual "
        "advice for a TPU.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_enum(
        "learning_rate_scaling",
        "none",
        list(_SCALINGS),
        "How the learning rate follows the global batch size, relative to --base_batch_size: "
        "'linear', or 'sqrt' for its square root.",
        flag_values=flag_values,
    )
    integers = {
        "base_batch_size": (256, "The global batch size for which --learning_rate is meant."),
        "warmup_steps": (0, "Steps over which the learning rate rises from 0."),
        "overfit_batches": (
            None,
            "Train and evaluate on this many batches of the training set, again and again: a "
            "model that is right learns them by heart.",
        ),
        "early_stopping_evals": (
            None,
            "In train_and_evaluate, stop after this many evaluations without a smaller loss.",
        ),
    }
    for name, (default, text) in integers.items():
        absl_flags.DEFINE_integer(name, default, text, flag_values=flag_values)
    booleans = {
        "mixed_precision": "Compute in bfloat16, with weights in float32.",
        "dry_run": "Run two steps of each mode in a temporary folder, then show the plan of the "
        "run; the model_dir stays as it is.",
    }
    for name, text in booleans.items():
        absl_flags.DEFINE_bool(name, False, text, flag_values=flag_values)
    absl_flags.DEFINE_flag(
        absl_flags.Flag(
            _SwitchOrAuto(),
            absl_flags.ArgumentSerializer(),
            "xla",
            False,
            "Compile steps with XLA, on CPUs and GPUs too; a TPU does in any case. on: an error if "
            "the training step cannot be compiled. auto: measure both ways for some steps and keep "
            "the faster.",
            boolean=True,
        ),
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "profile",
        None,
        "Steps to profile, as FROM:TO, such as 100:110, for TensorBoard's profiler.",
        flag_values=flag_values,
    )


class _SwitchOrAuto(absl_flags.BooleanParser):
    """Parses a switch that may also be 'auto'."""

    def parse(self, argument: str | bool | int) -> Any:
        """Returns a bool, or 'auto'."""
        if isinstance(argument, str):
            word = argument.lower()
            if word == AUTO:
                return AUTO
            argument = {"on": "true", "off": "false"}.get(word, argument)
        try:
            return super().parse(argument)
        except ValueError:
            raise ValueError(
                f"want on or off (true or false), or {AUTO}; got {argument!r}"
            ) from None

    def flag_type(self) -> str:
        """Returns the name of the type, which the YAML file of flags goes by."""
        return "switch or auto"


@dataclasses.dataclass(frozen=True)
class RateRule:
    """The learning rate that the flags ask for.

    Attributes:
        rate: the rate for the base batch size.
        scaling: none, linear or sqrt.
        base: the global batch size that `rate` is meant for.
        warmup_steps: the steps over which the rate rises.
    """

    rate: float
    scaling: str
    base: int
    warmup_steps: int

    @classmethod
    def of(cls, flag_values: absl_flags.FlagValues) -> RateRule:
        """Returns the rule of parsed flags."""
        return cls(
            flag_values.learning_rate,
            flag_values.learning_rate_scaling,
            flag_values.base_batch_size,
            flag_values.warmup_steps,
        )

    def for_batch(self, size: int) -> float:
        """Returns the rate after the warm-up, for a global batch size."""
        ratio = size / self.base
        factor = {"none": 1.0, "linear": ratio, "sqrt": math.sqrt(ratio)}[self.scaling]
        return self.rate * factor


def resolve_batch_sizes(flag_values: absl_flags.FlagValues, num_replicas: int) -> str | None:
    """Sets the global batch sizes that `--batch_size_per_core` means; those given stay.

    Args:
        flag_values: parsed and checked flags.
        num_replicas: the number of replicas that share a batch.

    Returns:
        A remark on the number of examples per core, or None.
    """
    each = flag_values.batch_size_per_core
    if each is not None:
        for name in _BATCH_SIZES:
            if not flag_values[name].present:
                flag_values[name].value = each * num_replicas
    each = flag_values.train_batch_size // num_replicas
    if not flag_values.use_tpu or each >= _LEAST:
        return None
    return (
        f"{each} examples per core: a TPU pads them to {_LEAST}. Use --batch_size_per_core="
        f"{_LEAST} or more; {_ADVISED} fill its matrix units."
    )


def profiled_steps(flag_values: absl_flags.FlagValues) -> tuple[int, int] | None:
    """Returns the first and the last step to profile; None if there are none.

    Raises:
        ValueError: `--profile` has another form.
    """
    text = flag_values.profile
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,18}):(\d{1,18})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError("want FROM:TO, two steps from 1 on, as in 100:110")
    return int(match[1]), int(match[2])


def xla_choice(flag_values: absl_flags.FlagValues) -> str | None:
    """Returns 'on', 'off' or 'auto', as `--xla` says; None if the environment decides."""
    value = flag_values.xla
    if value == AUTO:
        return AUTO
    if value:
        return "on"
    return "off" if flag_values["xla"].present else None


def rule_problems(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    """Yields the problems of these flags, one line each."""
    base, warmup = flag_values.base_batch_size, flag_values.warmup_steps
    if base is None or not 1 <= base < 2**31:
        yield f"--base_batch_size={base}: want a number from 1 to {2**31 - 1}"
    if warmup is None or not 0 <= warmup < 2**31:
        yield f"--warmup_steps={warmup}: want a number of steps, 0 or more"
    try:
        profiled_steps(flag_values)
    except ValueError as error:
        yield f"--profile={flag_values.profile}: {error}"
    each = flag_values.batch_size_per_core
    if each is not None and flag_values["train_batch_size"].present:
        yield (
            f"--batch_size_per_core={each} with --train_batch_size={flag_values.train_batch_size}: "
            "both set the size of the training's batch; give one"
        )
    if flag_values.dry_run and flag_values.compile_only:
        yield "--dry_run with --compile_only: one runs two steps, the other none; give one"
    if flag_values.early_stopping_evals and "train_and_eval" not in flag_values.mode:
        yield (
            f"--early_stopping_evals={flag_values.early_stopping_evals} with "
            f"--mode={flag_values.mode}: only --mode=train_and_evaluate evaluates as it trains"
        )
