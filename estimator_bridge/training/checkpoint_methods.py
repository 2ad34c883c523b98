"""The checkpoint methods of an estimator: paths, names and values."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import latest_checkpoint, list_variables, load_variable
from estimator_bridge.compile_for import current_job, end_program
from estimator_bridge.model import RunConfig

__all__ = ["CheckpointMethods"]


class CheckpointMethods:
    """A base of `Estimator`."""

    _config: RunConfig
    _model_dir: str

    def latest_checkpoint(self) -> str | None:
        """Returns the newest checkpoint in model_dir, without suffix; None if there is none."""
        return latest_checkpoint(self._model_dir)

    def get_variable_names(self) -> list[str]:
        """Returns the names of the variables in the latest checkpoint.

        Raises:
          ValueError: there is no checkpoint yet.
        """
        return [name for name, _ in list_variables(self._require_checkpoint())]

    def get_variable_value(self, name: str) -> np.ndarray:
        """Returns a variable's value in the latest checkpoint.

        Raises:
          ValueError: there is no checkpoint yet.
        """
        return load_variable(self._require_checkpoint(), name)

    def _require_checkpoint(self) -> str:
        latest = self.latest_checkpoint()
        if not latest:
            job = current_job()
            if job and job.request.only:
                end_program(job, "checkpoint")
            raise ValueError(
                f"Could not find trained model in model_dir: {self._model_dir}: it has no "
                "checkpoint. Call train() first, or name the folder that train() wrote to."
            )
        return latest

    def _checkpoint_for(self, checkpoint_path: str | None, purpose: str) -> str | None:
        if checkpoint_path:
            checkpoint_path = os.fsdecode(checkpoint_path)
            if not tf.io.gfile.glob(checkpoint_path + ".index"):
                raise ValueError(
                    f"Could not find trained model at {checkpoint_path!r}, which was given as "
                    f"checkpoint_path to {purpose}: there is no {checkpoint_path}.index. Give the "
                    "path without its ending, as latest_checkpoint() returns it."
                )
            return checkpoint_path
        latest = self.latest_checkpoint()
        if not latest:
            logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self._model_dir,
                purpose,
            )
        return latest

    def _was_cut_short(self, latest: str | None) -> bool:
        """Whether a process was killed while it wrote a finished training's last files.

        A saver writes a checkpoint's .meta last. Without a graph.pbtxt, the checkpoint was copied
        there, perhaps without a .meta.
        """
        return bool(
            latest
            and self._config.checkpoint_save_graph_def
            and tf.io.gfile.exists(os.path.join(self._model_dir, "graph.pbtxt"))
            and not tf.io.gfile.exists(latest + ".meta")
        )

    def _fallback_checkpoint(self) -> Callable[[str], str | None]:
        """Returns a function that replaces checkpoints that cannot be restored."""
        passed_paths: set[str] = set()

        def fallback_checkpoint(path: str) -> str | None:
            passed_paths.add(path)
            return latest_checkpoint(self._model_dir, passing_over=passed_paths)

        return fallback_checkpoint
