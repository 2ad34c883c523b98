"""The guides' four lines, with the resolver of this library."""

import tensorflow as tf

import estimator_bridge as eb


def start(name="emulated:8", strategy=tf.distribute.TPUStrategy):
    """Resolver, connect, initialize, and the strategy that is returned."""
    resolver = eb.tpu.TPUClusterResolver(name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return strategy(resolver)
