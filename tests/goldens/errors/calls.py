"""Arguments of train and evaluate, and input functions."""

from __future__ import annotations

import tensorflow as tf
from goldens.errors.estimators import Estimators, X, Y, ones, tf1


class Calls(Estimators):
    """Each method raises."""

    def both_kinds_of_steps(self):
        self.make().train(ones, steps=1, max_steps=1)

    def no_steps(self):
        self.make().train(ones, steps=0)

    def negative_max_steps(self):
        self.make().train(ones, max_steps=-1)

    def steps_of_letters(self):
        self.make().train(ones, steps="3")

    def evaluate_no_steps(self):
        self.make(folder=self.trained).evaluate(ones, steps=0)

    def hooks_that_are_none(self):
        self.make().train(ones, hooks=[3])

    def listeners_that_are_none(self):
        self.make().train(ones, saving_listeners=[3])

    def listeners_without_checkpoints(self):
        e = self.make(save_checkpoints_secs=None, save_checkpoints_steps=None)
        e.train(ones, saving_listeners=[tf1.train.CheckpointSaverListener()], steps=1)

    def input_fn_is_no_function(self):
        self.make().train(3, steps=1)

    def input_fn_with_another_argument(self):
        self.make().train(lambda other: ones(), steps=1)

    def input_fn_of_three(self):
        self.make().train(lambda: (X, Y, Y), steps=1)

    def input_fn_of_a_dataset_of_three(self):
        self.make().train(lambda: tf.data.Dataset.from_tensors((X, Y, Y)), steps=1)

    def input_fn_raises(self):
        def input_fn():
            raise KeyError("a")

        self.make().train(input_fn, steps=1)

    def input_raises(self):
        def batches():
            yield {"x": X}, Y
            raise OSError("gone")

        types = ({"x": tf.float32}, tf.float32)
        shapes = ({"x": [8, 2]}, [8])
        self.make().train(lambda: tf.data.Dataset.from_generator(batches, types, shapes))

    def labels_that_nobody_takes(self):
        self.make(lambda features, mode: 1).train(ones, steps=1)
