"""The measured models, by name."""

from __future__ import annotations

import functools
from collections.abc import Callable

from benchmarks.models.bert import Bert
from benchmarks.models.conv import Conv
from benchmarks.models.embedding import Embedding
from benchmarks.models.lstm import LSTM, LSTMLayer
from benchmarks.models.mlp import MLP
from benchmarks.models.model import Model
from benchmarks.models.rows import Generated, Records, Rows

__all__ = ["MODELS", "Model"]

MODELS: dict[str, Callable[[], Model]] = {
    "mlp": MLP,
    "conv32": functools.partial(Conv, 32),
    "conv128": functools.partial(Conv, 128),
    "bert": Bert,
    "lstm": LSTM,
    "lstm_layer": LSTMLayer,
    "embedding": Embedding,
    "generated": Generated,
    "records": Records,
    "rows": Rows,
    "rows_shuffled": functools.partial(Rows, is_shuffled=True),
}
