"""Trains a model with Keras's fit or a custom loop, behind the methods of an estimator."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Iterator
from typing import Any, Callable

import tensorflow as tf
import tf_keras

import estimator_bridge as eb
from estimator_bridge.checkpoint.any_checkpoints import newest_listed, reader_of
from estimator_bridge.data.input_errors import explained_input_errors
from models.common.errors import UserError
from models.common.keras_checkpoints import require_same_weights

__all__ = ["KerasTrainer", "Settings", "make_strategy"]

_MEASURED_EVERY_SECS = 0.5
_KEPT = 5
_STEP = "step/.ATTRIBUTES/VARIABLE_VALUE"


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a run.

    Attributes:
        api: `"keras"`: `model.fit`; `"loop"`: a loop of `strategy.run`.
        model_dir: folder of the checkpoints.
        params: parameters for the model's functions.
        save_every: steps between two checkpoints.
        steps_per_call: steps in one call of the compiled function.
        batch_size: the global batch of training, for the progress.
        seed: the seed of initial weights.
    """

    api: str
    model_dir: str
    params: dict[str, Any]
    save_every: int
    steps_per_call: int
    batch_size: int
    seed: int | None = None


def make_strategy(resolver: Any) -> tf.distribute.Strategy:
    """Returns the strategy of a TPU or of emulated cores; for None, of this machine.

    Args:
        resolver: a `TPUClusterResolver`, or None.
    """
    if resolver is None:
        return eb.runtime.default_strategy()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


class KerasTrainer:
    """A model with the methods of an `Estimator` that a job calls.

    Args:
        model: the model.
        strategy: the strategy of its cores.
        settings: the settings of the run.
        report: called with each `eb.training.StepReport`.
    """

    def __init__(
        self,
        model: eb.Model,
        strategy: tf.distribute.Strategy,
        settings: Settings,
        report: Callable[[Any], None],
    ):
        self._model, self._strategy, self._settings = model, strategy, settings
        self._report = report
        self._keras: Any = None

    def latest_checkpoint(self) -> str | None:
        """Returns the path of the latest checkpoint; None without any.

        Raises:
            UserError: it is an estimator's.
        """
        path = newest_listed(self._settings.model_dir)
        if path and os.path.basename(path).startswith("model.ckpt"):
            raise UserError(
                f"{path} is a checkpoint of --api=estimator, which has other names for the "
                f"variables. Name another --model_dir for --api={self._settings.api}."
            )
        return path

    def get_variable_value(self, name: str) -> Any:
        """Returns the value of `global_step` in the latest checkpoint."""
        assert name == "global_step"
        path = self.latest_checkpoint()
        assert path is not None
        return reader_of(path).get_tensor(_STEP)

    @explained_input_errors()
    def train(self, input_fn: Callable[[], Any], max_steps: int, hooks: Any = ()) -> None:
        """Trains from the latest checkpoint to a step, and saves on the way.

        Args:
            input_fn: returns the dataset.
            max_steps: the step to stop at.
            hooks: not used; progress goes to `report`.

        Raises:
            tf.compat.v1.train.NanLossDuringTrainingError: the loss is not a number.
        """
        del hooks
        dataset = input_fn()
        _, manager = self._restored(dataset)
        progress = _Progress(self._settings, max_steps, self._step(), self._report)
        train = self._fit if self._settings.api == "keras" else self._loop
        train(dataset, max_steps, progress, lambda: manager.save(checkpoint_number=self._step()))

    @explained_input_errors()
    def evaluate(self, input_fn: Callable[[], Any], steps: int | None = None) -> dict[str, Any]:
        """Returns loss, metrics and global step of the latest checkpoint."""
        dataset = input_fn()
        keras, _ = self._restored(dataset)
        return {
            **keras.evaluate(dataset, steps=steps, return_dict=True),
            "global_step": self._step(),
        }

    def predict(self, input_fn: Callable[[], Any]) -> Iterator[dict[str, Any]]:
        """Yields the predictions for each example."""
        dataset = input_fn()
        keras, _ = self._restored(dataset)
        with explained_input_errors():
            predictions = keras.predict(dataset.map(lambda features, labels: features), verbose=0)
        count = len(next(iter(predictions.values())))
        yield from ({name: values[i] for name, values in predictions.items()} for i in range(count))

    def export_saved_model(self, folder: str, receiver_fn: Callable[[], Any]) -> bytes:
        """Writes a SavedModel that takes the receiver's tensors and returns the predictions.

        Args:
            folder: the parent of the SavedModel's folder.
            receiver_fn: a serving_input_receiver_fn.

        Returns:
            The path of the SavedModel.
        """
        results: dict[str, Any] = {}

        def receive() -> Any:
            results["receiver"] = receiver_fn()
            return tf.nest.flatten(results["receiver"].features)

        graph = tf.compat.v1.wrap_function(receive, [])
        receiver = results["receiver"]
        inputs = dict(receiver.receiver_tensors)
        parse = graph.prune(list(inputs.values()), tf.nest.flatten(receiver.features))
        specs = {name: tf.TensorSpec(x.shape, x.dtype, name) for name, x in inputs.items()}
        features = tf.nest.map_structure(
            lambda x: tf.TensorSpec(x.shape, x.dtype), receiver.features
        )
        # A batch's labels are not read for a prediction.
        keras, _ = self._restored_for((features, tf.TensorSpec([None], tf.int64)))

        @tf.function
        def serve(**tensors: tf.Tensor) -> dict[str, tf.Tensor]:
            parsed = parse(*(tensors[name] for name in inputs))
            parsed = tf.nest.pack_sequence_as(features, tf.nest.flatten(parsed))
            return keras.predict_step((parsed,))

        module = tf.Module()
        module.model = keras.inference_model
        path = os.path.join(folder, str(int(time.time())))
        local = tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")
        tf.saved_model.save(
            module, path, signatures=serve.get_concrete_function(**specs), options=local
        )
        return os.fsencode(path)

    def _step(self) -> int:
        return int(self._keras.optimizer.iterations.numpy())

    def _restored(self, dataset: tf.data.Dataset) -> tuple[Any, tf.train.CheckpointManager]:
        return self._restored_for(dataset.element_spec)

    def _restored_for(self, spec: Any) -> tuple[Any, tf.train.CheckpointManager]:
        """Makes the Keras model if needed, with the values of the latest checkpoint."""
        latest = self.latest_checkpoint()
        if self._keras is None:
            if self._settings.seed is not None:
                tf_keras.utils.set_random_seed(self._settings.seed)
            with self._strategy.scope():
                self._keras = self._model.keras_model(
                    spec, self._settings.params, steps_per_execution=self._settings.steps_per_call
                )
            step = self._keras.optimizer.iterations
            self._checkpoint = tf.train.Checkpoint(
                model=self._keras, optimizer=self._keras.optimizer, step=step
            )
            if latest:
                require_same_weights(latest, self._keras.weights)
                options = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
                # In the scope: a restore may create an optimizer's slots, one for each core.
                with self._strategy.scope():
                    self._checkpoint.restore(latest, options)
        manager = tf.train.CheckpointManager(
            self._checkpoint, self._settings.model_dir, _KEPT, checkpoint_name="ckpt"
        )
        return self._keras, manager

    def _fit(
        self, dataset: tf.data.Dataset, end: int, progress: _Progress, save: Callable[[], Any]
    ) -> None:
        callbacks = [
            progress.callback(),
            tf_keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: save()),
        ]
        # An epoch is the time between two checkpoints; a shorter last one is a call of its own.
        while (step := self._step()) < end:
            count = min(self._settings.save_every, end - step)
            self._keras.fit(
                dataset,
                epochs=(end - step) // count,
                steps_per_epoch=count,
                callbacks=callbacks,
                verbose=0,
            )

    def _loop(
        self, dataset: tf.data.Dataset, end: int, progress: _Progress, save: Callable[[], Any]
    ) -> None:
        strategy, keras = self._strategy, self._keras
        batches = iter(strategy.experimental_distribute_dataset(dataset))

        @tf.function
        def train(iterator: Any, steps: tf.Tensor) -> tf.Tensor:
            loss = tf.constant(0.0)
            for _ in tf.range(steps):
                losses = strategy.run(keras.replica_step, args=next(iterator))
                loss = strategy.reduce("MEAN", losses, axis=None)
            return loss

        saved_step = self._step()
        while (step := self._step()) < end:
            until_saved = saved_step + self._settings.save_every - step
            count = min(self._settings.steps_per_call, until_saved, end - step)
            loss = float(train(batches, tf.constant(count)))
            step += count
            progress(step, loss)
            if step == end or step - saved_step == self._settings.save_every:
                saved_step = step
                save()


class _Progress:
    """Reports the progress, and stops at a loss that is not a number."""

    def __init__(
        self, settings: Settings, end: int, first: int, report: Callable[[Any], None]
    ) -> None:
        self._settings, self._end, self._write = settings, end, report
        self._last = (first, time.monotonic())

    def __call__(self, step: int, loss: float) -> None:
        if math.isnan(loss):
            raise tf.compat.v1.train.NanLossDuringTrainingError
        now = time.monotonic()
        last_step, last_time = self._last
        if now - last_time < _MEASURED_EVERY_SECS and step < self._end:
            return
        pace = (step - last_step) / max(now - last_time, 1e-9)
        self._last = step, now
        self._write(
            eb.training.StepReport(
                step=step,
                total_steps=self._end,
                loss=loss,
                steps_per_sec=pace,
                examples_per_sec=pace * self._settings.batch_size,
                seconds_left=(self._end - step) / pace if pace else None,
            )
        )

    def callback(self) -> tf_keras.callbacks.Callback:
        """Returns a callback of fit that reports after each call of the compiled function."""

        def after_batch(batch: int, logs: Any = None) -> None:
            del batch
            self(int(callback.model.optimizer.iterations.numpy()), float(logs["loss"]))

        callback = tf_keras.callbacks.LambdaCallback(on_batch_end=after_batch)
        return callback
