"""Kills a training process repeatedly, restarts it, and reports its final state.

    python tests/interruption.py KIND FOLDER SEED

KIND is `random` (an Estimator, killed at 20 random moments) or `windows` (a TPUEstimator on two
emulated cores, killed at each moment at which a set of files is half written). `async_random` and
`async_windows` do the same with asynchronous checkpoints and 10 random kills. The last line of the
output is JSON: the final values of the interrupted run and of an undisturbed one.

Each training process is a fork of this one, which has imported TensorFlow but run nothing yet.
It starts in half a second instead of five.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

import estimator_bridge as eb
from estimator_bridge.checkpoint import CheckpointingSession, Positions, SaverSnapshot, saved_prefix
from estimator_bridge.checkpoint.background_writer import BackgroundWriter
from estimator_bridge.training import AsyncCheckpointSaverHook, CheckpointInputPipelineHook

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANDOM_KILLS = 20
ASYNC = "ESTIMATOR_BRIDGE_ASYNC_CHECKPOINTS"
# The function whose n-th call kills the process, and whether it dies before or after it.
WINDOWS = [
    (Positions, "save", "before", 3),
    (Positions, "save", "after", 2),
    (CheckpointingSession, "run", "before", "save"),
    (CheckpointingSession, "run", "after", "save"),
    (os, "replace", "before", 1),  # training has continued, and saves its start again
    (os, "replace", "after", 1),
    (os, "replace", "after", 2),
    (os, "replace", "before", 4),
    (Positions, "_remove", "before", 2),
    (Positions, "_remove", "after", 1),
    (os, "unlink", "after", 1),  # of a position's two files, one
    (v1.train.Saver, "save", "after", 2),
]
# The same for asynchronous checkpoints.
ASYNC_WINDOWS = [
    (Positions, "take", "after", 3),
    (BackgroundWriter, "start", "before", 2),
    (BackgroundWriter, "start", "after", 2),
    (SaverSnapshot, "run", "before", 2),
    (SaverSnapshot, "run", "after", 2),
    (os, "replace", "before", 1),
    (os, "replace", "after", 1),
    (os, "replace", "after", 2),
    (Positions, "_remove", "before", 2),
    (v1.train.Saver, "save", "after", 2),
    (v1.train.Saver, "export_meta_graph", "before", 2),
    (AsyncCheckpointSaverHook, "end", "before", 1),
]


def batches():
    numbers = np.random.RandomState(0).normal(size=[40, 5]).astype(np.float32)
    examples = tf.data.Dataset.from_tensor_slices((numbers, numbers[:, :1] > 0))
    examples = examples.shuffle(16, seed=3).repeat()
    return examples.batch(4, drop_remainder=True).prefetch(2)


def model_fn(features, labels, mode, params):
    hidden = v1.layers.dense(features, 4, tf.nn.tanh, name="hidden")
    hidden = v1.nn.dropout(hidden, rate=0.4, seed=5)
    logits = v1.layers.dense(hidden, 1, name="logits")
    loss = v1.losses.sigmoid_cross_entropy(labels, logits)
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.05))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def train(kind: str, folder: str, max_steps: int, *hooks) -> None:
    """Trains from the folder's newest checkpoint."""
    settings = {"tf_random_seed": 11, "save_checkpoints_steps": 2, "keep_checkpoint_max": 3}
    if kind == "windows":
        config = eb.tpu.RunConfig(
            master="emulated:2",
            model_dir=folder,
            tpu_config=eb.tpu.TPUConfig(iterations_per_loop=2),
            **settings,
        )
        estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)
        input_fn = lambda params: batches()  # noqa: E731
    else:
        estimator = eb.Estimator(model_fn, folder, eb.RunConfig(**settings))
        input_fn = batches
    position = CheckpointInputPipelineHook(estimator)
    estimator.train(input_fn, hooks=[position, *hooks], max_steps=max_steps)


def forked(job) -> int:
    """Starts a job in a separate process; returns the process."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        job()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def was_killed(process: int) -> bool:
    """Waits for a process, which must succeed or be killed."""
    status = os.waitpid(process, 0)[1]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if not killed and status:
        sys.exit("training failed by itself; see its error above")
    return killed


class Beats(v1.train.SessionRunHook):
    """Writes a byte into a pipe before each step."""

    def __init__(self, pipe: int):
        self._pipe = pipe

    def before_run(self, run_context):
        os.write(self._pipe, b".")


def kill_at_random(folder: str, max_steps: int, chance: random.Random) -> int:
    """Kills training between its start and its tenth step; returns the number of kills."""
    kills = 0
    for attempt in range(RANDOM_KILLS // 2 if os.environ.get(ASYNC) == "1" else RANDOM_KILLS):
        reading, writing = os.pipe()
        process = forked(lambda pipe=writing: train("random", folder, max_steps, Beats(pipe)))
        os.close(writing)
        if attempt % 4:  # else while it starts
            for _ in range(chance.randint(1, 10)):
                os.read(reading, 1)
            time.sleep(chance.uniform(0, 0.03))
        else:
            time.sleep(chance.uniform(0, 0.5))
        os.kill(process, signal.SIGKILL)
        kills += was_killed(process)
        os.close(reading)
    return kills


def dying(owner, name: str, when: str, which) -> None:
    """Makes a function end its process, before or after one of its calls."""
    function, calls = getattr(owner, name), []

    def deadly(*args, **kwargs):
        if which == "save":
            feeds = kwargs.get("feed_dict") or (args[2] if len(args) > 2 else None)
            prefix = saved_prefix(args[0].graph, args[1], feeds)
            calls.extend([None] * bool(prefix))
            is_last = len(calls) == 2 and prefix
        else:
            calls.append(None)
            is_last = len(calls) == which
        if is_last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)


def kill_in_windows(folder: str, max_steps: int) -> int:
    """Kills training at each of the moments above; returns the number of kills."""
    kills = 0
    is_async = os.environ.get(ASYNC) == "1"
    for window in ASYNC_WINDOWS if is_async else WINDOWS:

        def job(window=window):
            dying(*window)
            train("windows", folder, max_steps)

        killed = was_killed(forked(job))
        if not killed:
            print(f"survived {window}", file=sys.stderr)
        kills += killed
    return kills


def outcome(kind: str, folder: str, max_steps: int) -> dict:
    """Lets training finish, and returns its final values."""
    if was_killed(forked(lambda: train(kind, folder, max_steps))):
        sys.exit("killed by somebody else")
    latest = tf.train.latest_checkpoint(folder)
    reader = tf.train.load_checkpoint(latest)
    values = {
        name: reader.get_tensor(name).tobytes().hex() for name in reader.get_variable_to_shape_map()
    }
    files = sorted(path.name for path in Path(folder).iterdir() if "tfevents" not in path.name)
    return {"values": values, "files": files}


def whole_outcome(kind: str, folder: str, max_steps: int) -> dict:
    """Returns the final values of a run without kills, with synchronous checkpoints."""
    os.environ[ASYNC] = "0"
    return outcome(kind, folder, max_steps)


def main() -> None:
    kind, folder, seed = sys.argv[1:]
    os.environ[ASYNC] = str(int(kind.startswith("async_")))
    kind = kind.replace("async_", "")
    v1.logging.set_verbosity("ERROR")
    max_steps = 60 if kind == "windows" else 200 if os.environ[ASYNC] == "1" else 400
    interrupted = f"{folder}/interrupted"
    if kind == "random":
        kills = kill_at_random(interrupted, max_steps, random.Random(int(seed)))
    else:
        kills = kill_in_windows(interrupted, max_steps)
    result = {
        "kills": kills,
        "interrupted": outcome(kind, interrupted, max_steps),
        "whole": whole_outcome(kind, f"{folder}/whole", max_steps),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
