"""What TPU mode's own tests show on emulated cores, on JAX's CPU devices: the same functions."""

import pytest
import test_host_call
import test_tpu_arguments
import test_tpu_evaluation
import test_tpu_inputs
import test_tpu_ops
import test_tpu_optimizers
import test_tpu_prediction
import test_tpu_random_streams

from estimator_bridge.runtime import strategies

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")


@pytest.fixture(autouse=True, scope="module")
def cores_on_jax():
    """Has JAX run the steps of all programs that name emulated cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strategies, "_strategies", {})
        patch.setattr(
            strategies,
            "_emulate",
            lambda devices: strategies.tpu_strategy(master=f"jax:cpu:{len(devices)}"),
        )
        yield


test_bfloat16_scope = test_tpu_ops.test_bfloat16_scope
test_sums_in_groups = test_tpu_ops.test_batch_norm_over_groups_of_replicas
test_accumulated_gradients = test_tpu_ops.test_gradients_are_accumulated_over_steps
test_groups_of_an_optimizer = test_tpu_optimizers.test_a_sum_of_losses_and_groups_of_replicas
test_loops_of_a_number = test_tpu_arguments.test_iterations_per_loop_as_a_number
test_loops_of_a_time = test_tpu_arguments.test_iterations_per_loop_as_a_time
test_hooks_of_an_evaluation = test_tpu_evaluation.test_hooks_are_called_once_for_all_steps
test_short_batches_of_broadcast_input = (
    test_tpu_evaluation.test_a_short_batch_of_broadcast_input_counts_once
)
test_hooks_of_a_prediction = test_tpu_prediction.test_a_hook_is_called_once_a_batch
test_predictions_of_broadcast_input = (
    test_tpu_prediction.test_every_example_of_broadcast_input_comes_once
)
test_input_that_ends = test_tpu_inputs.test_input_that_ends_loses_no_step
test_transposed_input = test_tpu_inputs.test_transposed_input
whole = test_tpu_random_streams.whole
test_random_streams_of_replicas = (
    test_tpu_random_streams.test_each_replica_and_each_step_draws_its_own
)
test_random_streams_go_on = test_tpu_random_streams.test_a_resumed_run_goes_on


@pytest.mark.parametrize("cores", [2])
def test_host_calls_write_summaries_of_each_step(cores, tmp_path):
    test_host_call.test_summaries_of_every_step(cores, tmp_path)
