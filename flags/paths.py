"""The flags for input and output folders."""

from __future__ import annotations

from absl import flags as absl_flags

__all__ = ["define_path_flags"]

absl_flags.disclaim_key_flags()


def define_path_flags(
    flag_values: absl_flags.FlagValues = absl_flags.FLAGS,
    *,
    model_dir: str | None = None,
    data_dir: str | None = None,
    model_dir_help: str = "Folder of checkpoints, summaries and results.",
    data_dir_help: str = "Folder of the training and test data.",
) -> None:
    """Defines model_dir, data_dir and export_dir.

    Args:
        flag_values: where to define them.
        model_dir: the default of `--model_dir`.
        data_dir: the default of `--data_dir`.
        model_dir_help: the help text of `--model_dir`.
        data_dir_help: the help text of `--data_dir`.
    """
    absl_flags.DEFINE_string("model_dir", model_dir, model_dir_help, flag_values=flag_values)
    absl_flags.DEFINE_string("data_dir", data_dir, data_dir_help, flag_values=flag_values)
    absl_flags.DEFINE_string(
        "export_dir",
        None,
        "Folder of exported SavedModels. By default, 'export' in the model_dir.",
        flag_values=flag_values,
    )
