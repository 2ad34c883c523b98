"""Makes a TF1 module of tensorflow_hub, and records its outputs.

pip install tensorflow==1.15.5 tensorflow_hub==0.12.0    # Python 3.7, an environment of its own
cd tests && PYTHON115 -m goldens.hub.make_module
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub

HERE = Path(__file__).parent
FEATURES = [[0.0, 0.125, 0.25, 0.375], [0.5, 0.625, 0.75, 0.875]]


def module_fn():
    """A dense layer and a batch normalization."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.variable_scope("inner"):
        net = tf.layers.dense(x, 3, tf.nn.tanh, name="d")
    hub.add_signature(inputs=x, outputs=tf.layers.batch_normalization(net, training=False))


def main():
    """Writes the module's folder, and outputs.json."""
    spec = hub.create_module_spec(module_fn, tags_and_args=[(set(), {})])
    shutil.rmtree(str(HERE / "module"), ignore_errors=True)
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        module = hub.Module(spec)
        outputs = module(np.array(FEATURES, np.float32))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = session.run(outputs).tolist()
            module.export(str(HERE / "module"), session)
    recorded = {"features": FEATURES, "outputs": values}
    (HERE / "outputs.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
