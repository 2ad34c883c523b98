"""TPUStrategy in train_distribute: the graph that a TPU is given."""

import json
import pathlib

from engine import run_program

HERE = pathlib.Path(__file__).parent


def test_a_step_is_one_computation_of_all_cores():
    described = HERE.parents[1] / "runtime" / "described_tpu.py"
    program = (HERE / "described_distribution.py").read_text()
    traced = json.loads(run_program(program, arguments=[str(described), "8"])[-1])
    assert traced["replicas"] == 8
    on_tpu = traced["on_tpu"]
    # Four gradients, the table's rows and their numbers, and the loss.
    assert on_tpu["CrossReplicaSum"] == 7
    assert on_tpu["ResourceApplyAdam"] == 4
    assert on_tpu["AssignSubVariableOp"] == 3  # the table, and a core's own moving averages
    assert "IteratorGetNextAsOptional" not in on_tpu
