"""Savers of programs."""

from __future__ import annotations

import os
from unittest import mock

import tensorflow as tf
from goldens.duck_types.models import Delegate, case, make, steps_of, threes, trained

v1 = tf.compat.v1
train = v1.train


class Saver:
    """A saver that renames or uploads what it saves, written by hand."""

    def __init__(self):
        self.inner = train.Saver(max_to_keep=2)
        self.calls = []

    def save(self, *args, **kwargs):
        self.calls.append("save")
        return self.inner.save(*args, **kwargs)

    def restore(self, sess, save_path):
        self.calls.append("restore " + os.path.basename(save_path))
        self.inner.restore(sess, save_path)

    @property
    def saver_def(self):
        return self.inner.saver_def

    def build(self):
        self.inner.build()

    @property
    def last_checkpoints(self):
        return self.inner.last_checkpoints

    def recover_last_checkpoints(self, checkpoint_paths):
        self.inner.recover_last_checkpoints(checkpoint_paths)

    def set_last_checkpoints_with_time(self, pairs):
        self.inner.set_last_checkpoints_with_time(pairs)


@case
def saver_by_hand(estimator, folder):
    savers = []

    def scaffold():
        savers.append(Saver())
        return train.Scaffold(saver=savers[-1])

    model = make(estimator, folder, scaffold=scaffold)
    seen = trained(model, folder)
    model.train(threes, steps=1)
    return {**seen, "again": steps_of(folder), "calls": [saver.calls for saver in savers]}


@case
def saver_that_delegates(estimator, folder):
    def scaffold():
        return train.Scaffold(saver=Delegate(train.Saver(max_to_keep=2)))

    return trained(make(estimator, folder, scaffold=scaffold), folder)


@case
def saver_mock(estimator, folder):
    """As the original's own tests do."""
    mocks = []

    def scaffold():
        saver = train.Saver()
        mocks.append(mock.Mock(wraps=saver, saver_def=saver.saver_def))
        return train.Scaffold(saver=mocks[-1])

    model = make(estimator, folder, scaffold=scaffold)
    seen = trained(model, folder)
    next(model.predict(threes))
    calls = [[m.save.called, m.restore.called] for m in mocks]
    return {**seen, "calls": calls}


@case
def saver_in_collection(estimator, folder):
    def scaffold():
        v1.add_to_collection(v1.GraphKeys.SAVERS, Saver())

    return trained(make(estimator, folder, scaffold=scaffold), folder)


@case
def saver_of_own_hook(estimator, folder):
    def hooks():
        return [train.CheckpointSaverHook(folder, save_steps=3, saver=Saver())]

    return trained(make(estimator, folder, training_chief_hooks=hooks), folder)


@case
def saver_exports(estimator, folder):
    receiver = estimator.export.TensorServingInputReceiver

    def receiver_fn():
        feature = v1.placeholder(tf.float32, [None, 1], "x")
        return receiver(feature, {"x": feature})

    def scaffold():
        return train.Scaffold(saver=Delegate(train.Saver()))

    model = make(estimator, folder, scaffold=scaffold)
    model.train(threes, steps=2)
    path = model.export_saved_model(os.path.join(folder, "export"), receiver_fn)
    served = tf.saved_model.load(tf.compat.as_str(path)).signatures["serving_default"]
    return {"w": float(served(tf.constant([[1.0]]))["w"][0][0])}


@case
def saver_that_only_saves(estimator, folder):
    """With what training from nothing calls."""

    class Small:
        def __init__(self):
            self.inner = train.Saver()
            self.saver_def = self.inner.saver_def

        def save(self, sess, save_path, global_step=None, **kwargs):
            return self.inner.save(sess, save_path, global_step, **kwargs)

        def build(self):
            pass

    model = make(estimator, folder, scaffold=lambda: train.Scaffold(saver=Small()))
    model.train(threes, steps=3)
    return {"steps": steps_of(folder)}
