"""train_and_evaluate and its specs."""

from __future__ import annotations

from goldens.errors.estimators import Estimators, ones


class OuterLoop(Estimators):
    """Each method raises."""

    def train_spec_without_input_fn(self):
        self.est.TrainSpec(3)

    def train_spec_of_no_steps(self):
        self.est.TrainSpec(ones, max_steps=0)

    def eval_spec_of_no_steps(self):
        self.est.EvalSpec(ones, steps=0)

    def eval_spec_of_a_wrong_name(self):
        self.est.EvalSpec(ones, name=3)

    def eval_spec_of_wrong_exporters(self):
        self.est.EvalSpec(ones, exporters=[3])

    def eval_spec_of_negative_delay(self):
        self.est.EvalSpec(ones, start_delay_secs=-1)

    def train_and_evaluate_no_specs(self):
        self.est.train_and_evaluate(self.make(), 3, 3)

    def train_and_evaluate_no_estimator(self):
        self.est.train_and_evaluate(3, self.est.TrainSpec(ones), self.est.EvalSpec(ones))

    def exporters_of_one_name(self):
        exporter = self.est.FinalExporter("a", lambda: None)
        self.est.EvalSpec(ones, exporters=[exporter, exporter])

    def latest_exporter_keeps_none(self):
        self.est.LatestExporter("a", lambda: None, exports_to_keep=0)
