"""Runs a TPU's compiler in a separate process, which is started once and may die at any time."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import json
import math
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from estimator_bridge.compile_for.errors import CompileError, NotCompiledReason
from estimator_bridge.compile_for.libtpu_releases import how_to_install, why_unfit
from estimator_bridge.compile_for.slices import Slice

__all__ = ["Compiled", "Compiler", "shared_compiler"]

# These settings keep libtpu from looking for cloud metadata, other hosts and a chip, and keep jax
# on the CPU.
_SETTINGS = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_PLATFORMS": "cpu",
    "TPU_LOG_DIR": "disabled",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
}
_START_SECS = 60.0  # enough to start Python on a busy machine
_END_SECS = 5.0  # a process in a system call outlives SIGKILL
_TELLING = re.compile(r"^F\d{4}|Check failed|^\*\*\*|terminate called|Fatal|\bSIG[A-Z]+\b")
_OUT_OF_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|CompileTimeHbmOom|[Rr]an out of memory")


@dataclasses.dataclass(frozen=True)
class Compiled:
    """libtpu's result for a step.

    Attributes:
      device: libtpu's name of the chip.
      seconds: the compile time.
      costs: the compiler's cost analysis: 'flops', 'bytes accessed' and 'optimal_seconds' of one
        replica's step.
      memory: HBM bytes by 'argument', 'output', 'alias', 'temp' and 'generated_code'.
      text: the compiled module as HLO text.
      peak_bytes: the peak memory of the compiler's process.
    """

    device: str
    seconds: float
    costs: dict[str, float]
    memory: dict[str, int]
    text: str
    peak_bytes: int


class Compiler:
    """libtpu's compiler.

    Args:
      python: the interpreter with jax and libtpu; by default this one.
      secs: the time limit for compiling one step.

    Attributes:
      versions: the versions of 'jax' and 'libtpu', once it has started.
    """

    def __init__(self, python: str | None = None, secs: float = 1800.0):
        self._python, self._secs = python or sys.executable, secs
        self._process: subprocess.Popen | None = None
        self._answers: int | None = None
        self._rest = b""
        self._log: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.versions: dict[str, str] = {}

    def compile(
        self,
        hlo: bytes,
        target: Slice,
        replicas: int,
        random_ops: Sequence[str] = (),
        is_mesh: bool = False,
    ) -> Compiled:
        """Compiles a step for the first ``replicas`` cores of a slice.

        Args:
          hlo: a serialized HloModuleProto, or the text of a mesh's program.
          target: the slice.
          replicas: the number of replicas.
          random_ops: see ``LoweredStep``.
          is_mesh: whether it is JAX's program of a mesh with a device for each replica.

        Raises:
          CompileError: the compiler is not installed, rejects the step, dies or takes too long.
        """
        self.start()
        with tempfile.TemporaryDirectory(prefix="compile_for_") as folder:
            source, text = Path(folder, "step.hlo"), Path(folder, "compiled.txt")
            source.write_bytes(hlo)
            answer = self._ask(
                {
                    "hlo": str(source),
                    "text": str(text),
                    "topology": target.topology,
                    "options": target.options,
                    "replicas": replicas,
                    "random_ops": list(random_ops),
                    "is_mesh": is_mesh,
                }
            )
            if "missing" in answer:
                raise self._unfit(answer["missing"])
            if "error" in answer:
                message = answer["error"]
                why = (
                    NotCompiledReason.MEMORY
                    if _OUT_OF_MEMORY.search(message)
                    else NotCompiledReason.TPU
                )
                has_text = answer.get("has_text")
                raise CompileError(why, message, text.read_text("utf-8") if has_text else None)
            return Compiled(
                answer["device"],
                answer["seconds"],
                answer["costs"],
                answer["memory"],
                text.read_text(encoding="utf-8"),
                answer["peak_bytes"],
            )

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(_END_SECS)
        except subprocess.TimeoutExpired:
            _end(process)
        self._forget()

    def start(self, target: Slice | None = None) -> None:
        """Starts the process if it is not running.

        Args:
          target: the slice that steps will be compiled for. The compiler, which takes seconds to
            load, prepares for it in the background.

        Raises:
          CompileError: the Python does not exist, or has no supported release of the compiler.
        """
        if self._process is None or self._process.poll() is not None:
            self._forget()
            self._start()
            self._greet()
        if target is not None:
            self._send({"topology": target.topology, "options": dict(target.chip.options)})

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, as long as the process
        # libtpu leaves logs in the temporary folder in spite of TPU_LOG_DIR.
        self._folder = tempfile.TemporaryDirectory(prefix="libtpu_")
        reads, writes = os.pipe()
        environment = {**os.environ, **_SETTINGS, "TMPDIR": self._folder.name}
        # These configure the program, not its compiler.
        for name in ("XLA_FLAGS", "TPU_NAME", "TF_CONFIG"):
            environment.pop(name, None)
        script = str(Path(__file__).with_name("compiler_main.py"))
        try:
            self._process = subprocess.Popen(
                [self._python, script, str(writes), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                env=environment,
                pass_fds=[writes],
            )
        except OSError as error:
            os.close(reads)
            self._forget()
            raise CompileError(
                NotCompiledReason.SETUP,
                f"The Python for the TPU's compiler, {self._python!r}, does not start: "
                f"{error.strerror}. Set ESTIMATOR_BRIDGE_COMPILE_PYTHON to another, or unset "
                "it to use this program's Python.",
            ) from error  # fmt: skip
        finally:
            os.close(writes)
        self._answers = reads

    def _greet(self) -> None:
        """Waits for the process's first line, which has the versions it will load."""
        hello = self._answer(_START_SECS, "to start")
        self.versions = {name: hello[name] for name in ("jax", "libtpu") if name in hello}
        unfit = hello.get("missing") or why_unfit(self.versions)
        if unfit:
            raise self._unfit(unfit)

    def _unfit(self, why: str) -> CompileError:
        self.close()
        return CompileError(
            NotCompiledReason.SETUP,
            f"{self._python} has no supported TPU compiler: {why}. {how_to_install(self._python)}",
        )

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._send(request)
        limit = "to compile a step (ESTIMATOR_BRIDGE_COMPILE_SECS sets the limit)"
        return self._answer(self._secs, limit)

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None

    def _answer(self, secs: float, activity: str) -> dict[str, Any]:
        assert self._answers is not None
        until = time.monotonic() + secs
        poll = select.poll()  # a program may have more files open than select() can tell apart
        poll.register(self._answers, select.POLLIN)
        while b"\n" not in self._rest:
            remaining_secs = until - time.monotonic()
            if remaining_secs <= 0 or not poll.poll(math.ceil(1000 * remaining_secs)):
                self._kill()
                raise CompileError(
                    NotCompiledReason.TIME,
                    f"The TPU's compiler took over {secs:g} s {activity} and was stopped.",
                )
            part = os.read(self._answers, 1 << 16)
            if not part:
                raise self._death()
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _death(self) -> CompileError:
        process = self._process
        code = None
        if process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(_END_SECS)
            if code is None:
                _end(process)
        log_lines = _telling_lines(self._log)
        self._process = None
        self._forget()
        how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
        return CompileError(
            NotCompiledReason.CRASH, f"The TPU's compiler died ({how}): {log_lines}"
        )

    def _kill(self) -> None:
        if self._process:
            _end(self._process)
        self._process = None
        self._forget()

    def _forget(self) -> None:
        if self._answers is not None:
            os.close(self._answers)
        if self._log is not None:
            self._log.close()
        if self._folder is not None:
            with contextlib.suppress(OSError):  # the killed compiler may still write
                self._folder.cleanup()
        self._answers, self._log, self._folder, self._rest = None, None, None, b""


def _end(process: subprocess.Popen[Any]) -> int | None:
    """Kills a process; returns its exit code, or None if it has not ended in time."""
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(_END_SECS)
    return None


@functools.cache
def shared_compiler(python: str | None, secs: float) -> Compiler:
    """Returns the one compiler of this process; it takes seconds to start, and 0.7 GB.

    Args:
      python: see ``Compiler``.
      secs: see ``Compiler``.
    """
    compiler = Compiler(python, secs)
    atexit.register(compiler.close)
    return compiler


def _telling_lines(log: Any) -> str:
    """Returns the lines of a dead process's log that explain its end, or the last lines."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
    lines = [line for line in lines if line]
    telling = [line for line in lines if _TELLING.search(line)]
    excerpt = telling[:3] or lines[-3:]
    return " | ".join(line[:400] for line in excerpt) or "it wrote nothing"
