"""The support vector machine of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from estimator_bridge_contrib.learn.canned.predicting import ClassPredictor
from estimator_bridge_contrib.learn.canned.sdca_linear import sdca_model_fn
from estimator_bridge_contrib.learn.heads.factories import binary_svm_head
from estimator_bridge_contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer

__all__ = ["SVM"]


class SVM(ClassPredictor):
    """A linear support vector machine for two classes, trained by SDCAOptimizer.

    Args:
      example_id_column: the feature key of the example IDs, strings [batch].
      feature_columns: feature columns of tf.contrib.layers.
      weight_column_name: the key of weights among the features.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      l1_regularization: the L1 regularization of the weights.
      l2_regularization: their L2 regularization; the solver uses at least 1.
      num_loss_partitions: the number of workers that train on parts of the data.
      kernels: only None is supported.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.

    Raises:
      ValueError: kernels are given.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Iterable[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Any = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        if kernels is not None:
            raise ValueError(
                f"Kernel SVMs are not currently supported. Got kernels={kernels!r}. Leave it out."
            )
        params = {
            "head": binary_svm_head(weight_column_name=weight_column_name),
            "feature_columns": feature_columns,
            "optimizer": SDCAOptimizer(
                example_id_column,
                num_loss_partitions,
                symmetric_l1_regularization=l1_regularization,
                symmetric_l2_regularization=l2_regularization,
            ),
            "weight_column_name": weight_column_name,
        }
        super().__init__(sdca_model_fn, model_dir, config, params, feature_engineering_fn)

    def predict_proba(self, *args: Any, **kwargs: Any) -> Any:
        """Fails: a support vector machine has no probabilities.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            "Expected to run at least one output of an SVM: it predicts logits and classes, no "
            "probabilities. Use predict_classes, or predict(outputs=['logits'])."
        )
