"""The compiler's process: runs libtpu behind a pipe. A script that imports no other module here.

The arguments are a file descriptor and the parent's process ID. Each step to compile is a line of
JSON on standard input, and each answer a line on the file descriptor. The first line of output has
the releases of jax and libtpu, before they are loaded. A request with a slice and no step gets no
answer; it prepares the compiler for the slice. libtpu writes to standard output, and may end the
process. Of JAX it uses private names, as only `runtime/on_jax` does besides.
"""

from __future__ import annotations

import glob
import json
import os
import re
import resource
import shutil
import sys
import tempfile
import threading
import time
from importlib import metadata
from typing import Any

_COSTS = ("flops", "transcendentals", "bytes accessed", "optimal_seconds")
_MEMORY = ("argument", "output", "alias", "temp", "generated_code")
_LOOK_SECS = 1.0
_PARTITIONS = "mhlo.num_partitions"
_OUT_OF_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|CompileTimeHbmOom")
# Locations in MLIR's text: an operation's name, and a name with the file that TensorFlow invents.
_NAME = re.compile(r'^(#loc\d*) = loc\("((?:[^"\\]|\\.)+)"\)$', re.MULTILINE)
_OP_NAME = re.compile(r'loc\((?:fused\[)?"([^"]+)"')
_PLACE = re.compile(r"loc\(fused\[(#loc\d*), #loc\d*\]\)")


def main() -> None:
    """Answers requests until standard input ends."""
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")

    def answer(**values: Any) -> None:
        values["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    try:
        answer(jax=metadata.version("jax"), libtpu=metadata.version("libtpu"))
    except metadata.PackageNotFoundError as error:
        answer(missing=f"No module named {error.name!r}")
        return
    for line in sys.stdin:
        request = json.loads(line)
        if "hlo" not in request:
            _make_ready(**request)
            continue
        try:
            answer(**_compile(**request))
        except ImportError as error:
            answer(missing=str(error))
        except Exception as error:  # the parent reports whatever jax and libtpu raise
            answer(error=f"{type(error).__name__}: {error}")


def _end_with(parent: int) -> None:
    """Ends this process when its parent ends, even during a compilation."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECS)
    os._exit(1)


def _make_ready(topology: str, options: dict) -> None:
    """Loads the compiler for a slice while the parent runs the program."""
    try:
        from jax.experimental import topologies

        topologies.get_topology_desc(topology, "tpu", **options)
    except Exception as error:  # compiling a step reports it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)


def _compile(
    hlo: str,
    text: str,
    topology: str,
    options: dict,
    replicas: int,
    random_ops: list[str],
    is_mesh: bool,
) -> dict[str, Any]:
    """Compiles one step.

    Args:
      hlo: path of a serialized HloModuleProto, or of the text of a mesh's program.
      text: path for the compiled module's text.
      topology: libtpu's name of the slice.
      options: further settings of the topology.
      replicas: the number of replicas.
      random_ops: TensorFlow's operations that a TPU draws with its own generator; of those in
        functions, the last part of the name.
      is_mesh: whether it is JAX's program of a mesh with a device for each replica, which is
        compiled as it is.
    """
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jax.experimental import topologies

    devices: Any = topologies.get_topology_desc(topology, "tpu", **options).devices
    if replicas > len(devices):
        raise ValueError(f"{replicas} replicas on the {len(devices)} devices of {topology}")
    devices = devices[:replicas]
    start = time.perf_counter()
    with mlir.make_ir_context():
        module = _parse(hlo, random_ops, is_mesh)
        try:
            compiled = _compile_module(module, devices)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            if _OUT_OF_MEMORY.search(message):
                return {"error": message, "has_text": _write_refused(module, devices, text)}
            return {
                "error": message
                if "op_name=" in message
                else _locate(module, devices, ir) or message
            }
    seconds = time.perf_counter() - start
    compiled_module = _read(compiled)
    with open(text, "w", encoding="utf-8") as file:
        file.write(compiled_module.to_string())
    costs, memory = compiled.cost_analysis(), compiled.get_compiled_memory_stats()
    return {
        "seconds": seconds,
        "device": devices[0].device_kind,
        "costs": {key: costs[key] for key in _COSTS if key in costs},
        "memory": {key: getattr(memory, f"{key}_size_in_bytes") for key in _MEMORY},
    }


def _parse(hlo: str, random_ops: list[str], is_mesh: bool) -> Any:
    from jax._src.lib import _jax
    from jax._src.lib.mlir import ir

    with open(hlo, "rb") as file:
        content = file.read()
    if is_mesh:
        return ir.Module.parse(content)
    module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(content))
    remove_copies(module, ir)
    use_own_generator(module, ir, frozenset(random_ops))
    return module


def _read(compiled: Any) -> Any:
    """Returns the compiled module, which libtpu wrote and jaxlib reads.

    Raises:
      RuntimeError: the releases of libtpu and jax are incompatible.
    """
    import jax
    import libtpu

    try:
        (module,) = compiled.hlo_modules()
    except Exception as error:
        raise RuntimeError(
            f"libtpu {libtpu.__version__} compiled the step, but jax {jax.__version__} cannot read "
            f"the result ({error}). Install the libtpu released with this jax: "
            f"pip install 'jax[tpu]=={jax.__version__}'."
        ) from error
    return module


def _compile_module(module: Any, devices: Any, **options: Any) -> Any:
    """Compiles a module for one replica, or one partition, per device, with libtpu options."""
    import numpy as np
    from jax._src import compiler
    from jax._src.lib import _jax

    # A module says so itself if it is a mesh's.
    attributes = module.operation.attributes
    partitions = attributes[_PARTITIONS].value if _PARTITIONS in attributes else 1
    replicas = len(devices) // partitions
    settings = compiler.get_compile_options(
        num_replicas=replicas,
        num_partitions=partitions,
        device_assignment=np.array([one.id for one in devices]).reshape(replicas, partitions),
        env_options_overrides=options or None,
    )
    return devices[0].client.compile(
        module, executable_devices=_jax.DeviceList(tuple(devices)), compile_options=settings
    )


def _write_refused(module: Any, devices: Any, text: str) -> bool:
    """Writes the text of a module that needs too much memory, if libtpu dumps it.

    The dump is the partly compiled module.
    """
    with tempfile.TemporaryDirectory(prefix="compile_for_") as folder:
        try:
            _compile_module(module, devices, xla_dump_to=folder, xla_dump_hlo_as_text=True)
        except Exception:
            dumps = glob.glob(os.path.join(folder, "*oom_intermediate_module.txt"))
            if dumps:
                shutil.copyfile(dumps[0], text)
            return bool(dumps)
    return False


def _locate(module: Any, devices: Any, ir: Any) -> str | None:
    """Returns a rejected module's error with the operation's name as its source location.

    TensorFlow gives all operations the same invented file, which libtpu would name.
    """
    text = module.operation.get_asm(enable_debug_info=True)
    names = dict(_NAME.findall(text))
    relocated_text = _PLACE.sub(
        lambda place: f'loc(fused[{place[1]}, "{names.get(place[1], "")}":1:0])', text
    )
    try:
        _compile_module(ir.Module.parse(relocated_text), devices)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def remove_copies(module: Any, ir: Any) -> None:
    """Removes mhlo.copy, which TensorFlow adds to new values and neither libtpu nor JAX knows."""
    copies = []

    def look(operation: Any) -> Any:
        if operation.name == "mhlo.copy":
            copies.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    for copy in copies:
        copy.results[0].replace_all_uses_with(copy.operands[0])
        copy.erase()


def use_own_generator(module: Any, ir: Any, random_ops: frozenset[str]) -> None:
    """Has the chip's own generator draw, as TensorFlow does on a TPU; for CPUs it lowers to Philox.

    Its state is the key and the counter's first number; Philox has one number more.
    """
    from jax._src.lib.mlir.dialects import hlo

    philox_operations = []

    def look(operation: Any) -> Any:
        if operation.name == "stablehlo.rng_bit_generator":
            match = _OP_NAME.match(str(operation.location))
            is_philox = "PHILOX" in str(operation.attributes["rng_algorithm"])
            name = match[1].removesuffix("/row") if match else ""
            if is_philox and not random_ops.isdisjoint({name, name.rpartition("/")[2]}):
                philox_operations.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    numbers = ir.DenseI64ArrayAttr.get
    for philox in philox_operations:
        state, bits = philox.operands[0], philox.results[1]
        with ir.InsertionPoint(philox), philox.location:
            chip_state = hlo.slice(state, numbers([0]), numbers([2]), numbers([1]))
            draw = hlo.RngBitGeneratorOp(
                chip_state.type, bits.type, hlo.RngAlgorithmAttr.get("DEFAULT"), chip_state
            )
            unused = hlo.slice(state, numbers([2]), numbers([3]), numbers([1]))
            first = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
            after = hlo.concatenate([draw.results[0], unused], first)
        philox.results[0].replace_all_uses_with(after)
        bits.replace_all_uses_with(draw.results[1])
        philox.erase()


if __name__ == "__main__":
    main()
