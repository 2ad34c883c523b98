"""Trains and evaluates in turn, exports the best and the last model, and serves one of them."""

import json
import os

import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string("job_dir", None, "Where checkpoints and exports go.")
tf.app.flags.DEFINE_string("jobs", None, "A file with a job in each line.")
tf.app.flags.DEFINE_string("hparams", "", "Comma separated name=value pairs.")
tf.app.flags.DEFINE_integer("train_steps", 12, "Steps to train up to.")
tf.app.flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
tf.app.flags.DEFINE_string("tpu_name", "tpu-of-2018", "The TPU's name.")

JOBS = ["baker", "driver", "nurse", "pilot", "baker", "nurse"]
AGES = [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]


def default_hparams():
    return tf.contrib.training.HParams(
        learning_rate=0.01,
        hidden_units=[3],
        activation="relu",
        batch_norm=True,
    )


def parsed(jobs, ages):
    # The table is made by the input function and by the serving one; each graph has its own.
    table = tf.contrib.lookup.index_table_from_file(FLAGS.jobs, default_value=0)
    return {"job": tf.to_int32(table.lookup(jobs)), "age": ages / 10.0}


def input_fn(params):
    jobs = tf.data.Dataset.from_tensor_slices(JOBS)
    ages = tf.data.Dataset.from_tensor_slices(AGES)
    dataset = tf.data.Dataset.zip((jobs, ages)).repeat(params["epochs"])
    dataset = dataset.apply(tf.contrib.data.batch_and_drop_remainder(params["batch_size"]))
    dataset = dataset.map(lambda job, age: (parsed(job, age), age / 10.0 + 2.0))
    return dataset


def serving_input_fn():
    jobs = tf.placeholder(tf.string, [None], name="job")
    ages = tf.placeholder(tf.float32, [None], name="age")
    return tf.estimator.export.ServingInputReceiver(parsed(jobs, ages), {"job": jobs, "age": ages})


def model_fn(features, labels, mode, params):
    hparams = params["hparams"]
    columns = tf.one_hot(features["job"], 4), tf.expand_dims(features["age"], 1)
    net = tf.concat(columns, axis=1)
    for units in hparams.hidden_units:
        net = tf.layers.dense(
            net, units, activation=getattr(tf.nn, hparams.activation),
            kernel_initializer=tf.constant_initializer(0.3),
        )  # fmt: skip
    wage = tf.squeeze(tf.layers.dense(net, 1, kernel_initializer=tf.ones_initializer()), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"wage": wage}
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode,
            predictions=predictions,
            export_outputs={
                "serving_default": tf.estimator.export.PredictOutput(predictions),
                "regress": tf.estimator.export.RegressionOutput(wage),
            },
        )
    loss = tf.losses.mean_squared_error(labels, wage)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode,
            loss=loss,
            eval_metrics=(
                lambda labels, wage: {"rmse": tf.metrics.root_mean_squared_error(labels, wage)},
                [labels, wage],
            ),
        )
    optimizer = tf.train.AdamOptimizer(hparams.learning_rate)
    if params["use_tpu"]:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def is_better(best_eval_result, current_eval_result):
    return current_eval_result["rmse"] < best_eval_result["rmse"]


def main(_):
    hparams = default_hparams().parse(FLAGS.hparams)
    tf.logging.info("hparams: %s", json.dumps(hparams.values(), sort_keys=True))
    cluster = None
    if FLAGS.use_tpu:
        cluster = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn,
        config=tf.contrib.tpu.RunConfig(
            cluster=cluster,
            model_dir=FLAGS.job_dir,
            save_checkpoints_steps=4,
            keep_checkpoint_max=2,
            tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=2),
        ),
        params={"hparams": hparams, "epochs": 100},
        use_tpu=FLAGS.use_tpu,
        train_batch_size=6,
        eval_batch_size=6,
        predict_batch_size=6,
        export_to_tpu=False,
    )
    exporters = [
        tf.estimator.FinalExporter("final", serving_input_fn),
        tf.estimator.LatestExporter("latest", serving_input_fn, exports_to_keep=2),
        tf.estimator.BestExporter(
            "best",
            serving_input_fn,
            compare_fn=is_better,
            exports_to_keep=1,
        ),
    ]
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=FLAGS.train_steps),
        tf.estimator.EvalSpec(
            input_fn, steps=2, exporters=exporters, start_delay_secs=0, throttle_secs=0
        ),
    )
    (exported,) = tf.gfile.Glob(os.path.join(FLAGS.job_dir, "export", "final", "*"))
    predictor = tf.contrib.predictor.from_saved_model(exported)
    wages = predictor({"job": JOBS, "age": AGES})["wage"]
    print("served %s" % " ".join("%.5f" % wage for wage in wages))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
