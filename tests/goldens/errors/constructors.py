"""Constructors, configurations and TF_CONFIG."""

from __future__ import annotations

import os
from unittest import mock

from goldens.errors.estimators import Estimators


class Constructors(Estimators):
    """Each method raises."""

    def no_model_fn(self):
        self.est.Estimator(None, self.folder)

    def model_fn_that_is_no_function(self):
        self.est.Estimator(3, self.folder)

    def model_fn_without_features(self):
        self.make(lambda x: x)

    def model_fn_with_another_argument(self):
        self.make(lambda features, other: features)

    def params_that_nobody_takes(self):
        self.est.Estimator(lambda features: 1, self.folder, params={"a": 1})

    def config_of_another_kind(self):
        self.est.Estimator(self.fn(), self.folder, config=3)

    def two_folders(self):
        self.est.Estimator(self.fn(), "a", self.est.RunConfig("b"))

    def overridden_member(self):
        class Other(self.est.Estimator):
            def train(self):
                pass

        Other(self.fn(), self.folder)

    def both_cadences(self):
        self.est.RunConfig(save_checkpoints_secs=1, save_checkpoints_steps=1)

    def negative_cadence(self):
        self.est.RunConfig(save_summary_steps=-1)

    def cadence_of_letters(self):
        self.est.RunConfig(save_checkpoints_steps="3")

    def seed_of_letters(self):
        self.est.RunConfig(tf_random_seed="3")

    def unknown_setting(self):
        self.est.RunConfig(steps=3)

    def replace_an_unknown_setting(self):
        self.est.RunConfig().replace(master="x")

    def set_a_setting(self):
        self.est.RunConfig().model_dir = "x"

    def _with_tf_config(self, text):
        with mock.patch.dict(os.environ, {"TF_CONFIG": text}):
            self.est.RunConfig()

    def tf_config_is_no_json(self):
        self._with_tf_config("{")

    def tf_config_without_a_chief(self):
        self._with_tf_config('{"cluster": {"worker": ["h:1"]}, "task": {"type": "worker"}}')

    def tf_config_without_a_task(self):
        self._with_tf_config('{"cluster": {"chief": ["h:1"], "worker": ["h:2"]}}')

    def tf_config_with_a_word_for_an_index(self):
        self._with_tf_config(
            '{"cluster": {"chief": ["h:1"]}, "task": {"type":"chief","index":"a"}}'
        )

    def tf_config_with_a_service_of_words(self):
        self._with_tf_config('{"service": "x"}')
