"""``tf.contrib.seq2seq``: decoders, what chooses their tokens, attention, and losses."""

from estimator_bridge.legacy.contrib.seq2seq.attention import (
    BahdanauAttention,
    LuongAttention,
    hardmax,
)
from estimator_bridge.legacy.contrib.seq2seq.attention_wrapper import (
    AttentionWrapper,
    AttentionWrapperState,
)
from estimator_bridge.legacy.contrib.seq2seq.basic_decoder import BasicDecoder, BasicDecoderOutput
from estimator_bridge.legacy.contrib.seq2seq.beam_scores import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
)
from estimator_bridge.legacy.contrib.seq2seq.beam_search import (
    BeamSearchDecoder,
    FinalBeamSearchDecoderOutput,
)
from estimator_bridge.legacy.contrib.seq2seq.beams import gather_tree, tile_batch
from estimator_bridge.legacy.contrib.seq2seq.decoder import Decoder, dynamic_decode
from estimator_bridge.legacy.contrib.seq2seq.feedback_helpers import (
    GreedyEmbeddingHelper,
    SampleEmbeddingHelper,
)
from estimator_bridge.legacy.contrib.seq2seq.function_helpers import (
    CustomHelper,
    InferenceHelper,
)
from estimator_bridge.legacy.contrib.seq2seq.helpers import Helper
from estimator_bridge.legacy.contrib.seq2seq.loss import sequence_loss
from estimator_bridge.legacy.contrib.seq2seq.memory import AttentionMechanism
from estimator_bridge.legacy.contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    monotonic_attention,
    safe_cumprod,
)
from estimator_bridge.legacy.contrib.seq2seq.scheduled import (
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
)
from estimator_bridge.legacy.contrib.seq2seq.training_helper import TrainingHelper
from estimator_bridge.legacy.missing import missing_getattr as _missing_getattr

_OLD = (
    "was gone in TensorFlow 1.2 already. Use tf.contrib.seq2seq.BasicDecoder, a Helper and "
    "dynamic_decode."
)
_MISSING = dict.fromkeys(
    (
        "attention_decoder_fn_inference",
        "attention_decoder_fn_train",
        "dynamic_rnn_decoder",
        "prepare_attention",
        "simple_decoder_fn_inference",
        "simple_decoder_fn_train",
    ),
    _OLD,
)
__getattr__ = _missing_getattr(__name__, _MISSING, "tf.contrib.seq2seq")

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "CustomHelper",
    "Decoder",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "LuongAttention",
    "LuongMonotonicAttention",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "gather_tree",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
    "sequence_loss",
    "tile_batch",
]
