"""tf.contrib.learn.learn_runner: runs a method of an Experiment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from estimator_bridge_contrib.learn.configuration import RunConfig
from estimator_bridge_contrib.learn.experiment import Experiment
from estimator_bridge_contrib.namespaces import NAMESPACES
from estimator_bridge_contrib.training.hparams import HParams

__all__, __getattr__, __dir__ = NAMESPACES["learn.learn_runner"].opened()

_SCHEDULES = {"chief": "train_and_evaluate", "master": "train_and_evaluate"}
_SCHEDULES |= {"worker": "train", "ps": "run_std_server"}


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: HParams | None = None,
) -> Any:
    """Makes an Experiment, and calls one of its methods.

    Args:
      experiment_fn: a function of run_config and hparams, or of output_dir, that returns an
        `Experiment`.
      output_dir: its argument, without run_config.
      schedule: the method's name. By default "train_and_evaluate"; with several tasks in TF_CONFIG
        that of the task: "train" for a worker.
      run_config: its argument, with a model_dir.
      hparams: its argument.

    Returns:
      What the method returns.

    Raises:
      ValueError: not exactly one of output_dir and run_config is given, an argument is missing or
        of the wrong type, or the experiment has no such method.
      TypeError: experiment_fn is no function or does not return an Experiment, or the schedule
        names no method.
      RuntimeError: the estimator was made without run_config.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _experiment_with_config(experiment_fn, run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError(
                "Must set `hparams` as None for `experiment_fn` with `output_dir`. Pass run_config="
                "RunConfig(model_dir=...) instead."
            )
        experiment = _checked(experiment_fn(output_dir=output_dir))
    name = schedule or _default_schedule(run_config or experiment.estimator.config)
    return _method(experiment, name)()


def tune(experiment_fn: Callable[..., Experiment], tuner: Any) -> None:
    """Runs an Experiment for each trial of a tuner.

    Args:
      experiment_fn: a function of run_config and hparams that returns an `Experiment`.
      tuner: an object whose next_trial() returns whether there is one, and whose run_experiment
        calls a function of run_config and hparams.
    """

    def make(run_config: RunConfig, hparams: HParams) -> Experiment:
        if hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        return _experiment_with_config(experiment_fn, run_config, hparams)

    while tuner.next_trial():
        tuner.run_experiment(make)


def _experiment_with_config(
    experiment_fn: Callable[..., Experiment], run_config: RunConfig, hparams: HParams | None
) -> Experiment:
    if not isinstance(run_config, RunConfig):
        raise ValueError(
            f"`run_config` must be `tf.contrib.learn.RunConfig` instance. Got {run_config!r}."
        )
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError(f"`hparams` must be `HParams` instance. Got {hparams!r}.")
    experiment = _checked(experiment_fn(run_config, hparams))
    config = experiment.estimator.config
    if isinstance(config, RunConfig) and config.model_dir != run_config.model_dir:
        raise RuntimeError(
            "`RunConfig` instance is expected to be used by the `Estimator` inside the Experiment. "
            f"Its model_dir is {config.model_dir!r}, that of run_config {run_config.model_dir!r}. "
            "Pass config=run_config to the Estimator in experiment_fn."
        )
    if not isinstance(config, RunConfig):
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment, as "
            f"config. The estimator's config is {config!r}."
        )
    return experiment


def _checked(experiment: Any) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "Experiment builder did not return an Experiment instance, got "
            f"{type(experiment)} instead."
        )
    return experiment


def _default_schedule(config: Any) -> str:
    jobs = config.cluster_spec.as_dict() if config and config.cluster_spec else {}
    if sum(len(tasks) for tasks in jobs.values()) <= 1:
        return "train_and_evaluate"
    if config.task_type not in _SCHEDULES:
        raise ValueError(
            f"Must specify a schedule. No default schedule for task type: {config.task_type}. "
            "Pass schedule= to learn_runner.run."
        )
    return _SCHEDULES[config.task_type]


def _method(experiment: Experiment, name: str) -> Callable[[], Any]:
    method = getattr(experiment, name, None)
    if callable(method):
        return method
    members = (each for each in dir(experiment) if not each.startswith("_"))
    allowed = sorted(each for each in members if callable(getattr(experiment, each)))
    if hasattr(experiment, name):
        raise TypeError(f"Schedule references non-callable member {name}. Use one of {allowed}.")
    raise ValueError(f"Schedule references non-existent task {name}. Use one of {allowed}.")
