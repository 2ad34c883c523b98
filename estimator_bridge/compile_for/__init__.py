"""Compiles steps with libtpu, a TPU's own compiler, without a TPU; needs no TensorFlow."""

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
