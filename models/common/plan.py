"""The plan of a run: what its flags amount to, as a table of names and values."""

from __future__ import annotations

import math

from absl import flags as absl_flags

from flags import Accelerator, RateRule, phases

__all__ = ["plan_of"]


def plan_of(
    flag_values: absl_flags.FlagValues,
    accelerator: Accelerator,
    *,
    num_replicas: int,
    sizes: dict[str, int],
    model_dir: str,
) -> dict[str, object]:
    """Returns the plan.

    Args:
        flag_values: parsed flags, with the batch sizes resolved.
        accelerator: the accelerator that they select.
        num_replicas: the replicas that share a batch.
        sizes: the number of examples by split, `train` and `test`.
        model_dir: the folder of the run.
    """
    batch, steps = flag_values.train_batch_size, flag_values.train_steps
    kind = "plain Estimator" if not accelerator.use_tpu else accelerator.tpu or "attached TPU"
    epochs = steps * batch / sizes["train"]
    plan: dict[str, object] = {
        "phases": ", ".join(phases(flag_values.mode)),
        "runs on": f"{kind}, {num_replicas} replica(s)",
        "batch size": f"{batch:,}: {batch // num_replicas:,} on each replica",
        "training": f"{steps:,} steps, {epochs:,.1f} epochs of {sizes['train']:,} examples",
        "learning rate": _rate(flag_values),
        "checkpoints": f"{math.ceil(steps / flag_values.save_checkpoints_steps):,}, one each "
        f"{flag_values.save_checkpoints_steps:,} steps",
        "evaluation": f"{flag_values.eval_steps or 'all'} batches of "
        f"{flag_values.eval_batch_size:,}",
        "precision": "bfloat16, weights in float32" if flag_values.mixed_precision else "float32",
        "model_dir": model_dir,
    }
    if flag_values.overfit_batches:
        plan["examples"] = f"the first {flag_values.overfit_batches} training batches alone"
    if flag_values.early_stopping_evals:
        plan["early stop"] = f"{flag_values.early_stopping_evals} evaluations without a lower loss"
    return plan


def _rate(flag_values: absl_flags.FlagValues) -> str:
    rule = RateRule.of(flag_values)
    rate = rule.for_batch(flag_values.train_batch_size)
    text = f"{rate:g}"
    if rule.scaling != "none":
        text += f" ({rule.rate:g} for {rule.base:,} examples, scaled {rule.scaling})"
    if rule.warmup_steps:
        text += f", after {rule.warmup_steps:,} steps of warm-up"
    return text
