"""Checks flag values against each other, and reports all problems together."""

from __future__ import annotations

import os
from collections.abc import Iterator

from absl import flags as absl_flags

from flags.rules import rule_problems
from flags.tpu import compiled_replicas, local_devices

__all__ = ["FlagsError", "check_flags"]

_POSITIVE = (
    "train_steps",
    "eval_steps",
    "train_batch_size",
    "eval_batch_size",
    "predict_batch_size",
    "save_checkpoints_steps",
    "iterations_per_loop",
    "num_shards",
    "batch_size_per_core",
    "overfit_batches",
    "early_stopping_evals",
)
_ESTIMATOR_ONLY = (
    "grace_secs",
    "watchdog_secs",
    "async_checkpoints",
    "compile_for",
    "xla",
    "profile",
    "early_stopping_evals",
)
_SECONDS = ("grace_secs", "watchdog_secs")
# Steps are counted in 64 bits, everything else in 32. A longer time would overflow a timer.
_MOST_STEPS, _MOST, _MOST_SECONDS = 2**62, 2**31 - 1, 10**9
_STEPS = ("train_steps", "eval_steps", "save_checkpoints_steps")
_LARGEST_FLOAT32 = 3.4e38
_DIGITS_SHOWN = 50
# TensorFlow finds files by glob patterns, in which these characters are special.
_PATTERN_CHARACTERS = "[]\\"
_OPTIONAL = (
    "eval_steps",
    "num_shards",
    "batch_size_per_core",
    "overfit_batches",
    "early_stopping_evals",
)
_BATCH_SIZES = ("train_batch_size", "eval_batch_size", "predict_batch_size")


class FlagsError(ValueError):
    """Invalid flag values; the message lists all of them.

    Attributes:
        problems: one line per invalid value: the flag, its value, the expected value.
    """

    def __init__(self, problems: list[str]):
        from estimator_bridge.base.terminal_text import printable

        self.problems = [printable(problem) for problem in problems]
        head = "a flag value is wrong" if len(problems) == 1 else "some flag values are wrong"
        super().__init__("\n".join([f"{head}:", *(f"  {problem}" for problem in self.problems)]))


def check_flags(flag_values: absl_flags.FlagValues, num_replicas: int | None = None) -> None:
    """Checks the flags of `define_flags` against each other; needs no TensorFlow.

    Args:
        flag_values: parsed flags.
        num_replicas: the number of replicas if already known; otherwise that of `--num_shards` or
            `--tpu=emulated:N`, if any.

    Raises:
        FlagsError: some values are invalid; the message lists all of them.
    """
    problems = [
        *_numbers(flag_values),
        *_compile_for(flag_values),
        *_api(flag_values),
        *_accelerator(flag_values),
        *_batch_sizes(flag_values, num_replicas),
        *_folders(flag_values),
        *rule_problems(flag_values),
    ]
    if problems:
        raise FlagsError(problems)


def _numbers(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    for name in _POSITIVE:
        value = flag_values[name].value
        if value is None and name not in _OPTIONAL:
            yield f"--{name} has no value: want a number of 1 or more"
        elif value is not None and value < 1:
            hint = "; leave the flag out for the default" if name in _OPTIONAL else ""
            yield f"--{name}={_shorten(value)}: want a number of 1 or more{hint}"
        elif value is not None and value > (limit := _MOST_STEPS if name in _STEPS else _MOST):
            yield f"--{name}={_shorten(value)}: want a number from 1 to {limit}"
    for name in _SECONDS:
        secs = flag_values[name].value
        if secs is not None and not 0 <= secs <= _MOST_SECONDS:
            yield f"--{name}={secs:g}: want a number of seconds, 0 or more, up to {_MOST_SECONDS}"
    rate = flag_values.learning_rate
    if rate is None or not 0 < rate <= _LARGEST_FLOAT32:
        yield f"--learning_rate={rate}: want a number above 0 that fits a float32, such as 0.001"
    seed = flag_values.tf_random_seed
    if seed is not None and not 0 <= seed < 2**31:
        yield f"--tf_random_seed={_shorten(seed)}: want a number from 0 to {2**31 - 1}"


def _api(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    if flag_values.api == "estimator":
        return
    for name in _ESTIMATOR_ONLY:
        if flag_values[name].value not in (None, False):
            yield f"--{name} works with --api=estimator only, got --api={flag_values.api}"
    if flag_values.mode in ("train_and_evaluate", "train_and_eval"):
        yield (
            f"--mode={flag_values.mode} works with --api=estimator only, got "
            f"--api={flag_values.api}: use --mode=all, which evaluates at the end"
        )


def _compile_for(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    target = flag_values.compile_for
    if not target:
        for name in ("compile_only", "compile_report", "find_batch_size"):
            if flag_values[name].value:
                yield f"--{name} needs a slice to compile for: also give --compile_for=v5e-8"
        return
    try:
        replicas = compiled_replicas(target)
    except ValueError as error:
        yield f"--compile_for={target}: {error}"
        return
    if flag_values.find_batch_size and not flag_values.compile_only:
        yield (
            "--find_batch_size compiles steps of many sizes, which do not run: also give "
            "--compile_only"
        )
    if not flag_values.use_tpu:
        yield f"--compile_for={target} with --nouse_tpu: a TPU's steps are those of --use_tpu"
    if flag_values.tpu not in ("auto", ""):
        yield (
            f"--compile_for={target} with --tpu={flag_values.tpu}: steps that are compiled for a "
            "described TPU run on emulated cores; leave --tpu out"
        )
    shards = flag_values.num_shards
    if shards is not None and shards != replicas:
        yield (
            f"--num_shards={shards} with --compile_for={target}, which has {replicas} replicas: "
            f"give --num_shards={replicas} or leave it out"
        )


def _accelerator(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    if not flag_values.use_tpu:
        return
    try:
        cores = local_devices(flag_values.tpu)
    except ValueError as error:
        yield f"--tpu={flag_values.tpu}: {error}"
        return
    shards = flag_values.num_shards
    if cores is not None and shards is not None and shards != cores:
        yield (
            f"--num_shards={shards} with --tpu={flag_values.tpu}: the two have to agree; "
            f"give --num_shards={cores} or leave it out"
        )


def _batch_sizes(flag_values: absl_flags.FlagValues, num_replicas: int | None) -> Iterator[str]:
    replicas = num_replicas or _named_replicas(flag_values)
    if replicas is None or replicas < 1 or flag_values.batch_size_per_core is not None:
        return
    for name in _BATCH_SIZES:
        size = flag_values[name].value
        if size is None or size < 1 or size % replicas == 0:
            continue
        below = size - size % replicas
        fitting = f"{below} or {below + replicas}" if below else f"{replicas}"
        kind = name.split("_")[0]
        yield (
            f"--{name}={size}: {kind} batch size {size} must be divisible by number of replicas "
            f"{replicas}; use {fitting}"
        )


def _named_replicas(flag_values: absl_flags.FlagValues) -> int | None:
    if not flag_values.use_tpu:
        return 1
    try:
        if flag_values.compile_for:
            return compiled_replicas(flag_values.compile_for)
        return local_devices(flag_values.tpu) or flag_values.num_shards
    except ValueError:  # reported by _accelerator or _compile_for
        return None


def _folders(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    for name in ("model_dir", "data_dir", "export_dir"):
        folder = flag_values[name].value
        if folder == "":
            yield f"--{name}= is empty: name a folder, or leave the flag out for the default"
        elif folder is not None and "://" not in folder:  # else in a remote file system
            yield from _folder(name, folder)


def _folder(name: str, folder: str) -> Iterator[str]:
    if not folder.isprintable():
        yield f"--{name}={folder!r}: want a name of printable characters"
        return
    in_the_way = _file_in_the_way(folder)
    if in_the_way is not None:
        where = "" if in_the_way == folder else f" {in_the_way}"
        yield f"--{name}={folder}: want a folder, but{where or ' this'} is a file"
    special = sorted(set(_PATTERN_CHARACTERS).intersection(folder))
    if special:
        yield (
            f"--{name}={folder}: TensorFlow treats {' and '.join(special)} in a name as a pattern "
            "and would not find the files; name another folder"
        )


def _file_in_the_way(folder: str) -> str | None:
    path = folder
    while path and not os.path.lexists(path):
        path = os.path.dirname(path)
    return path if path and not os.path.isdir(path) else None


def _shorten(number: int) -> str:
    sign, digits = "-" if number < 0 else "", str(abs(number))
    if len(digits) <= _DIGITS_SHOWN:
        return sign + digits
    return f"{sign}{digits[:_DIGITS_SHOWN]}... ({len(digits)} digits)"
