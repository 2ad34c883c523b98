"""The sizes of a BERT model, by name or from the bert_config.json of a released checkpoint."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from estimator_bridge.base.any_files import open_text
from models.common.errors import UserError

__all__ = ["SIZES", "BertConfig", "read_config", "variable_shapes"]


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """The sizes of a model; the names are those of bert_config.json.

    Attributes:
        hidden_size: the width of each layer.
        num_hidden_layers: the number of layers.
        num_attention_heads: the heads of a layer's attention.
        intermediate_size: the width between a layer's two dense parts.
        vocab_size: the number of pieces.
        max_position_embeddings: the longest sequence.
        type_vocab_size: the kinds of segments.
        hidden_dropout_prob: of each layer's outputs, in training.
        attention_probs_dropout_prob: of the attention, in training.
        initializer_range: the standard deviation of initial weights.
    """

    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 30522
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    initializer_range: float = 0.02


SIZES = {
    # Narrow layers need larger weights at their start.
    "nano": BertConfig(32, 1, 2, 64, max_position_embeddings=64, initializer_range=0.2),
    "tiny": BertConfig(64, 2, 2, 128, max_position_embeddings=128, initializer_range=0.1),
    "mini": BertConfig(256, 4, 4, 1024),
    "base": BertConfig(),
    "large": BertConfig(1024, 24, 16, 4096),
}
# Parts of the file that choose other models.
_FIXED = {"hidden_act": ("gelu",)}


def read_config(path: str) -> BertConfig:
    """Reads a bert_config.json.

    Raises:
        UserError: it cannot be read, or describes another model.
    """
    try:
        with open_text(path) as file:
            content: dict[str, Any] = json.load(file)
        field_names = {field.name for field in dataclasses.fields(BertConfig)}
        config = BertConfig(**{name: content[name] for name in content if name in field_names})
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path}: not the configuration of a BERT model: {error}.") from error
    for name, choices in _FIXED.items():
        if content.get(name, choices[0]) not in choices:
            raise UserError(f"{path}: {name} is {content[name]!r}, want {' or '.join(choices)}.")
    if config.hidden_size % config.num_attention_heads:
        raise UserError(
            f"{path}: hidden_size {config.hidden_size} must be a multiple of num_attention_heads "
            f"{config.num_attention_heads}."
        )
    return config


def variable_shapes(config: BertConfig) -> dict[str, tuple[int, ...]]:
    """Returns the encoder's variables, under the names of released checkpoints."""
    hidden, inner = config.hidden_size, config.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "bert/embeddings/word_embeddings": (config.vocab_size, hidden),
        "bert/embeddings/token_type_embeddings": (config.type_vocab_size, hidden),
        "bert/embeddings/position_embeddings": (config.max_position_embeddings, hidden),
    }
    dense = {"bert/pooler/dense": (hidden, hidden)}
    norms = ["bert/embeddings/LayerNorm"]
    for number in range(config.num_hidden_layers):
        layer = f"bert/encoder/layer_{number}"
        dense.update(
            {
                **{f"{layer}/attention/self/{part}": (hidden, hidden)
                   for part in ("query", "key", "value")},
                f"{layer}/attention/output/dense": (hidden, hidden),
                f"{layer}/intermediate/dense": (hidden, inner),
                f"{layer}/output/dense": (inner, hidden),
            }
        )  # fmt: skip
        norms += [f"{layer}/attention/output/LayerNorm", f"{layer}/output/LayerNorm"]
    for name, (inputs, outputs) in dense.items():
        shapes.update({f"{name}/kernel": (inputs, outputs), f"{name}/bias": (outputs,)})
    for name in norms:
        shapes.update({f"{name}/gamma": (hidden,), f"{name}/beta": (hidden,)})
    return shapes
