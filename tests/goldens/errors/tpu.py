"""TPUEstimator, off a TPU."""

from __future__ import annotations

import tempfile

import tensorflow as tf
from goldens.errors.estimators import Estimators, ones


class TPU(Estimators):
    """Each method raises."""

    def _tpu(self, fn=None, **kwargs):
        defaults = {"config": self.est.tpu.RunConfig(), "use_tpu": False, "train_batch_size": 8}
        fn = fn or (lambda features, labels, mode, params: None)
        return self.est.tpu.TPUEstimator(fn, tempfile.mkdtemp(), **{**defaults, **kwargs})

    def tpu_config_of_another_kind(self):
        self._tpu(config=self.est.RunConfig())

    def tpu_reserved_param(self):
        self._tpu(params={"batch_size": 1})

    def tpu_batch_size_of_letters(self):
        self._tpu(train_batch_size="8", use_tpu=True)

    def tpu_iterations_of_letters(self):
        self.est.tpu.TPUConfig(iterations_per_loop="a")

    def tpu_no_iterations(self):
        self.est.tpu.TPUConfig(iterations_per_loop=0)

    def tpu_shards_of_letters(self):
        self.est.tpu.TPUConfig(num_shards="a")

    def tpu_three_cores_a_replica(self):
        self.est.tpu.TPUConfig(num_cores_per_replica=3)

    def tpu_partition_without_cores(self):
        self.est.tpu.TPUConfig(input_partition_dims=[[1]])

    def tpu_unknown_pipeline(self):
        self.est.tpu.TPUConfig(per_host_input_for_training=17)

    def tpu_master_and_cluster(self):
        self.est.tpu.RunConfig(master="a", cluster=3)

    def tpu_spec_of_metrics_that_are_none(self):
        self.est.tpu.TPUEstimatorSpec("eval", loss=tf.constant(1.0), eval_metrics=3)

    def tpu_spec_of_a_host_call_that_is_none(self):
        self.est.tpu.TPUEstimatorSpec("train", host_call=3)

    def tpu_nothing_returned(self):
        self._tpu().train(lambda params: ones(), steps=1)
