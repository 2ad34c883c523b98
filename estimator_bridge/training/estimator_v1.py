"""The Estimator of tf.compat.v1.estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from estimator_bridge.model import ModeKeys
from estimator_bridge.training.estimator import Estimator
from estimator_bridge.training.overridden_members import check_members

__all__ = ["EstimatorV1", "predict_at_call"]


class EstimatorV1(Estimator):
    """An Estimator that has TF1's name of ``export_saved_model``, too. See `Estimator`."""

    def export_savedmodel(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Does what ``export_saved_model`` does, under its name of TF1.

        Args:
          export_dir_base: see ``export_saved_model``.
          serving_input_receiver_fn: see ``export_saved_model``.
          assets_extra: see ``export_saved_model``.
          as_text: see ``export_saved_model``.
          checkpoint_path: see ``export_saved_model``.
          strip_default_attrs: whether attributes that have their default value are left out, so
            that an older TensorFlow can load the model.

        Returns:
          The new folder's path, as bytes.
        """
        receiver_fns = {ModeKeys.PREDICT: serving_input_receiver_fn}
        return self._export(
            export_dir_base, receiver_fns, assets_extra, as_text, checkpoint_path,
            strip_default_attrs,
        )  # fmt: skip

    def _assert_members_are_not_overridden(self) -> None:
        check_members(EstimatorV1, self)


def predict_at_call(
    estimator: Estimator,
    input_fn: Callable[..., Any],
    predict_keys: Sequence[str] | str | None = None,
    yield_single_examples: bool = True,
) -> Iterator[Any]:
    """Returns what ``predict`` yields, with the model built at the call, as in tf.contrib.learn.

    Args:
      estimator: the estimator.
      input_fn: see ``predict``.
      predict_keys: see ``predict``.
      yield_single_examples: see ``predict``.
    """
    predictions = estimator._open_predictions(
        input_fn, predict_keys, None, None, yield_single_examples, is_built=True
    )
    next(predictions)
    return predictions
