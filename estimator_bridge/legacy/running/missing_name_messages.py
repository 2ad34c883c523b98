"""Messages for names below tensorflow that do not exist."""

from __future__ import annotations

from estimator_bridge.errors import MissingImportError, MissingNameError
from estimator_bridge.legacy.tf1.private_names import advice_on
from estimator_bridge.tf_contrib.namespace_advice import Namespaces
from estimator_bridge.tf_contrib.package import load_contrib

__all__ = ["missing_name_message"]

_CONTRIB = "tensorflow.contrib."
_TABLE = "`estimator-bridge run --list-supported` lists the supported names."

# By prefix of a name.
_ADVICE = {
    "tensorflow.examples": (
        "The examples are no longer part of TensorFlow, except for "
        "tensorflow.examples.tutorials.mnist.input_data."
    ),
    "tensorflow.models": "The models are not part of TensorFlow: put their folder on PYTHONPATH.",
    "tensorflow.python.estimator": "Look for a public name of it in tf.estimator.",
    "tensorflow.python.keras": (
        "It is a private name of Keras, which the package tf_keras lacks. Write a public name of "
        "tf.compat.v1.keras."
    ),
    "tensorflow.python": f"It is a private name, and was removed or moved. {_TABLE}",
}


def missing_name_message(name: str, error: Exception | None = None) -> str:
    """Returns the message for a name that does not exist.

    Args:
      name: the full name, starting with `tensorflow`.
      error: the error that its lookup raised.
    """
    if isinstance(error, (MissingImportError, MissingNameError)):
        return str(error)
    if name.startswith(_CONTRIB):
        return _of_contrib(name.replace("tensorflow", "tf", 1))
    advice = advice_on(name)
    if advice is not None:
        return f"{name} is not supported. {advice}"
    fitting = (text for start, text in _ADVICE.items() if f"{name}.".startswith(f"{start}."))
    hint = next(fitting, f"TensorFlow no longer has this name. {_TABLE}")
    return f"{name} is not supported. {hint}"


def _of_contrib(name: str) -> str:
    namespace = name.split(".")[2]
    if namespace in load_contrib("namespaces").NAMESPACES:
        return f"{name} is not supported. {_TABLE}"
    return f"tf.contrib.{namespace} {Namespaces()[namespace]}"
