"""The main job: trains a model, evaluates it, shows some predictions and exports it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from estimator_bridge.own_files import own_output
from flags import (
    Accelerator,
    RateRule,
    phases,
    profiled_steps,
    write_config,
)
from models.common.console import Console
from models.common.errors import UserError, few
from models.common.estimators import build_estimator
from models.common.folders import no_checkpoint, require_writable
from models.common.memory import require_memory, total_memory
from models.common.registry import own_values
from models.common.saved_files import saved_output
from models.common.task import InputRequest, Task

__all__ = ["BATCH_SIZE", "Job"]

_CONFIG = "run.yaml"
BATCH_SIZE = {
    "train": "train_batch_size",
    "evaluate": "eval_batch_size",
    "predict": "predict_batch_size",
}


def _runs_on_cpu(accelerator: Accelerator) -> bool:
    if accelerator.use_tpu:
        return (accelerator.tpu or "").startswith("emulated:")
    return not tf.config.list_physical_devices("GPU")


def _content_of(path: str) -> bytes | None:
    """Returns a file's content; None if there is no such file."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


class Job:
    """One run of the program on one data set, with a method per phase."""

    def __init__(
        self,
        flag_values: absl_flags.FlagValues,
        accelerator: Accelerator,
        task: Task,
        console: Console,
    ):
        self._flags = flag_values
        self._accelerator = accelerator
        self._task, self._data = task, task.data
        self._console = console
        self._model_dir = flag_values.model_dir or os.path.join("runs", task.data.name)
        self._export_dir = flag_values.export_dir or os.path.join(self._model_dir, "export")
        self._results: dict[str, object] = {}
        if not flag_values.compile_only:
            require_writable(self._model_dir, "model_dir")
        if "export" in phases(flag_values.mode) and not flag_values.compile_only:
            require_writable(self._export_dir, "export_dir")
        self._check_memory()
        console.say(
            f"Data: {self._data.name} in {self._data.folder}, {self._data.sizes['train']:,} "
            f"{self._data.unit} to train on, {self._data.sizes['test']:,} to test."
        )
        if not all(self._data.sizes.values()):
            raise UserError(
                f"{self._data.folder}: no {self._data.unit} are left to train or test on: "
                f"{few(self._data.left_out)} are damaged."
            )
        if self._data.left_out:
            console.say(f"Left out, damaged: {few(self._data.left_out)}.")
        # A KerasTrainer has the methods of an estimator, but for those of train_and_evaluate.
        self._estimator: Any = build_estimator(
            task,
            flag_values,
            accelerator,
            model_dir=self._model_dir,
            params={
                **task.params,
                "learning_rate": RateRule.of(flag_values).for_batch(flag_values.train_batch_size),
                "train_steps": flag_values.train_steps,
                "warmup_steps": flag_values.warmup_steps,
            },
            report=console.report,
        )

    @contextlib.contextmanager
    def keeping_flags(self, in_force: Mapping[str, Any]) -> Iterator[None]:
        """Writes the flags of a training into the model_dir, for `--config`.

        A training that fails before its first checkpoint leaves those of the one before it: the
        checkpoint may be of another model.
        """
        is_trained = any(phase.startswith("train") for phase in phases(self._flags.mode))
        if not is_trained or self._flags.compile_only or "://" in self._model_dir:
            yield
            return
        path = own_output(os.path.join(self._model_dir, _CONFIG))
        checkpoint = self._estimator.latest_checkpoint()
        earlier = _content_of(path)
        about = f"Run again: python train.py --config={path}"
        own_flags = own_values({**in_force, "model_dir": self._model_dir}, self._flags.model)
        with saved_output(path) as temporary:
            write_config(temporary, own_flags, about)
        try:
            yield
        except Exception:
            if earlier is not None and self._estimator.latest_checkpoint() == checkpoint:
                with saved_output(path) as temporary, open(temporary, "wb") as file:
                    file.write(earlier)
            raise

    def _check_memory(self) -> None:
        bytes_each = self._data.bytes_each
        if bytes_each is None or not _runs_on_cpu(self._accelerator):
            return
        for phase, flag in BATCH_SIZE.items():
            size = self._flags[flag].value
            if phase == "predict":  # at most these are predicted
                size = min(size, self._task.shown_examples)
            if phase == "evaluate":
                size = min(size, self._data.sizes["test"])
            if phase in phases(self._flags.mode):
                require_memory(flag, size, bytes_each(phase == "train"), total_memory())

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
        with self._explained_nan():
            self._estimator.train(self._train_input(), max_steps=total, hooks=self._hooks())
        self._console.end_progress()
        self._say_of_the_profile()

    def _say_of_the_profile(self) -> None:
        steps = profiled_steps(self._flags)
        traces = os.path.join(self._model_dir, "plugins", "profile")
        if steps and tf.io.gfile.isdir(traces):
            newest = max(tf.io.gfile.listdir(traces))
            self._console.say(
                f"Profile of steps {steps[0]} to {steps[1]}: {os.path.join(traces, newest)}\n"
                f"To see it: pip install tensorboard-plugin-profile, tensorboard --logdir "
                f"{self._model_dir}, and its tab Profile."
            )

    def train_and_evaluate(self) -> None:
        """Trains, evaluates each checkpoint, exports the best model, and may stop early."""
        hooks, every = self._hooks(), self._flags.save_checkpoints_steps
        patience = self._flags.early_stopping_evals
        if patience:
            hooks.append(
                eb.experimental.stop_if_no_decrease_hook(
                    self._estimator,
                    "loss",
                    max_steps_without_decrease=patience * every,
                    run_every_secs=None,
                    run_every_steps=every,
                )
            )
        best = eb.BestExporter("best", self._task.receiver_fn, exports_to_keep=1)
        with self._explained_nan():
            outcome = eb.train_and_evaluate(
                self._estimator,
                eb.TrainSpec(self._train_input(), self._flags.train_steps, hooks),
                eb.EvalSpec(
                    self._eval_input(),
                    self._flags.eval_steps,
                    exporters=best,
                    start_delay_secs=0,
                    throttle_secs=0,
                ),
            )
        self._console.end_progress()
        self._say_of_the_profile()
        if outcome is None:  # another process of the cluster evaluates
            return
        results, _ = outcome
        if results is None:
            self._console.say(
                f"{self._model_dir} is already at step {self._step():,}: nothing to train. Raise "
                "--train_steps, or name another --model_dir to start over."
            )
            return
        self._results = results
        if not self._flags.compile_only:
            self._say_of_the_best()

    def _say_of_the_best(self) -> None:
        """Says which evaluation was the best, and whether training ended early."""
        evaluations = eb.experimental.read_eval_metrics(self._estimator.eval_dir())
        best = min(evaluations, key=lambda step: evaluations[step]["loss"])
        folder = os.path.join(self._model_dir, "export", "best")
        self._console.say(
            f"Best of {len(evaluations)} evaluations: step {best:,}, loss "
            f"{evaluations[best]['loss']:.4f}. SavedModel: {folder}"
        )
        step = self._step()
        if step < self._flags.train_steps:
            self._console.say(
                f"Stopped at step {step:,} of {self._flags.train_steps:,}: "
                f"{self._flags.early_stopping_evals} evaluations without a smaller loss."
            )

    @contextlib.contextmanager
    def _explained_nan(self) -> Iterator[None]:
        try:
            yield
        except tf.compat.v1.train.NanLossDuringTrainingError as error:
            rate = self._flags.learning_rate
            raise UserError(f"{error}\nThis run has --learning_rate={rate}.") from error

    def _train_input(self) -> Callable[..., tf.data.Dataset]:
        seed, size = self._flags.tf_random_seed, self._flags.train_batch_size
        return self._data.input_fn(InputRequest("train", True, size, seed, self._few()))

    def _eval_input(self) -> Callable[..., tf.data.Dataset]:
        first_count, size = self._few(), self._flags.eval_batch_size
        split = "test" if first_count is None else "train"
        return self._data.input_fn(InputRequest(split, False, size, first=first_count))

    def _few(self) -> int | None:
        """Returns the number of examples of `--overfit_batches`; None for all."""
        batches = self._flags.overfit_batches
        return batches and min(batches * self._flags.train_batch_size, self._data.sizes["train"])

    def _hooks(self) -> list[Any]:
        """Returns the hooks of a training."""
        show = self._console.report
        hooks: list[Any] = [eb.training.Monitor(show, self._console.say, every_secs=0.5)]
        if self._flags.dry_run:  # its folder is temporary
            hooks = [eb.training.ProgressHook(show)]
        profiled = profiled_steps(self._flags)
        if profiled:
            hooks.append(eb.training.ProfileSteps(*profiled, self._model_dir))
        if self._flags.grace_secs is not None:
            hooks.append(eb.training.GracePeriod(self._flags.grace_secs))
        if self._flags.watchdog_secs is not None:
            hooks.append(eb.training.Watchdog(self._flags.watchdog_secs, stacks=True))
        if self._flags.async_checkpoints is not None:
            hooks.append(eb.training.AsyncCheckpoints(self._flags.async_checkpoints))
        return hooks

    def evaluate(self) -> None:
        """Evaluates the latest checkpoint on the test set, or `--eval_steps` batches of it."""
        self._require_checkpoint("evaluate")
        self._results = self._estimator.evaluate(self._eval_input(), steps=self._flags.eval_steps)

    def predict(self) -> None:
        """Shows the latest checkpoint's predictions for the first test examples."""
        self._require_checkpoint("predict")
        size = self._flags.predict_batch_size
        request = InputRequest("test", False, size, first=self._task.shown_examples)
        rows = list(self._estimator.predict(self._data.input_fn(request)))
        self._console.say(self._task.show(rows, self._model_dir))

    def export(self) -> None:
        """Exports the latest checkpoint as a SavedModel that takes the input of a server."""
        self._require_checkpoint("export")
        exported = self._estimator.export_saved_model(self._export_dir, self._task.receiver_fn)
        self._console.say(f"SavedModel: {os.fsdecode(exported)}")

    def close(self) -> None:
        """Brings the report up to date; tells the results, and how many records were left out."""
        if not self._flags.compile_only and tf.io.gfile.isdir(self._model_dir):
            eb.training.write_report(self._model_dir)
        if self._results:
            self._console.table(f"Test set of {self._data.name}", self._results)
        if self._data.left_out:
            count = len(self._data.left_out)
            self._console.say(f"{count:,} damaged records were left out (--skip_bad_records).")

    def _step(self) -> int:
        if self._estimator.latest_checkpoint() is None:
            return 0
        return int(self._estimator.get_variable_value("global_step"))

    def _require_checkpoint(self, phase: str) -> None:
        if self._flags.compile_only:  # no step runs, so nothing is restored
            return
        if self._estimator.latest_checkpoint() is None:
            raise no_checkpoint(self._model_dir, phase)
