"""What there is to say of a name below tensorflow that is not there."""

from __future__ import annotations

from estimator_bridge.contrib.advice import Namespaces
from estimator_bridge.errors import MissingImportError, MissingNameError
from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__ = ["what_is_said_of"]

_CONTRIB = "tensorflow.contrib."
_TABLE = "`estimator-bridge run --list-supported` shows what is there."

# By the beginning of a name.
_ADVICE = {
    "tensorflow.examples": (
        "The examples are no part of TensorFlow any more, but for "
        "tensorflow.examples.tutorials.mnist.input_data."
    ),
    "tensorflow.models": "The models are no part of TensorFlow: put their folder on PYTHONPATH.",
    "tensorflow.python.estimator": "See tf.estimator for a public name of it.",
    "tensorflow.python": f"It is a private name, and has gone or moved. {_TABLE}",
}


def what_is_said_of(name: str, error: Exception | None = None) -> str:
    """A message for a name that is not there.

    Args:
      name: the full name, from `tensorflow` on.
      error: what was raised when it was looked for.
    """
    if isinstance(error, (MissingImportError, MissingNameError)):
        return str(error)
    if name.startswith(_CONTRIB):
        return _of_contrib(name.replace("tensorflow", "tf", 1))
    fitting = (said for start, said in _ADVICE.items() if f"{name}.".startswith(f"{start}."))
    said = next(fitting, f"TensorFlow has no such name any more. {_TABLE}")
    return f"{name} is not supported. {said}"


def _of_contrib(shown: str) -> str:
    namespace = shown.split(".")[2]
    if namespace in NAMESPACES:
        return f"{shown} is not supported. {_TABLE}"
    return f"tf.contrib.{namespace} {Namespaces()[namespace]}"
