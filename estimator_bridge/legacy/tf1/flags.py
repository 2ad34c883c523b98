"""tf.flags, in which a program may redefine flags of absl and TensorFlow.

Before TensorFlow 1.5, tf.flags was not absl's, and programs of that time define `log_dir`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from absl import flags as absl_flags

__all__ = ["tf_flags"]

# A flag belongs to the module that calls this one, and is shown in its help.
absl_flags.disclaim_key_flags()

# absl reads these while it logs, and expects its own types of values.
_ABSL_NEEDS = {"v", "verbosity"}


@functools.cache
def tf_flags() -> ModuleType:
    """Returns the module for tf.flags and tf.app.flags."""
    from tensorflow.compat.v1 import flags as real

    module = ModuleType("tensorflow.flags", real.__doc__)
    for name in dir(real):
        if name.startswith("DEFINE"):
            setattr(module, name, _in_place_of_theirs(getattr(real, name)))
        elif not name.startswith("_"):
            setattr(module, name, getattr(real, name))
    return module


def _in_place_of_theirs(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def define_flag(*args: Any, **kwargs: Any) -> Any:
        name: Any = args[0] if args else kwargs.get("name", kwargs.get("flag_name"))
        if name not in _ABSL_NEEDS and _is_theirs(name):
            delattr(absl_flags.FLAGS, name)
        return define(*args, **kwargs)

    return define_flag


def _is_theirs(name: Any) -> bool:
    flags = absl_flags.FLAGS
    if not isinstance(name, str) or name not in flags:
        return False
    return str(flags.find_module_defining_flag(name)).startswith(("absl.", "tensorflow."))
