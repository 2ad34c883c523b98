"""Continues a text by a checkpoint of the language model, byte by byte."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import tensorflow as tf

import estimator_bridge as eb
from models.common.errors import UserError
from models.lstm.model import make_layers

__all__ = ["Sampling", "sample"]

v1 = tf.compat.v1
_RECURRENT = re.compile(r"lstm(\d+)/.*recurrent_kernel")
_FEW = 3


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Settings for the choice of each next byte.

    Attributes:
        length: the number of bytes to add.
        temperature: divides the logits: 1 draws by the model's probabilities, less than 1 prefers
            likely bytes, 0 always takes the most likely one.
        seed: of the draws; the same seed gives the same text.
    """

    length: int = 200
    temperature: float = 0.7
    seed: int = 0

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UserError(f"length {self.length}: want 1 byte or more.")
        if not 0 <= self.temperature < float("inf"):
            raise UserError(
                f"temperature {self.temperature}: want a number from 0 on, such as 0.7."
            )


def sample(model_dir: str, prompt: str = "\n", how: Sampling = Sampling()) -> str:
    """Continues a text.

    Args:
        model_dir: the folder of a training, whose latest checkpoint counts, or a checkpoint such as
            `runs/lstm/model.ckpt-600`.
        prompt: the text to continue; not empty.
        how: the number of bytes, and how they are chosen.

    Returns:
        The text that follows. Bytes that are no UTF-8 are replaced by U+FFFD.

    Raises:
        CheckpointError: there is no checkpoint, or it is damaged.
        UserError: it is of another model, or the prompt is empty.
    """
    if not prompt:
        raise UserError("the prompt is empty: want at least one letter to continue.")
    checkpoint = eb.weights.find_checkpoint(model_dir)
    shapes = {weight.name: weight.shape for weight in eb.weights.list_weights(checkpoint)}
    with tf.Graph().as_default(), v1.Session() as session:
        value = v1.placeholder(tf.int32, [1])
        params = _sizes_in(shapes, checkpoint)
        layers = make_layers(params)
        layers(value[tf.newaxis])  # makes the variables, under the names of training
        _check(shapes, checkpoint)
        v1.train.Saver(v1.global_variables()).restore(session, checkpoint)
        states = [
            [v1.placeholder(tf.float32, [1, params["units"]]) for _ in range(2)]
            for _ in layers.recurrent
        ]
        position = v1.placeholder(tf.int32, [])
        logits, after = layers.step(value, states)
        choice = tf.cast(_choose(logits, position, how), tf.int32)
        state_values = session.run(tf.nest.map_structure(tf.zeros_like, states))
        content = bytearray(prompt.encode())
        for at in range(len(content) + how.length - 1):
            feed = {value: [content[at]], position: at}
            feed.update(zip(tf.nest.flatten(states), tf.nest.flatten(state_values)))
            (following,), state_values = session.run([choice, after], feed)
            if at + 1 == len(content):
                content.append(following)
    return bytes(content[-how.length :]).decode(errors="replace")


def _choose(logits: tf.Tensor, position: tf.Tensor, how: Sampling) -> tf.Tensor:
    """Returns the next byte, int64 [1], of logits [1, 256]."""
    if not how.temperature:
        return tf.argmax(logits, -1)
    seed = tf.stack([tf.constant(how.seed), position])
    return tf.random.stateless_categorical(logits / how.temperature, 1, seed)[:, 0]


def _sizes_in(shapes: Mapping[str, tuple[int, ...]], checkpoint: str) -> dict[str, int]:
    """Returns the sizes of the network whose weights a checkpoint has."""
    widths = [shape[0] for name, shape in shapes.items() if _RECURRENT.fullmatch(name)]
    if not widths:
        raise _of_another_model(checkpoint, ["lstm0/lstm_cell/recurrent_kernel is missing"], shapes)
    return {"units": widths[0], "layers": len(widths)}


def _check(shapes: Mapping[str, tuple[int, ...]], checkpoint: str) -> None:
    expected = {one.op.name: tuple(one.shape.as_list()) for one in v1.global_variables()}
    wrong = [f"{name} is missing" for name in expected if name not in shapes]
    wrong += [
        f"{name} is {list(shapes[name])}, want {list(shape)}"
        for name, shape in expected.items()
        if name in shapes and shapes[name] != shape
    ]
    if wrong:
        raise _of_another_model(checkpoint, wrong, shapes)


def _of_another_model(
    checkpoint: str, wrong: list[str], shapes: Mapping[str, tuple[int, ...]]
) -> UserError:
    return UserError(
        f"{checkpoint}: not a checkpoint of --model=lstm with --api=estimator: "
        f"{'; '.join(wrong[:_FEW])}. It has {', '.join(list(shapes)[:_FEW])} and others."
    )
