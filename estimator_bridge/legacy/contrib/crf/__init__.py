"""tf.contrib.crf: linear-chain conditional random fields."""

from estimator_bridge.legacy.contrib.crf.decoding import crf_decode, viterbi_decode
from estimator_bridge.legacy.contrib.crf.scores import (
    crf_binary_score,
    crf_log_likelihood,
    crf_log_norm,
    crf_multitag_sequence_score,
    crf_sequence_score,
    crf_unary_score,
)
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]

__getattr__ = missing_getattr(
    __name__,
    {
        "CrfForwardRnnCell": "is not there. Use crf_log_norm, which runs the recursion.",
        "CrfDecodeForwardRnnCell": "is not there. Use crf_decode, which runs the recursion.",
        "CrfDecodeBackwardRnnCell": "is not there. Use crf_decode, which runs the recursion.",
    },
    "tf.contrib.crf",
)
