"""The compiler's process: libtpu behind a pipe. A script, which knows nothing of the rest.

A line of JSON comes in on standard input for each step to compile, and one goes out for each on the
file descriptor that the command line names. libtpu writes to standard output as it likes, and may
end the process. Names of jax that are private are used here and nowhere else.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any


def main() -> None:
    """Answers requests until standard input ends."""
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")

    def answer(**values: Any) -> None:
        values["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    try:
        import jax
        import libtpu
        from jax.experimental import topologies  # noqa: F401, loads what compiles
    except ImportError as error:
        answer(missing=str(error))
        return
    answer(jax=jax.__version__, libtpu=libtpu.__version__)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer(**_compile(**request))
        except Exception as error:  # whatever jax and libtpu raise: the parent says it
            answer(error=f"{type(error).__name__}: {error}")


def _compile(hlo: str, text: str, topology: str, options: dict, replicas: int) -> dict[str, Any]:
    """Compiles one step.

    Args:
      hlo: path of a serialized HloModuleProto.
      text: where to write the compiled module's text.
      topology: libtpu's name of the slice.
      options: further settings of the topology.
      replicas: for how many.
    """
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jax._src.lib.mlir import ir
    from jax.experimental import topologies

    devices: Any = topologies.get_topology_desc(topology, "tpu", **options).devices
    if replicas > len(devices):
        raise ValueError(f"{replicas} replicas on the {len(devices)} devices of {topology}")
    devices = devices[:replicas]
    started = time.perf_counter()
    with mlir.make_ir_context():
        with open(hlo, "rb") as file:
            module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(file.read()))
        _remove_copies(module, ir)
        settings = compiler.get_compile_options(
            num_replicas=replicas,
            num_partitions=1,
            device_assignment=np.array([device.id for device in devices]).reshape(replicas, 1),
        )
        compiled = devices[0].client.compile(
            module,
            executable_devices=_jax.DeviceList(tuple(devices)),
            compile_options=settings,
        )
    seconds = time.perf_counter() - started
    (made,) = compiled.hlo_modules()
    with open(text, "w", encoding="utf-8") as file:
        file.write(made.to_string())
    costs, memory = compiled.cost_analysis(), compiled.get_compiled_memory_stats()
    return {
        "seconds": seconds,
        "device": devices[0].device_kind,
        "costs": {key: costs[key] for key in _COSTS if key in costs},
        "memory": {key: getattr(memory, f"{key}_size_in_bytes") for key in _MEMORY},
    }


_COSTS = ("flops", "transcendentals", "bytes accessed", "optimal_seconds")
_MEMORY = ("argument", "output", "alias", "temp", "generated_code")


def _remove_copies(module: Any, ir: Any) -> None:
    """Removes mhlo.copy, which TensorFlow puts on new values, and libtpu does not know."""
    copies = []

    def look(operation: Any) -> Any:
        if operation.name == "mhlo.copy":
            copies.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    for copy in copies:
        copy.results[0].replace_all_uses_with(copy.operands[0])
        copy.erase()


if __name__ == "__main__":
    main()
