"""The programs of this repository on a TPU's cores, each mode compiled."""

from __future__ import annotations

import contextlib
import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.compile_for import CompileError, CompileOnlyEnd, NotCompiledReason
from parity import environment
from parity.compiled.several import SeveralSlices

__all__ = [
    "CLASSIFIER",
    "DIGITS",
    "Modes",
    "compile_program",
    "emulate_cores",
    "make_cores",
    "program_on_cores",
]

emulate_cores = eb.runtime.emulate_cores

DIGITS = "digits"
CLASSIFIER = "classifier"  # a canned one, which also predicts strings: the names of the classes
TRAIN_EXAMPLES, EVAL_EXAMPLES = 6, 8  # a replica's batch, as the programs have it
_DIGITS_BATCH = 64


def make_cores(count: int, on_jax: bool = False) -> None:
    """Makes emulated cores, or CPU devices of JAX, before a program needs fewer."""
    if on_jax:
        eb.tpu.TPUClusterResolver(_master(count, on_jax))
    else:
        emulate_cores(count)


def _master(count: int, on_jax: bool) -> str:
    return f"jax:cpu:{count}" if on_jax else f"emulated:{count}"


def compile_program(name: str, job: SeveralSlices) -> None:
    """Has the steps of training, evaluation and prediction compiled.

    An Estimator is put on cores by ``TPUEstimator.from_estimator``; a TPUEstimator is made anew
    with ``use_tpu=True``. A replica's batch is what the program's own batch was.

    Args:
      name: one of ``parity.programs``, or ``DIGITS``, or ``CLASSIFIER``.
      job: says for which slices; must be this process's.
    """
    replicas = job.request.target.replicas
    master = _master(replicas, job.request.on_jax)
    with tempfile.TemporaryDirectory() as folder:
        make = {DIGITS: _digits, CLASSIFIER: _classifier}.get(name)
        parts = (
            make(folder, replicas, master)
            if make
            else program_on_cores(name, folder, replicas, master)
        )
        estimator, train_input, eval_input, predict_input = parts
        calls: dict[str, Callable[[], Any]] = {
            "training": lambda: estimator.train(train_input, steps=1),
            "evaluation": lambda: estimator.evaluate(eval_input),
            "prediction": lambda: next(iter(estimator.predict(predict_input))),
        }
        for mode, call in calls.items():
            try:
                with contextlib.suppress(CompileOnlyEnd):
                    call()
            except Exception as error:  # whatever the program or the library says of it
                text = f"{type(error).__name__}: {error}"
                job.refuse(mode, CompileError(NotCompiledReason.TENSORFLOW, text))


Modes = tuple[eb.tpu.TPUEstimator, Callable, Callable, Callable]


def _digits(folder: str, replicas: int, master: str) -> Modes:
    from models.mnist.dataset import make_dataset, open_data
    from models.mnist.model import MODEL

    data = open_data(folder)

    def input_fn(params: dict[str, Any], mode: str) -> tf.data.Dataset:
        training = mode == eb.ModeKeys.TRAIN
        examples = make_dataset(data, "train" if training else "test", shuffle_seed=1)
        return examples.batch(params["batch_size"], drop_remainder=training)

    batch = _DIGITS_BATCH * replicas
    estimator = eb.tpu.TPUEstimator(
        MODEL.tpu_model_fn,
        config=eb.tpu.RunConfig(master=master, model_dir=folder),
        params={"learning_rate": 1e-3, "train_steps": 100},
        train_batch_size=batch,
        eval_batch_size=batch,
        predict_batch_size=batch,
    )
    return estimator, input_fn, input_fn, input_fn


def _classifier(folder: str, replicas: int, master: str) -> Modes:
    columns = [tf.feature_column.numeric_column("x", shape=[4])]
    config = eb.RunConfig(model_dir=folder, tf_random_seed=2024)
    original = eb.DNNClassifier([8], columns, n_classes=3, config=config)
    x = np.random.RandomState(0).rand(30, 4).astype(np.float32)

    def input_fn(params: dict[str, Any], mode: str) -> tf.data.Dataset:
        training = mode == eb.ModeKeys.TRAIN
        labels = np.minimum(x.sum(1).astype(np.int64), 2)
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, labels))
        data = data.repeat() if training else data
        return data.batch(params["batch_size"], drop_remainder=training)

    estimator = eb.tpu.TPUEstimator.from_estimator(
        original,
        eb.tpu.RunConfig(master=master, model_dir=folder, tf_random_seed=2024),
        train_batch_size=TRAIN_EXAMPLES * replicas,
        eval_batch_size=EVAL_EXAMPLES * replicas,
        predict_batch_size=EVAL_EXAMPLES * replicas,
    )
    return estimator, input_fn, input_fn, input_fn


def program_on_cores(
    name: str, folder: str, replicas: int, master: str = "", steps_of_loop: int = 2
) -> Modes:
    """Returns a program's estimator on cores, and its inputs of training and the other modes.

    Args:
      name: one of ``parity.programs``.
      folder: the folder of its files.
      replicas: the number of replicas.
      master: the cores; by default emulated ones.
      steps_of_loop: the ``iterations_per_loop``.
    """
    program = environment.load(name)
    original = program.make_estimator(str(Path(folder, "model")))
    config = eb.tpu.RunConfig(
        master=master or f"emulated:{replicas}",
        model_dir=original.model_dir,
        tf_random_seed=2024,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=steps_of_loop),
    )
    sizes: dict[str, Any] = {
        "train_batch_size": TRAIN_EXAMPLES * replicas,
        "eval_batch_size": EVAL_EXAMPLES * replicas,
        "predict_batch_size": EVAL_EXAMPLES * replicas,
    }
    if isinstance(original, eb.tpu.TPUEstimator):
        params = {k: v for k, v in original.params.items() if k not in ("batch_size", "use_tpu")}
        estimator = eb.tpu.TPUEstimator(original._model_fn, config=config, params=params, **sizes)
    else:
        original._params.pop("batch_size", None)  # a TPUEstimator's own
        estimator = eb.tpu.TPUEstimator.from_estimator(original, config, **sizes)
    train, evaluate = sizes["train_batch_size"], sizes["eval_batch_size"]
    return (
        estimator,
        _in_full_batches(program, program.train_input, train, True),
        _in_full_batches(program, program.eval_input, evaluate, False),
        _in_full_batches(program, program.predict_input, evaluate, False),
    )


def _in_full_batches(
    program: ModuleType, input_fn: Callable, batch: int, training: bool
) -> Callable:
    """A program's input in global batches, none short in training, as a TPU needs them.

    Where it gives tensors of a queue or an iterator, whose batches have no static size, the same
    examples come as a dataset. A program that has no such examples keeps its tensors.
    """

    def on_cores(params: dict[str, Any]) -> Any:
        takes_params = "params" in inspect.signature(input_fn).parameters
        data = input_fn(params) if takes_params else input_fn()
        if isinstance(data, tf.data.Dataset):
            data = data.unbatch()
        elif not hasattr(program, "examples"):
            return data
        else:
            data = tf.data.Dataset.from_tensor_slices(program.examples(program.TRAIN_EXAMPLES, 1))
        data = data.repeat() if training else data
        return data.batch(batch, drop_remainder=training)

    return on_cores
