"""Compiles steps with libtpu, a TPU's own compiler, without a TPU; needs no TensorFlow.

With ``--compile-for``, libtpu compiles each step before it runs. ``runtime.lowering`` lowers one
replica's part to HLO through TensorFlow, as ``--check-tpu`` does. Each ``CrossReplicaSum`` becomes
an all-reduce over the slice's replicas (``XlaAllReduce``, which supports groups), and the replica's
number becomes XLA's own. ``training.compile_program`` lists the steps of a mode.

This package receives the HLO and does not depend on TensorFlow:

- ``request`` holds the user's request; ``slices`` and ``chips`` are the tables of hardware.
- ``job`` keeps the steps of a process. ``compiler`` talks through a pipe to the compiler's process,
  which is ``compiler_main``. libtpu aborts on some errors, so it has a separate process, which
  starts while TensorFlow is imported and compiles all steps. ``libtpu_releases`` checks its
  versions.
- ``hlo`` parses the compiled module and ``analysis`` turns it into the values of ``step_report``.
  ``text_table``, ``html_page`` and ``report_file`` write them as text, HTML and JSON.
- ``compiler_errors`` and ``out_of_memory`` explain errors of the compiler with the user's lines;
  ``batch_search`` searches for the largest batch that fits.

Under ``--compile-only`` an estimator's calls trace, compile and return. Variables get no values: a
step is lowered over memory that nobody reads. ``evaluate`` returns an object that ends the program
when the program reads a metric (``compile_only``), because made-up numbers would end up in files.
Emulated cores matter only by their number.

``parity.compile_for_tpu`` makes the matrix of programs and slices. One process lowers a program
once for each number of replicas (``parity.compiled.several``) and compiles the result for each
slice.
"""

from estimator_bridge.compile_for.batch_search import SearchEndError, Trial
from estimator_bridge.compile_for.compile_only import (
    CompileOnlyEnd,
    NotComputed,
    end_program,
    refuse_uncovered,
)
from estimator_bridge.compile_for.errors import CompileError, NotCompiledReason
from estimator_bridge.compile_for.job import CompileJob, current_job, start_job, use_job
from estimator_bridge.compile_for.lowered import Argument, Finding, LoweredStep
from estimator_bridge.compile_for.report import Report
from estimator_bridge.compile_for.request import Request
from estimator_bridge.compile_for.slices import Slice, find_slice, slice_names
from estimator_bridge.compile_for.step_report import Refusal, StepReport

__all__ = [
    "Argument",
    "CompileError",
    "CompileJob",
    "CompileOnlyEnd",
    "Finding",
    "LoweredStep",
    "NotCompiledReason",
    "NotComputed",
    "Refusal",
    "Report",
    "Request",
    "SearchEndError",
    "Slice",
    "StepReport",
    "Trial",
    "current_job",
    "end_program",
    "find_slice",
    "refuse_uncovered",
    "slice_names",
    "start_job",
    "use_job",
]
