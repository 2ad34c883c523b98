"""The main job: trains the digit classifier, evaluates it, draws predictions and exports it."""

from __future__ import annotations

import os

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from flags import Accelerator, check_flags, choose_accelerator, phases
from models.console import Console
from models.errors import UserError
from models.estimators import build_estimator
from models.folders import require_writable
from models.memory import require_memory, total_memory
from models.mnist.dataset import DigitData, examples, make_dataset, open_data
from models.mnist.model import MODEL, bytes_per_example, serving_input_receiver_fn
from models.mnist.picture import draw_predictions

__all__ = ["Job", "run"]

_PICTURE = "predictions.png"
_DIGITS_IN_PICTURE = 40
_BATCH_SIZE = {
    "train": "train_batch_size",
    "evaluate": "eval_batch_size",
    "predict": "predict_batch_size",
}


def run(flag_values: absl_flags.FlagValues, console: Console) -> None:
    """Runs the phases of `--mode`.

    Args:
        flag_values: parsed and checked flags.
        console: shows the progress to the user.

    Raises:
        UserError: data, folders or checkpoints are missing or invalid.
        FlagsError: a batch size does not fit the accelerator that was found.
        estimator_bridge.errors.AcceleratorNotFoundError: the named TPU was not found.
    """
    accelerator = choose_accelerator(flag_values, eb.runtime.tpu_present)
    check_flags(flag_values, accelerator.num_replicas)
    if accelerator.notice:
        console.say(accelerator.notice)
    data = open_data(flag_values.data_dir)
    job = Job(flag_values, accelerator, data, console)
    actions = {
        "train": job.train,
        "evaluate": job.evaluate,
        "predict": job.predict,
        "export": job.export,
    }
    for phase in phases(flag_values.mode):
        actions[phase]()
    job.close()


def _runs_on_cpu(accelerator: Accelerator) -> bool:
    if accelerator.use_tpu:
        return (accelerator.tpu or "").startswith("emulated:")
    return not tf.config.list_physical_devices("GPU")


class Job:
    """One run of the program on one data set, with a method per phase."""

    def __init__(
        self,
        flag_values: absl_flags.FlagValues,
        accelerator: Accelerator,
        data: DigitData,
        console: Console,
    ):
        self._flags = flag_values
        self._accelerator = accelerator
        self._data = data
        self._console = console
        self._model_dir = flag_values.model_dir or os.path.join("runs", data.name)
        self._export_dir = flag_values.export_dir or os.path.join(self._model_dir, "export")
        self._results: dict[str, object] = {}
        if not flag_values.compile_only:
            require_writable(self._model_dir, "model_dir")
        if "export" in phases(flag_values.mode) and not flag_values.compile_only:
            require_writable(self._export_dir, "export_dir")
        self._check_memory()
        console.say(
            f"Data: {data.name} in {data.folder}, {data.sizes['train']:,} images to train on, "
            f"{data.sizes['test']:,} to test."
        )
        self._estimator = build_estimator(
            MODEL,
            flag_values,
            accelerator,
            model_dir=self._model_dir,
            params={
                "learning_rate": flag_values.learning_rate,
                "train_steps": flag_values.train_steps,
            },
            report=console.report,
        )

    def _check_memory(self) -> None:
        if not _runs_on_cpu(self._accelerator):
            return
        for phase, flag in _BATCH_SIZE.items():
            size = self._flags[flag].value
            if phase == "predict":  # at most these are predicted
                size = min(size, _DIGITS_IN_PICTURE)
            if phase == "evaluate":
                size = min(size, self._data.sizes["test"])
            if phase in phases(self._flags.mode):
                each = bytes_per_example(self._data.height, self._data.width, phase == "train")
                require_memory(flag, size, each, total_memory())

    def train(self) -> None:
        """Trains from the latest checkpoint, if any, to `--train_steps`."""
        total, start = self._flags.train_steps, 0 if self._flags.compile_only else self._step()
        if start >= total:
            self._console.say(
                f"{self._model_dir} is already at step {start:,} of {total:,}: nothing to train. "
                "Raise --train_steps, or name another --model_dir to start over."
            )
            return
        if start:
            self._console.say(
                f"{self._model_dir} is already at step {start:,} of {total:,}: resuming from there."
            )
        seed = self._flags.tf_random_seed
        train_input_fn = eb.data.input_fn(
            lambda: make_dataset(self._data, "train", shuffle_seed=seed),
            training=True,
            batch_size=self._flags.train_batch_size,
        )
        hooks = [eb.training.ProgressHook(self._console.report, every_secs=0.5)]
        if self._flags.grace_secs is not None:
            hooks.append(eb.training.GracePeriod(self._flags.grace_secs))
        if self._flags.watchdog_secs is not None:
            hooks.append(eb.training.Watchdog(self._flags.watchdog_secs, stacks=True))
        if self._flags.async_checkpoints is not None:
            hooks.append(eb.training.AsyncCheckpoints(self._flags.async_checkpoints))
        try:
            self._estimator.train(train_input_fn, max_steps=total, hooks=hooks)
        except tf.compat.v1.train.NanLossDuringTrainingError as error:
            rate = self._flags.learning_rate
            raise UserError(f"{error}\nThis run has --learning_rate={rate}.") from error
        self._console.end_progress()

    def evaluate(self) -> None:
        """Evaluates the latest checkpoint on the test set, or `--eval_steps` batches of it."""
        self._require_checkpoint("evaluate")
        self._results = self._estimator.evaluate(
            eb.data.input_fn(
                lambda: make_dataset(self._data, "test"),
                training=False,
                batch_size=self._flags.eval_batch_size,
            ),
            steps=self._flags.eval_steps,
        )

    def predict(self) -> None:
        """Draws the first test digits with the latest checkpoint's predictions."""
        self._require_checkpoint("predict with")
        count = _DIGITS_IN_PICTURE
        said = list(
            self._estimator.predict(
                eb.data.input_fn(
                    lambda: make_dataset(self._data, "test").take(count),
                    training=False,
                    batch_size=self._flags.predict_batch_size,
                )
            )
        )
        images, labels = examples(self._data, "test", count)
        path = os.path.join(self._model_dir, _PICTURE)
        draw_predictions(
            path,
            images,
            labels.tolist(),
            [int(row["class"]) for row in said],
            [float(row["probabilities"].max()) for row in said],
        )
        self._console.say(f"Picture of {len(images)} test digits: {path}")

    def export(self) -> None:
        """Exports the latest checkpoint as a SavedModel that takes images of raw bytes."""
        self._require_checkpoint("export")
        receiver_fn = serving_input_receiver_fn(self._data.height, self._data.width)
        exported = self._estimator.export_saved_model(self._export_dir, receiver_fn)
        self._console.say(f"SavedModel: {os.fsdecode(exported)}")

    def close(self) -> None:
        """Writes the closing table if there was an evaluation."""
        if self._results:
            self._console.table(f"Test set of {self._data.name}", self._results)

    def _step(self) -> int:
        if self._estimator.latest_checkpoint() is None:
            return 0
        return int(self._estimator.get_variable_value("global_step"))

    def _require_checkpoint(self, verb: str) -> None:
        if self._flags.compile_only:  # no step runs, so nothing is restored
            return
        if self._estimator.latest_checkpoint() is None:
            raise UserError(
                f"{self._model_dir}: no checkpoint to {verb}. Train first (--mode=train), or "
                "name the folder of a trained model with --model_dir."
            )
