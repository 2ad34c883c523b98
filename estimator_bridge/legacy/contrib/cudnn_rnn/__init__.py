"""``tf.contrib.cudnn_rnn``: cuDNN's layers on every device."""

from estimator_bridge.legacy.contrib.cudnn_rnn.cells import (
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
)
from estimator_bridge.legacy.contrib.cudnn_rnn.layers import (
    CudnnGRU,
    CudnnLSTM,
    CudnnRNNRelu,
    CudnnRNNTanh,
)
from estimator_bridge.legacy.missing import missing_getattr as _missing_getattr

_OPAQUE = (
    "is not needed: the layers of tf.contrib.cudnn_rnn keep their weights in the form that "
    "checkpoints have. Leave it out."
)
_MISSING = dict.fromkeys(
    (
        "CudnnGRUSaveable",
        "CudnnLSTMSaveable",
        "CudnnParamsFormatConverterGRU",
        "CudnnParamsFormatConverterLSTM",
        "CudnnParamsFormatConverterRelu",
        "CudnnParamsFormatConverterTanh",
        "CudnnRNNReluSaveable",
        "CudnnRNNTanhSaveable",
    ),
    _OPAQUE,
)
__getattr__ = _missing_getattr(__name__, _MISSING, "tf.contrib.cudnn_rnn")

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnLSTM",
    "CudnnRNNRelu",
    "CudnnRNNTanh",
]
