"""The entry of `train.py --model=resnet`, which is read before TensorFlow is imported."""

from __future__ import annotations

from collections.abc import Iterator

from absl import flags as absl_flags

from models.common.model_entry import Entry, Layout, define_skip_bad_records

__all__ = ["ENTRY"]

_DEPTHS = (8, 14, 20, 32, 44, 56, 110, 50, 101, 152)
_SHARES = ("label_smoothing", "ema_decay")

absl_flags.disclaim_key_flags()


def _define_flags(flag_values: absl_flags.FlagValues) -> None:
    define_skip_bad_records(flag_values)
    absl_flags.DEFINE_enum(
        "optimizer",
        "momentum",
        ["momentum", "lars"],
        "resnet: 'momentum' is Nesterov's; 'lars' is for batches of thousands.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_enum(
        "schedule",
        "cosine",
        ["cosine", "steps", "polynomial"],
        "resnet: how the learning rate falls to 0 after the warm-up; 'steps': to a tenth at 33, 67 "
        "and 89 % of the training; 'polynomial', a square, goes with LARS.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_integer(
        "depth",
        None,
        f"resnet: layers, of {', '.join(map(str, _DEPTHS))}; 50 and more than 100 but 110 are for "
        "photographs. By default, what the data is for: 8 for digits, 20 for CIFAR-10, 50 for "
        "ImageNet.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_bool(
        "cross_replica_norm",
        False,
        "resnet: batch norm's statistics are those of the global batch, summed over the cores.",
        flag_values=flag_values,
    )
    shares = {
        "label_smoothing": (0.1, "resnet: the part of each label that goes to all classes."),
        "ema_decay": (0.0, "resnet: decay of the averages of weights that evaluation, prediction "
                      "and export use, such as 0.9999; 0: the weights themselves."),
        "weight_decay": (1e-4, "resnet: the factor of the weights' squares in the loss, or LARS's "
                         "decay. Batch norm and biases have none."),
    }  # fmt: skip
    for name, (default, text) in shares.items():
        absl_flags.DEFINE_float(name, default, text, flag_values=flag_values)


def _problems(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    depth = flag_values.depth
    if depth is not None and depth not in _DEPTHS:
        yield f"--depth={depth}: want one of {', '.join(map(str, _DEPTHS))}"
    for name in _SHARES:
        value = flag_values[name].value
        if value is None or not 0 <= value < 1:
            yield f"--{name}={value}: want a number from 0 to below 1"
    decay = flag_values.weight_decay
    if decay is None or not 0 <= decay < 1:
        yield f"--weight_decay={decay}: want a number from 0 to below 1, such as 0.0001"
    steps = flag_values.train_steps
    if flag_values.warmup_steps and steps and flag_values.warmup_steps >= steps:
        yield (
            f"--warmup_steps={flag_values.warmup_steps} with --train_steps={steps}: the rate would "
            "never reach --learning_rate; want fewer steps of warm-up"
        )


ENTRY = Entry(
    about="a residual network, on scikit-learn's digits, CIFAR-10 or ImageNet",
    defaults={"train_steps": 300, "learning_rate": 0.1, "warmup_steps": 20},
    task="models.resnet.task",
    layout=Layout(
        "the files of CIFAR-10 (data_batch_1.bin) or of ImageNet (train-00000-of-01024)",
        ("train-*", "*.bin", "cifar-10-batches-bin", "resnet-digits"),
        "scikit-learn's digits",
    ),
    define_flags=_define_flags,
    problems=_problems,
    apis=("estimator",),
)
