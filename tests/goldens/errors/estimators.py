"""Estimators and inputs that the situations begin with."""

from __future__ import annotations

import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
X = np.arange(16.0, dtype="f").reshape(8, 2)
Y = np.arange(8.0, dtype="f")


def ones():
    """Gives four batches of two examples."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2)


def endless():
    """Gives as many as are asked for."""
    return ones().repeat()


class Estimators:
    """Makes estimators, one of them trained for two steps.

    Args:
      est: tf.compat.v1.estimator.
    """

    def __init__(self, est):
        self.est = est
        self.folder = tempfile.mkdtemp()
        self.trained = self.make().train(endless, steps=2).model_dir

    def fn(self, name="w", shape=(2,), **spec):
        """Makes a model_fn."""

        def model_fn(features, labels, mode):
            w = tf1.get_variable(name, shape, initializer=tf1.ones_initializer())
            y = tf.reduce_sum(features["x"] * tf.reduce_sum(w), 1)
            if mode == "infer":
                return self.est.EstimatorSpec(mode, **{"predictions": {"y": y}, **spec})
            loss = tf.reduce_mean(tf.square(y - labels))
            step = tf1.train.get_global_step()
            op = tf1.train.GradientDescentOptimizer(1e-3).minimize(loss, step)
            return self.est.EstimatorSpec(mode, **{"loss": loss, "train_op": op, **spec})

        return model_fn

    def make(self, fn=None, folder=None, **config):
        """Makes an estimator, in a new folder by default."""
        folder = folder or tempfile.mkdtemp(dir=self.folder)
        return self.est.Estimator(fn or self.fn(), folder, self.est.RunConfig(**config))

    def _copy(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        shutil.copytree(self.trained, folder, dirs_exist_ok=True)
        return folder

    def _damaged(self, ending, content):
        folder = tempfile.mkdtemp(dir=self.folder)
        for file in os.listdir(self.trained):
            if file.startswith("model.ckpt-2"):
                shutil.copy(os.path.join(self.trained, file), folder)
        with open(folder + "/checkpoint", "w") as file:
            file.write('model_checkpoint_path: "model.ckpt-2"\n')
        path = os.path.join(folder, "model.ckpt-2" + ending)
        if content is None:
            os.remove(path)
        else:
            with open(path, "wb") as file:
                file.write(content)
        return folder
