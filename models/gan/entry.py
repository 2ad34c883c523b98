"""The entry of `train.py --model=gan`, which is read before TensorFlow is imported."""

from __future__ import annotations

from models.common.model_entry import Entry, Layout
from models.mnist.check import check_data

__all__ = ["ENTRY"]

ENTRY = Entry(
    about="a GAN of digits, two optimizers in one step",
    defaults={"train_steps": 3000, "learning_rate": 1e-3},
    task="models.gan.task",
    layout=Layout(
        "the four IDX files of MNIST, plain or .gz",
        ("*idx[13]-ubyte*", "digits"),
        "scikit-learn's digits",
    ),
    check=lambda flag_values: check_data(flag_values.data_dir),
    apis=("estimator",),
)
