"""The entry of `train.py --model=tabular`, which is read before TensorFlow is imported."""

from __future__ import annotations

from absl import flags as absl_flags

from models.common.model_entry import Entry, Layout
from models.tabular.tables import TABLES, check_tables
from models.tabular.values import AUTO, KINDS

__all__ = ["ENTRY"]


def _define(flag_values: absl_flags.FlagValues) -> None:
    absl_flags.DEFINE_string(
        "table",
        "wine",
        "For tabular: a table that ships with scikit-learn "
        f"({', '.join(TABLES)}), or the name of a folder in the data_dir with train.csv and "
        "test.csv.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "target",
        "target",
        "For tabular: the column to predict.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_enum(
        "target_kind",
        AUTO,
        KINDS,
        "For tabular: whether the target is one of some classes, numbered from 0 on, or a number. "
        "By default classes if the training set has each whole number from 0 to its largest one. "
        "Few whole numbers with a gap are an error.",
        flag_values=flag_values,
    )


ENTRY = Entry(
    about="wide and deep, for tables of numbers",
    defaults={"train_steps": 300, "learning_rate": 1e-2, "train_batch_size": 32},
    task="models.tabular.task",
    layout=Layout(
        "a folder for the table, with train.csv and test.csv",
        ("{table}/*.csv",),
        "scikit-learn's tables",
    ),
    define_flags=_define,
    check=lambda values: check_tables(
        values.data_dir, values.table, values.target, values.target_kind
    ),
    apis=("estimator",),
)
