"""Writes models as tf.contrib wrote them, with the real TensorFlow 1.15.5.

    cd tests/contrib && PYTHON115 -m contrib_goldens.files.make_contrib_files [FOLDER]

PYTHON115 is the Python of contrib_goldens/make_contrib.py. Under `estimator-bridge run --tf1`, with
a FOLDER, the module writes those of this library. Each folder has the predictions beside the model.
"""

import json
import os
import shutil
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib.session_bundle import exporter

__all__ = ["main"]

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = [[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]]


def main(folder):
    """Writes the folders "keras_model" and "session_bundle"."""
    for write in (keras_model, session_bundle):
        path = os.path.join(folder, write.__name__)
        shutil.rmtree(path, ignore_errors=True)
        with tf.Graph().as_default(), tf.Session().as_default() as session:
            outputs = write(path, session)
        with open(os.path.join(path, "outputs.json"), "w") as file:
            json.dump(np.asarray(outputs).round(6).tolist(), file)


def keras_model(path, session):
    """A compiled model after one step."""
    del session
    inputs = tf.keras.Input((3,), name="x")
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, name="y")(inputs))
    shapes = [each.shape for each in model.get_weights()]
    model.set_weights([np.linspace(0.1, 1, np.prod(each)).reshape(each) for each in shapes])
    model.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9), "mse")
    model.train_on_batch(np.array(INPUTS), np.ones((2, 1)))
    tf.contrib.saved_model.save_keras_model(model, path)
    return model.predict(np.array(INPUTS))


def session_bundle(path, session):
    """A version of a model with a file of words, and signatures of all kinds."""
    os.makedirs(path)
    os.chdir(path)  # so that no file has the path in it
    asset = "words.txt"
    with open(asset, "w") as file:
        file.write("a b\n")
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    weights = tf.get_variable("weights", initializer=np.linspace(-1, 1, 3, dtype=np.float32))
    y = tf.reduce_sum(x * weights, 1, name="y")
    step = tf.train.create_global_step()
    name = tf.constant(asset)
    content = tf.Variable("", trainable=False, collections=[], name="kept")
    words = tf.assign(content, tf.read_file(name), name="read")
    session.run(tf.global_variables_initializer())
    session.run(step.assign(7))
    export = exporter.Exporter(tf.train.Saver(sharded=True))
    export.init(
        init_op=tf.group(words, name="start"),
        default_graph_signature=exporter.regression_signature(x, y),
        named_graph_signatures={
            "inputs": exporter.generic_signature({"x": x}),
            "outputs": exporter.generic_signature({"y": y}),
        },
        assets_collection=[name],
    )
    export.export(".", step, session)
    os.remove(asset)
    os.remove("00000007/checkpoint")
    return session.run(y, {x: INPUTS})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
