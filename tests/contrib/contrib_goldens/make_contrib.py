"""Records the golden files of this folder, with the real TensorFlow 1.15.5.

    cd tests/contrib && PYTHON115 -m contrib_goldens.make_contrib

PYTHON115 is a Python 3.7 with tensorflow==1.15.5, protobuf<3.21, numpy<1.19, scipy<1.6,
scikit-learn==1.0.2 and pandas<1.0. NDLSTM is set as `cases/ndlstm.py` says. Each table of cases is
recorded twice; a case that does not come out the same is a race, and an error.
"""

import json
import os
import tempfile
import warnings

import tensorflow as tf
from contrib_goldens.run_cases import TABLES, run

__all__ = ["main"]

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    """Writes the golden files.

    Raises:
      ValueError: a case is a race.
    """
    warnings.simplefilter("ignore")
    tf.logging.set_verbosity(tf.logging.FATAL)
    run(HERE, TABLES)
    with tempfile.TemporaryDirectory() as folder:
        run(folder, TABLES)
        for table in TABLES:
            first, again = (_cases(each, table) for each in (HERE, folder))
            racing = [
                name for name in first if _without_text(first[name]) != _without_text(again[name])
            ]
            if racing:
                raise ValueError("%s: %s did not come out the same." % (table, racing))


def _cases(folder, table):
    with open(os.path.join(folder, table + ".json")) as file:
        return json.load(file)["cases"]


def _without_text(case):
    """An error's text may have an address or a folder in it."""
    return {part: value for part, value in case.items() if part != "text"}


if __name__ == "__main__":
    main()
