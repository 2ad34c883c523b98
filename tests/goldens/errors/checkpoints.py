"""Values, checkpoints and warm starts."""

from __future__ import annotations

import tempfile

from goldens.errors.estimators import Estimators, ones, tf1


class Checkpoints(Estimators):
    """Each method raises."""

    def value_of_no_variable(self):
        self.make(folder=self.trained).get_variable_value("v")

    def value_without_training(self):
        self.make().get_variable_value("w")

    def names_without_training(self):
        self.make().get_variable_names()

    def restore_for_evaluation_lacks_a_variable(self):
        self.make(self.fn("v"), self.trained).evaluate(ones)

    def restore_for_training_lacks_a_variable(self):
        self.make(self.fn("v"), self._copy()).train(ones)

    def restore_for_prediction_lacks_a_variable(self):
        list(self.make(self.fn("v"), self.trained).predict(ones))

    def restore_another_shape(self):
        self.make(self.fn(shape=(3,)), self.trained).evaluate(ones)

    def restore_without_data(self):
        self.make(folder=self._damaged(".data-00000-of-00001", None)).evaluate(ones)

    def restore_empty_data(self):
        self.make(folder=self._damaged(".data-00000-of-00001", b"")).evaluate(ones)

    def restore_bad_index(self):
        self.make(folder=self._damaged(".index", b"x" * 60)).evaluate(ones)

    def restore_empty_index(self):
        self.make(folder=self._damaged(".index", b"")).evaluate(ones)

    def value_with_bad_index(self):
        self.make(folder=self._damaged(".index", b"x" * 60)).get_variable_value("w")

    def value_without_data(self):
        folder = self._damaged(".data-00000-of-00001", None)
        self.make(folder=folder).get_variable_value("w")

    def evaluate_no_such_checkpoint(self):
        self.make().evaluate(ones, checkpoint_path=self.folder + "/none")

    def predict_no_such_checkpoint(self):
        list(self.make().predict(ones, checkpoint_path=self.folder + "/none"))

    def evaluate_a_damaged_checkpoint_by_path(self):
        folder = self._damaged(".data-00000-of-00001", None)
        self.make().evaluate(ones, checkpoint_path=folder + "/model.ckpt-2")

    def model_dir_is_a_file(self):
        path = self.folder + "/file"
        open(path, "w").close()
        self.make(folder=path).train(ones)

    def warm_start_from_nowhere(self):
        e = self.est.Estimator(self.fn(), tempfile.mkdtemp(), warm_start_from=self.folder + "/no")
        e.train(ones)

    def warm_start_lacks_a_variable(self):
        e = self.est.Estimator(self.fn("v"), tempfile.mkdtemp(), warm_start_from=self.trained)
        e.train(ones)

    def warm_start_another_shape(self):
        e = self.est.Estimator(
            self.fn(shape=(3,)), tempfile.mkdtemp(), warm_start_from=self.trained
        )
        e.train(ones)

    def warm_start_of_a_wrong_type(self):
        self.est.Estimator(self.fn(), tempfile.mkdtemp(), warm_start_from=3)

    def warm_start_settings_without_a_checkpoint(self):
        self.est.WarmStartSettings("")

    def init_from_checkpoint_lacks_a_variable(self):
        def model_fn(features, labels, mode):
            spec = self.fn("v")(features, labels, mode)
            tf1.train.init_from_checkpoint(self.trained, {"u": "v"})
            return spec

        self.make(model_fn).train(ones)
