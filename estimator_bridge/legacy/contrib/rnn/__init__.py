"""``tf.contrib.rnn``: cells, wrappers of cells, and layers of them."""

import tensorflow as _tf

from estimator_bridge.legacy.contrib.rnn.base import LayerRNNCell
from estimator_bridge.legacy.contrib.rnn.bidirectional import (
    best_effort_input_batch_size,
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    transpose_batch_time,
)
from estimator_bridge.legacy.contrib.rnn.block_cells import (
    GRUBlockCell,
    GRUBlockCellV2,
    LSTMBlockCell,
)
from estimator_bridge.legacy.contrib.rnn.cells import LayerNormBasicLSTMCell, NASCell, UGRNNCell
from estimator_bridge.legacy.contrib.rnn.conv_lstm import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
)
from estimator_bridge.legacy.contrib.rnn.fused import (
    FusedRNNCell,
    FusedRNNCellAdaptor,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
    TimeReversedFusedRNN,
)
from estimator_bridge.legacy.contrib.rnn.gated import (
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    IntersectionRNNCell,
    PhasedLSTMCell,
)
from estimator_bridge.legacy.contrib.rnn.independent import (
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    SRUCell,
)
from estimator_bridge.legacy.contrib.rnn.wrappers import (
    AttentionCellWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from estimator_bridge.legacy.missing import missing_getattr as _missing_getattr

_nn = _tf.compat.v1.nn
BasicLSTMCell = _nn.rnn_cell.BasicLSTMCell
BasicRNNCell = _nn.rnn_cell.BasicRNNCell
DeviceWrapper = _nn.rnn_cell.DeviceWrapper
DropoutWrapper = _nn.rnn_cell.DropoutWrapper
GRUCell = _nn.rnn_cell.GRUCell
LSTMCell = _nn.rnn_cell.LSTMCell
LSTMStateTuple = _nn.rnn_cell.LSTMStateTuple
MultiRNNCell = _nn.rnn_cell.MultiRNNCell
RNNCell = _nn.rnn_cell.RNNCell
ResidualWrapper = _nn.rnn_cell.ResidualWrapper
static_bidirectional_rnn = _nn.static_bidirectional_rnn
static_rnn = _nn.static_rnn
static_state_saving_rnn = _nn.static_state_saving_rnn

_RARE = (
    "is not supported. Use another cell of tf.contrib.rnn or tf.nn.rnn_cell (LSTMBlockCell, "
    "LayerNormBasicLSTMCell, GRUCell), or copy the cell's class into the program: RNNCell is "
    "the base that it had."
)
_MISSING = {
    **dict.fromkeys(
        (
            "BidirectionalGridLSTMCell",
            "GridLSTMCell",
            "TimeFreqLSTMCell",
        ),
        _RARE,
    ),
    "CompiledWrapper": (
        "is not supported. Use the cell without it; tf.config.optimizer.set_jit(True) lets XLA "
        "compile the step."
    ),
}
__getattr__ = _missing_getattr(__name__, _MISSING, "tf.contrib.rnn")

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "Conv3DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "GLSTMCell",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "InputProjectionWrapper",
    "IntersectionRNNCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerRNNCell",
    "MultiRNNCell",
    "NASCell",
    "OutputProjectionWrapper",
    "PhasedLSTMCell",
    "RNNCell",
    "ResidualWrapper",
    "SRUCell",
    "TimeReversedFusedRNN",
    "UGRNNCell",
    "best_effort_input_batch_size",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]
