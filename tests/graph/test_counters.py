"""Detects that a step adds one to a variable, and does nothing else to it."""

import pytest
from engine import lifted_session, v1

from estimator_bridge.graph import Snapshot, trace_graph
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.runtime import Step, StepLoop, default_strategy
from estimator_bridge.tensorflow_private.names import eager_mode


def once(step):
    return v1.assign_add(step, 1)


def by_two(step):
    return v1.assign_add(step, 2)


def twice(step):
    first = v1.assign_add(step, 1)
    with v1.control_dependencies([first]):
        return v1.assign_add(step, 1)


def set_by_hand(step):
    return v1.assign(step, step + 1)


def in_a_branch(step):
    return v1.cond(step < 5, lambda: v1.assign_add(step, 1), lambda: v1.assign_add(step, 3))


def by_a_tensor(step):
    return v1.assign_add(step, v1.cast(v1.random_uniform([]) + 1, v1.int64))


UPDATES = [once, by_two, twice, set_by_hand, in_a_branch, by_a_tensor]


@pytest.mark.parametrize("update", UPDATES)
def test_only_one_increment_by_one_counts(update):
    with trace_graph() as graph:
        step = v1.get_variable("step", [], v1.int64, v1.zeros_initializer())
        update(step)
    snapshot = Snapshot.of(graph)
    names = [n for n in snapshot.nodes if "Initializer" not in n and n != "step/Assign"]
    assert counts_up(snapshot, names, "step") == (update is once)


@pytest.mark.parametrize("update", UPDATES)
def test_a_loop_ends_at_its_limit_however_it_is_reached(update):
    with trace_graph() as graph:
        step = v1.get_variable("step", [], v1.int64, v1.zeros_initializer())
        updated = update(step)
        x = v1.placeholder(v1.float32, [], name="x")
        operation = v1.group(updated, v1.identity(x))
    session = lifted_session(graph)
    loop = StepLoop(
        session, default_strategy(), Step([x.name], [f"^{operation.name}"], counter="step")
    )
    with eager_mode():
        batches = iter(v1.data.Dataset.from_tensors(1.0).repeat())
    result = loop(batches, steps=100, limit=7)
    assert not result.input_ended
    assert result.limit_value >= 7
    assert result.limit_value - 3 < 7
    assert result.steps == {once: 7, set_by_hand: 7, by_two: 4, twice: 4}.get(update, result.steps)
    assert loop(batches, steps=2, limit=100).steps == 2


def test_a_branch_that_only_reads_does_not_count():
    with trace_graph() as graph:
        step = v1.get_variable("step", [], v1.int64, v1.zeros_initializer())
        v1.cond(v1.random_uniform([]) < 0.5, step.read_value, lambda: step.read_value() + 1)
        once(step)
    snapshot = Snapshot.of(graph)
    names = [n for n in snapshot.nodes if "Initializer" not in n and n != "step/Assign"]
    assert counts_up(snapshot, names, "step")
