"""The report of `estimator-bridge doctor`, section by section."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from estimator_bridge.base import tpu_wheels
from estimator_bridge.base.compatibility import installed_versions
from estimator_bridge.base.redaction import redacted
from estimator_bridge.base.tpu_presence import NAMES_A_TPU, RUNTIME, attached_chip, find_tpu
from estimator_bridge.base.tpu_vm import UNSET_PJRT, pjrt_without_chip, tpu_vm_notes
from estimator_bridge.base.version import __version__
from estimator_bridge.commands.doctor.installation import (
    Fault,
    faults_of,
    notes_of,
    without_tpu_kernels,
)
from estimator_bridge.commands.doctor.loading import load_tensorflow

__all__ = ["examine", "explain_tpu_values"]

_ENVIRONMENT = (
    *NAMES_A_TPU,
    RUNTIME,
    "TPU_WORKER_HOSTNAMES",
    "TPU_WORKER_ID",
    "TPU_LIBRARY_PATH",
    "TPU_LOAD_LIBRARY",
    "TPU_SKIP_MDS_QUERY",
    "NEXT_PLUGGABLE_DEVICE_USE_C_API",
    "TF_PLUGGABLE_DEVICE_LIBRARY_PATH",
    "PJRT_DEVICE",
    "TF_CONFIG",
    "CUDA_VISIBLE_DEVICES",
)

Write = Callable[[str], object]


def examine(write: Write = print, environ: Mapping[str, str] | None = None) -> int:
    """Writes a report on this installation and this machine, in sections.

    Args:
        write: Receives the report line by line.
        environ: Environment variables; by default this process's.

    Returns:
        0, or 1 if a problem must be fixed before a program can run.
    """
    environ = os.environ if environ is None else environ
    _section(write, "Versions", _versions())
    faults = faults_of()
    outcome = None if faults else load_tensorflow({**os.environ, **environ})
    if outcome and outcome.problem:
        faults = [_unloadable(outcome.problem, environ)]
    elif outcome and outcome.has_tpus is False:
        faults = without_tpu_kernels(outcome.path)
    devices = outcome.devices if outcome else []
    if not faults:
        _section(write, "Devices", devices or [("none", "")])
    else:
        write("Devices\n  not listed: TensorFlow was not loaded because of the problem below\n")
    set_here = [(name, redacted(environ[name])) for name in _ENVIRONMENT if environ.get(name)]
    _section(write, "Environment", set_here or [("none set", f"of {', '.join(_ENVIRONMENT)}")])
    evidence = find_tpu(environ, [kind for kind, _ in devices])
    tpu = evidence and redacted(evidence)
    _section(write, "What the flags --use_tpu --tpu=VALUE would do here", explain_tpu_values(tpu))
    remarks = [("to fix", fault.text) for fault in faults] + [
        ("note", note)
        for note in [
            *notes_of(),
            *tpu_vm_notes(environ, attached_chip(environ), installed_versions()),
            *_pod_notes(environ),
            *_cluster_notes(environ),
        ]
    ]
    _section(write, "Problems", remarks or [("none", "")])
    commands: list[str] = []
    for fault in faults:  # a fault may need a command twice, several faults need it once
        commands += [command for command in fault.commands if command not in set(commands)]
    if commands:
        write("Run these lines, in this order")
        for command in commands:
            write(f"  {command}")
        write("")
    write(_answer(faults, devices, tpu))
    return 1 if faults else 0


def _unloadable(problem: str, environ: Mapping[str, str]) -> Fault:
    """Returns a fault that the packages' own records do not show."""
    name, version = next(
        (name, version)
        for name, version in {**installed_versions(), "": ""}.items()
        if (name.startswith(("tensorflow", "tf-nightly")) and not tpu_wheels.is_stand_in(version))
        or not name
    )
    if not name or "TPU_SKIP_MDS_QUERY" in problem:
        return Fault(problem)
    if "the process ended by" in problem and pjrt_without_chip(environ):
        return Fault(problem, (UNSET_PJRT,))
    if name == tpu_wheels.TENSORFLOW_TPU and not tpu_wheels.is_newest(version):
        return Fault(problem, tpu_wheels.replace_tpu_wheel())
    return Fault(problem, (f"pip install --force-reinstall --no-deps {name}=={version}",))


def _answer(faults: list[Fault], devices: list[tuple[str, str]], tpu: str | None) -> str:
    if faults:
        count = len(faults)
        return f"Not ready: {count} problem{'s' if count > 1 else ''} to fix, as shown above."
    kinds = Counter(kind for kind, _ in devices)
    devices_text = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return f"Ready: TensorFlow loads, with {devices_text or 'no device'}; TPU: {tpu or 'none'}."


def explain_tpu_values(tpu: str | None) -> list[tuple[str, str]]:
    """Describes the effect of each kind of value of the flag --tpu.

    Args:
        tpu: The result of `find_tpu`.

    Returns:
        Pairs of a flag value and its effect.
    """
    automatic = (
        f"trains on the TPU that was found ({tpu})"
        if tpu
        else "finds no TPU, says so in one line, and trains on 8 emulated cores of this CPU"
    )
    return [
        ("auto", automatic),
        (
            "NAME",
            "connects to the TPU (v2 to v6e) of that name or address; an error, never the CPU, if "
            "it is absent",
        ),
        (
            "local",
            "only the TPU chips of this machine (v2 to v6e), even if it is one host of a pod",
        ),
        ("emulated:8", "8 TPU cores emulated on this CPU: the same steps and numbers, for tests"),
        ("gpu:2", "the same program on two GPUs of this machine; an error if it has fewer"),
        ("jax", _jax_effect()),
        ("''", "no TPU: this machine's own devices, as with --nouse_tpu"),
    ]


def _jax_effect() -> str:
    try:
        version = importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return "an error: JAX is not installed (pip install 'estimator-bridge[jax]')"
    return (
        f"JAX {version} runs the steps on all its accelerators (TPU7x has no other runtime); an "
        "error if it has the CPU only. "
        "jax:N: on N of them. jax:cpu:N: on N CPU devices, for tests"
    )


def _versions() -> list[tuple[str, str]]:
    rows = [("python", platform.python_version()), ("estimator-bridge", __version__)]
    rows += installed_versions().items()
    for name in ("keras", "numpy"):
        try:
            rows.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            rows.append((name, "not installed"))
    return rows


def _pod_notes(environ: Mapping[str, str]) -> list[str]:
    names = (environ.get("TPU_WORKER_HOSTNAMES") or "").split(",")
    hosts = [name.strip() for name in names if name.strip()]
    if len(hosts) <= 1:
        return []
    worker = environ.get("TPU_WORKER_ID") or "?"
    return [
        f"This machine is worker {worker} of a pod of {len(hosts)} hosts "
        f"(TPU_WORKER_HOSTNAMES). One program drives them all: run it on one of them, with the "
        "pod's name (--tpu=NAME) and TPU_LOAD_LIBRARY=0, and a TensorFlow server on each."
    ]


def _cluster_notes(environ: Mapping[str, str]) -> list[str]:
    try:
        config = json.loads(environ.get("TF_CONFIG") or "{}")
        is_evaluator = config.get("task", {}).get("type") == "evaluator"
        is_listed = "evaluator" in config.get("cluster", {})
    except (ValueError, AttributeError) as error:
        return [f"TF_CONFIG is not a JSON object with 'cluster' and 'task': {error}"]
    if is_listed or not is_evaluator:
        return []
    return [
        "TF_CONFIG's task is an evaluator that its cluster does not list: "
        "tf.distribute.MultiWorkerMirroredStrategy() raises KeyError: 'evaluator' then. Add "
        '"evaluator": ["HOST:PORT"] to the cluster, or make the strategy with '
        "estimator_bridge.runtime.multi_worker_strategy()."
    ]


def _section(write: Write, title: str, rows: Iterable[tuple[str, str]]) -> None:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    write(title)
    for name, value in rows:
        write(f"  {name:<{width}}  {value}".rstrip())
    write("")
