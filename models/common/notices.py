"""Leaves out what TensorFlow logs for its own developers."""

from __future__ import annotations

import logging
import os
import warnings

__all__ = ["hide_tensorflow_notices"]


def hide_tensorflow_notices() -> None:
    """Hides deprecation notices, unless the user has chosen how much TensorFlow shows.

    Called before TensorFlow is imported.
    """
    if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
        logging.getLogger("tensorflow").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", category=UserWarning, module=r"tf_keras\.")
        # Raised where a model calls such a layer, once for each line that does.
        warnings.filterwarnings("ignore", r"`tf\.layers\.\w+` is deprecated", UserWarning)
