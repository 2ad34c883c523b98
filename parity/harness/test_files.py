"""The original's test files to run, and their modes."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

__all__ = ["FILES", "HEADLINE", "LEFT_OUT", "MODES", "ON_CORES", "ROOT", "TestFile", "find_files"]

ROOT = "tensorflow_estimator/python/estimator"
MODES = ("tf2", "v1")

FILES = (
    "estimator_test.py",
    "model_fn_test.py",
    "run_config_test.py",
    "training_test.py",
    "exporter_test.py",
    "early_stopping_test.py",
    "extenders_test.py",
    "hooks/hooks_test.py",
    "hooks/basic_session_run_hooks_test.py",
    "export/export_test.py",
    "export/function_test.py",
    "head/base_head_test.py",
    "head/binary_class_head_test.py",
    "head/multi_class_head_test.py",
    "head/multi_head_test.py",
    "head/multi_label_head_test.py",
    "head/regression_head_test.py",
    "head/sequential_head_test.py",
    "canned/head_test.py",
    "canned/parsing_utils_test.py",
    "canned/baseline_test.py",
    "canned/baseline_estimator_test.py",
    "canned/linear_test.py",
    "canned/linear_estimator_test.py",
    "canned/linear_model_test.py",
    "canned/linear_optimizer/python/sdca_test.py",
    "canned/dnn_estimator_test.py",
    "canned/dnn_linear_combined_test.py",
    "canned/dnn_linear_combined_estimator_test.py",
    "canned/canned_estimator_ds_integration_test.py",
    "canned/kmeans_test.py",
    "canned/rnn_test.py",
    "canned/optimizers_test.py",
    "canned/saved_model_estimator_test.py",
    "keras_test.py",
    "keras_premade_model_test.py",
    "keras_distribute_strategy_test.py",
    "inputs/numpy_io_test.py",
    "inputs/pandas_io_test.py",
    "inputs/queues/feeding_functions_test.py",
    "inputs/queues/feeding_queue_runner_test.py",
    "gc_test.py",
    "util_test.py",
    "estimator_export_test.py",
    "tools/checkpoint_converter_test.py",
    "object_checkpointing_test.py",
    "distribute_strategy_estimator_integration_test.py",
    "distribute_strategy_estimator_training_test.py",
    "tpu/tpu_config_test.py",
    "tpu/tpu_estimator_test.py",
    "tpu/tpu_estimator_integration_test.py",
    "tpu/tpu_estimator_evaluation_test.py",
    "tpu/tpu_estimator_input_v2_test.py",
    "tpu/tpu_estimator_signals_test.py",
    "tpu/tpu_estimator_export_test.py",
    "tpu/tpu_estimator_embedding_test.py",
    "tpu/tpu_estimator_gradients_test.py",
    "tpu/tpu_estimator_model_parallelism_test.py",
    "tpu/tpu_enqueue_sequence_test.py",
    "tpu/autotuning_iterations_per_loop_test.py",
    "tpu/error_handling_test.py",
)

# Files that are not run, or folders of them, with the reason.
LEFT_OUT = {
    "canned/linear_optimizer/python/utils/": "tests of the private classes of SDCA's state; "
    "`sdca_test.py` trains with them",
    "canned/timeseries/": "time series have no public name in tf.estimator: they were "
    "tf.contrib.timeseries",
}

# The tests of the features that most programs use.
HEADLINE = (
    "estimator_test.py",
    "model_fn_test.py",
    "run_config_test.py",
    "training_test.py",
    "exporter_test.py",
    "early_stopping_test.py",
    "hooks/hooks_test.py",
    "export/export_test.py",
    "inputs/numpy_io_test.py",
    "tpu/tpu_config_test.py",
)

# Written for a machine with TPU cores, which they request with an empty master.
ON_CORES = frozenset(f for f in FILES if f.startswith(("tpu/tpu_estimator_", "tpu/tpu_enqueue_")))


@dataclasses.dataclass(frozen=True)
class TestFile:
    """A test file of a checkout.

    Attributes:
      name: its path below ROOT; the same in all checkouts.
      path: its full path.
      modes: the modes, of MODES, in which it runs.
      on_cores: whether its tests need TPU cores.
    """

    name: str
    path: Path
    modes: tuple[str, ...]
    on_cores: bool


def find_files(checkout: Path, only: str | None = None) -> list[TestFile]:
    """Finds the test files of a checkout.

    Args:
      checkout: the folder that holds ``tensorflow_estimator/``.
      only: a file's path below ROOT, or the end of one; by default all of FILES.

    Raises:
      FileNotFoundError: the checkout has none of them.
    """
    folder = checkout / ROOT
    names = [f for f in FILES if only is None or f == only or f.endswith(f"/{only}")]
    if only is not None and not names:
        names = [only]  # a file that is not in the list may be named
    files = [name for name in names if (folder / name).is_file()]
    if not files:
        raise FileNotFoundError(
            f"{checkout} holds none of the requested test files ({', '.join(names)}) "
            f"below {ROOT}. Wanted: a work tree of the original project, tag v2.15.0."
        )
    return [_test_file(name, folder / name) for name in files]


def _test_file(name: str, path: Path) -> TestFile:
    modes = _modes(ast.parse(path.read_text(encoding="utf-8")))
    return TestFile(name, path, modes, name in ON_CORES)


def _modes(tree: ast.Module) -> tuple[str, ...]:
    """Returns a file's modes: one, if it chooses that mode itself when run as a program."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    method_names = {function.attr for function in calls if isinstance(function, ast.Attribute)}
    if "disable_v2_behavior" in method_names:
        return ("v1",)
    return ("tf2",) if "enable_eager_execution" in method_names else MODES
