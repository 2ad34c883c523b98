"""Compiles a model_fn's steps for a TPU that need not be attached."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from estimator_bridge.base.jax_names import JaxName
from estimator_bridge.compile_for import CompileJob, NotCompiledReason, Report, Request
from estimator_bridge.model import MODE_NAMES, ModeKeys, TPURunConfig
from estimator_bridge.runtime import emulate_cores
from estimator_bridge.testing.report import ModelCheckError, explained, place_of
from estimator_bridge.tpu.estimator import TPUEstimator
from estimator_bridge.training.compile_program import compile_program
from estimator_bridge.training.program import Program
from estimator_bridge.training.trace_program import trace_program

__all__ = ["compile_for_tpu"]

_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


def compile_for_tpu(
    model_fn: Callable[..., Any],
    input_fn: Callable[..., Any],
    target: str = "v5e-1",
    params: Mapping[str, Any] | None = None,
    train_batch_size: int = 8,
    eval_batch_size: int | None = None,
    modes: Sequence[str] = _MODES,
    eval_steps: int | None = None,
    find_batch_size: bool = False,
    on_jax: bool = False,
) -> Report:
    """Compiles a model's steps for a TPU slice with libtpu, the TPU's own compiler; runs nothing.

    The compiler needs no TPU. It runs in a separate process, with the Python that
    ESTIMATOR_BRIDGE_COMPILE_PYTHON names or else the current one; install it with
    ``pip install 'estimator-bridge[tpu-compile]'``. Further calls reuse the process, which ends
    with the current one.

    Args:
      model_fn: returns a TPUEstimatorSpec.
      input_fn: an input_fn for TPUEstimator; it may have an argument ``mode``.
      target: the slice's name, such as 'v5e-8'.
      params: the params of both functions.
      train_batch_size: the global batch size for training; divisible by the slice's number of
        replicas.
      eval_batch_size: the global batch size for evaluation and prediction; by default the same.
      modes: the modes that the model has.
      eval_steps: the number of batches of an evaluation; by default it reads its input to the end,
        and the step for a short last batch is compiled too.
      find_batch_size: whether to search the largest global batch of each mode that fits the chip's
        memory, which compiles the step about ten times. The report's ``batches`` has the result.
        A given batch that does not fit is then not an error.
      on_jax: whether to compile the programs that JAX runs, of many steps on all replicas, instead
        of one replica's step as TensorFlow runs it; needs ``estimator-bridge[jax]``.

    Returns:
      The compiler's figures for each step; ``print(report.table())`` shows them.

    Raises:
      ModelCheckError: a step was not compiled; the message names the step, the reason and the line.
      CompileError: the compiler is not installed.
      TooLateError: TensorFlow has already started with fewer emulated cores.
      ValueError: an argument is wrong.
    """
    unknown = [mode for mode in modes if mode not in _MODES]
    if unknown or not modes:
        raise ValueError(f"modes must be some of {list(_MODES)}, got {list(modes)}.")
    request = Request.make(target, only=True, finds_batch=find_batch_size, on_jax=on_jax)
    job = CompileJob(request)
    eval_size = eval_batch_size or train_batch_size
    job.start()
    replicas = request.target.replicas
    master = str(JaxName(replicas, on_cpu=True)) if on_jax else f"emulated:{replicas}"
    if not on_jax:
        emulate_cores(replicas)
    with tempfile.TemporaryDirectory() as folder:
        estimator = TPUEstimator(
            model_fn,
            config=TPURunConfig(master=master, model_dir=folder, tf_random_seed=1),
            params=params,
            train_batch_size=train_batch_size,
            eval_batch_size=eval_size,
            predict_batch_size=eval_size,
        )
        for mode in modes:
            _compile_mode(job, estimator, input_fn, mode, eval_steps)
    refusals = [
        one
        for one in job.report.refused
        if not (find_batch_size and one.why == NotCompiledReason.MEMORY.value)
    ]
    if refusals:
        message = "\n".join(f"{one.name} for {one.target}: {one.message}" for one in refusals)
        raise ModelCheckError(f"{message}\n  in {place_of(model_fn)}")
    return job.report


def _compile_mode(
    job: CompileJob,
    estimator: TPUEstimator,
    input_fn: Callable[..., Any],
    mode: str,
    steps: int | None,
) -> None:
    with explained(f"{MODE_NAMES[mode]} for {job.request.target.name}", estimator._model_fn):
        execution = estimator._execution(mode)
        program = trace_program(execution, estimator._model_fn, input_fn, mode, estimator.params)

    def retrace(size: int) -> Program:
        other = estimator._with_batch(mode, size)
        execution = other._execution(mode)
        return trace_program(execution, other._model_fn, input_fn, mode, other.params)

    try:
        compile_program(job, program, steps, retrace)
    finally:
        program.close()
