"""The engine: TF1 graphs traced, lifted into tf.functions, run by a session.

This package knows nothing of estimators. ``trace_graph`` makes a graph, ``Lifted`` imports a part
of it into a tf.function, and ``LiftedSession`` runs parts of it as tf.compat.v1.Session would.

``snapshot`` copies the GraphDef, ``plan`` plans, ``lift`` imports.

Pruning. Only nodes that the fetches need are imported. Control edges that order nothing are dropped
(``effects``): TF1's gradients are full of them, and they cost a tenth of a step's time.

Large constants, such as an array that an ``input_fn`` slices, are taken out of the GraphDef and
kept as eager tensors (``large_constants``). Functions that import such a node capture the tensor,
so no function holds a copy. Only a replica's step holds them as constants. In evaluation and
prediction, such an array does not enter the graph at all: its operation returns it from an eager
tensor. A later call with an equal graph makes its dataset by the same compiled function, from its
own arrays (``data.dataset_functions``).

Rows of arrays. A dataset that slices arrays and batches the rows, perhaps after ``shuffle``,
``repeat``, ``skip`` or ``take``, is rewritten (``row_pipelines``, ``gathered_rows``): these steps
get the rows' numbers, in the same order, and the rows of a block of batches are gathered at once.
Without such steps, a batch is a slice of the arrays. A ``map`` of single examples before the batch
first moves behind it (``batched_maps``), if its function has a form for a batch that gives the same
bits (``batched_functions``, ``batch_rules``). Datasets whose position a hook saves are left
alone, because a saved position fits only the dataset that it comes from.

Checkpoints. A session reads a checkpoint's tensors by several operations (``divided_restores``),
because one reads all but the largest one after another.

Order. Nodes are imported in the order in which the program made them. ``tf.function`` orders all
accesses to one variable accordingly, so a read that precedes a write in the program precedes it in
every run. In TF1 it was a race, unless a control edge decided. One variable is an exception
(``global_step_order``): a read of the global step that waits for nothing precedes an update that
waits for a computation, as it nearly always did in TF1.

Reference variables. With v2 behavior off, TF1's variables were buffers: each operation read the
buffer when it ran, and a fetch read it when the run was over. A traced graph has resource variables
instead and records which variables those are (``reference_variables``), so ``w:0`` and ``w/read:0``
are found and a fetch of a variable becomes a read after everything else. If an operation waits for
an update but its input was read before it, it gets an additional read after the update
(``reference_reads``). A bare read after an update moves before it, like that of the global step.
The alternative, tracing real reference variables and translating their operations, was rejected:
each operation on a reference would need its resource counterpart, and v1's branches would be
islands.

Stages. A sum over replicas needs the values of all of them. So the nodes are divided into stages:
stage 0 needs no sum, stage 1 the sums of stage 0, and so on. Between stages, one ``all_reduce``
computes all sums of the stage. The order of accesses to a variable is kept across stages. A call of
a function whose body contains a sum is first inlined (``inline``). A sum inside a loop or a branch
is refused, because replicas may run those a different number of times.

Resources. Each ``VarHandleOp`` becomes a variable of the strategy, with a copy on each replica, as
on a TPU's cores (``resources``). It starts without a value; the graph's own initializers run.
Tables, queues, iterators and summary writers exist once, on the host.

Sparse updates. On a CPU, an optimizer's update of a table's rows becomes operations on all rows at
once, with the same bits, because TensorFlow 2.21's kernels are slow (``row_updates``).

Missing kernels. Where XLA compiles a step, an operation that it has no kernel of, but that ordinary
ones compute, becomes those (``xla_lacks``).

Randomness. A stateful random kernel hides its position in its stream, so two compiled functions of
one graph would each start anew. But its stream is a counter-based generator, Philox, with the op's
seeds as key and counter, and one draw advances the counter by a fixed stride. So each such op is
replaced by the stateless op with the same key, and a counter computed from the number of times the
step has run (``randomness``). The numbers equal those of the stateful kernel bit by bit; they do
not depend on how the loop is cut into calls; and a resumed run continues in the stream. Other
replicas mix their number into the key. On a TPU, the same op draws with the chip's own generator:
Philox there is slow to run and to compile. Ops without such a form (shuffles, categorical draws,
candidate samplers) stay stateful, with other seeds on other replicas; JAX computes the first two.

In loops, branches and functions the op's position is an argument and a result of each function
(``draw_functions``, ``counted_draws``). It begins at the number of steps times the numbers that a
step draws, which is computed from the graph (``draw_counts``). Where that number depends on values,
each replica's step keeps the position in a variable, which no checkpoint has (``draw_counters``);
the hook that saves the input's position saves it too. A variable for all would be simpler, but the
first form needs no record of the steps before.

Branches with effects. In TF1, assignments and writes of a branch run because the branch's result is
read. In a ``tf.function`` a branch whose result nobody reads runs only for its control outputs, and
the functions that ``tf.cond`` makes in a plain graph name none. ``branch_effects`` adds them.
Otherwise a train_op in a branch, as in gradient accumulation, would have no effect.

Control flow. Tracing turns v2 control flow and resource variables on, whatever the program chose,
because loops and branches then lift as single nodes. A graph that has v1 control flow nevertheless
is imported as an island, a separate function. Operations after the island wait for the control
outputs that it names; a function that names none is inlined, and nothing waits for its updates. If
the program had v1 control flow, branches of ``tf.cond`` keep the name scope of the cond, which
determines the names of the variables that they make.

Values that only the last step computes. A hook's fetches, such as merged summaries, may cost more
than the step. ``deferred_fetches`` divides them: operations that read or write state stay in the
step, pure functions of the step's values are computed once, in the chunk's last step.

Sessions
--------

A session runs on the host and sees the first replica's variables. Its writes are copied to the
other replicas, so initializers and restores reach all of them. Each set of fetches and feeds is
lifted once. Its first runs are node by node if they may be (``interpreter``), and then it is
compiled (``tiered_function``), which takes as long as many such runs. A session cannot compute a
value that needs a sum over several replicas; fetch it from a hook's ``before_run``, which makes it
part of the step.

In TF1, every run that needed the batch read the next one. So the session knows the program's input
(``session_input``): its parts, each with the nodes that read it, and the iterators that the steps
read. Before a set of fetches is lifted, the session searches the nodes that it reaches, up to the
fed ones; an element of each part among them is read and fed. The same applies to a step: parts that
it does not reach, or that hooks feed, are not read (``data.input_parts``). Between two calls of a
loop nothing is read ahead, so no element is lost, and the order is that of the calls. An input of
one part, the usual case, has one iterator, and its steps cost no more than before. Random
operations that both steps and sessions compute count the runs of both.
"""

from estimator_bridge.graph.collectives import REPLICA_ID
from estimator_bridge.graph.divergence import diverging_variables, needs_batch
from estimator_bridge.graph.divided_restores import restored_contents
from estimator_bridge.graph.keras_classes import graph_classes
from estimator_bridge.graph.large_constants import arrays_outside
from estimator_bridge.graph.lift import JoinFn, Lifted
from estimator_bridge.graph.op_errors import with_user_line
from estimator_bridge.graph.replica_local import ReplicaLocal, replica_locals
from estimator_bridge.graph.resources import DeviceValues, Resources, host_device
from estimator_bridge.graph.session import LiftedSession
from estimator_bridge.graph.session_input import DividedIterators, InputPart, SessionInput
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.state_cut import StateCut, cut_before_state
from estimator_bridge.graph.trace import (
    GlobalSteps,
    continue_trace,
    for_tpu,
    is_on_tpu,
    session_graph,
    trace_graph,
)
from estimator_bridge.graph.variable_fetches import fetched_variables

__all__ = [
    "REPLICA_ID",
    "DeviceValues",
    "DividedIterators",
    "GlobalSteps",
    "InputPart",
    "JoinFn",
    "Lifted",
    "LiftedSession",
    "ReplicaLocal",
    "Resources",
    "SessionInput",
    "Snapshot",
    "StateCut",
    "arrays_outside",
    "continue_trace",
    "cut_before_state",
    "diverging_variables",
    "fetched_variables",
    "for_tpu",
    "graph_classes",
    "host_device",
    "is_on_tpu",
    "needs_batch",
    "replica_locals",
    "restored_contents",
    "session_graph",
    "trace_graph",
    "with_user_line",
]
