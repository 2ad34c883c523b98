"""Says which packages train.py lacks, before anything of it runs. Needs Python alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec

__all__ = ["say_what_is_missing"]

# Modules, and the packages on an index that have them.
_LIBRARY = {"absl": "absl-py", "numpy": "numpy", "tensorflow": "tensorflow", "tf_keras": "tf-keras"}
_EXTRA = {"matplotlib": "matplotlib", "rich": "rich", "sklearn": "scikit-learn"}


def say_what_is_missing(
    find: Callable[[str], object] = find_spec, write: Callable[[str], object] = sys.stderr.write
) -> bool:
    """Looks for what train.py imports, now or once it has trained.

    Args:
        find: finds a module without importing it; returns None where there is none.
        write: takes the message.

    Returns:
        Whether something is missing, of which the message has been written.
    """
    needed = {**_LIBRARY, **_EXTRA}
    missing = [package for module, package in needed.items() if find(module) is None]
    if missing:
        write(
            f"train.py: {', '.join(missing)} not installed here. From this folder, run: "
            "pip install -e '.[models]'  (or `make train`, which makes an environment of its own). "
            "If estimator-bridge itself is installed: pip install 'estimator-bridge[models]'\n"
        )
    return bool(missing)
