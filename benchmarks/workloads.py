"""The workloads, with their programs and ways; nothing here needs TensorFlow."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["HEADLINES", "WAYS", "WORKLOADS", "Workload"]

WAYS = {
    "original": "TF 2.15's Estimator",
    "tf1": "TF 1.15.5's Estimator",
    "here": "estimator_bridge",
    "keras": "tf_keras fit",
    "jax": "Keras 3 on JAX",
    "hand": "tf.function by hand",
    "bare": "the arithmetic alone",
    "again": "itself, in another process",
    "bare_xla": "the arithmetic alone, by XLA",
    "log_1": "log and summaries each step",
    "log_10": "log and summaries every 10",
    "log_1000": "log and summaries every 1000",
    "xla": "compiled by XLA",
    "xla_auto": "XLA if quicker",
    "no_prefetch": "no prefetch",
    "one_by_one": "a map over examples",
    "by_batch": "a map over batches",
    "loop_1": "TPU mode, loops of 1",
    "loop_10": "TPU mode, loops of 10",
    "loop_100": "TPU mode, loops of 100",
    "cores_1": "1 emulated core",
    "cores_2": "2 emulated cores",
    "cores_4": "4 emulated cores",
    "cores_8": "8 emulated cores",
    "x1": "1x",
    "x4": "4x",
    "x16": "16x",
    "x64": "64x",
}
_CORES = tuple(way for way in WAYS if way.startswith("cores_"))
_SETTINGS = (
    "here",
    *(way for way in WAYS if way.startswith(("log_", "loop_"))),
    "xla",
    "no_prefetch",
    "one_by_one",
    "by_batch",
)
_ALL = ("here", "original", "keras", "hand")
_STEPS = ("here", "original", "tf1", "keras", "jax", "hand", "bare")
_BOTH = ("here", "original")
_ALL_ESTIMATORS = ("here", "original", "tf1")
_XLA = ("here", "xla", "xla_auto", "hand", "bare_xla")
_GROWTH = ("x1", "x4", "x16", "x64")
_MANY = 1_000_000  # examples
# Of rows of steps: 99 rounds of 0.2 s, which tell 3 %, where 9 rounds of 1 s tell 10 %.
_SHORT = 11.0
_LESS_SHORT = 5.0


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
      share: the share of the requested rounds, rounded up; more than 1 where a round is short.
      table: the table of docs/performance.md that shows it.
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
    table: str = "beside"

    def program_of(self, way: str) -> str:
        """Returns the program of a way: without TensorFlow for Keras on JAX."""
        return "jax_steps" if way == "jax" else self.program


def _steps(name: str, title: str, ways: tuple[str, ...] = _STEPS, **settings: Any) -> Workload:
    settings = {"share": _SHORT, **settings}
    return Workload(name, title, "steps", {"model": name}, ways, **settings)


def _input(name: str, content: str, **settings: Any) -> Workload:
    title, ways = f"input alone: {content}, batch 32", ("here", "original", "tf1", "hand")
    return _steps(name, title, ways, **{"call": 1000, **settings})


def _on_jax(model: str, title: str) -> Workload:
    options = {"model": model, "runtime": "jax:cpu:1"}
    ways = ("here", "jax")
    return Workload(f"{model}_on_jax", f"{title}, on JAX", "steps", options, ways, share=_SHORT)


def _xla(model: str, title: str) -> Workload:
    return Workload(f"xla_{model}", title, "steps", {"model": model}, _XLA, share=3, table="xla")


def _growth(of: str, title: str, ways: tuple[str, ...] = _GROWTH) -> Workload:
    name, options = f"growth_{of}", {"of": of}
    return Workload(name, title, "growth", options, ways, share=2, table="growth")


def _calls(
    name: str, title: str, program: str, examples: int, batch: int = 128, **settings: Any
) -> Workload:
    options = {"examples": examples, "batch": batch, **settings}
    if examples < _MANY:
        return Workload(name, title, program, options, kind="calls", share=2)
    # The original takes 10 s a call, and as long for each example as with fewer.
    ways = tuple(way for way in _ALL if way != "original")
    return Workload(name, title, program, options, ways, "calls")


def _in_memory(name: str, does: str, program: str, **settings: Any) -> list[Workload]:
    """Returns the workloads of a program on two numbers of examples, in two sizes of batches."""
    return [
        _calls(
            "_".join(
                [name, *([] if is_small else ["million"]), *([] if batch == 128 else [str(batch)])]
            ),
            f"{does} {'100,000' if is_small else '1,000,000'} examples, batch {batch:,}",
            program,
            100_000 if is_small else _MANY,
            batch,
            **settings,
        )
        for is_small in (True, False)
        for batch in (128, 1024)
    ]


def _predictor(source: str, does: str) -> Workload:
    title = f"a call of contrib.predictor.from_{source}, {does}"
    return Workload(
        f"predictor_{source}", title, "predictor", {"source": source}, ("here", "tf1"), "calls"
    )


WORKLOADS = [
    # "again" tells how much two equal processes differ here.
    _steps("mlp", "MLP 64-128-10, batch 32", (*_STEPS, "again")),
    _steps("conv32", "conv net 16x16, batch 32"),
    _steps("conv128", "conv net 16x16, batch 128"),
    _steps(
        "bert",
        "BERT-tiny encoder, batch 16x64",
        tuple(way for way in _STEPS if way != "jax"),
        call=20,
        share=_LESS_SHORT,
    ),
    _steps("lstm", "LSTM, 20 steps, batch 32"),
    _steps("lstm_layer", "LSTM by a layer of Keras, batch 32", ("here", "original", "keras")),
    _on_jax("mlp", "MLP 64-128-10, batch 32"),
    _on_jax("lstm", "LSTM, 20 steps, batch 32"),
    _steps("embedding", "100,000-row embedding, batch 128"),
    Workload(
        "hook",
        "MLP, a hook fetches each loss",
        "steps",
        {"model": "mlp", "hook": True},
        _BOTH,
        share=_SHORT,
    ),
    _input("rows", "arrays' rows in order"),
    _input("rows_shuffled", "arrays' rows shuffled"),
    _input("records", "records parsed one by one"),
    _input("generated", "examples of a Python generator", call=100, share=_LESS_SHORT),
    _calls("evaluate_once", "evaluate one batch of 128", "evaluate", 128, calls=20),
    *_in_memory("evaluate", "evaluate", "evaluate"),
    *_in_memory("predict", "predict", "predict"),
    *_in_memory("predict_batches", "predict whole batches of", "predict", single=False),
    *(_predictor(s, "one row") for s in ("saved_model", "estimator", "contrib_estimator")),
    Workload(
        "open_prediction",
        "a request to a prediction that stays open over a generator",
        "open_prediction",
        {},
        ("here", "tf1"),
        "calls",
        share=2,
    ),
    Workload("startup", "start-up", "startup", {}, _ALL_ESTIMATORS, "once"),
    Workload("big_graph", "BERT-base graph to first step", "big_graph", {}, _BOTH, "once", 0.5),
    Workload(
        "settings",
        "MLP under other settings",
        "settings",
        {},
        _SETTINGS,
        share=_LESS_SHORT,
        table="settings",
    ),
    _xla("mlp", "MLP 64-128-10, batch 32"),
    _xla("lstm", "LSTM, 20 steps, batch 32"),
    _xla("conv32", "conv net 16x16, batch 32"),
    _growth("batch", "a step of an MLP, 32 examples and more"),
    _growth("depth", "a step of an MLP, one hidden layer and more", _GROWTH[:3]),
    _growth("examples", "a step on 1,024 examples in memory and more"),
    Workload(
        "growth_hosts",
        "tracing a step for two hosts of 8 cores and more",
        "hosts",
        {},
        _GROWTH[:3],
        "once",
        0.5,
        table="growth",
    ),
    _growth("hooks", "a step of an MLP, one hook that fetches each loss and more", _GROWTH[:3]),
    _growth("variables", "a step that updates 160 variables and more"),
    Workload(
        "growth_nodes",
        "first step of 3 BERT layers and more",
        "big_graph",
        {"layers": 3},
        _GROWTH[:2],
        "once",
        0.5,
        table="growth",
    ),
    Workload(
        "cores",
        "conv net, global batch 1024",
        "cores",
        {"model": "conv128", "batch": 1024},
        _CORES,
        share=3,
        call=10,
        table="cores",
    ),
    Workload("checkpoint", "checkpoint of 400 MB", "checkpoint", {}, _BOTH, "once", 0.7),
    Workload(
        "checkpoint_4gb",
        "checkpoint of 4 GB, eight variables",
        "checkpoint",
        {"rows": 125_000_000},
        _BOTH,
        "once",
        0.3,
    ),
]

# What a user asks first, in the order of the chart: a workload, the metric and a short title.
HEADLINES = (
    ("mlp", "steps/s", "train an MLP"),
    ("conv128", "steps/s", "train a conv net"),
    ("bert", "steps/s", "train BERT-tiny"),
    ("lstm", "steps/s", "train an LSTM"),
    ("embedding", "steps/s", "train an embedding"),
    ("hook", "steps/s", "a hook at each step"),
    ("evaluate", "examples/s", "evaluate 100,000 examples"),
    ("predict", "examples/s", "predict 100,000 examples"),
    ("startup", "process to first step, s", "start a program"),
    ("checkpoint", "write, s", "write 400 MB"),
)
