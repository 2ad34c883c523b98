"""DBpedia: abstracts of articles, of 14 classes."""

from __future__ import annotations

import os
import tarfile

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.learn.datasets import base

__all__ = ["load_dbpedia", "maybe_download_dbpedia"]

DBPEDIA_URL = "https://github.com/le-scientifique/torchDatasets/raw/master/dbpedia_csv.tar.gz"
_FOLDER = "dbpedia_csv"


def maybe_download_dbpedia(data_dir: str) -> None:
    """Downloads and unpacks the data, unless the folder has ``dbpedia_csv/{train,test}.csv``.

    Raises:
      FileNotFoundError: the files are missing and cannot be downloaded.
    """
    paths = [os.path.join(data_dir, _FOLDER, name) for name in ("train.csv", "test.csv")]
    if not all(tf.io.gfile.exists(path) for path in paths):
        archive = base.maybe_download("dbpedia_csv.tar.gz", data_dir, DBPEDIA_URL)
        with tarfile.open(archive) as file:
            file.extractall(data_dir, filter="data")


def load_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> base.Datasets:
    """Reads the training and test set: texts [examples, 2], and their classes.

    Args:
      size: "small" reads every thousandth example. Any other size reads all examples.
      test_with_fake_data: not supported: TensorFlow 1 had files with examples for tests.

    Raises:
      NotImplementedError: test_with_fake_data is true.
      FileNotFoundError: the files are missing and cannot be downloaded. They are looked for in
        dbpedia_data, in the folder that the environment variable TF_EXP_BASE_DIR names.
    """
    if test_with_fake_data:
        raise NotImplementedError(
            "test_with_fake_data=True read files of TensorFlow 1 that are not part of this "
            "library. Put a train.csv and a test.csv with rows of a class, a title and a text in "
            "dbpedia_data/dbpedia_csv, and leave the argument out."
        )
    folder = os.path.join(os.getenv("TF_EXP_BASE_DIR", ""), "dbpedia_data")
    maybe_download_dbpedia(folder)
    datasets = {}
    for part in ("train", "test"):
        path = os.path.join(folder, _FOLDER, f"{part}.csv")
        if size == "small":
            base.shrink_csv(path, 1000)
            path = os.path.join(folder, _FOLDER, f"{part}_small.csv")
        datasets[part] = base.load_csv_without_header(path, np.int32, np.str_, target_column=0)
    return base.Datasets(datasets["train"], None, datasets["test"])  # type: ignore[arg-type]
