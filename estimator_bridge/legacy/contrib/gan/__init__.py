"""tf.contrib.gan: a generator and a discriminator, their losses and their training ops."""

from estimator_bridge.legacy.contrib.gan import losses
from estimator_bridge.legacy.contrib.gan.losses import gan_loss
from estimator_bridge.legacy.contrib.gan.model import GANLoss, GANModel, gan_model
from estimator_bridge.legacy.contrib.gan.training import GANTrainOps, gan_train_ops
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "GANLoss",
    "GANModel",
    "GANTrainOps",
    "gan_loss",
    "gan_model",
    "gan_train_ops",
    "losses",
]

_TFGAN = "is not supported. Use the package tensorflow-gan (tfgan), which tf.contrib.gan became."
_LOOP = (
    "is not supported. Group the ops of gan_train_ops into the train_op of a model_fn for "
    "Estimator: tf.group(ops.generator_train_op, ops.discriminator_train_op, "
    "ops.global_step_inc_op)."
)
_OTHER_MODELS = (
    "acgan_model", "bigan_model", "cyclegan_loss", "cyclegan_model", "eval", "features",
    "infogan_model", "stargan_model",
)  # fmt: skip
_LOOPS = (
    "RunTrainOpsHook", "estimator", "gan_train", "get_joint_train_hooks",
    "get_sequential_train_hooks", "get_sequential_train_steps",
)  # fmt: skip

__getattr__ = missing_getattr(
    __name__, {**dict.fromkeys(_OTHER_MODELS, _TFGAN), **dict.fromkeys(_LOOPS, _LOOP)},
    "tf.contrib.gan",
)  # fmt: skip
