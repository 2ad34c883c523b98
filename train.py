"""Trains a model of models/, by default a classifier of digits.

It runs on a TPU, on a GPU or on this CPU:

python train.py --use_tpu               # an attached TPU, else 8 emulated cores
python train.py --model=resnet          # another model
python train.py --tpu=my-tpu            # that TPU, and no other
python train.py --tpu=gpu:2             # two GPUs of this machine
python train.py --nouse_tpu             # a plain Estimator of the same model
python train.py --compile_for=v5e-8 --compile_only  # compile for that TPU only
python train.py --data_dir=mnist        # full MNIST: a folder with its 4 files
python train.py --flagfile=flags.txt    # flags from a file, one per line
python train.py --config=run.yaml       # flags of an earlier run
python train.py --dry_run               # two steps of each mode, then the plan
python train.py --mode=train_and_evaluate --early_stopping_evals=3
"""

from __future__ import annotations

import os
import sys

from models.common.requirements import say_what_is_missing

if say_what_is_missing():  # before an import fails, now or after training
    sys.exit(1)

from absl import app, logging
from absl import flags as absl_flags

import flags
from estimator_bridge.base.terminal_text import printable_text
from models.common.environment import require_valid_tf_config
from models.common.errors import UserError
from models.common.folders import require_checkpoint, require_data, require_writable
from models.common.notices import hide_tensorflow_notices
from models.common.registry import define_model_flags, entry_of, settle
from models.common.short_help import asks_for_help, short_help

_FAILED, _USAGE_ERROR, _INTERRUPTED = 1, 2, 130

flags.define_flags(
    paths={
        "data_dir": "runs/data",
        "data_dir_help": "Folder of the data. For mnist, the four MNIST IDX files, plain or .gz. "
        "Without this flag, a model trains on a small data set that ships.",
        "model_dir_help": "Folder of checkpoints, summaries and the picture. By default runs/ with "
        "the name of the data, such as runs/digits.",
    },
)
define_model_flags()


def main(_: list[str]) -> int:
    """Runs the job; errors that a user can fix end as a message and an exit code."""
    if not absl_flags.FLAGS["verbosity"].present:
        # The console shows what the library would log; --verbosity=0 shows both.
        logging.set_verbosity(logging.WARNING)
    try:
        require_valid_tf_config(os.environ)
        is_kept = not (absl_flags.FLAGS.compile_only or absl_flags.FLAGS.dry_run)
        for flag in ("model_dir", "export_dir") if is_kept else ():
            if absl_flags.FLAGS[flag].present:
                require_writable(absl_flags.FLAGS[flag].value, flag)
        if not absl_flags.FLAGS.dry_run:
            require_checkpoint(absl_flags.FLAGS)
        entry = entry_of(absl_flags.FLAGS["model"].value)
        if "://" not in absl_flags.FLAGS.data_dir:
            require_data(absl_flags.FLAGS, entry)
        entry.check(absl_flags.FLAGS)
    except (UserError, OSError) as error:
        return _refuse(error, _FAILED)
    compile_job = None
    if absl_flags.FLAGS.compile_for:
        from estimator_bridge.compile_for import CompileError, start_job

        try:
            compile_job = start_job(
                absl_flags.FLAGS.compile_for,
                absl_flags.FLAGS.compile_only,
                absl_flags.FLAGS.compile_report,
                absl_flags.FLAGS.find_batch_size,
            )
        except (ValueError, CompileError) as error:
            return _refuse(error, _USAGE_ERROR)
    # TensorFlow takes seconds to import, so it comes after the cheap checks.
    from estimator_bridge.base.quiet_start import quietly, settle_devices

    hide_tensorflow_notices()
    with quietly():
        import tensorflow as tf

        import estimator_bridge as eb
        from estimator_bridge.compile_for import CompileError, CompileOnlyEnd

        settle_devices()
        from models.common import run_job
        from models.common.console import Console
    fixable = (
        UserError,
        OSError,
        MemoryError,
        eb.errors.AcceleratorNotFoundError,
        eb.errors.CheckpointError,
        eb.errors.DataError,
        CompileError,
        eb.errors.ModelDirInUseError,
        eb.errors.ModelDirLostError,
        eb.errors.TooLateError,
        eb.errors.WorkerError,
        # The program's environment: memory, disks, permissions, the network.
        tf.errors.DataLossError,
        tf.errors.NotFoundError,
        tf.errors.PermissionDeniedError,
        tf.errors.ResourceExhaustedError,
        tf.errors.UnavailableError,
    )
    try:
        with Console() as console:
            run_job.run(absl_flags.FLAGS, console)
    except CompileOnlyEnd:  # compiling was all that was asked for
        assert compile_job is not None
    except flags.FlagsError as error:
        return _refuse(error, _USAGE_ERROR)
    except fixable as error:
        return _refuse(_with_advice(error), _FAILED)
    except KeyboardInterrupt:
        return _refuse("stopped; the same command resumes from the last checkpoint", _INTERRUPTED)
    return compile_job.finish() if compile_job else 0


def _with_advice(error: Exception) -> str:
    message = str(error)
    if isinstance(error, MemoryError) or "OOM" in message or "out of memory" in message.lower():
        sizes = ("train_batch_size", "eval_batch_size", "predict_batch_size")
        settings = ", ".join(f"--{name}={absl_flags.FLAGS[name].value}" for name in sizes)
        first = message.strip().splitlines()[0] if message.strip() else "memory is exhausted"
        return f"out of memory: {first}\nThis run has {settings}: smaller batches need less."
    return message


def _refuse(message: object, code: int) -> int:
    print(f"train.py: {printable_text(message)}", file=sys.stderr)
    return code


def parse(argv: list[str]) -> list[str]:
    """Parses the command line; `--help` shows the flags that matter, and ends."""
    if asks_for_help(argv):
        print(short_help(argv, __doc__ or "", absl_flags.FLAGS))
        sys.exit(0)
    return flags.parse_flags(argv, settle=settle)


if __name__ == "__main__":
    app.run(main, flags_parser=parse)
