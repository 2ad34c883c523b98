"""The names of ``tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops``.

Here ``CudnnLSTM``, ``CudnnGRU``, ``CudnnRNNTanh`` and ``CudnnRNNRelu`` are networks whose caller
keeps the parameters; in ``tf.contrib.cudnn_rnn`` they are layers.
"""

from __future__ import annotations

from estimator_bridge_contrib.cudnn_rnn.cells import (
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
)
from estimator_bridge_contrib.cudnn_rnn.format_converters import (
    CudnnParamsFormatConverter,
    CudnnParamsFormatConverterBasic,
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)

# Programs and the tests of 1.15 use some functions under their private names.
from estimator_bridge_contrib.cudnn_rnn.functions import (
    cudnn_gru,
    cudnn_lstm,
    cudnn_rnn_relu,
    cudnn_rnn_tanh,
)
from estimator_bridge_contrib.cudnn_rnn.functions import cudnn_rnn as _cudnn_rnn
from estimator_bridge_contrib.cudnn_rnn.functions import (
    cudnn_rnn_no_input_c as _cudnn_rnn_no_input_c,
)
from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_GRU_PARAMS_PER_LAYER,
    CUDNN_INPUT_AUTO_MODE,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_INPUT_SKIP_MODE,
    CUDNN_LSTM,
    CUDNN_LSTM_PARAMS_PER_LAYER,
    CUDNN_RNN_BIDIRECTION,
    CUDNN_RNN_RELU,
    CUDNN_RNN_RELU_PARAMS_PER_LAYER,
    CUDNN_RNN_TANH,
    CUDNN_RNN_TANH_PARAMS_PER_LAYER,
    CUDNN_RNN_UNIDIRECTION,
    check_direction,
    check_input_mode,
)
from estimator_bridge_contrib.cudnn_rnn.modes import check_rnn_mode as _check_rnn_mode
from estimator_bridge_contrib.cudnn_rnn.networks import (
    CudnnGRU,
    CudnnLSTM,
    CudnnRNNRelu,
    CudnnRNNTanh,
)
from estimator_bridge_contrib.cudnn_rnn.opaque_params import (
    cudnn_rnn_canonical_to_opaque_params,
    cudnn_rnn_opaque_params_size,
    cudnn_rnn_opaque_params_to_canonical,
)
from estimator_bridge_contrib.cudnn_rnn.saveables import (
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnOpaqueParamsSaveable,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)

__all__ = [
    "CUDNN_GRU",
    "CUDNN_GRU_PARAMS_PER_LAYER",
    "CUDNN_INPUT_AUTO_MODE",
    "CUDNN_INPUT_LINEAR_MODE",
    "CUDNN_INPUT_SKIP_MODE",
    "CUDNN_LSTM",
    "CUDNN_LSTM_PARAMS_PER_LAYER",
    "CUDNN_RNN_BIDIRECTION",
    "CUDNN_RNN_RELU",
    "CUDNN_RNN_RELU_PARAMS_PER_LAYER",
    "CUDNN_RNN_TANH",
    "CUDNN_RNN_TANH_PARAMS_PER_LAYER",
    "CUDNN_RNN_UNIDIRECTION",
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnGRUSaveable",
    "CudnnLSTM",
    "CudnnLSTMSaveable",
    "CudnnOpaqueParamsSaveable",
    "CudnnParamsFormatConverter",
    "CudnnParamsFormatConverterBasic",
    "CudnnParamsFormatConverterGRU",
    "CudnnParamsFormatConverterLSTM",
    "CudnnParamsFormatConverterRelu",
    "CudnnParamsFormatConverterTanh",
    "CudnnRNNRelu",
    "CudnnRNNReluSaveable",
    "CudnnRNNTanh",
    "CudnnRNNTanhSaveable",
    "_check_rnn_mode",
    "_cudnn_rnn",
    "_cudnn_rnn_no_input_c",
    "check_direction",
    "check_input_mode",
    "cudnn_gru",
    "cudnn_lstm",
    "cudnn_rnn_canonical_to_opaque_params",
    "cudnn_rnn_opaque_params_size",
    "cudnn_rnn_opaque_params_to_canonical",
    "cudnn_rnn_relu",
    "cudnn_rnn_tanh",
]
