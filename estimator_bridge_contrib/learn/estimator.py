"""tf.contrib.learn.Estimator, on the Estimator of this library."""

from __future__ import annotations

import abc
import contextlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.model.config_checks import SAVE_CHECKPOINTS_ERROR
from estimator_bridge.training import EstimatorV1, predict_at_call
from estimator_bridge_contrib.learn.array_inputs import array_input_fn, check_inputs, finite
from estimator_bridge_contrib.learn.configuration import RunConfig
from estimator_bridge_contrib.learn.exports import export_with_input_ops
from estimator_bridge_contrib.learn.learn_model import LearnModel
from estimator_bridge_contrib.learn.monitor_hooks import replace_monitors_with_hooks

__all__ = [
    "BaseEstimator",
    "Estimator",
    "Evaluable",
    "NotFittedError",
    "SKCompat",
    "Trainable",
]


class NotFittedError(ValueError, AttributeError):
    """The estimator has no checkpoint yet."""


class Evaluable(abc.ABC):
    """Has a model_dir and can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The folder of the checkpoints."""

    @abc.abstractmethod
    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluates the model; see `BaseEstimator.evaluate`."""


class Trainable(abc.ABC):
    """Can be trained."""

    @abc.abstractmethod
    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Trains the model; see `BaseEstimator.fit`."""


class BaseEstimator(Evaluable, Trainable):
    """A model with fit, evaluate and predict.

    Args:
      model: the model, in tf.contrib.learn's terms.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      config: a RunConfig.

    Raises:
      ValueError: the config has another model_dir, or both intervals between checkpoints.
    """

    def __init__(self, model: LearnModel, model_dir: str | None = None, config: Any = None):
        self._model = model
        config = RunConfig() if config is None else config
        folders = [None, None if model_dir is None else os.fspath(model_dir)]
        if model_dir is not None and config.model_dir not in folders:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values: "
                f"{model_dir!r} and {config.model_dir!r}. Set it in one of them."
            )
        intervals = config.save_checkpoints_steps, config.save_checkpoints_secs
        if None not in intervals:
            raise ValueError(SAVE_CHECKPOINTS_ERROR.format(*intervals))
        self._core = EstimatorV1(model.with_metrics(None), model_dir=model_dir, config=config)

    @property
    def model_dir(self) -> str:
        """The folder of the checkpoints."""
        return self._core.model_dir

    @property
    def config(self) -> Any:
        """The RunConfig."""
        return self._core.config

    @property
    def params(self) -> Any:
        """The hyperparameters that model_fn gets."""
        return self._model.params

    @property
    def model_fn(self) -> Callable[..., Any]:
        """A function of features, labels, mode and config that returns `ModelFnOps`."""
        return self._model.ops

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Trains the model.

        Args:
          x: arrays of features, if there is no input_fn.
          y: arrays of labels.
          input_fn: returns features and labels, or a dataset of them.
          steps: the number of steps; without it and max_steps until the input ends.
          batch_size: the number of examples of a batch of x; by default all.
          monitors: monitors or hooks.
          max_steps: the global step to stop at.

        Returns:
          The estimator.

        Raises:
          ValueError: both steps and max_steps are given, or the input is given twice or not.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_inputs(x, y, input_fn, batch_size)
        source = input_fn or array_input_fn(x, y, batch_size, is_shuffled=True, epochs=None)
        hooks = replace_monitors_with_hooks(monitors, self)
        # The original counted after a step, so it made one step at least. Counts could be floats.
        steps = None if steps is None else max(int(steps), 1)
        self._core.train(source, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> BaseEstimator:
        """Trains the model for some steps, one by default; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Computes metrics.

        Args:
          x: arrays of features, if there is no input_fn.
          y: arrays of labels.
          input_fn: returns features and labels, or a dataset of them.
          feed_fn: returns a feed_dict for each step, of placeholders that input_fn makes.
          batch_size: the number of examples of a batch of x; by default all.
          steps: the number of batches; by default until the input ends.
          metrics: further metrics by name: each a `MetricSpec`, or a function of predictions and
            labels.
          name: a name for the folder of the evaluation's events.
          checkpoint_path: the checkpoint; by default the latest.
          hooks: hooks.
          log_progress: accepted and ignored.

        Returns:
          The values by name, with the loss and the global_step.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: the input is given twice or not, or metrics is not a dict.
        """
        del log_progress
        check_inputs(x, y, input_fn, batch_size)
        source = input_fn or array_input_fn(x, y, batch_size, is_shuffled=False, epochs=1)
        if metrics is not None and not isinstance(metrics, Mapping):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        self._check_fitted(checkpoint_path)
        hooks = list(hooks or [])
        if feed_fn is not None:
            hooks.append(tf.compat.v1.train.FeedFnHook(feed_fn))
        core = self._core
        if metrics:
            model_fn = self._model.with_metrics(metrics)
            core = EstimatorV1(model_fn, model_dir=self.model_dir, config=self.config)
        results = core.evaluate(source, steps, hooks, checkpoint_path, name)
        return self._model.with_own_loss(results)

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Computes predictions with the latest checkpoint.

        Args:
          x: arrays of features, if there is no input_fn.
          input_fn: returns features, or a dataset of them. As in the original, features without
            a dataset and without queues are one batch.
          batch_size: the number of examples of a batch of x; by default all.
          outputs: the names of the wanted predictions; by default all.
          as_iterable: whether to return an iterator.
          iterate_batches: whether it has batches, not examples.

        Returns:
          An iterator over the predictions of each example, or each batch: an array, or arrays by
          name. With as_iterable=False the predictions of the first batch.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: the input is given twice or not, or there is no prediction of a given name.
        """
        check_inputs(x, None, input_fn, batch_size)
        self._check_fitted(None)
        if input_fn is None:
            source = array_input_fn(x, None, batch_size, is_shuffled=False, epochs=1)
        else:
            source = finite(input_fn)
        is_batch = iterate_batches or not as_iterable
        predictions = predict_at_call(self._core, source, outputs, not is_batch)
        predictions = self._model.as_predicted(predictions)
        if as_iterable:
            return predictions
        with contextlib.closing(predictions):
            return next(predictions)

    def get_variable_value(self, name: str) -> Any:
        """Returns the value of a variable in the latest checkpoint."""
        return self._core.get_variable_value(name)

    def get_variable_names(self) -> list[str]:
        """Returns the names of the variables in the latest checkpoint."""
        return self._core.get_variable_names()

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        graph_rewrite_specs: Any = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        """Exports the model.

        Args:
          export_dir_base: the folder in which a folder for the export is created.
          serving_input_fn: returns `InputFnOps`, or a ServingInputReceiver.
          default_output_alternative_key: of several heads, the one for serving_default.
          assets_extra: further files by their path in assets.extra.
          as_text: whether the model's file is text.
          checkpoint_path: the checkpoint; by default the latest.
          graph_rewrite_specs: only None is supported.
          strip_default_attrs: has no effect: default values are always removed.

        Returns:
          The folder.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: serving_input_fn is None.
          NotImplementedError: graph_rewrite_specs is given.
        """
        del strip_default_attrs
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        if graph_rewrite_specs is not None:
            raise NotImplementedError(
                "graph_rewrite_specs is not supported, as the graph transformations have left "
                "TensorFlow. Leave it out."
            )
        self._check_fitted(checkpoint_path)
        model_fn = self._model.for_export(default_output_alternative_key)
        core = EstimatorV1(model_fn, model_dir=self.model_dir, config=self.config)
        return export_with_input_ops(
            core, export_dir_base, serving_input_fn, assets_extra, as_text, checkpoint_path
        )

    def export(self, export_dir: str, *args: Any, **kwargs: Any) -> Any:
        """Is not supported: TensorFlow Serving has left the format of TensorFlow 1.0.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "export wrote the SessionBundle of TensorFlow 1.0, which nothing reads any more. Use "
            f"export_savedmodel({export_dir!r}, serving_input_fn), with "
            "tf.contrib.learn.build_parsing_serving_input_fn(feature_spec) as serving_input_fn."
        )

    def _latest(self) -> str | None:
        return self._core.latest_checkpoint()

    def _check_fitted(self, checkpoint_path: str | None) -> None:
        if not checkpoint_path and not self._latest():
            raise NotFittedError(
                f"Couldn't find trained model at {self.model_dir}. Call fit() first."
            )


class Estimator(BaseEstimator):
    """An estimator of a model_fn.

    Args:
      model_fn: a function of features and labels, and optionally of mode, params, config and
        model_dir. It returns `ModelFnOps`, or a tuple (predictions, loss, train_op). To predict, it
        gets placeholders as labels if the estimator was trained before, otherwise None.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      config: a RunConfig.
      params: hyperparameters for model_fn.
      feature_engineering_fn: a function of features and labels that returns those that model_fn
        gets.

    Raises:
      ValueError: there is no model_fn, or params are given, and model_fn does not take them.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        if model_fn is None:
            raise ValueError("model_fn must be given: a function that returns ModelFnOps.")
        if params is not None and "params" not in inspect.signature(model_fn).parameters:
            raise ValueError(
                f"Estimator's model_fn ({model_fn}) does not have a params argument, but params "
                f"({params}) were passed to the Estimator's constructor."
            )
        super().__init__(LearnModel(model_fn, params, feature_engineering_fn), model_dir, config)


class SKCompat:
    """An estimator whose methods take arrays, as scikit-learn's do.

    Args:
      estimator: the estimator.
    """

    def __init__(self, estimator: BaseEstimator):
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> SKCompat:
        """Trains the estimator; see `BaseEstimator.fit`."""
        self._estimator.fit(x, y, None, steps, batch_size, monitors, max_steps)
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Computes metrics; see `BaseEstimator.evaluate`."""
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(self, x: Any, batch_size: int = 128, outputs: Sequence[str] | None = None) -> Any:
        """Returns the predictions of all examples: an array, or arrays by name."""
        batches: Iterator[Any] = self._estimator.predict(
            x, batch_size=batch_size, outputs=outputs, iterate_batches=True
        )
        return tf.nest.map_structure(lambda *parts: np.concatenate(parts), *batches)
