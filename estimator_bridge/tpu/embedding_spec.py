"""EmbeddingConfigSpec: the TPU embedding columns of a model, and the training of their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from estimator_bridge.tensorflow_private.columns import (
    EMBEDDING_COLUMN,
    PLAIN_EMBEDDING_COLUMNS,
    SHARED_EMBEDDING_COLUMN,
    embedding_lookup_device,
)
from estimator_bridge.tpu_embedding_parameters import EmbeddingParameters

__all__ = ["TPU_EMBEDDING_COLUMNS", "EmbeddingConfigSpec"]

TPU_EMBEDDING_COLUMNS = (EMBEDDING_COLUMN, SHARED_EMBEDDING_COLUMN)


class _Fields(NamedTuple):
    feature_columns: Sequence[Any] | None
    tensor_core_feature_columns: Sequence[Any] | None
    optimization_parameters: Any
    clipping_limit: float | None
    pipeline_execution_with_tensor_core: bool
    experimental_gradient_multiplier_fn: Callable[..., Any] | None
    feature_to_config_dict: Mapping[str, Any] | None
    table_to_config_dict: Mapping[str, Any] | None
    partition_strategy: str
    profile_data_directory: str | None


class EmbeddingConfigSpec(_Fields):
    """The argument embedding_config_spec of TPUEstimator.

    Args:
      feature_columns: all TPU embedding columns that model_fn uses, as
        ``tf.tpu.experimental.embedding_column`` and ``shared_embedding_columns`` return them. With
        use_tpu=False also those of ``tf.feature_column``.
      optimization_parameters: the optimizer of the tables on a TPU: AdagradParameters,
        AdamParameters or StochasticGradientDescentParameters of ``tf.tpu.experimental``.
      clipping_limit: ignored, as in the original; use clip_gradient_min and clip_gradient_max of
        the parameters.
      pipeline_execution_with_tensor_core: ignored; each step sees the updates of the step before.
      experimental_gradient_multiplier_fn: a function of the global step that returns a factor for
        the gradients of the tables.
      feature_to_config_dict: not supported.
      table_to_config_dict: not supported.
      partition_strategy: 'div' or 'mod'; without effect, as each core holds whole tables.
      profile_data_directory: ignored.

    Raises:
      ValueError: feature_columns is empty, optimization_parameters is of another type, or
        partition_strategy is neither 'div' nor 'mod'.
      TypeError: a column is not an embedding column.
      NotImplementedError: tables are described without columns.

    Attributes:
      feature_columns: the columns whose tables optimization_parameters train on a TPU.
      tensor_core_feature_columns: the columns with embedding_lookup_device='tpu_tensor_core', whose
        tables the model's optimizer trains.
    """

    def __new__(
        cls,
        feature_columns: Sequence[Any] | None = None,
        optimization_parameters: Any = None,
        clipping_limit: float | None = None,
        pipeline_execution_with_tensor_core: bool = False,
        experimental_gradient_multiplier_fn: Callable[..., Any] | None = None,
        feature_to_config_dict: Mapping[str, Any] | None = None,
        table_to_config_dict: Mapping[str, Any] | None = None,
        partition_strategy: str = "div",
        profile_data_directory: str | None = None,
    ) -> EmbeddingConfigSpec:
        """Checks and stores the arguments."""
        if partition_strategy not in ("div", "mod"):
            raise ValueError(
                f'Invalid partition_strategy {partition_strategy}. Must be one of "mod" or "div".'
            )
        if feature_to_config_dict or table_to_config_dict:
            raise NotImplementedError(
                "EmbeddingConfigSpec(feature_to_config_dict=, table_to_config_dict=) is not "
                "supported. Describe the tables with columns: EmbeddingConfigSpec(feature_columns="
                "[tf.tpu.experimental.embedding_column(...)]), and read them in model_fn with "
                "tf.compat.v1.feature_column.input_layer."
            )
        if not feature_columns:
            raise ValueError(
                "Exactly one of `feature_columns` and the pair `feature_to_config_dict` and "
                "`table_to_config_dict` must be specified. Pass feature_columns=[...] with columns "
                "of tf.tpu.experimental.embedding_column."
            )
        for column in feature_columns:
            if not isinstance(column, (*TPU_EMBEDDING_COLUMNS, *PLAIN_EMBEDDING_COLUMNS)):
                raise TypeError(
                    "All feature columns must be supported types: what tf.tpu.experimental."
                    "embedding_column and shared_embedding_columns return. Got "
                    f"{type(column).__name__}. Pass other columns only to input_layer."
                )
        if not isinstance(optimization_parameters, EmbeddingParameters):
            raise ValueError(
                "optimization_parameters must be an instance of AdagradParameters, AdamParameters "
                "or StochasticGradientDescentParameters of tf.tpu.experimental. Got "
                f"{optimization_parameters!r}."
            )
        return super().__new__(
            cls,
            [column for column in feature_columns if not _is_on_core(column)],
            [column for column in feature_columns if _is_on_core(column)],
            optimization_parameters,
            clipping_limit,
            pipeline_execution_with_tensor_core,
            experimental_gradient_multiplier_fn,
            None,
            None,
            partition_strategy,
            profile_data_directory,
        )


def _is_on_core(column: Any) -> bool:
    return embedding_lookup_device(column) == "tpu_tensor_core"
