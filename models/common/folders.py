"""Checks of folders before anything is computed."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
from collections.abc import Callable, Sequence

from absl import flags as absl_flags

from flags import phases
from models.common.errors import UserError, few
from models.common.model_entry import Entry

__all__ = ["no_checkpoint", "require_checkpoint", "require_data", "require_writable"]


def require_checkpoint(flag_values: absl_flags.FlagValues) -> None:
    """Checks that a folder named by `--model_dir` has a checkpoint, if `--mode` begins with one.

    Args:
        flag_values: parsed flags.

    Raises:
        UserError: the folder is missing, or has no checkpoint.
    """
    folder = flag_values.model_dir
    phase = phases(flag_values.mode)[0]
    if not folder or "://" in folder or flag_values.compile_only or phase.startswith("train"):
        return
    patterns = ("checkpoint", "*.index")
    if not any(glob.glob(os.path.join(glob.escape(folder), pattern)) for pattern in patterns):
        raise no_checkpoint(folder, phase)


def no_checkpoint(folder: str, phase: str) -> UserError:
    """Returns the error of a folder without a checkpoint for a phase of `--mode`."""
    verb = "predict with" if phase == "predict" else phase
    return UserError(
        f"{folder}: no checkpoint to {verb}. Train first (--mode=train), or name the folder of a "
        "trained model with --model_dir."
    )


def require_data(
    flag_values: absl_flags.FlagValues,
    entry: Entry,
    matching: Callable[[str], Sequence[str]] = glob.glob,
) -> None:
    """Checks that a folder named by `--data_dir` has data of the model.

    A model trains on the small data that ships only if the flag is left out.

    Args:
        flag_values: parsed flags.
        entry: the model's.
        matching: returns the paths that match a pattern.

    Raises:
        UserError: the folder is missing, empty, or has other files only.
    """
    folder, layout = flag_values.data_dir, entry.layout
    if folder == entry.defaults.get("data_dir", flag_values["data_dir"].default):
        return
    names = flag_values.flag_values_dict()
    patterns = (os.path.join(folder, pattern.format(**names)) for pattern in layout.patterns)
    if any(matching(pattern) for pattern in patterns):
        return
    raise UserError(
        f"--data_dir={folder}: {_content(folder)}. --model={flag_values.model} reads "
        f"{layout.description}. Name their folder, or leave out --data_dir to train on "
        f"{layout.small}."
    )


def _content(folder: str) -> str:
    if "://" in folder:
        return "no data of this model"
    if not os.path.isdir(folder):
        return "no such folder"
    names = sorted(os.listdir(folder))
    if not names:
        return "the folder is empty"
    return f"no data of this model, but {few(names)}"


def require_writable(folder: str, flag: str) -> None:
    """Creates a folder if needed, and checks that files can be written in it.

    Args:
        folder: the folder; one in a remote file system (`gs://...`) is left unchecked.
        flag: the flag that named it, for the message.

    Raises:
        UserError: the folder cannot be created or written.
    """
    if "://" in folder:
        return
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"probe")
    except OSError as error:
        raise UserError(
            f"cannot write in {folder}: {error.strerror}. {_advice(error)} with --{flag}=PATH."
        ) from error


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space, or name a folder on another disk"
    return "Name a folder that you can write"
