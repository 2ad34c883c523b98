"""Records errors.json: the types that TensorFlow's own Estimator raises in the cases.

Run with TensorFlow 2.15's Python: python make_errors.py
"""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import error_cases  # noqa: E402
import tensorflow as tf  # noqa: E402


def main():
    """Writes the file."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    found = {
        "tensorflow": tf.__version__,
        "raised": error_cases.provoke(tf.compat.v1.estimator),
    }
    with open(os.path.join(HERE, "errors.json"), "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
