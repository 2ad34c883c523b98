"""Programs within a test's process, as a user starts them: TensorFlow has been loaded already."""

import contextlib
import dataclasses
import io
import os
import runpy
import sys
from pathlib import Path

import tf_keras
from absl import flags as absl_flags
from absl import logging
from absl.testing import flagsaver

ROOT = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Ended:
    """A run that ended: its exit code, and what it wrote."""

    code: int
    out: str
    err: str


def train(folder, *arguments):
    """Runs train.py with flags, in a folder."""
    return start(folder, lambda: runpy.run_path(str(ROOT / "train.py"), run_name="__main__"),
                 "train.py", *arguments)  # fmt: skip


def start(folder, program, *words):
    """Calls a program in a folder, with its name and its arguments."""
    out, err = io.StringIO(), io.StringIO()
    verbosity, argv, here = logging.get_verbosity(), sys.argv, os.getcwd()
    policy = tf_keras.mixed_precision.global_policy()
    sys.argv = [*map(str, words)]
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _own_flags():
            code = program()
    except SystemExit as stopped:
        code = stopped.code
    finally:
        sys.argv = argv
        os.chdir(here)
        logging.set_verbosity(verbosity)
        tf_keras.mixed_precision.set_global_policy(policy)  # --mixed_precision sets it
    return Ended(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _own_flags():
    """Hides the flags that other tests' programs have left, and removes those defined within."""
    values = absl_flags.FLAGS
    others = {
        module: list(flags)
        for module, flags in values.flags_by_module_dict().items()
        if module.partition(".")[0] != "absl"
    }
    for name in {flag.name for flags in others.values() for flag in flags} & set(values):
        delattr(values, name)
    before = set(values)
    with flagsaver.flagsaver():
        try:
            yield
        finally:
            for name in set(values) - before:
                delattr(values, name)
    for module, flags in others.items():
        for flag in flags:
            values[flag.name] = flag
            values.register_flag_by_module(module, flag)
