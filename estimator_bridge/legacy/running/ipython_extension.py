"""`%load_ext estimator_bridge`: a notebook of TensorFlow 1 runs cell by cell."""

from __future__ import annotations

import os
import sys
from typing import Any

from estimator_bridge.errors import TooLateError
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.prepared_main import prepare_main

__all__ = ["load_extension"]

_ATTRIBUTE = "_estimator_bridge_loaded"


def load_extension(shell: Any) -> None:
    """Gives a notebook's cells the imports of TensorFlow 1, `tf.contrib` among them.

    Cells that import `tensorflow` afterwards get TF1's API, like a script under
    `estimator-bridge run --tf1`.

    Args:
      shell: the IPython shell.

    Raises:
      TooLateError: the notebook has imported TensorFlow already.
    """
    if getattr(shell, _ATTRIBUTE, False):
        return
    if "tensorflow" in sys.modules:
        raise TooLateError(
            "%load_ext estimator_bridge comes after an import of TensorFlow, which the cells would "
            "go on to use. Restart the kernel, and make it the first line of the first cell."
        )
    values = prepare_main(
        path=os.path.join(os.getcwd(), "notebook.py"),
        module=None,
        dialect=Dialect.TF1.value,
        forced=None,
        graphs=False,
        is_tool=False,
    )
    shell.user_ns["__builtins__"] = values["__builtins__"]
    setattr(shell, _ATTRIBUTE, True)
