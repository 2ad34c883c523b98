"""Situations in which Estimator raises errors, to compare their types.

`provoke` runs under the original and under this library; `est` is the V1 face of either. Each
subject has a module.
"""

from __future__ import annotations

import contextlib
import shutil

from goldens.errors.calls import Calls
from goldens.errors.checkpoints import Checkpoints
from goldens.errors.constructors import Constructors
from goldens.errors.exports import Exports
from goldens.errors.inputs_and_heads import InputsAndHeads
from goldens.errors.model_fns import ModelFns
from goldens.errors.outer_loop import OuterLoop
from goldens.errors.steps import Steps
from goldens.errors.tpu import TPU

_ANY = (Exception, BaseException, object)
_SUBJECTS = (
    Checkpoints,
    Constructors,
    Calls,
    ModelFns,
    Steps,
    OuterLoop,
    Exports,
    TPU,
    InputsAndHeads,
)


class Cases(
    Checkpoints, Constructors, Calls, ModelFns, Steps, OuterLoop, Exports, TPU, InputsAndHeads
):
    """The situations: the methods that `names` lists; each is expected to raise.

    Args:
      est: tf.compat.v1.estimator.
    """

    @classmethod
    def names(cls):
        """All cases."""
        return [n for subject in _SUBJECTS for n in vars(subject) if not n.startswith("_")]


def provoke(est, names=None):
    """Runs the cases.

    Args:
      est: tf.compat.v1.estimator.
      names: which; all by default.

    Returns:
      By case, the names of the classes in the MRO of what was raised; None where nothing was.
    """
    kinds = {}
    cases = Cases(est)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, cases.folder, ignore_errors=True)
        for name in names or Cases.names():
            kinds[name] = None
            try:
                getattr(cases, name)()
            except Exception as error:
                kinds[name] = [k.__name__ for k in type(error).__mro__ if k not in _ANY]
    return kinds
