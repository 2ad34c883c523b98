"""Runs what the flags ask for: the phases of `--mode`, or a dry run of each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Iterator

import tensorflow as tf
import tf_keras
from absl import flags as absl_flags

import estimator_bridge as eb
from estimator_bridge.data.input_errors import BadInputError
from flags import (
    Accelerator,
    check_flags,
    choose_accelerator,
    flags_in_force,
    phases,
    resolve_batch_sizes,
)
from models.common.console import Console
from models.common.errors import UserError
from models.common.folders import require_data
from models.common.job import BATCH_SIZE, Job
from models.common.plan import plan_of
from models.common.registry import entry_of, own_values
from models.common.task import Task, open_task

__all__ = ["run"]

_SKIP = "skip_bad_records"
_TRIAL_STEPS, _TRIAL_CORES = 2, 2


def run(flag_values: absl_flags.FlagValues, console: Console) -> None:
    """Runs the phases of `--mode`.

    Args:
        flag_values: parsed and checked flags.
        console: shows the progress to the user.

    Raises:
        UserError: data, folders or checkpoints are missing or invalid.
        FlagsError: a batch size does not fit the accelerator that was found.
        estimator_bridge.errors.AcceleratorNotFoundError: the named TPU was not found.
    """
    accelerator = choose_accelerator(flag_values, eb.runtime.tpu_present)
    if accelerator.notice:
        console.say(accelerator.notice)
    in_force = flags_in_force(flag_values)
    if flag_values.mixed_precision:
        tf_keras.mixed_precision.set_global_policy("mixed_bfloat16")
    num_replicas = accelerator.num_replicas or _count_replicas(flag_values, accelerator)
    remark = resolve_batch_sizes(flag_values, num_replicas)
    check_flags(flag_values, num_replicas)
    if remark:
        console.say(remark)
    if (accelerator.tpu or "").startswith("emulated:"):
        cores = min(num_replicas, _TRIAL_CORES) if flag_values.dry_run else num_replicas
        eb.runtime.emulate_cores(cores)  # before the data is read, which fixes the devices
    if "://" in flag_values.data_dir:  # others were checked before TensorFlow was imported
        require_data(flag_values, entry_of(flag_values.model), _matching_afar)
    task = open_task(flag_values)
    if flag_values.dry_run:
        _try_out(flag_values, accelerator, task, console)
        return
    job = Job(flag_values, accelerator, task, console)
    actions = {
        "train": job.train,
        "evaluate": job.evaluate,
        "predict": job.predict,
        "export": job.export,
        "train_and_evaluate": job.train_and_evaluate,
    }
    with job.keeping_flags(in_force), _advise(flag_values.model):
        for phase in phases(flag_values.mode):
            actions[phase]()
    job.close()


@contextlib.contextmanager
def _advise(model: str) -> Iterator[None]:
    """Adds the flag that leaves a record out to the error of one that cannot be read."""
    try:
        yield
    except BadInputError as error:
        if not own_values({_SKIP: True}, model):
            raise
        raise UserError(f"{error}\nWith --{_SKIP}, train.py leaves such images out.") from error


def _matching_afar(pattern: str) -> list[str]:
    """Returns the paths in a remote file system that match a pattern.

    Raises:
        UserError: the file system does not answer.
    """
    try:
        return list(tf.io.gfile.glob(pattern))
    except tf.errors.NotFoundError:
        return []
    except tf.errors.OpError as error:
        raise UserError(
            f"--data_dir={os.path.dirname(pattern)}: cannot be read: {error.message}. Check its "
            "name, the network and your credentials."
        ) from error


def _count_replicas(flag_values: absl_flags.FlagValues, accelerator: Accelerator) -> int:
    """Asks a TPU for its number of cores."""
    resolver = eb.tpu.TPUClusterResolver(
        tpu=accelerator.tpu, zone=flag_values.tpu_zone, project=flag_values.gcp_project
    )
    return eb.runtime.tpu_strategy(resolver).num_replicas_in_sync


def _try_out(
    flag_values: absl_flags.FlagValues, accelerator: Accelerator, task: Task, console: Console
) -> None:
    """Runs two steps of each mode in a temporary folder, and shows the plan of the run."""
    model_dir = flag_values.model_dir or os.path.join("runs", task.data.name)
    plan = plan_of(
        flag_values,
        accelerator,
        num_replicas=accelerator.num_replicas or 1,
        sizes=task.data.sizes,
        model_dir=model_dir,
    )
    accelerator, where = _on_few_cores(flag_values, accelerator)
    with tempfile.TemporaryDirectory() as folder:
        short = {
            "model_dir": folder,
            "export_dir": os.path.join(folder, "export"),
            "train_steps": _TRIAL_STEPS,
            "eval_steps": _TRIAL_STEPS,
            "profile": None,
        }
        for name, value in short.items():
            flag_values[name].value = value
        job = Job(flag_values, accelerator, task, console)
        console.say(f"Dry run: {_TRIAL_STEPS} steps each{where}, in a temporary folder.")
        for text, action in (
            ("training", job.train),
            ("evaluation", job.evaluate),
            ("prediction", job.predict),
            ("export", job.export),
        ):
            console.say(f"Dry run: {text} ...")
            action()
    console.say(f"Dry run: {_TRIAL_STEPS} steps of each mode ran. {model_dir} is as it was.")
    console.table("Plan", plan)


def _on_few_cores(
    flag_values: absl_flags.FlagValues, accelerator: Accelerator
) -> tuple[Accelerator, str]:
    """Returns the accelerator of a trial, and where it runs: two emulated cores show what eight do.

    A core's batch stays as large as it is.
    """
    cores = accelerator.num_replicas or 1
    if not (accelerator.tpu or "").startswith("emulated:") or cores <= _TRIAL_CORES:
        return accelerator, ""
    for name in BATCH_SIZE.values():
        flag_values[name].value = max(flag_values[name].value // cores, 1) * _TRIAL_CORES
    few = dataclasses.replace(
        accelerator, tpu=f"emulated:{_TRIAL_CORES}", num_replicas=_TRIAL_CORES
    )
    return few, f" on {_TRIAL_CORES} of the {cores} cores"
