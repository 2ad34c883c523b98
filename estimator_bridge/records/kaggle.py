"""Finds the Cloud Storage bucket of a Kaggle data set, in a Kaggle notebook."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping

from estimator_bridge.errors import DataError

__all__ = ["kaggle_bucket"]

_INPUT = "/kaggle/input"


def kaggle_bucket(dataset: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Returns the gs:// address of a data set that is attached to a Kaggle notebook.

    A TPU of Google Cloud reads from the bucket; files below the notebook's input folder are on the
    notebook's machine only.

    Args:
      dataset: the name of its folder in the notebook's input; None for the only attached data set.
      environ: environment variables; by default this process's.

    Raises:
      DataError: this is not a Kaggle notebook, no such data set is attached, or it has no bucket.
    """
    environ = os.environ if environ is None else environ
    if importlib.util.find_spec("kaggle_datasets") is None:
        is_on_kaggle = "KAGGLE_KERNEL_RUN_TYPE" in environ
        raise DataError(
            "kaggle_bucket looks up a data set's bucket through Kaggle's own package "
            "kaggle_datasets, which "
            + (
                "this Kaggle machine does not have: its TPU is attached to it and reads local "
                f"files. Read {_INPUT}/{dataset or 'NAME'} instead."
                if is_on_kaggle
                else "only Kaggle's notebooks have; this is not one. Name the records by a folder "
                "or by their own gs:// address."
            )
        )
    from kaggle_datasets import KaggleDatasets

    try:
        bucket = KaggleDatasets().get_gcs_path(dataset)
    except Exception as error:  # the package's types are not documented
        raise DataError(
            f"Kaggle has no bucket for the data set {dataset or 'attached to this notebook'!r}: "
            f"{error}. Attach it in the notebook's panel Input, and name it as its folder there."
        ) from error
    if not str(bucket).startswith("gs://"):
        raise DataError(f"Kaggle answered {bucket!r} for {dataset!r}, want an address gs://...")
    return str(bucket)
