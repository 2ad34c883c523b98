"""The test files of TensorFlow 1.15's tf.contrib to run."""

from __future__ import annotations

from pathlib import Path

__all__ = ["LEFT_OUT", "NAMESPACES", "ROOT", "SUPPORT", "find_files", "path_of"]

ROOT = "tensorflow/contrib"
# The tests of contrib.estimator were in another project by then: tensorflow/estimator, r1.15.
ESTIMATOR_ROOT = "tensorflow_estimator/contrib"

# The namespaces of which this library has names, and whose tests TF 1.15 has. contrib.gan had left
# TensorFlow, and the tests of contrib.tpu were those of tensorflow/python/tpu.
NAMESPACES = (
    "bayesflow",
    "checkpoint",
    "cluster_resolver",
    "constrained_optimization",
    "copy_graph",
    "crf",
    "cudnn_rnn",
    "data",
    "deprecated",
    "distribute",
    "distributions",
    "eager",
    "estimator",
    "factorization",
    "feature_column",
    "ffmpeg",
    "framework",
    "graph_editor",
    "grid_rnn",
    "image",
    "integrate",
    "kernel_methods",
    "layers",
    "learn",
    "legacy_seq2seq",
    "linear_optimizer",
    "lookup",
    "losses",
    "memory_stats",
    "metrics",
    "mixed_precision",
    "model_pruning",
    "nn",
    "opt",
    "optimizer_v2",
    "periodic_resample",
    "predictor",
    "quantize",
    "receptive_field",
    "resampler",
    "rnn",
    "saved_model",
    "seq2seq",
    "session_bundle",
    "slim",
    "solvers",
    "sparsemax",
    "stateless",
    "summary",
    "timeseries",
    "training",
)

# Of contrib.learn, the tests of what is here.
_OF_LEARN = (
    "learn/datasets/base_test.py",
    "learn/datasets/load_csv_test.py",
    "learn/datasets/synthetic_test.py",
    "learn/estimators/dnn_linear_combined_test.py",
    "learn/estimators/dnn_test.py",
    "learn/estimators/estimator_input_test.py",
    "learn/estimators/estimator_test.py",
    "learn/estimators/estimators_test.py",
    "learn/estimators/head_test.py",
    "learn/estimators/linear_test.py",
    "learn/estimators/logistic_regressor_test.py",
    "learn/estimators/model_fn_test.py",
    "learn/estimators/multioutput_test.py",
    "learn/estimators/nonlinear_test.py",
    "learn/estimators/regression_test.py",
    "learn/estimators/run_config_test.py",
    "learn/estimators/svm_test.py",
    "learn/experiment_test.py",
    "learn/export_strategy_test.py",
    "learn/graph_actions_test.py",
    "learn/learn_io/generator_io_test.py",
    "learn/learn_io/graph_io_test.py",
    "learn/learn_io/pandas_io_test.py",
    "learn/learn_runner_test.py",
    "learn/metric_spec_test.py",
    "learn/monitors_test.py",
    "learn/preprocessing/tests/categorical_test.py",
    "learn/preprocessing/tests/categorical_vocabulary_test.py",
    "learn/preprocessing/tests/text_test.py",
    "learn/utils/input_fn_utils_test.py",
)

# Files that are not run, or parts of their paths, with the reason.
LEFT_OUT = {
    "distribute/python/keras_": "tests of Keras on strategies, which use no name of tf.contrib",
    "eager/python/examples/": "tests of example programs, whose models are in no namespace",
    "learn/python/learn/": "tests of the feeders, recurrent estimators and private parts of "
    "tf.contrib.learn, which tf.estimator replaced in TensorFlow 1.3; those of the other parts are "
    "run",
}

# Modules that only tests import. They come from the checkout.
SUPPORT = (
    "constrained_optimization.python.test_util",
    "data.python.kernel_tests.reader_dataset_ops_test_base",
    "distributions.python.kernel_tests.distribution_test",
    "distributions.python.kernel_tests.transformed_distribution_test",
    "distributions.python.ops.test_util",
    "factorization.python.ops.factorization_ops_test_utils",
    "graph_editor.tests.match",
    "learn.python.learn.estimators.estimator_test_utils",
    "learn.python.learn.estimators.test_data",
    "predictor.testing_common",
    "rnn.python.kernel_tests.benchmarking",
    "slim.python.slim.data.test_utils",
    "summary.summary_test_util",
    "timeseries.examples.known_anomaly",
    "timeseries.examples.lstm",
    "timeseries.examples.multivariate",
    "timeseries.examples.predict",
    "timeseries.python.timeseries.state_space_models.test_utils",
    "timeseries.python.timeseries.test_utils",
)


def find_files(checkout: Path, only: str | None = None) -> list[str]:
    """Finds the test files of a checkout, as paths below ROOT.

    Args:
      checkout: the folder that holds ``tensorflow/contrib``.
      only: a part of the paths of the wanted files; by default all files.

    Raises:
      FileNotFoundError: the checkout has none of them.
    """
    paths = [
        path.relative_to(folder).as_posix()
        for namespace in NAMESPACES
        for folder in (checkout / ROOT, checkout / ESTIMATOR_ROOT)
        for path in sorted((folder / namespace).rglob("*_test.py"))
    ]
    paths = [name for name in paths if _is_run(name) and (only is None or only in name)]
    if not paths:
        raise FileNotFoundError(
            f"{checkout} holds none of the requested test files ({only or 'all'}) below {ROOT}. "
            "Wanted: a work tree of TensorFlow, tag v1.15.5."
        )
    return paths


def path_of(checkout: Path, name: str) -> Path:
    """Returns the path of a test file.

    Args:
      checkout: the folder that holds ``tensorflow/contrib``.
      name: the file's path below ROOT, or below ESTIMATOR_ROOT.
    """
    path = checkout / ROOT / name
    return path if path.is_file() else checkout / ESTIMATOR_ROOT / name


def _is_run(name: str) -> bool:
    return name.endswith(_OF_LEARN) or not name.startswith(tuple(LEFT_OUT))
