"""The names of tf.compat.v1.estimator, whose V1 classes differ from those of tf.estimator.

``Estimator`` has ``export_savedmodel`` here, and canned estimators and parsing-spec functions are
those for V1 feature columns. All other names are those of `estimator_bridge`. In TensorFlow 1
programs, ``tf.estimator`` means these names.
"""

from __future__ import annotations

from typing import Any

from estimator_bridge.base.lazy_namespace import make_lazy
from estimator_bridge.base.public_names import V1_PLACES
from estimator_bridge.legacy.api_modules import api_module_v1

__all__ = [*sorted(V1_PLACES)]  # noqa: PLE0604 - names are strings

make_lazy(__name__)


def __getattr__(name: str) -> Any:
    return getattr(api_module_v1(), name)


def __dir__() -> list[str]:
    return __all__
