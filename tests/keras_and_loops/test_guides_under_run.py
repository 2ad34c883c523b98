"""The guides' programs as they stand, under `estimator-bridge run --cores 8`."""

from engine import run_program


def test_both_programs_find_the_cores(tmp_path):
    program = tmp_path / "guide.py"
    program.write_text(
        """
import tensorflow as tf
import guide_programs

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
print("Running on TPU", resolver.cluster_spec().as_dict()["worker"])
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
print("All devices:", tf.config.list_logical_devices("TPU"))
with tf.device("/TPU:0"):
    print(tf.matmul(tf.ones([2, 3]), tf.ones([3, 1])).numpy().ravel())
strategy = tf.distribute.TPUStrategy(resolver)
print("REPLICAS:", strategy.num_replicas_in_sync)
tf.keras.utils.set_random_seed(1)
print("fit", guide_programs.fit(strategy, epochs=3) > 0.85)
print("loop", guide_programs.custom_loop(strategy, epochs=3) > 0.85)

connected = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
print("connected", tf.distribute.experimental.TPUStrategy(connected).num_replicas_in_sync)
print("none named", tf.distribute.TPUStrategy().num_replicas_in_sync)
"""
    )
    lines = run_program(
        f"""
        import sys
        from estimator_bridge.commands import cli

        sys.exit(cli.main(["run", "--cores", "8", {str(program)!r}]))
        """
    )
    for line in (
        "Running on TPU ['emulated:8']",
        "[3. 3.]",
        "REPLICAS: 8",
        "fit True",
        "loop True",
        "connected 8",
        "none named 8",
    ):
        assert line in lines, (line, lines)
