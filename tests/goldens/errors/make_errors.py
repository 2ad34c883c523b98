"""Records errors.json: the types that TensorFlow's own Estimator raises in the cases.

pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
cd tests && TF_CPP_MIN_LOG_LEVEL=3 python -m goldens.errors.make_errors
"""

import json
import os

import tensorflow as tf
from goldens.errors import error_cases

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    """Writes the file."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    golden = {
        "tensorflow": tf.__version__,
        "raised": error_cases.provoke(tf.compat.v1.estimator),
    }
    with open(os.path.join(HERE, "errors.json"), "w") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
