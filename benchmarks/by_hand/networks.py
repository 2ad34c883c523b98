"""The networks in plain JAX: functions of parameters by name and of a batch's features."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.models.bert import Bert
from benchmarks.models.conv import Conv
from benchmarks.models.lstm import LSTM
from benchmarks.models.mlp import MLP
from benchmarks.models.model import Model
from benchmarks.models.resnet import STAGES, ResNet50

__all__ = ["Forward", "forward_of"]

# Given the model, its parameters, and features: the logits, and the new moving averages by name.
Forward = Callable[[Any, Mapping[str, Any], Any], tuple[Any, dict[str, Any]]]
_NORM_EPSILON, _BATCH_EPSILON, _DECAY = 1e-6, 1e-5, 0.9
_FORGET_BIAS = 1.0  # added by TF1's LSTMCell


def forward_of(model: Model) -> Forward:
    """Returns the network of a model, written in JAX."""
    return _NETWORKS[type(model)]


def _dense(p: Mapping[str, Any], name: str, x: Any) -> Any:
    return x @ p[f"{name}/kernel"] + p[f"{name}/bias"]


def _mlp(model: MLP, p: Mapping[str, Any], x: Any) -> tuple[Any, dict[str, Any]]:
    import jax

    names = ["dense", *(f"dense_{i}" for i in range(1, model.hidden + 1))]
    for name in names[:-1]:
        x = jax.nn.relu(_dense(p, name, x))
    return _dense(p, names[-1], x), {}


def _lstm(model: LSTM, p: Mapping[str, Any], x: Any) -> tuple[Any, dict[str, Any]]:
    import jax
    import jax.numpy as jnp

    kernel, bias = p["rnn/lstm_cell/kernel"], p["rnn/lstm_cell/bias"]
    start = jnp.zeros([x.shape[0], kernel.shape[1] // 4], x.dtype)

    def at_time(state: Any, row: Any) -> Any:
        cell, hidden = state
        gates = jnp.concatenate([row, hidden], 1) @ kernel + bias
        enter, new, forget, leave = jnp.split(gates, 4, 1)
        cell = jax.nn.sigmoid(forget + _FORGET_BIAS) * cell
        cell += jax.nn.sigmoid(enter) * jnp.tanh(new)
        return (cell, jax.nn.sigmoid(leave) * jnp.tanh(cell)), None

    (_, hidden), _ = jax.lax.scan(at_time, (start, start), x.swapaxes(0, 1))
    return _dense(p, "dense", hidden), {}


def _convolved(p: Mapping[str, Any], name: str, x: Any, stride: int = 1) -> Any:
    from jax import lax

    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x, p[f"{name}/kernel"], [stride, stride], "SAME", dimension_numbers=layout
    )


def _pooled(x: Any, size: int, padding: str) -> Any:
    import numpy as np
    from jax import lax

    lowest = np.array(-np.inf, x.dtype)
    return lax.reduce_window(x, lowest, lax.max, [1, size, size, 1], [1, 2, 2, 1], padding)


def _conv(model: Conv, p: Mapping[str, Any], x: Any) -> tuple[Any, dict[str, Any]]:
    import jax

    for name in ("conv2d", "conv2d_1"):
        x = jax.nn.relu(_convolved(p, name, x) + p[f"{name}/bias"])
        x = _pooled(x, 2, "VALID")
    return _dense(p, "dense", x.reshape([x.shape[0], -1])), {}


def _bert(model: Bert, p: Mapping[str, Any], words: Any) -> tuple[Any, dict[str, Any]]:
    import jax
    import jax.numpy as jnp

    heads, each = model.heads, model.size // model.heads

    def norm(x: Any, name: str) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x - mean).mean(-1, keepdims=True)
        scaled = (x - mean) * jax.lax.rsqrt(variance + _NORM_EPSILON)
        return scaled * p[f"{name}/gamma"] + p[f"{name}/beta"]

    def attend(x: Any, layer: str) -> Any:
        shape = [*x.shape[:2], heads, each]
        query, key, value = (
            _dense(p, f"{layer}/{name}", x).reshape(shape) for name in ("query", "key", "value")
        )
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(each)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
        return _dense(p, f"{layer}/mixed", mixed.reshape(x.shape))

    x = norm(p["words"][words] + p["places"], "embedding")
    for layer in (f"layer_{i}" for i in range(model.layers)):
        x = norm(x + attend(x, layer), f"{layer}/attention")
        inner = jax.nn.gelu(_dense(p, f"{layer}/inner", x), approximate=False)
        x = norm(x + _dense(p, f"{layer}/outer", inner), f"{layer}/output")
    return _dense(p, "dense", x[:, 0]), {}


def _resnet(model: ResNet50, p: Mapping[str, Any], x: Any) -> tuple[Any, dict[str, Any]]:
    import jax
    import jax.numpy as jnp

    averages: dict[str, Any] = {}

    def norm(x: Any, name: str) -> Any:
        wide = x.astype(jnp.float32)
        mean, variance = wide.mean([0, 1, 2]), wide.var([0, 1, 2])
        count = x.size / x.shape[-1]
        new = {"moving_mean": mean, "moving_variance": variance * count / (count - 1)}
        for average, value in new.items():
            key = f"{name}/{average}"
            averages[key] = p[key] * _DECAY + value * (1 - _DECAY)
        scale = jax.lax.rsqrt(variance + _BATCH_EPSILON) * p[f"{name}/gamma"]
        return ((wide - mean) * scale + p[f"{name}/beta"]).astype(x.dtype)

    def layer(x: Any, name: str, stride: int = 1) -> Any:
        return norm(_convolved(p, f"{name}/conv", x, stride), f"{name}/norm")

    x = jax.nn.relu(layer(x, "first", 2))
    x = _pooled(x, 3, "SAME")
    for stage, (blocks, _) in enumerate(STAGES):
        for block in range(blocks):
            name, stride = f"stage_{stage}/block_{block}", 2 if stage and not block else 1
            y = jax.nn.relu(layer(x, f"{name}/narrow"))
            y = jax.nn.relu(layer(y, f"{name}/middle", stride))
            y = layer(y, f"{name}/wide")
            x = jax.nn.relu(y + (x if block else layer(x, f"{name}/shortcut", stride)))
    return _dense(p, "dense", x.mean([1, 2])), averages


_NETWORKS: dict[type[Model], Forward] = {
    MLP: _mlp,
    LSTM: _lstm,
    Conv: _conv,
    Bert: _bert,
    ResNet50: _resnet,
}
