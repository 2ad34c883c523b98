"""The workloads, with their programs and ways; nothing here needs TensorFlow."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["WAYS", "WORKLOADS", "Workload"]

WAYS = {
    "original": "TF 2.15's Estimator",
    "here": "estimator_bridge",
    "keras": "tf_keras fit",
    "hand": "tf.function by hand",
    "log_1": "log and summaries each step",
    "log_10": "log and summaries every 10",
    "log_1000": "log and summaries every 1000",
    "xla": "compiled by XLA",
    "no_prefetch": "no prefetch",
    "one_by_one": "a map over examples",
    "loop_1": "TPU mode, loops of 1",
    "loop_10": "TPU mode, loops of 10",
    "loop_100": "TPU mode, loops of 100",
    "cores_1": "1 emulated core",
    "cores_2": "2 emulated cores",
    "cores_4": "4 emulated cores",
    "cores_8": "8 emulated cores",
}
_CORES = tuple(way for way in WAYS if way.startswith("cores_"))
_SETTINGS = tuple(way for way in WAYS if way not in ("original", "keras", "hand", *_CORES))
_ALL = ("here", "original", "keras", "hand")
_BOTH = ("here", "original")


@dataclasses.dataclass(frozen=True)
class Workload:
    """A row of the report.

    Attributes:
      name: the name that selects it.
      title: the title in the report.
      program: a program of ``benchmarks.programs``.
      options: options of the program, by way if they differ.
      ways: the ways that alternate; the first is divided by the others.
      kind: 'steps': processes that run a number of steps per order, reported as rates; 'calls':
        processes that repeat one call per order; 'once': a process for each measurement.
      share: the share of the requested rounds.
      call: steps after which the ways other than Estimators return to Python, as these do every
        100 steps to log; fewer if a step takes long. Orders are multiples of it.
    """

    name: str
    title: str
    program: str
    options: dict[str, Any]
    ways: tuple[str, ...] = _ALL
    kind: str = "steps"
    share: float = 1.0
    call: int = 100


def _steps(name: str, title: str, **more: Any) -> Workload:
    return Workload(name, title, "steps", {"model": name}, **more)


def _calls(
    name: str, title: str, program: str, examples: int, batch: int = 128, **more: Any
) -> Workload:
    options = {"examples": examples, "batch": batch, **more}
    return Workload(name, title, program, options, kind="calls", share=0.7)


def _in_memory(name: str, does: str, program: str, **more: Any) -> list[Workload]:
    """Returns the workloads of a program on two numbers of examples, in two sizes of batches."""
    return [
        _calls(
            "_".join(
                [name, *([] if few else ["million"]), *([] if batch == 128 else [str(batch)])]
            ),
            f"{does} {'100,000' if few else '1,000,000'} examples, batch {batch:,}",
            program,
            100_000 if few else 1_000_000,
            batch,
            **more,
        )
        for few in (True, False)
        for batch in (128, 1024)
    ]


WORKLOADS = [
    _steps("mlp", "MLP 64-128-10, batch 32"),
    _steps("conv32", "conv net 16x16, batch 32"),
    _steps("conv128", "conv net 16x16, batch 128"),
    _steps("bert", "BERT-tiny encoder, batch 16x64", call=20),
    _steps("lstm", "LSTM, 20 steps, batch 32"),
    _steps("embedding", "100,000-row embedding, batch 128"),
    Workload(
        "hook", "MLP, a hook fetches each loss", "steps", {"model": "mlp", "hook": True}, _BOTH
    ),
    _calls("evaluate_once", "evaluate one batch of 128", "evaluate", 128, calls=20),
    *_in_memory("evaluate", "evaluate", "evaluate"),
    *_in_memory("predict", "predict", "predict"),
    *_in_memory("predict_batches", "predict whole batches of", "predict", single=False),
    Workload("startup", "start-up", "startup", {}, _BOTH, "once"),
    Workload("big_graph", "BERT-base graph to first step", "big_graph", {}, _BOTH, "once", 0.5),
    Workload("settings", "MLP under other settings", "settings", {}, _SETTINGS),
    Workload(
        "cores",
        "conv net, global batch 1024",
        "cores",
        {"model": "conv128", "batch": 1024},
        _CORES,
        share=0.7,
        call=10,
    ),
    Workload("checkpoint", "checkpoint of 400 MB", "checkpoint", {}, _BOTH, "once", 0.7),
]
