"""Parses a compiled module's text: instructions, tiled shapes, and the executed instructions."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterator

from estimator_bridge.compile_for.lowered import STEP_IN_PROGRAM

__all__ = ["Instruction", "Module", "Shape", "parse_module"]

_ITEM_BYTES = {
    "pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2, "s32": 4, "u32": 4,
    "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16, "s4": 1, "u4": 1,
}  # fmt: skip
_SHAPE = re.compile(r"(?P<dtype>[a-z]\w*)\[(?P<dims>[\d,<=]*)\](?:\{(?P<layout>[^}]*)\})?")
_COMPUTATION = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?(?P<name>[\w.-]+) = (?P<rest>.*)$")
_COMMENT = re.compile(r"/\*.*?\*/")
# Computations that an instruction runs; those of a fusion are part of the fusion.
_RUNS = re.compile(r"(?:body|condition|to_apply|calls|true_computation|false_computation"
                   r"|branch_computations)=(\{[^}]*\}|%?[\w.-]+)")  # fmt: skip
_CALLERS = ("while", "call", "conditional", "async-start")
_OPERAND = re.compile(r"%([\w.-]+)")
_SPACE = re.compile(r"S\((\d+)\)")


@dataclasses.dataclass(frozen=True)
class Shape:
    """An array's shape and layout.

    Attributes:
      dtype: XLA's name of the type, such as 'f32'.
      dims: the sizes; for a dynamic dimension, its upper bound.
      minor_to_major: the dimensions in memory order.
      tile: the sizes to which the minor dimensions are padded, the most minor one last.
      space: 0 for HBM, 1 for on-chip memory.
    """

    dtype: str
    dims: tuple[int, ...]
    minor_to_major: tuple[int, ...] = ()
    tile: tuple[int, ...] = ()
    space: int = 0

    @property
    def bytes(self) -> int:
        """The size without padding."""
        return math.prod(self.dims) * _ITEM_BYTES.get(self.dtype, 4)

    @property
    def padded_dims(self) -> tuple[int, ...]:
        """The sizes in the chip's memory."""
        sizes = list(self.dims)
        for dim, tile in zip(self.minor_to_major, reversed(self.tile)):
            sizes[dim] = -(-sizes[dim] // tile) * tile
        return tuple(sizes)

    @property
    def padded_bytes(self) -> int:
        """The size with padding; surplus tile sizes are ignored."""
        return math.prod(self.padded_dims) * _ITEM_BYTES.get(self.dtype, 4)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


@dataclasses.dataclass(frozen=True)
class Instruction:
    """An instruction of a computation.

    Attributes:
      name: the instruction's name.
      opcode: the opcode, such as 'fusion'.
      shapes: the shapes of its result; more than one for a tuple.
      op_name: the name of TensorFlow's operation it comes from, or ''.
      text: the operands and attributes after the opcode.
    """

    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    op_name: str
    text: str

    @functools.cached_property
    def operands(self) -> tuple[str, ...]:
        """The names of its operands."""
        depth = 1
        for end, letter in enumerate(self.text):
            depth += (letter == "(") - (letter == ")")
            if depth == 0:
                return tuple(_OPERAND.findall(self.text[:end]))
        return ()

    @property
    def cycles(self) -> int:
        """The compiler's estimate of the chip's cycles; 0 without one."""
        match = re.search(r'"estimated_cycles":"(\d+)"', self.text)
        return int(match[1]) if match else 0

    @property
    def trips(self) -> int | None:
        """The trip count of a loop; None if the compiler does not know it."""
        match = re.search(r'"known_trip_count":\{"n":"(\d+)"', self.text)
        return int(match[1]) if match else None

    @property
    def parameter(self) -> int:
        """A parameter's index."""
        return int(self.text.partition(")")[0])


@dataclasses.dataclass(frozen=True)
class Module:
    """A compiled module.

    Attributes:
      computations: the instructions of each computation by its name.
      entry: the name of the entry computation.
    """

    computations: dict[str, tuple[Instruction, ...]]
    entry: str

    def executions(self) -> Iterator[tuple[Instruction, int]]:
        """Yields the instructions that the chip runs, each with its number of runs.

        A loop with an unknown trip count counts once. The instructions inside a fusion are not
        listed.
        """
        worklist = [(self.entry, 1)]
        while worklist:
            name, times = worklist.pop()
            for instruction in self.computations[name]:
                yield instruction, times
                if instruction.opcode in _CALLERS:
                    inner = times * (instruction.trips or 1)
                    for computation in _callees(instruction.text):
                        if computation in self.computations:
                            worklist.append((computation, inner))

    def parameters(self) -> list[Instruction]:
        """Returns the parameters in order."""
        parameters = [one for one in self.computations[self.entry] if one.opcode == "parameter"]
        return sorted(parameters, key=lambda one: one.parameter)


def _callees(text: str) -> list[str]:
    names = []
    for group in _RUNS.findall(text):
        names += [name.strip().lstrip("%") for name in group.strip("{}").split(",")]
    return names


def parse_module(text: str) -> Module:
    """Parses the HLO text of a scheduled module, as libtpu's compiler prints it.

    Raises:
      ValueError: the text has no ENTRY computation.
    """
    computations: dict[str, tuple[Instruction, ...]] = {}
    name, entry = "", ""
    body: list[Instruction] = []
    for line in text.splitlines():
        if line.startswith("}"):
            if name:
                computations[name] = tuple(body)
            name, body = "", []
            continue
        header = _COMPUTATION.match(line)
        if header and not line.startswith(" "):
            name, body = header["name"], []
            entry = name if header["entry"] else entry
            continue
        match = _INSTRUCTION.match(line) if name else None
        if match:
            instruction = _instruction(match["name"], match["rest"])
            if instruction:
                body.append(instruction)
    if not entry:
        raise ValueError("The compiled module has no ENTRY computation.")
    return Module(computations, entry)


def _instruction(name: str, rest: str) -> Instruction | None:
    end = _end_of_type(rest)
    opcode, _, text = rest[end:].lstrip().partition("(")
    if not re.fullmatch(r"[\w-]+", opcode):
        return None
    match = re.search(r'metadata=\{[^}]*?op_name="([^"]*)"', text)
    op_name = match[1].rpartition(f"/{STEP_IN_PROGRAM}/")[2] if match else ""
    return Instruction(name, opcode, tuple(_shapes(rest[:end])), op_name, text)


def _end_of_type(rest: str) -> int:
    """Returns the end of an instruction's result type: a shape or a tuple of shapes."""
    if not rest.startswith("("):
        return rest.index(" ") if " " in rest else len(rest)
    depth = 0
    for i, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return i + 1
    return len(rest)


def _shapes(text: str) -> Iterator[Shape]:
    for match in _SHAPE.finditer(_COMMENT.sub("", text)):
        dims = tuple(int(size.lstrip("<=")) for size in match["dims"].split(",") if size)
        order, _, tiling = (match["layout"] or "").partition(":")
        minor = tuple(int(dim) for dim in order.split(",") if dim.strip().isdigit())
        tile = re.search(r"T\(([\d,]+)\)", tiling)
        space = _SPACE.search(tiling)
        sizes = tuple(int(size) for size in tile[1].split(",")) if tile else ()
        yield Shape(match["dtype"], dims, minor, sizes, int(space[1]) if space else 0)
