"""The global step as hooks read it: no branch in a step, and its initial value before one."""

from engine import lifted_session, v1

from estimator_bridge.graph import Snapshot, trace_graph
from estimator_bridge.runtime import LoopRequest, Step, StepLoop, default_strategy
from estimator_bridge.tensorflow_private.names import eager_mode, global_step_read


def test_a_step_reads_it_before_the_update_and_without_a_branch():
    with trace_graph() as graph:
        step = v1.train.create_global_step()
        read = global_step_read(graph)
        x = v1.placeholder(v1.float32, [], name="x")
        update = v1.group(v1.assign_add(step, 1), v1.identity(x))
    session = lifted_session(graph)
    assert session.run(read) == 0
    loop = StepLoop(
        session,
        default_strategy(),
        Step([x.name], [f"^{update.name}"], counter=step.op.name),
        request=LoopRequest([read.name]),
    )
    with eager_mode():
        iterator = iter(v1.data.Dataset.from_tensors(1.0).repeat())
    result = loop(iterator, 5)
    assert (result.steps, result.limit_value) == (5, 5)
    assert result.fetch_values[read.name].numpy() == 4
    assert session.run(read) == 5
    assert not {"If", "VarIsInitializedOp"} & {Snapshot.of(graph).nodes[n].op for n in loop.names}


def test_a_step_that_is_no_variable_of_the_graph_is_left_alone():
    with trace_graph() as graph:
        value = v1.get_variable("value", [], v1.int64, v1.zeros_initializer())
        v1.cond(
            v1.is_variable_initialized(value), value.read_value, lambda: v1.constant(3, "int64")
        )
    snapshot = Snapshot.of(graph)
    assert not snapshot.step_branches
    assert "If" in {node.op for node in snapshot.nodes.values()}
