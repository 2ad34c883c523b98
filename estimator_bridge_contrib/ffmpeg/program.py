"""Runs the program ffmpeg."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from tensorflow.compat.v1 import logging

__all__ = ["NoFFmpegError", "read_audio", "read_video"]

_PROBED = "5000000"  # bytes in which ffmpeg looks for streams
_QUIET = ["-nostats", "-nostdin"]


class NoFFmpegError(RuntimeError):
    """The program is not on PATH."""

    def __init__(self) -> None:
        super().__init__(
            "FFmpeg must be installed to run this op. FFmpeg can be found at "
            "http://www.ffmpeg.org; on Debian and Ubuntu: apt-get install ffmpeg. Its folder must "
            "be on PATH."
        )


class _FailedError(Exception):
    """The program could not read the file."""


def read_audio(contents: bytes, kind: str, rate: int, channels: int, stream: str) -> np.ndarray:
    """Decodes sound.

    Args:
      contents: a file.
      kind: its format, as ffmpeg names it.
      rate: the wanted samples per second.
      channels: the wanted number of channels.
      stream: the stream's number in the file; "" leaves the choice to ffmpeg.

    Returns:
      Samples from -1 to 1, of shape [samples, channels]; an empty array of shape [0, 0] if the
      program failed, which is logged.

    Raises:
      NoFFmpegError: the program is missing.
      RuntimeError: the program wrote nothing, or not as many samples for each channel.
    """
    options = ["-loglevel", "error", "-hide_banner", "-map_metadata", "-1", "-vn", "-sn"]
    options += ["-ac:a:0", str(channels), "-ar:a:0", str(rate)]
    options += ["-codec:a:0", "pcm_s16le", "-sample_fmt", "s16", "-f", "s16le", "-y"]
    options += ["-map", f"0:{stream}"] if stream else []
    try:
        raw, _ = _run(contents, kind, ["-f", kind, "-probesize", _PROBED], options)
    except _FailedError as error:
        _report(error)
        return np.zeros([0, 0], np.float32)
    samples = np.frombuffer(raw[: len(raw) // 2 * 2], "<i2")
    if not samples.size:
        raise RuntimeError("No output created by FFmpeg.")
    if samples.size % channels:
        raise RuntimeError("FFmpeg created non-integer number of audio frames.")
    return (samples / np.float64(32767)).astype(np.float32).reshape(-1, channels)


def read_video(contents: bytes) -> np.ndarray:
    """Decodes a film.

    Args:
      contents: a file, of a format that ffmpeg recognizes.

    Returns:
      RGB pixels of shape [frames, height, width, 3]; an empty array of shape [0, 0] if the program
      failed, which is logged.

    Raises:
      NoFFmpegError: the program is missing.
      RuntimeError: the program wrote nothing, or no whole frames.
    """
    options = ["-f", "image2pipe", "-loglevel", "info", "-hide_banner"]
    options += ["-vcodec", "rawvideo", "-pix_fmt", "rgb24", "-y"]
    try:
        raw, log = _run(contents, "", ["-probesize", _PROBED], options)
    except _FailedError as error:
        _report(error)
        return np.zeros([0, 0], np.uint8)
    if not raw:
        raise RuntimeError("No output created by FFmpeg.")
    frames, height, width = _described(log)
    if len(raw) != frames * height * width * 3:
        raise RuntimeError(
            f"Output created by FFmpeg [{len(raw)}] does not match description "
            f"[{frames}, {height}, {width}, 3]"
        )
    return np.frombuffer(raw, np.uint8).reshape(frames, height, width, 3)


def _described(log: str) -> tuple[int, int, int]:
    """Returns the frames, height and width that the program's log names."""
    _, _, written = log.partition("\nOutput #")
    size = re.search(r"Stream #.*\brgb24(?:\([^)]*\))?, (\d+)x(\d+)", written)
    frames = re.findall(r"frame= *(\d+)", log)
    if not size or not frames:
        raise RuntimeError("Not enough video info returned by FFmpeg.")
    return int(frames[-1]), int(size.group(2)), int(size.group(1))


def _run(contents: bytes, suffix: str, before: list[str], options: list[str]) -> tuple[bytes, str]:
    """Returns what the program made of a file, and its log."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise NoFFmpegError
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, f"input.{suffix}".rstrip(".")), Path(folder, "output.raw")
        source.write_bytes(contents)
        process = subprocess.run(
            [program, *_QUIET, *before, "-i", str(source), *options, str(target)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        log = process.stderr.decode(errors="replace").replace("\r", "\n")
        if process.returncode:
            raise _FailedError(
                f"FFmpeg execution failed: {process.returncode}: {log.strip()[-500:]}"
            )
        return target.read_bytes() if target.exists() else b"", log


def _report(error: _FailedError) -> None:
    logging.error("Ffmpeg failed with error '%s'. Returning empty tensor.", error)
