"""The flags for the phases of a run and their length."""

from __future__ import annotations

from absl import flags as absl_flags

__all__ = ["APIS", "MODES", "define_training_flags", "phases"]

absl_flags.disclaim_key_flags()

# The phases of each --mode, in order. The short names are those of older programs.
MODES = {
    "all": ("train", "evaluate", "predict", "export"),
    "train_and_evaluate": ("train_and_evaluate",),
    "train_and_eval": ("train_and_evaluate",),
    "train": ("train",),
    "evaluate": ("evaluate",),
    "eval": ("evaluate",),
    "predict": ("predict",),
    "export": ("export",),
}
# The values of --api.
APIS = ("estimator", "keras", "loop")


def phases(mode: str) -> tuple[str, ...]:
    """Returns the phases of a `--mode`, in order.

    They are train, evaluate, predict and export, or train_and_evaluate alone.
    """
    return MODES[mode]


def define_training_flags(
    flag_values: absl_flags.FlagValues = absl_flags.FLAGS,
    *,
    mode: str = "all",
    train_steps: int = 1000,
    train_batch_size: int = 64,
    eval_batch_size: int = 64,
    predict_batch_size: int = 64,
    learning_rate: float = 1e-3,
    save_checkpoints_steps: int = 500,
    tf_random_seed: int = 1,
) -> None:
    """Defines the mode, the number of steps, the batch sizes and the learning rate.

    Args:
        flag_values: where to define them.
        mode: the default of `--mode`; a key of `MODES`.
        train_steps: the default of `--train_steps`.
        train_batch_size: the default of `--train_batch_size`, a global batch.
        eval_batch_size: the default of `--eval_batch_size`, a global batch.
        predict_batch_size: the default of `--predict_batch_size`, a global batch.
        learning_rate: the default of `--learning_rate`.
        save_checkpoints_steps: the default of `--save_checkpoints_steps`.
        tf_random_seed: the default of `--tf_random_seed`.
    """
    absl_flags.DEFINE_enum(
        "mode",
        mode,
        list(MODES),
        "What to do. 'all' trains, evaluates, predicts a few examples and exports; "
        "'train_and_evaluate' evaluates each checkpoint while it trains, and exports the best.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_enum(
        "api",
        "estimator",
        list(APIS),
        "How to train the same model: with an estimator, with Keras's fit, or in a custom loop.",
        flag_values=flag_values,
    )
    integers = {
        "train_steps": (train_steps, "Train up to this global step."),
        "eval_steps": (None, "Batches to evaluate on. By default, the whole test set."),
        "train_batch_size": (train_batch_size, "Global batch size for training."),
        "eval_batch_size": (eval_batch_size, "Global batch size for evaluation."),
        "predict_batch_size": (predict_batch_size, "Global batch size for prediction."),
        "save_checkpoints_steps": (save_checkpoints_steps, "Steps between two checkpoints."),
        "tf_random_seed": (tf_random_seed, "The seed of initial weights and of shuffling."),
    }
    for name, (default, text) in integers.items():
        absl_flags.DEFINE_integer(name, default, text, flag_values=flag_values)
    seconds = {
        "grace_secs": "Seconds that training may take to save and end after SIGTERM or Ctrl-C. By "
        "default, 30; 0 ends it at once.",
        "watchdog_secs": "Write the cause of a wait, and all threads' stacks, if no step ends for "
        "this many seconds. By default, one line after 600; 0 never does.",
    }
    for name, text in seconds.items():
        absl_flags.DEFINE_float(name, None, text, flag_values=flag_values)
    absl_flags.DEFINE_bool(
        "async_checkpoints",
        None,
        "Continue training while a checkpoint is written. By default, training waits.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_float(
        "learning_rate", learning_rate, "The optimizer's learning rate.", flag_values=flag_values
    )
