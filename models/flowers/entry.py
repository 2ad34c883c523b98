"""The entry of `train.py --model=flowers`, which is read before TensorFlow is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator

from absl import flags as absl_flags

from models.common.errors import UserError
from models.common.model_entry import Entry, Layout, define_skip_bad_records

__all__ = ["ENTRY", "SMALLEST"]

# The smallest images that a backbone of tf_keras.applications takes, in pixels.
SMALLEST = {"mobilenet_v2": 32, "xception": 71}
_LARGEST = 1024

absl_flags.disclaim_key_flags()


def _define_flags(flag_values: absl_flags.FlagValues) -> None:
    define_skip_bad_records(flag_values)
    absl_flags.DEFINE_enum(
        "backbone",
        "mobilenet_v2",
        list(SMALLEST),
        "flowers: the network of tf_keras.applications below the classifier.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_float(
        "width",
        0.35,
        "flowers: the factor of mobilenet_v2's channels, such as 0.35 or 1.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_integer(
        "image_size",
        None,
        "flowers: height and width to which images are resized. By default those of the data: 32 "
        "for the patches, 192 for others; at least 71 for xception.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "weights",
        None,
        "flowers: pretrained weights of the backbone: an .h5 file of Keras 2, such as those of "
        "tf_keras.applications without their top. By default, random ones.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_enum(
        "patches",
        "photograph",
        ["photograph", "quarter"],
        "flowers: what to tell of the patches that ship: the photograph that they are from, or the "
        "quarter of it. A backbone trained for one can be transferred to the other.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_bool(
        "freeze_backbone",
        False,
        "flowers: train only the classifier; needs --weights.",
        flag_values=flag_values,
    )


def _problems(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    backbone, size = flag_values.backbone, flag_values.image_size
    smallest = SMALLEST[backbone]
    if size is not None and not smallest <= size <= _LARGEST:
        yield f"--image_size={size}: want {smallest} to {_LARGEST} pixels for --backbone={backbone}"
    if not 0.1 <= flag_values.width <= 2:
        yield f"--width={flag_values.width}: want a factor from 0.1 to 2, such as 0.35"
    if flag_values.freeze_backbone and not flag_values.weights:
        yield "--freeze_backbone without --weights: random weights would stay; name a file of them"
    if flag_values.weights is not None and flag_values.api != "estimator":
        yield f"--weights works with --api=estimator only, got --api={flag_values.api}"


def _check(flag_values: absl_flags.FlagValues) -> None:
    path = flag_values.weights
    if path is not None and "://" not in path and not os.path.isfile(path):
        raise UserError(f"--weights={path}: no such file. Name an .h5 file of Keras 2.")


ENTRY = Entry(
    about="photographs of TFRecords, on a network of tf_keras.applications",
    defaults={"train_steps": 200, "learning_rate": 2e-3},
    task="models.flowers.task",
    layout=Layout(
        ".tfrec files of records, or the folders train and val of records",
        ("*.tfrec", "train", "patches*"),
        "patches of scikit-learn's two photographs",
    ),
    define_flags=_define_flags,
    problems=_problems,
    check=_check,
)
