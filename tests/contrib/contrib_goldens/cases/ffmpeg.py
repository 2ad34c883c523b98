"""tf.contrib.ffmpeg, with a program in the place of ffmpeg whose output the file's text chooses."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import unknown
from contrib_goldens.observe import Case

ffmpeg = tf.contrib.ffmpeg

# It writes the same for each call, but for the channels, the rate and the stream: their digits are
# the samples' bytes.
PROGRAM = r"""#!/bin/sh
for word; do
  case $before in
    -i) input=$word ;;
    -ac:a:0) channels=$word ;;
    -ar:a:0) rate=$word ;;
    -map) stream=$word ;;
  esac
  before=$word
done
output=$before
case $(cat "$input") in
  bad) echo failed >&2; exit 3 ;;
  empty) : > "$output" ;;
  odd) printf 'abcdef' > "$output" ;;
  film)
    printf 'Input #0, mov\n  Stream #0:0: Video: h264\n' >&2
    printf 'Stream mapping:\n  Stream #0:0 -> #0:0\nOutput #0, image2pipe\n' >&2
    printf '    Stream #0:0: Video: rawvideo (RGB[24]), rgb24, 2x1 [SAR 1:1], q=2\n' >&2
    printf 'Stream mapping:\nframe=    3 fps=0.0 q=-0.0 size=1kB\n' >&2
    printf 'abcdefghijklmnopqr' > "$output" ;;
  *) printf '%s%08d%8sabcd' "$channels$channels" "$rate" "$stream" > "$output"
     printf 'zz' >> "$output" ;;
esac
"""
FOLDER = tempfile.mkdtemp()
with open(os.path.join(FOLDER, "ffmpeg"), "w") as file:
    file.write(PROGRAM)
os.chmod(file.name, 0o755)


def called(function, *args, **options):
    def build():
        if FOLDER not in os.environ["PATH"]:
            os.environ["PATH"] = FOLDER + os.pathsep + os.environ["PATH"]
        arguments = {key: value() if callable(value) else value for key, value in options.items()}
        parts = [each() if callable(each) else each for each in args]
        return getattr(ffmpeg, function)(*parts, **arguments)

    return Case(build, has_gradients=False)


def sound(contents="file", file_format="mp3", rate=8000, channels=2, **options):
    return called(
        "decode_audio",
        contents,
        file_format=file_format,
        samples_per_second=rate,
        channel_count=channels,
        **options,
    )


def wav(audio, **options):
    return called("encode_audio", audio, **dict({"file_format": "wav"}, **options))


def hexadecimal():
    samples = np.array([[0.0, 1.0], [-1.0, 0.5], [1.5, -3.0]], np.float32)
    contents = ffmpeg.encode_audio(samples, "WAV", 44100)
    return tf.decode_raw(contents, tf.uint8)


def number(value):
    return lambda: unknown(np.array(value, np.int32))


CASES = {
    "ffmpeg.decode_audio": sound(),
    "ffmpeg.decode_audio: bad": sound("bad"),
    "ffmpeg.decode_audio: empty": sound("empty"),
    "ffmpeg.decode_audio: fraction": sound(rate=1.5),
    "ffmpeg.decode_audio: many": sound(contents=["a", "b"]),
    "ffmpeg.decode_audio: missing": called("decode_audio", "file"),
    "ffmpeg.decode_audio: no channels": sound(channels=0),
    "ffmpeg.decode_audio: no channels in a run": sound(channels=number(0)),
    "ffmpeg.decode_audio: no rate": sound(rate=0),
    "ffmpeg.decode_audio: odd": sound("odd"),
    "ffmpeg.decode_audio: ogg": sound(file_format="OGG", channels=1),
    "ffmpeg.decode_audio: stream": sound(channels=1, stream="1"),
    "ffmpeg.decode_audio: unknown": sound(rate=number(100), channels=number(1)),
    "ffmpeg.decode_audio: unknown format": sound(file_format="flac"),
    "ffmpeg.decode_video": called("decode_video", "film"),
    "ffmpeg.decode_video: many": called("decode_video", ["film", "film"]),
    "ffmpeg.encode_audio": Case(hexadecimal, has_gradients=False),
    "ffmpeg.encode_audio: format": wav([[0.0]], file_format="mp3", samples_per_second=1),
    "ffmpeg.encode_audio: fraction": wav([[0.0]], samples_per_second=1.5),
    "ffmpeg.encode_audio: negative": wav([[0.0]], samples_per_second=-2),
    "ffmpeg.encode_audio: rank": wav([0.0], samples_per_second=1),
    "ffmpeg.encode_audio: text": called("encode_audio", [[0.25], [-0.25]], "wav", 5),
    "ffmpeg.encode_audio: zero": wav([[0.0]], samples_per_second=0),
}
