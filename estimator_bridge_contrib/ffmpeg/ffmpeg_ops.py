"""Operations that decode and encode sound and films, in this process."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.ffmpeg.program import read_audio, read_video
from estimator_bridge_contrib.ffmpeg.wav import wav_file

__all__ = ["decode_audio", "decode_video", "encode_audio"]

_KINDS = ("mp3", "mp4", "ogg", "wav")
# The original's operation had this input too, which WAV files do not use.
_BITS_PER_SECOND = 192000


def decode_audio(
    contents: Any,
    file_format: Any = None,
    samples_per_second: Any = None,
    channel_count: Any = None,
    stream: str | None = None,
) -> tf.Tensor:
    """Decodes the contents of a file of sound.

    Args:
      contents: the file, a text scalar.
      file_format: its format: "mp3", "mp4", "ogg" or "wav", a text or a scalar tensor.
      samples_per_second: the wanted rate, an int or a scalar int32 tensor.
      channel_count: the wanted number of channels, in the same forms.
      stream: the number of the file's stream; by default ffmpeg chooses.

    Returns:
      A float32 tensor of shape [samples, channel_count], from -1 to 1; it is empty if ffmpeg cannot
      decode the file.

    Raises:
      ValueError: the number of channels is known and not positive, or an argument is missing.
      tf.errors.InvalidArgumentError: when it runs, for an unknown format, for a number that is not
        positive, and for an argument that is no scalar.
      tf.errors.UnknownError: when it runs, ffmpeg is missing or wrote no samples.
    """
    numbers = [_number(samples_per_second, "samples_per_second")]
    numbers.append(_number(channel_count, "channel_count"))
    channels = tf.get_static_value(numbers[1])
    if channels is not None and channels.ndim == 0 and channels <= 0:
        raise ValueError(f"channel_count must be positive, but got: {channels}")

    def decode(contents: Any, kind: Any, rate: Any, count: Any) -> np.ndarray:
        arguments = {"contents": contents, "file_format": kind}
        _check_scalars({**arguments, "samples_per_second": rate, "channel_count": count})
        name = _lower(kind)
        if name not in _KINDS:
            raise ValueError(
                f'file_format must be one of {{{", ".join(_KINDS)}}}, but was: "{name}"'
            )
        _check_positive(samples_per_second=rate, channel_count=count)
        return read_audio(_bytes(contents), name, int(rate), int(count), stream or "")

    inputs = [_text(contents, "contents"), _text(file_format, "file_format"), *numbers]
    audio = _call(decode, inputs, tf.float32, "DecodeAudioV2")
    if not tf.executing_eagerly():
        audio.set_shape([None, None if channels is None or channels.ndim else int(channels)])
    return audio


def encode_audio(audio: Any, file_format: Any = None, samples_per_second: Any = None) -> tf.Tensor:
    """Encodes sound as the contents of a file. It needs no ffmpeg.

    Args:
      audio: float32 samples from -1 to 1, of shape [samples, channels].
      file_format: "wav", a text or a scalar tensor.
      samples_per_second: the rate, an int or a scalar int32 tensor.

    Returns:
      The file, a text scalar.

    Raises:
      ValueError: an argument is missing.
      TypeError: the rate is no int.
      tf.errors.InvalidArgumentError: when it runs, for another format, a rate that is not positive,
        and for shapes that do not fit.
    """

    def encode(audio: Any, kind: Any, rate: Any, bits: Any) -> bytes:
        if audio.ndim != 2:
            raise ValueError(f"sampled_audio must be a rank-2 tensor but got shape {audio.shape}")
        _check_scalars({"file_format": kind, "samples_per_second": rate, "bits_per_second": bits})
        if _lower(kind) != "wav":
            raise ValueError(f'file_format must be "wav", but got: {_lower(kind)}')
        _check_positive(samples_per_second=rate, bits_per_second=bits)
        return wav_file(audio, int(rate))

    inputs = [
        tf.convert_to_tensor(audio, tf.float32, name="sampled_audio"),
        _text(file_format, "file_format"),
        _number(samples_per_second, "samples_per_second"),
        _number(_BITS_PER_SECOND, "bits_per_second"),
    ]
    contents = _call(encode, inputs, tf.string, "EncodeAudioV2")
    contents.set_shape([])
    return contents


def decode_video(contents: Any) -> tf.Tensor:
    """Decodes the contents of a film's file.

    Args:
      contents: the file, a text scalar.

    Returns:
      A uint8 tensor of RGB pixels, of shape [frames, height, width, 3].

    Raises:
      tf.errors.InvalidArgumentError: when it runs, the contents are no scalar.
      tf.errors.UnknownError: when it runs, ffmpeg is missing or wrote no whole frames.
    """

    def decode(contents: Any) -> np.ndarray:
        _check_scalars({"contents": contents})
        return read_video(_bytes(contents))

    video = _call(decode, [_text(contents, "contents")], tf.uint8, "DecodeVideo")
    if not tf.executing_eagerly():
        video.set_shape([None, None, None, None])
    return video


def _call(function: Any, inputs: list[tf.Tensor], kind: tf.DType, name: str) -> tf.Tensor:
    return tf.numpy_function(function, inputs, kind, stateful=False, name=name)


def _text(value: Any, name: str) -> tf.Tensor:
    return _converted(value, tf.string, name)


def _number(value: Any, name: str) -> tf.Tensor:
    return _converted(value, tf.int32, name)


def _converted(value: Any, kind: tf.DType, name: str) -> tf.Tensor:
    if tf.is_tensor(value) and value.dtype != kind:
        raise TypeError(f"{name} must be {kind.name}, but is {value.dtype.name}: {value}.")
    return tf.convert_to_tensor(value, kind, name=name)


def _check_scalars(values: dict[str, Any]) -> None:
    for name, value in values.items():
        if np.ndim(value):
            raise ValueError(
                f"{name} must be a rank-0 tensor but got shape {list(np.shape(value))}"
            )


def _check_positive(**numbers: Any) -> None:
    for name, number in numbers.items():
        if number <= 0:
            raise ValueError(f"{name} must be positive, but got: {number}")


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else np.asarray(value).item()


def _lower(value: Any) -> str:
    return _bytes(value).decode(errors="replace").lower()
