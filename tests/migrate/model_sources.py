"""Sources of model_fns and input functions, around the lines that a test is about."""

from __future__ import annotations

from textwrap import indent

__all__ = ["HEAD", "inputs", "model"]

HEAD = "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n\n"


def model(body: str, after: str = "") -> str:
    """Returns a model_fn of TPUEstimator.

    Args:
      body: its lines before the spec; they set `loss`.
      after: more arguments of the spec, after a comma.
    """
    whole = indent(body, "    ")
    return (
        f"{HEAD}def model_fn(features, labels, mode, params):\n{whole}\n"
        f"    return eb.tpu.TPUEstimatorSpec(mode, loss=loss{after})\n"
    )


def inputs(body: str, arguments: str = "params", name: str = "train_input_fn") -> str:
    """Returns an input function in a program of TPUEstimator."""
    whole = indent(body, "    ")
    return f"{HEAD}def {name}({arguments}):\n{whole}\n\neb.tpu.TPUEstimator(model_fn)\n"
