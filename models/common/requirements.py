"""Reports packages that train.py or predict.py lacks, before it imports them. Needs only Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

__all__ = ["say_what_is_missing"]

# Modules, with the names of their packages.
_LIBRARY = {"absl": "absl-py", "numpy": "numpy", "tensorflow": "tensorflow", "tf_keras": "tf-keras"}
_EXTRA = {
    "matplotlib": "matplotlib",
    "rich": "rich",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def say_what_is_missing(
    find: Callable[[str], object] = find_spec,
    write: Callable[[str], object] = sys.stderr.write,
    distributions: Callable[[str], str | None] = _version,
) -> bool:
    """Looks for the modules that train.py imports, now or after training.

    Args:
        find: finds a module without importing it; returns None if there is none.
        write: receives the message.
        distributions: returns an installed distribution's version, or None.

    Returns:
        Whether a module is missing; if so, the message has been written.
    """
    packages = {**_LIBRARY, **_EXTRA}
    missing = [package for module, package in packages.items() if find(module) is None]
    if missing:
        keep = ""
        if distributions("tensorflow-tpu") and not distributions("tensorflow"):
            # Otherwise pip writes another TensorFlow over it.
            keep = "pip install ./estimator_bridge/tensorflow_for_tpu && "
        write(
            f"train.py: {', '.join(missing)} not installed here. From this folder, run: "
            f"{keep}pip install -e '.[models]'  (or `make train`, which creates its own "
            "environment). "
            "If estimator-bridge itself is installed: pip install 'estimator-bridge[models]'\n"
        )
    return bool(missing)
