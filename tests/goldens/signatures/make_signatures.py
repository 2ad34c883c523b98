"""Records the public API of the real tf.estimator, and the results of its configurations.

    cd tests && python -m goldens.signatures.make_signatures

in an environment with tensorflow-cpu==2.15.1 writes signatures.json and configurations.json
beside this file.
"""

from __future__ import annotations

import inspect
import json
import os
import pathlib
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from goldens.signatures.configuration_cases import CASES
from goldens.signatures.face_observer import outcome, signature

_HERE = pathlib.Path(__file__).parent


def _public(module: Any, prefix: str = "") -> dict[str, Any]:
    signatures = {}
    for name in sorted(n for n in dir(module) if not n.startswith("_")):
        value = getattr(module, name)
        if inspect.ismodule(value):
            signatures.update(_public(value, f"{prefix}{name}."))
        elif inspect.isclass(value) or callable(value):
            signatures[prefix + name] = signature(value)
    return signatures


def _write(name: str, content: dict[str, Any]) -> None:
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    (_HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    """Writes both files."""
    if not tf.__version__.startswith("2.15."):
        raise SystemExit(f"Needs TensorFlow 2.15, the last with tf.estimator; got {tf.__version__}")
    v1 = tf.compat.v1.estimator
    both = {"tf.compat.v1.estimator": v1, "tf.estimator": tf.estimator}
    faces = {f"{k}.{name}": s for k, m in both.items() for name, s in _public(m).items()}
    _write("signatures.json", faces)
    constructors = {
        "RunConfig": v1.RunConfig,
        "tpu.RunConfig": v1.tpu.RunConfig,
        "tpu.TPUConfig": v1.tpu.TPUConfig,
    }
    _write("configurations.json", {case.name: outcome(constructors, case) for case in CASES})


if __name__ == "__main__":
    main()
