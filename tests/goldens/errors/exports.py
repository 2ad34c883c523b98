"""Exports."""

from __future__ import annotations

import tensorflow as tf
from goldens.errors.estimators import Estimators, tf1


class Exports(Estimators):
    """Each method raises."""

    def _receiver(self):
        x = tf1.placeholder(tf.float32, [None, 2])
        return self.est.export.ServingInputReceiver({"x": x}, {"x": x})

    def export_without_training(self):
        self.make().export_saved_model(self.folder + "/e1", self._receiver)

    def export_without_a_receiver(self):
        self.make(folder=self.trained).export_saved_model(self.folder + "/e2", None)

    def export_lacks_a_variable(self):
        e = self.make(self.fn("v"), self.trained)
        e.export_saved_model(self.folder + "/e3", self._receiver)

    def export_another_shape(self):
        e = self.make(self.fn(shape=(3,)), self.trained)
        e.export_saved_model(self.folder + "/e4", self._receiver)

    def export_of_absent_assets(self):
        e = self.make(folder=self.trained)
        e.export_saved_model(self.folder + "/e5", self._receiver, {"a": self.folder + "/none"})

    def receiver_without_features(self):
        self.est.export.ServingInputReceiver(None, {"x": 1})

    def receiver_of_no_tensors(self):
        self.est.export.ServingInputReceiver({"x": 1}, {"x": 1})

    def export_modes_unknown(self):
        e = self.make(folder=self.trained)
        e.experimental_export_all_saved_models(self.folder + "/e6", {"a": self._receiver})

    def export_of_no_modes(self):
        self.make(folder=self.trained).experimental_export_all_saved_models(self.folder + "/e7", {})

    def export_of_an_unknown_mode(self):
        e = self.make(folder=self.trained)
        e.export_saved_model(self.folder + "/e8", self._receiver, experimental_mode="a")

    def receiver_that_is_a_dict(self):
        self.make(folder=self.trained).export_saved_model(self.folder + "/e9", lambda: {"x": 1})
