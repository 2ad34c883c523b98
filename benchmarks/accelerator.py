"""Training steps on JAX's device, beside the same networks written by hand in JAX.

    python -m benchmarks.accelerator [--device jax:1] [--sizes device|small] [--rounds N] [--secs N]
                                     [--only NAME ...]

It needs this repository, TensorFlow and JAX, and takes at most `--secs` seconds: it begins no
network that would not end in time, and says which it left out. A TPUEstimator trains each network
on the device. After each of its loops a hook trains as many steps by hand, from the same first
values and on the same batches, all prepared in memory; then as many in the loop of most programs,
which reads the same dataset and calls the compiled step for each batch; and it runs the compiled
step alone, on batches that are on the device. So they take turns, and a round's ratio is of its own
times. The losses are compared with those by hand, and with a TPUEstimator's on the CPU.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.estimators import estimators, tf, v1  # isort: skip  # first: it selects Keras 2

import numpy as np

from benchmarks.by_hand.training import ByHand
from benchmarks.models.bert import Bert
from benchmarks.models.conv import Conv
from benchmarks.models.lstm import LSTM
from benchmarks.models.mlp import MLP
from benchmarks.models.model import Model, cross_entropy
from benchmarks.models.resnet import ResNet50
from benchmarks.page import markdown
from benchmarks.step_alone import StepAlone
from estimator_bridge.base.jax_names import parse_jax_name
from estimator_bridge.runtime.on_jax.devices import jax_devices
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["CASES", "Case", "Row", "main", "measure", "table"]

_WARM = 2  # loops before the first round; the first one compiles
_CPU_STEPS = 2
_BLOCK_BYTES = 64 << 20  # of the batches of a call by hand, as here
_LOSS = "benchmark_loss"
# Dense bfloat16 products of a chip, in TFLOP/s, from its maker's data sheets.
_PEAKS = {"H100": 989.0, "H200": 989.0, "A100": 312.0, "TPU v5 lite": 197.0, "TPU v6 lite": 918.0}


class Case(NamedTuple):
    """A network to measure.

    Attributes:
      title: its title in the table.
      make: makes the model.
      steps: the steps of a loop.
      is_narrow: whether its arithmetic is in bfloat16.
    """

    title: str
    make: Callable[[], Model]
    steps: int
    is_narrow: bool = False


class Row(NamedTuple):
    """What was measured of a network.

    Attributes:
      first: seconds from train() to the end of the first loop, which traces and compiles.
      here: seconds a step by round.
      hand: those by hand, on batches in memory.
      reading: those by hand, where each batch is read from the same dataset.
      alone: those of the compiled step alone.
      differs: the relative difference of a loop's last loss from the one by hand.
      from_cpu: that of an early loss from the CPU's; None on a CPU.
      flops: floating-point operations of a step.
    """

    first: float
    here: list[float]
    hand: list[float]
    reading: list[float]
    alone: list[float]
    differs: float
    from_cpu: float | None
    flops: float


def _bert_base(is_narrow: bool) -> Model:
    dtype = tf.bfloat16 if is_narrow else tf.float32
    return Bert(32, 128, layers=12, size=768, heads=12, words=30522, dtype=dtype)


CASES: dict[str, dict[str, Case]] = {
    "device": {
        "bert_bfloat16": Case(
            "BERT-base, 32x128, bfloat16", lambda: _bert_base(True), 20, is_narrow=True
        ),
        "bert": Case("BERT-base, 32x128, float32", lambda: _bert_base(False), 20),
        "resnet_bfloat16": Case("ResNet-50, 128, bfloat16", ResNet50, 20, is_narrow=True),
        "resnet": Case("ResNet-50, 128, float32", ResNet50, 20),
        "conv": Case("conv net 16x16, batch 128", lambda: Conv(128), 200),
        "lstm": Case("LSTM, 20 steps, batch 32", LSTM, 200),
    },
    "small": {
        "mlp": Case("MLP 64-128-10, batch 32", MLP, 1000),
        "lstm": Case("LSTM, 20 steps, batch 32", LSTM, 100),
        "conv": Case("conv net 16x16, batch 32", Conv, 100),
        "bert": Case("BERT-tiny, 16x64", Bert, 10),
        "resnet": Case("ResNet-50, 8 of 64x64", lambda: ResNet50(8, 64), 2),
    },
}


class _Turns(v1.train.SessionRunHook):
    """Measures a loop, then lets the others run as many steps."""

    def __init__(self, case: Case, model: Model, device: Any, alone: StepAlone):
        self._case, self._model, self._device, self._alone = case, model, device, alone
        self.first, self.differs, self.losses = 0.0, 0.0, np.zeros(0)
        self.here: list[float] = []
        self.hand: list[float] = []
        self.reading: list[float] = []
        self.alone: list[float] = []
        self.flops, self._loops, self._began = 0.0, 0, time.perf_counter()

    def after_create_session(self, session, coord):
        """Takes the first values, from which the steps by hand begin."""
        values = {v.op.name: session.run(v) for v in v1.global_variables()}
        dtype = tf.bfloat16.as_numpy_dtype if self._case.is_narrow else np.float32
        on_cpu = self._device.platform == "cpu"
        # XLA computes convolutions in a loop ten times as slowly on a CPU.
        is_looped = not (on_cpu and isinstance(self._model, (Conv, ResNet50)))
        self._by_hand = ByHand(self._model, values, np.dtype(dtype), self._device, is_looped)
        self._batches = _batches(self._model, self._case.steps)
        with eager_mode():
            self._input = _dataset(self._model).as_numpy_iterator()

    def before_run(self, run_context):
        """Requests the loss of the loop's last step."""
        graph = v1.get_default_graph()
        return v1.train.SessionRunArgs(graph.get_tensor_by_name(f"{_LOSS}:0"))

    def after_run(self, run_context, run_values):
        """Notes the loop's time; the others' turn."""
        secs = time.perf_counter() - self._began
        if self._loops == 0:
            self.first, self.flops = secs, self._by_hand.flops(self._batches[0])
            self.losses = np.concatenate([np.asarray(self._by_hand(b)) for b in self._batches])
            self.differs = abs(run_values.results / self.losses[-1] - 1)
            self._alone.is_wanted = True
        elif self._loops == 1:
            self._alone(self._case.steps)
            self._time_reading(1)
        else:
            self.here.append(secs / self._case.steps)
            self.hand.append(self._time_by_hand())
            self.reading.append(self._time_reading(self._case.steps))
            self.alone.append(self._alone(self._case.steps))
        self._loops += 1
        self._began = time.perf_counter()

    def _time_by_hand(self) -> float:
        start = time.perf_counter()
        for block in self._batches:
            losses = self._by_hand(block)
        np.asarray(losses[-1])  # which waits for it
        return (time.perf_counter() - start) / self._case.steps

    def _time_reading(self, steps: int) -> float:
        start = time.perf_counter()
        with eager_mode():
            for batch in itertools.islice(self._input, steps):
                loss = self._by_hand.train_one(batch)
        np.asarray(loss)
        return (time.perf_counter() - start) / steps


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command."""
    began = time.perf_counter()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerator", description=__doc__)
    parser.add_argument("--device", default="jax:1", help="jax:1, the accelerator; or jax:cpu:1")
    parser.add_argument("--sizes", choices=CASES, help="by default those that fit the device")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=float, default=360.0)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    arguments = parser.parse_args(argv)
    sizes = arguments.sizes or ("small" if ":cpu" in arguments.device else "device")
    cases = CASES[sizes]
    unknown = set(arguments.only or ()) - set(cases)
    if unknown:
        parser.error(f"no network {sorted(unknown)[0]!r}; there are {', '.join(cases)}")
    rows: dict[str, Row] = {}
    left_out, longest = [], 0.0
    for name in arguments.only or cases:
        start = time.perf_counter()
        if start - began + longest > arguments.secs:
            left_out.append(cases[name].title)
            continue
        row = rows[cases[name].title] = measure(cases[name], arguments.device, arguments.rounds)
        longest = max(longest, time.perf_counter() - start)
        print(f"{cases[name].title}: {row.here[-1] * 1000:.3f} ms", file=sys.stderr, flush=True)
    print(table(rows, _device_of(arguments.device).device_kind))
    if left_out:
        print(f"Left out, as {arguments.secs:.0f} s would not have sufficed: {', '.join(left_out)}")


def measure(case: Case, name: str, rounds: int) -> Row:
    """Measures a network.

    Args:
      case: the network.
      name: the device, such as 'jax:1'.
      rounds: how often the three ways take turns.
    """
    model, device = case.make(), _device_of(name)
    with StepAlone() as alone:
        turns = _Turns(case, model, device, alone)
        _train(case, model, name, case.steps, (_WARM + rounds) * case.steps, turns)
    from_cpu = None
    if device.platform != "cpu":
        last = _LastLoss()
        _train(case, case.make(), "jax:cpu:1", _CPU_STEPS, _CPU_STEPS, last)
        from_cpu = abs(turns.losses[_CPU_STEPS - 1] / last.loss - 1)
    return Row(
        turns.first, turns.here, turns.hand, turns.reading, turns.alone, turns.differs, from_cpu,
        turns.flops,
    )  # fmt: skip


class _LastLoss(v1.train.SessionRunHook):
    loss = 0.0

    def before_run(self, run_context):
        """Requests the loss."""
        graph = v1.get_default_graph()
        return v1.train.SessionRunArgs(graph.get_tensor_by_name(f"{_LOSS}:0"))

    def after_run(self, run_context, run_values):
        """Notes it."""
        self.loss = float(run_values.results)


def _train(case: Case, model: Model, master: str, iterations: int, steps: int, hook: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = estimators.tpu.RunConfig(
            model_dir=folder,
            master=master,
            tf_random_seed=1,
            save_checkpoints_steps=10**9,
            save_summary_steps=10**9,
            tpu_config=estimators.tpu.TPUConfig(iterations_per_loop=iterations),
        )
        estimator = estimators.tpu.TPUEstimator(
            _model_fn(case, model), config=config, train_batch_size=model.batch
        )
        estimator.train(lambda params: _dataset(model), hooks=[hook], max_steps=steps)


def _model_fn(case: Case, model: Model) -> Callable[..., Any]:
    def model_fn(features, labels, mode, params):
        if case.is_narrow:
            with v1.tpu.bfloat16_scope():
                is_number = features.dtype.is_floating
                logits = model.v1_logits(tf.cast(features, tf.bfloat16) if is_number else features)
        else:
            logits = model.v1_logits(features)
        loss = tf.identity(cross_entropy(labels, tf.cast(logits, tf.float32)), name=_LOSS)
        optimizer = estimators.tpu.CrossShardOptimizer(model.optimizer.v1())
        # Sums of a table's rows have no static shape, which XLA needs.
        pairs = [(tf.convert_to_tensor(g), v) for g, v in optimizer.compute_gradients(loss)]
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.apply_gradients(pairs, v1.train.get_global_step())
        return estimators.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def _examples(model: Model) -> tuple[np.ndarray, np.ndarray]:
    features, labels = model.examples(2 * model.batch)
    is_whole = features.dtype.kind == "i"
    return features.astype(np.int32) if is_whole else features, labels.astype(np.int32)


def _dataset(model: Model) -> tf.data.Dataset:
    examples = tf.data.Dataset.from_tensor_slices(_examples(model))
    return examples.repeat().batch(model.batch, drop_remainder=True).prefetch(4)


def _batches(model: Model, steps: int) -> list[tuple[np.ndarray, ...]]:
    """Returns the batches of these steps, in blocks for a call each."""
    two = [part.reshape([2, model.batch, *part.shape[1:]]) for part in _examples(model)]
    most = max(_BLOCK_BYTES // sum(part[0].nbytes for part in two), 1)
    order = np.arange(steps) % 2
    blocks = [order[i : i + most] for i in range(0, steps, most)]
    return [tuple(part[block] for part in two) for block in blocks]


def _device_of(name: str) -> Any:
    devices = parse_jax_name(name)
    if devices is None:
        raise SystemExit(f"--device {name}: no device of JAX. Write jax:1, or jax:cpu:1.")
    own, _ = jax_devices(devices)
    return own[0]


def table(rows: dict[str, Row], kind: str) -> str:
    """Returns the table, in Markdown.

    Args:
      rows: the rows by title.
      kind: the device, as JAX names it.
    """
    peak = next((own for chip, own in _PEAKS.items() if chip in kind), None)
    head = [kind, "ms a step", "by hand / here", "by hand with this input / here"]
    head += ["the step alone / here"]
    head += ["loss / by hand's", "loss / the CPU's", "TFLOP/s", "first loop, s"]
    return markdown(head, [_line(title, row, peak) for title, row in rows.items()])


def _line(title: str, row: Row, peak: float | None) -> list[str]:
    secs = statistics.median(row.here)
    rate = row.flops / secs / 1e12
    share = f" ({rate / peak:.0%} of the peak)" if peak else ""
    from_cpu = "" if row.from_cpu is None else f"1 ± {row.from_cpu:.0e}"
    return [
        title,
        f"{1000 * secs:.3f}",
        _ratio(row.hand, row.here),
        _ratio(row.reading, row.here),
        _ratio(row.alone, row.here),
        f"1 ± {row.differs:.0e}",
        from_cpu,
        f"{rate:.3g}{share}",
        f"{row.first:.1f}",
    ]


def _ratio(one: Sequence[float], other: Sequence[float]) -> str:
    ratios = [first / second for first, second in zip(one, other)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    main()
