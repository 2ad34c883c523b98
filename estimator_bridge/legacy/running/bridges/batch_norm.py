"""Support for programs' cross-replica batch normalization, which overrides a Keras method.

That private method, ``_moments``, had no argument `mask` in TF1.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import tensorflow as tf

__all__ = ["ignore_moments_mask"]


def ignore_moments_mask() -> None:
    """Lets a program's subclasses of batch normalization omit today's argument `mask`."""
    layer = tf.compat.v1.layers.BatchNormalization
    base = next(kind for kind in layer.__mro__ if "_moments" in vars(kind))
    if "__init_subclass__" not in vars(base):
        base.__init_subclass__ = classmethod(functools.partial(_new_subclass, base))


def _new_subclass(base: Any, subclass: Any, **options: Any) -> None:
    super(base, subclass).__init_subclass__(**options)
    own = vars(subclass).get("_moments")
    if own is None or "mask" in inspect.signature(own).parameters:
        return

    @functools.wraps(own)
    def _moments(layer: Any, *args: Any, mask: Any = None, **kwargs: Any) -> Any:
        keywords = {} if mask is None else {"mask": mask}
        return own(layer, *args, **kwargs, **keywords)

    subclass._moments = _moments
