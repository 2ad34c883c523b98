"""Training steps with Keras 3 on JAX, without TensorFlow: see ``steps``.

The networks, sizes, optimizers and examples are those of ``benchmarks.models``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.orders import Orders

__all__ = ["NETWORKS", "serve"]

# By model: its examples, its layers, its optimizer and the size of a batch.
NETWORKS: dict[str, tuple[Callable, Callable, Callable, int]] = {
    "mlp": (
        lambda rng, count: rng.rand(count, 64).astype("float32"),
        lambda layers: [layers.Dense(128, "relu"), layers.Dense(10)],
        lambda optimizers: optimizers.SGD(0.01, momentum=0.9),
        32,
    ),
    "lstm": (
        lambda rng, count: rng.rand(count, 20, 32).astype("float32"),
        lambda layers: [layers.LSTM(64), layers.Dense(10)],
        lambda optimizers: optimizers.SGD(0.01, momentum=0.9),
        32,
    ),
    "embedding": (
        lambda rng, count: rng.randint(0, 100_000, [count, 20]),
        lambda layers: [
            layers.Embedding(100_000, 16),
            layers.GlobalAveragePooling1D(),
            layers.Dense(10),
        ],
        lambda optimizers: optimizers.Adagrad(0.05),
        128,
    ),
    **{
        f"conv{batch}": (
            lambda rng, count: rng.rand(count, 16, 16, 1).astype("float32"),
            lambda layers: [
                layers.Conv2D(16, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(32, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(10),
            ],
            lambda optimizers: optimizers.SGD(0.01, momentum=0.9),
            batch,
        )
        for batch in (32, 128)
    },
}


def serve(
    way: str, orders: Orders, model: str, call: int, runtime: str = "", **options: Any
) -> None:
    """Executes orders: an epoch of fit() has as many steps as other ways run between returns.

    Args:
      way: 'jax'.
      orders: orders with 'steps' each.
      model: a key of ``NETWORKS``.
      call: the steps of an epoch.
      runtime: that of this library's way, which Keras does not need.
      **options: none that this way knows.
    """
    del runtime
    if options:
        raise ValueError(f"Keras on JAX has no {sorted(options)}; measure it with other ways.")
    os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")
    import keras

    features, network, optimizer, batch = NETWORKS[model]
    rng = np.random.RandomState(0)
    examples = features(rng, call * batch), rng.randint(0, 10, call * batch)
    in_keras = keras.Sequential(network(keras.layers))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    in_keras.compile(optimizer(keras.optimizers), loss)

    class Told(keras.callbacks.Callback):
        """Measures only the epochs, without the set-up of each fit()."""

        def on_train_begin(self, logs=None):
            self.start = time.perf_counter()

        def on_train_end(self, logs=None):
            orders.tell(seconds=time.perf_counter() - self.start)

    for order in orders:
        epochs = order["steps"] // call
        in_keras.fit(*examples, batch, epochs=epochs, shuffle=False, verbose=0, callbacks=[Told()])
