"""tf.contrib.opt: optimizers beside those of tf.train."""

from estimator_bridge.legacy.contrib.opt.adagrad import RegAdagradOptimizer
from estimator_bridge.legacy.contrib.opt.adam import (
    AdaMaxOptimizer,
    AdamGSOptimizer,
    LazyAdamGSOptimizer,
    LazyAdamOptimizer,
    NadamOptimizer,
)
from estimator_bridge.legacy.contrib.opt.averages import MovingAverageOptimizer
from estimator_bridge.legacy.contrib.opt.external import (
    ExternalOptimizerInterface,
    ScipyOptimizerInterface,
)
from estimator_bridge.legacy.contrib.opt.lars import LARSOptimizer
from estimator_bridge.legacy.contrib.opt.signs import AddSignOptimizer, PowerSignOptimizer
from estimator_bridge.legacy.contrib.opt.weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)
from estimator_bridge.legacy.contrib.opt.wrappers import (
    MultitaskOptimizerWrapper,
    VariableClippingOptimizer,
    clip_gradients_by_global_norm,
)
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "ExternalOptimizerInterface",
    "LARSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "MultitaskOptimizerWrapper",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "RegAdagradOptimizer",
    "ScipyOptimizerInterface",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
]

_ASYNC = (
    "is for workers that step each by itself on variables of shared servers, which is not there. "
    "Use a plain optimizer with tf.distribute.MultiWorkerMirroredStrategy()."
)
_SECOND_ORDER = "is not there. Use LARSOptimizer, or tf.train.AdagradOptimizer."

__getattr__ = missing_getattr(
    __name__,
    {
        **dict.fromkeys(
            (
                "AGNCustomGetter",
                "AGNOptimizer",
                "DelayCompensatedGradientDescentOptimizer",
                "DropStaleGradientOptimizer",
                "ElasticAverageCustomGetter",
                "ElasticAverageOptimizer",
                "ModelAverageCustomGetter",
                "ModelAverageOptimizer",
            ),
            _ASYNC,
        ),
        "GGTOptimizer": _SECOND_ORDER,
        "ShampooOptimizer": _SECOND_ORDER,
        "ShampooWOptimizer": _SECOND_ORDER,
    },
    "tf.contrib.opt",
)
