"""What ML Engine starts: `python -m trainer.task`; trains, and evaluates each checkpoint."""

import argparse

import tensorflow as tf

from . import model


def main(args):
    hparams = tf.contrib.training.HParams(learning_rate=0.5, units=1)
    hparams.parse(args.hparams)
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(tpu=args.tpu) if args.tpu else None
    config = tf.contrib.tpu.RunConfig(
        cluster=resolver,
        model_dir=args.model_dir,
        save_checkpoints_steps=2,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=2, num_shards=args.num_shards),
    )
    hparams.add_hparam("examples", 8)
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model.model_fn,
        config=config,
        params=hparams,
        use_tpu=bool(args.tpu),
        train_batch_size=hparams.examples,
        eval_batch_size=hparams.examples,
    )
    estimator.train(model.input_fn, max_steps=4)
    for checkpoint in tf.contrib.training.checkpoints_iterator(
        args.model_dir, timeout=0.1, timeout_fn=lambda: True
    ):
        result = estimator.evaluate(model.input_fn, steps=1, checkpoint_path=checkpoint)
        print("step %d mse %.7f pearson %.5f" % (
            result["global_step"], result["mse"], result["pearson"]))  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_dir", required=True)
    parser.add_argument("--hparams", default="")
    parser.add_argument("--tpu", default=None)
    parser.add_argument("--num_shards", type=int, default=None)
    arguments, _ = parser.parse_known_args()
    tf.logging.set_verbosity("INFO")
    main(arguments)
