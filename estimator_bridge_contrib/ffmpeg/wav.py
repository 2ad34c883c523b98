"""The format of files of sound without compression."""

from __future__ import annotations

import struct

import numpy as np

__all__ = ["wav_file"]

_PCM = 1


def wav_file(samples: np.ndarray, rate: int) -> bytes:
    """Encodes samples as a WAV file of signed 16-bit numbers.

    Args:
      samples: float32 samples of shape [samples, channels]. -1 to 1 is the range of the format;
        others wrap around, as in the original.
      rate: the samples per second.
    """
    channels = samples.shape[1]
    scaled = samples * np.float32(32767)
    with np.errstate(invalid="ignore"):
        data = scaled.astype(np.int32).astype("<i2").tobytes()
    frame = 2 * channels
    layout = struct.pack("<IHHIIHH", 16, _PCM, channels, rate, rate * frame, frame, 16)
    head = b"WAVEfmt " + layout + b"data" + struct.pack("<I", len(data))
    return b"RIFF" + struct.pack("<I", len(head) + len(data)) + head + data
