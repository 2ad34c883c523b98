"""Exports the checkpoint of a model of models/ for a prediction."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from absl import flags as absl_flags

import flags
from estimator_bridge.base.any_files import is_folder
from estimator_bridge.own_files import output_to_read
from estimator_bridge.prediction.model_folder import ModelFolder
from models.common.registry import define_model_flags, entry_of, settle
from models.common.task import open_task

__all__ = ["exporting"]

_CONFIG = "run.yaml"
# Params that the models' functions may name, and that only a training uses.
_OF_TRAINING = {"learning_rate": 0.0, "train_steps": 1, "warmup_steps": 0}


def exporting(arguments: argparse.Namespace, folder: ModelFolder) -> Callable[[str], str] | None:
    """Returns how the latest checkpoint of a folder is exported.

    Args:
        arguments: those of predict.py; `model` is None unless it was given.
        folder: the folder, which has a checkpoint.

    Returns:
        A function that writes a SavedModel into a folder and returns its path; None if nothing
        tells which model it is.

    Raises:
        SystemExit: with status 2, after a message, if run.yaml has a wrong value.
        FlagsError: the model's own flags are wrong.
        UserError: the model's files are missing or wrong.
    """
    model_dir = folder.path if is_folder(folder.path) else os.path.dirname(folder.path)
    values = _training_flags(model_dir, arguments.model)
    if values is None or values.api != "estimator":  # others have checkpoints of another kind
        return None
    entry_of(values.model).check(values)

    def export(target: str) -> str:
        import estimator_bridge as eb

        if not is_folder(values.data_dir):  # nothing is written for a prediction
            values["data_dir"].value = os.path.join(target, "data")
        task = open_task(values)
        params = {**task.params, **_OF_TRAINING}
        config = eb.RunConfig(model_dir=model_dir)
        estimator = eb.Estimator(task.model.model_fn, config=config, params=params)
        checkpoint = estimator.latest_checkpoint() if folder.path == model_dir else folder.path
        print(f"Checkpoint of {values.model}: {checkpoint}", file=sys.stderr)
        exported = estimator.export_saved_model(
            target, task.receiver_fn, checkpoint_path=checkpoint
        )
        return os.fsdecode(exported)

    return export


def _training_flags(model_dir: str, model: str | None) -> absl_flags.FlagValues | None:
    """Returns the flags of the training of a model_dir; None if they are not known."""
    config = output_to_read(os.path.join(model_dir, _CONFIG))
    words = [f"--config={config}"] if os.path.exists(config) else []
    if not words and model is None:
        return None
    if model is not None:
        words.append(f"--model={model}")
    values = absl_flags.FlagValues()
    flags.define_flags(values, paths={"data_dir": "runs/data"})
    define_model_flags(values)
    flags.parse_flags(["predict.py", *words, "--nouse_tpu"], values, settle)
    return values
