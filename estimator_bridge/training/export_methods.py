"""The export methods of an estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import (
    DamagedCheckpointError,
    MissingCheckpointError,
    explained_full_disk_of,
    watched_folder,
)
from estimator_bridge.checkpoint.any_checkpoints import check_readable
from estimator_bridge.compile_for import current_job, end_program
from estimator_bridge.export.saved_model import export_saved_model
from estimator_bridge.model import ModeKeys, warm_start
from estimator_bridge.training.checkpoint_methods import CheckpointMethods
from estimator_bridge.training.execution import Execution

__all__ = ["ExportMethods"]


class ExportMethods(CheckpointMethods):
    """A base of `Estimator`."""

    _model_fn: Callable[..., Any]
    _warm_start_settings: Any
    params: Any

    def _export_execution(self) -> Execution:
        raise NotImplementedError(f"{type(self).__name__} does not say how it is exported.")

    def _warm_start(self) -> None:
        if self._warm_start_settings is not None:
            check_readable(self._warm_start_settings.ckpt_to_initialize_from)
            warm_start(self._warm_start_settings)

    def export_saved_model(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model and a checkpoint's values as a SavedModel.

        Args:
          export_dir_base: each export is a new folder in it, named by the time.
          serving_input_receiver_fn: returns a ServingInputReceiver: the request's tensors, and
            the features made of them; in modes other than PREDICT a SupervisedInputReceiver.
          assets_extra: files to copy, by their paths in 'assets.extra'.
          as_text: whether to write the graph as text.
          checkpoint_path: by default the latest.
          experimental_mode: the one of ModeKeys that model_fn is called with.

        Returns:
          The new folder's path, as bytes.

        Raises:
          ValueError: there is no checkpoint, or the model has nothing to run.
        """
        _check_receiver_fn(serving_input_receiver_fn)
        return self._export(
            export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra,
            as_text, checkpoint_path,
        )  # fmt: skip

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str | os.PathLike[str],
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes the model in several modes, which share a checkpoint's values, as a SavedModel.

        Each mode's graph has a tag: 'train', 'eval' or 'serve'. Training and evaluation
        have one signature, 'train' or 'eval', that returns loss, predictions and metrics.

        Args:
          export_dir_base: each export is a new folder in it, named by the time.
          input_receiver_fn_map: a function by the one of ModeKeys that model_fn is called with:
            it returns a SupervisedInputReceiver, in PREDICT a ServingInputReceiver.
          assets_extra: files to copy, by their paths in 'assets.extra'.
          as_text: whether to write the graphs as text.
          checkpoint_path: by default the latest.

        Returns:
          The new folder's path, as bytes.

        Raises:
          ValueError: there is no checkpoint, no mode, a mode needs variables that the checkpoint
            lacks, or PREDICT has nothing to run.
        """
        return self._export(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )

    @property
    def export_savedmodel(self) -> Any:
        """Renamed: use ``export_saved_model``."""
        raise AttributeError(
            "`Estimator.export_savedmodel` has been deprecated. Please use `export_saved_model`, "
            "which takes the same arguments without strip_default_attrs; or the Estimator of "
            "tf.compat.v1.estimator, which has both."
        )

    def _export(
        self,
        export_dir_base: str | os.PathLike[str],
        receiver_fns: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        checkpoint_path: str | None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        job = current_job()
        if job and job.request.only:
            end_program(job, "checkpoint of this run to export")
        path = os.fsdecode(checkpoint_path) if checkpoint_path else self.latest_checkpoint()
        if not path and not self._warm_start_settings:
            raise ValueError(
                f"Couldn't find trained model at {self._model_dir}: it has no checkpoint. Call "
                "train() first, or give checkpoint_path."
            )

        fallback_checkpoint = self._fallback_checkpoint() if not checkpoint_path else None

        execution = self._export_execution()

        def call_model(features: Any, labels: Any, mode: str) -> Any:
            spec = execution.call_model_fn(self._model_fn, features, labels, mode, self.params)
            if not path:
                self._warm_start()
            return spec

        base = os.fsdecode(export_dir_base)
        while True:
            try:
                with (
                    watched_folder(self._model_dir, "export"),
                    explained_full_disk_of(f"An export to {base}", base),
                ):
                    return export_saved_model(
                        base, call_model, receiver_fns, path, assets_extra,
                        as_text, strip_default_attrs, self._config.tf_random_seed,
                        execution.makes_global_step,
                    )  # fmt: skip
            except (MissingCheckpointError, DamagedCheckpointError) as error:
                other = fallback_checkpoint(path) if fallback_checkpoint and path else None
                if other is None:
                    raise
                logging.warning("%s; taking %s", error.problem, other)
                path = other


def _check_receiver_fn(receiver_fn: Any) -> None:
    if not receiver_fn:
        raise ValueError(
            "An input_receiver_fn must be defined: a function without arguments that returns a "
            f"ServingInputReceiver, got {receiver_fn!r}."
        )
