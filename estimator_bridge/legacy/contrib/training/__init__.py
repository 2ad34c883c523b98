"""tf.contrib.training: hyperparameters, evaluation of checkpoints, and a training loop."""

from estimator_bridge.legacy.contrib.training.bucket import bucket, bucket_by_sequence_length
from estimator_bridge.legacy.contrib.training.eval_hooks import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    get_or_create_eval_step,
)
from estimator_bridge.legacy.contrib.training.evaluation import evaluate_once, evaluate_repeatedly
from estimator_bridge.legacy.contrib.training.gradients import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    multiply_gradients,
)
from estimator_bridge.legacy.contrib.training.hparam_values import parse_values
from estimator_bridge.legacy.contrib.training.hparams import HParams
from estimator_bridge.legacy.contrib.training.placement import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)
from estimator_bridge.legacy.contrib.training.resample import resample_at_rate, weighted_resample
from estimator_bridge.legacy.contrib.training.sampling import rejection_sample, stratified_sample
from estimator_bridge.legacy.contrib.training.train_loop import create_train_op, train
from estimator_bridge.legacy.contrib.training.waiting import (
    checkpoints_iterator,
    wait_for_new_checkpoint,
)
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "GreedyLoadBalancingStrategy",
    "HParams",
    "RandomStrategy",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]

_STATES = (
    "is not there. Cut sequences with a dataset (dataset.window or tf.reshape), and keep the "
    "state between the parts in tf.Variable(trainable=False)."
)

__getattr__ = missing_getattr(
    __name__,
    {
        "batch_sequences_with_states": _STATES,
        "NextQueuedSequenceBatch": _STATES,
        "SequenceQueueingStateSaver": _STATES,
        "FeedingQueueRunner": "is not there. Use tf.data.Dataset.from_generator.",
        "Tuner": "is gone with tf.contrib.learn. Use tf.estimator.train_and_evaluate.",
    },
    "tf.contrib.training",
)
