"""tf.contrib.estimator: what became tf.estimator.experimental, and additions to estimators."""

from estimator_bridge import add_metrics
from estimator_bridge.experimental import (
    InMemoryEvaluatorHook,
    build_raw_supervised_input_receiver_fn,
    call_logit_fn,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
    make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from estimator_bridge.export import build_supervised_input_receiver_fn_from_input_fn
from estimator_bridge.heads import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from estimator_bridge.legacy.contrib.estimator.clipping import clip_gradients_by_norm
from estimator_bridge.legacy.contrib.estimator.exporting import (
    export_all_saved_models,
    export_saved_model_for_mode,
)
from estimator_bridge.legacy.contrib.estimator.forwarding import forward_features
from estimator_bridge.legacy.contrib.estimator.replicating import (
    TowerOptimizer,
    replicate_model_fn,
)
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "InMemoryEvaluatorHook",
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "read_eval_metrics",
    "regression_head",
    "replicate_model_fn",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

_MODEL_FN = (
    "is not there. Write the model as a model_fn for Estimator: tf.compat.v1.losses for its loss, "
    "tf.compat.v1.metrics for its metrics."
)

__getattr__ = missing_getattr(
    __name__,
    {
        **dict.fromkeys(
            (
                "DNNClassifierWithLayerAnnotations",
                "DNNRegressorWithLayerAnnotations",
            ),
            _MODEL_FN,
        ),
        **dict.fromkeys(
            ("RNNClassifier", "RNNEstimator"),
            "is not there. Use the one of tf.estimator.experimental, which is made of Keras "
            "layers (its num_units are units), or write the model as a model_fn for Estimator.",
        ),
        **dict.fromkeys(
            (
                "boosted_trees_classifier_train_in_memory",
                "boosted_trees_regressor_train_in_memory",
            ),
            "is not there. Use the package tensorflow-decision-forests.",
        ),
        "SavedModelEstimator": "is not there. Call tf.compat.v1.saved_model.load in a model_fn, or "
        "tf.contrib.predictor.from_saved_model to predict.",
    },
    "tf.contrib.estimator",
)
