"""Programs that hang, each in another place; they run under TensorFlow 2.15 too."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import time
from collections.abc import Callable
from typing import Any

from parity.environment import IS_ORIGINAL, tf

if IS_ORIGINAL:
    api: Any = tf.estimator
else:
    import estimator_bridge as eb

    api = eb

__all__ = ["AT_STEP", "PROGRAMS", "with_tpu", "with_worker"]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_Listener: Any = _v1.train.CheckpointSaverListener
AT_STEP = 5  # the first that never ends; the last checkpoint is of step 4
_LONG = 3600.0
Ready = Callable[[], None]


def _model_fn(features, labels, mode, params):
    del labels
    step = _v1.train.get_or_create_global_step()
    weight = _v1.get_variable("weight", [], initializer=_v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weight - features))
    if mode == tf.estimator.ModeKeys.PREDICT if IS_ORIGINAL else mode == "infer":
        return api.EstimatorSpec(mode, predictions=weight + features)
    if params.get("in_step"):
        loss = params["in_step"](loss, step)
    train_op = _v1.train.GradientDescentOptimizer(0.1).minimize(tf.identity(loss), step)
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _estimator(folder: str, model_fn=_model_fn, **params: Any) -> Any:
    config = api.RunConfig(folder, save_checkpoints_steps=2, save_summary_steps=None)
    return api.Estimator(model_fn, config=config, params=params)


def _ones(count: int | None = None):
    return tf.data.Dataset.from_tensors(tf.ones([4])).repeat(count)


class _AtStep(_Hook):
    """Calls a function after a number of steps."""

    def __init__(self, function: Callable[[], Any], steps: int = AT_STEP):
        self._function, self._steps, self._step_count = function, steps, 0

    def before_run(self, run_context):
        """Requests a call at each step."""

    def after_run(self, run_context, run_values):
        """Counts a step."""
        self._step_count += 1
        if self._step_count == self._steps:
            self._function()


def _hangs(ready: Ready) -> Callable[[], None]:
    def hang() -> None:
        ready()
        time.sleep(_LONG)

    return hang


def _steps(folder: str, ready: Ready) -> None:
    """Steps without an end; nothing hangs."""
    _estimator(folder).train(_ones, hooks=[_AtStep(ready)])


def _generator_of(ready: Ready, count: int):
    def batches():
        for _ in range(count):
            yield [1.0] * 4
        _hangs(ready)()

    return lambda: tf.data.Dataset.from_generator(batches, tf.float32, [4])


def _generator(folder: str, ready: Ready) -> None:
    """A generator in input_fn."""
    _estimator(folder).train(_generator_of(ready, AT_STEP))


def _input(folder: str, ready: Ready) -> None:
    """tf.data waits for an element that never comes; no Python runs."""

    def input_fn():
        never = tf.data.Dataset.range(1 << 60).filter(lambda number: number < 0)
        return _ones(AT_STEP).concatenate(never.map(lambda _: tf.ones([4])))

    _estimator(folder).train(input_fn, hooks=[_AtStep(ready, AT_STEP - 1)])


def _hook(folder: str, ready: Ready) -> None:
    """A hook's after_run."""
    _estimator(folder).train(_ones, hooks=[_AtStep(_hangs(ready))])


def _gil(folder: str, ready: Ready) -> None:
    """A hook calls C code that holds Python's lock (the GIL)."""

    def hang() -> None:
        lock = ctypes.create_string_buffer(128)  # a mutex that nobody holds
        ready()
        for _ in range(2):
            ctypes.PyDLL(None).pthread_mutex_lock(lock)

    _estimator(folder).train(_ones, hooks=[_AtStep(hang)])


def _in_model_fn(folder: str, ready: Ready) -> None:
    """model_fn, in a second call of train()."""
    _estimator(folder).train(_ones, steps=AT_STEP - 1)

    def model_fn(features, labels, mode, params):
        _hangs(ready)()

    _estimator(folder, model_fn).train(_ones)


def _write(folder: str, ready: Ready) -> None:
    """A write by TensorFlow while a checkpoint is saved."""
    pipe = os.path.join(folder, "pipe")  # which nobody reads

    class Writes(_Listener):
        def before_save(self, session, global_step_value):
            if global_step_value > AT_STEP - 1:
                os.mkfifo(pipe)
                ready()
                with tf.io.gfile.GFile(pipe, "w") as file:
                    file.write("x")

    _estimator(folder).train(_ones, saving_listeners=[Writes()])


def _py_function(folder: str, ready: Ready) -> None:
    """A Python function in the step, as in a host call."""

    def in_step(loss, step):
        def look(value):
            if value >= AT_STEP:
                _hangs(ready)()
            return value

        step_value = _v1.py_func(look, [step], tf.int64)
        return loss + 0.0 * tf.cast(step_value, tf.float32)

    _estimator(folder, in_step=in_step).train(_ones)


def _step(folder: str, ready: Ready) -> None:
    """A loop in the step that does not end."""

    def in_step(loss, step):
        last = tf.where(step < AT_STEP, tf.constant(1, tf.int64), tf.constant(1 << 60, tf.int64))
        number = tf.while_loop(lambda n: n < last, lambda n: [n + 1], [tf.constant(0, tf.int64)])
        return loss + 0.0 * tf.cast(tf.reduce_sum(number), tf.float32)

    _estimator(folder, in_step=in_step).train(_ones, hooks=[_AtStep(ready, AT_STEP)])


def _compilation(folder: str, ready: Ready) -> None:
    """XLA compiles a step, which takes minutes; in a second call of train()."""
    _estimator(folder).train(_ones, steps=AT_STEP - 1)

    def in_step(loss, step):
        @tf.function(jit_compile=True)
        def large(value):
            matrix = tf.eye(4) * value
            for _ in range(50):
                matrix = tf.sort(tf.linalg.inv(matrix + tf.eye(4)) + value, axis=-1)
            return tf.reduce_sum(matrix)

        return loss + 0.0 * large(tf.stop_gradient(loss))

    class Ready(_Hook):
        def before_run(self, run_context):
            ready()

    _estimator(folder, in_step=in_step).train(_ones, hooks=[Ready()])


def _evaluation(folder: str, ready: Ready) -> None:
    """A generator in the input of evaluate()."""
    estimator = _estimator(folder)
    estimator.train(_ones, steps=AT_STEP - 1)
    estimator.evaluate(_generator_of(ready, 3))


def _prediction(folder: str, ready: Ready) -> None:
    """A generator in the input of predict()."""
    estimator = _estimator(folder)
    estimator.train(_ones, steps=AT_STEP - 1)
    list(estimator.predict(_generator_of(ready, 3)))


def _train_and_evaluate(folder: str, ready: Ready) -> None:
    """The evaluation in train_and_evaluate()."""
    train = api.TrainSpec(_ones, max_steps=100)
    evaluate = api.EvalSpec(_generator_of(ready, 3), steps=None, throttle_secs=0)
    api.train_and_evaluate(_estimator(folder), train, evaluate)


def _tpu(folder: str, ready: Ready) -> None:
    """A TPU's address accepts the connection, and sends nothing."""
    server = socket.create_server(("127.0.0.1", 0))
    with_tpu(folder, ready, f"127.0.0.1:{server.getsockname()[1]}", _LONG)


def with_tpu(folder: str, ready: Ready, address: str, secs: float) -> None:
    """Trains on the TPU at an address.

    Args:
      folder: model_dir.
      ready: called before the connection to the TPU.
      address: 'host:port'.
      secs: how long the TPU may take to start.
    """
    os.environ["ESTIMATOR_BRIDGE_CONNECT_SECS"] = str(secs)
    tpu = _v1.estimator.tpu if IS_ORIGINAL else eb.tpu
    config = tpu.RunConfig(model_dir=folder, master=f"grpc://{address}")
    ready()
    estimator = tpu.TPUEstimator(_model_fn, config=config, params={}, train_batch_size=4)
    estimator.train(lambda params: _ones(), steps=3)


def _worker(folder: str, ready: Ready) -> None:
    """The other workers do not come."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    with_worker(folder, ready, address, _LONG)


def with_worker(folder: str, ready: Ready, address: str, secs: float) -> None:
    """Trains with a worker at an address.

    Args:
      folder: model_dir.
      ready: called before the connection to the worker.
      address: 'host:port'.
      secs: how long to wait for it.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        addresses = [f"127.0.0.1:{free.getsockname()[1]}", address]
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": 0}}
    )
    ready()
    if IS_ORIGINAL:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    else:
        strategy = eb.runtime.multi_worker_strategy(timeout_secs=secs)
    config = api.RunConfig(folder, train_distribute=strategy)
    api.Estimator(_model_fn, config=config, params={}).train(_ones, steps=3)


# By the name of the place.
PROGRAMS: dict[str, Callable[[str, Ready], None]] = {
    "steps": _steps,
    "generator": _generator,
    "input": _input,
    "py_function": _py_function,
    "step": _step,
    "hook": _hook,
    "gil": _gil,
    "model_fn": _in_model_fn,
    "compilation": _compilation,
    "write": _write,
    "evaluation": _evaluation,
    "prediction": _prediction,
    "train_and_evaluate": _train_and_evaluate,
    "tpu": _tpu,
    "worker": _worker,
}
