"""TPUEstimator with use_tpu=False, and on emulated cores, which have to give the same numbers."""

from __future__ import annotations

from parity.differential.tools import (
    CORES,
    captured_log,
    case,
    error_of,
    est,
    events,
    files,
    np,
    outside_placeholder,
    tf,
    tf2,
    variables,
)

tpu = est.tpu
X = np.arange(32, dtype=np.float32).reshape(16, 2) / 20
Y = (X[:, 0] > 0.7).astype(np.float32)


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


def eval_input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return data.batch(params["batch_size"], drop_remainder=True)


def predict_input_fn(params):
    return eval_input_fn(params).map(lambda features, labels: features)


def network(features):
    x = features["x"]
    kernel = tf.constant_initializer([[0.5], [-0.25]])
    return tf.layers.dense(x, 1, name="net", kernel_initializer=kernel)[:, 0]


def optimize(loss, params, optimizer=None):
    optimizer = optimizer or tf.train.GradientDescentOptimizer(0.1)
    if params["use_tpu"]:
        optimizer = tpu.CrossShardOptimizer(optimizer)
    return optimizer.minimize(loss, tf.train.get_global_step())


def metric_fn(labels, y):
    return {"mae": tf.metrics.mean_absolute_error(labels, y), "mean": tf.metrics.mean(y)}


def model_fn(features, labels, mode, params):
    y = network(features)
    if mode == est.ModeKeys.PREDICT:
        outputs = {"serving_default": est.export.PredictOutput({"y": y})}
        return tpu.TPUEstimatorSpec(mode, predictions={"y": y}, export_outputs=outputs)
    loss = tf.reduce_mean(tf.square(y - labels), name="squares")
    if mode == est.ModeKeys.EVAL:
        return tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, y]))
    return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=optimize(loss, params))


def run_config(folder, iterations=2, **settings):
    if CORES:
        settings["master"] = "emulated:%d" % CORES
    settings.setdefault("tf_random_seed", 7)
    loop = tpu.TPUConfig(iterations_per_loop=iterations)
    return tpu.RunConfig(model_dir=folder, tpu_config=loop, **settings)


def estimator_of(folder, model=model_fn, iterations=2, params=None, options=None, **settings):
    batches = {"train_batch_size": 4, "eval_batch_size": 4, "predict_batch_size": 4}
    batches.update(options or {})
    return tpu.TPUEstimator(
        model,
        config=run_config(folder, iterations, **settings),
        use_tpu=bool(CORES),
        params=params,
        **batches,
    )


@case(cores=True)
def tpu_train_evaluate_predict(folder):
    estimator = estimator_of(folder)
    estimator.train(input_fn, steps=6)
    return [
        variables(folder),
        estimator.evaluate(eval_input_fn, steps=4),
        list(estimator.predict(predict_input_fn)),
        files(folder),
    ]


@case(cores=True)
def tpu_steps_beyond_loops(folder):
    """A number of steps that is not a multiple of iterations_per_loop."""
    estimator = estimator_of(folder, iterations=4)
    out = []
    for settings in ({"steps": 3}, {"max_steps": 9}, {"steps": 1}, {"max_steps": 5}):
        estimator.train(input_fn, **settings)
        out.append(variables(folder))
    return out


@case(cores=True)
def tpu_batch_sizes_in_params(folder):
    key_lists = []

    def counting(params):
        key_lists.append(sorted(set(params) - {"context", "use_tpu"}))
        return input_fn(params)

    estimator = estimator_of(folder, params={"mine": 1}, options={"train_batch_size": 8})
    estimator.train(counting, steps=1)
    return [[key_lists[0]], estimator.params["mine"], variables(folder)]


@case(cores=True)
def tpu_eval_metrics_by_name(folder):
    """eval_metrics with a dict, and values that are not batched."""

    def model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        if mode != est.ModeKeys.EVAL:
            return spec
        y = network_again(features)
        return tpu.TPUEstimatorSpec(
            mode, loss=spec.loss, eval_metrics=(metric_fn, {"labels": labels, "y": y})
        )

    def network_again(features):
        with tf.variable_scope("net", reuse=True):
            return tf.matmul(features["x"], tf.get_variable("kernel"))[:, 0]

    estimator = estimator_of(folder, model)
    estimator.train(input_fn, steps=2)
    return estimator.evaluate(eval_input_fn, steps=4)


@case(cores=True)
def tpu_evaluation_of_some_steps(folder):
    estimator = estimator_of(folder)
    estimator.train(input_fn, steps=2)
    out = [estimator.evaluate(eval_input_fn, steps=steps) for steps in (1, 2)]
    return [out, events(folder + "/eval")]


@case(cores=True)
def tpu_host_call(folder):
    """Summaries by a host_call, as ResNet's programs wrote them."""

    def host(step, loss):
        writer = tf2.summary.create_file_writer(folder + "/host")
        with writer.as_default(), tf2.summary.record_if(True):
            tf2.summary.write("last_loss", tf.reduce_mean(loss), step=step[0])
            return tf.summary.all_v2_summary_ops()

    def model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        step = tf.reshape(tf.train.get_global_step(), [1])
        return tpu.TPUEstimatorSpec(
            mode,
            loss=spec.loss,
            train_op=spec.train_op,
            host_call=(host, [step, tf.reshape(spec.loss, [1])]),
        )

    result = error_of(lambda: estimator_of(folder, model).train(input_fn, steps=2) and 0)
    return [result[:2], variables(folder)]


@case(cores=True)
def tpu_scaffold_fn(folder):
    def model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)

        def scaffold_fn():
            saver = tf.train.Saver(tf.global_variables(), max_to_keep=1)
            return tf.train.Scaffold(saver=saver)

        return spec._replace(scaffold_fn=scaffold_fn)

    estimator = estimator_of(folder, model, save_checkpoints_steps=2)
    estimator.train(input_fn, steps=6)
    return [variables(folder), [name for name in files(folder) if name.endswith("index")]]


@case(cores=True)
def tpu_init_from_checkpoint(folder):
    """BERT's scaffold_fn: init_from_checkpoint within it in TPU mode."""
    estimator_of(folder + "/a").train(input_fn, steps=2)

    def model(features, labels, mode, params):
        with tf.variable_scope("tuned"):
            spec = model_fn(features, labels, mode, params)

        def init():
            tf.train.init_from_checkpoint(folder + "/a", {"net/": "tuned/net/"})
            return tf.train.Scaffold()

        if params["use_tpu"]:
            return spec._replace(scaffold_fn=init)
        tf.train.init_from_checkpoint(folder + "/a", {"net/": "tuned/net/"})
        return spec

    estimator_of(folder + "/b", model).train(input_fn, steps=1)
    return variables(folder + "/b")


@case(cores=True)
def tpu_warm_start(folder):
    estimator_of(folder + "/a").train(input_fn, steps=2)
    second = estimator_of(folder + "/b", options={"warm_start_from": folder + "/a"})
    second.train(input_fn, steps=1)
    return variables(folder + "/b")


@case(cores=True)
def tpu_optimizers(folder):
    out = []
    for make in (
        lambda: tf.train.AdamOptimizer(0.05),
        lambda: tf.train.MomentumOptimizer(0.05, 0.9),
        lambda: tf.train.AdagradOptimizer(0.1),
    ):

        def model(features, labels, mode, params):
            y = network(features)
            loss = tf.reduce_mean(tf.square(y - labels))
            train_op = optimize(loss, params, make())
            return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

        path = folder + "/%d" % len(out)
        estimator_of(path, model).train(input_fn, steps=4)
        out.append(variables(path))
    return out


@case(cores=True)
def tpu_plain_spec(folder):
    """A model_fn that returns an EstimatorSpec for training."""

    def model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        return est.EstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)

    estimator_of(folder, model).train(input_fn, steps=2)
    return variables(folder)


@case
def tpu_plain_spec_evaluated(folder):
    """EstimatorSpec with eval_metric_ops, use_tpu=False."""

    def model(features, labels, mode, params):
        y = network(features)
        loss = tf.reduce_mean(tf.square(y - labels))
        train_op = optimize(loss, params) if mode == est.ModeKeys.TRAIN else None
        metrics = {"mean": tf.metrics.mean(y)}
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    estimator = estimator_of(folder, model)
    estimator.train(input_fn, steps=2)
    return estimator.evaluate(eval_input_fn, steps=4)


@case(cores=True)
def tpu_export(folder):
    estimator = estimator_of(folder + "/m", options={"export_to_tpu": False})
    estimator.train(input_fn, steps=2)
    receiver = est.export.build_raw_serving_input_receiver_fn({"x": outside_placeholder([None, 2])})
    path = estimator.export_saved_model(folder + "/export", receiver).decode()
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        signature = graph.signature_def["serving_default"]
        feed = {signature.inputs["x"].name: X[:3]}
        return [session.run(signature.outputs["y"].name, feed), sorted(graph.signature_def)]


@case
def tpu_hooks_on_cpu(folder):
    """Hooks around each step: outside of TPU mode loops have no meaning."""
    log = []

    class Look(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs("squares:0")

        def after_run(self, run_context, run_values):
            log.append(run_values.results)

    def model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        return tpu.TPUEstimatorSpec(
            mode, loss=spec.loss, train_op=spec.train_op, training_hooks=[Look()]
        )

    estimator_of(folder, model, iterations=3).train(input_fn, steps=4)
    return log


@case(cores=True)
def tpu_train_and_evaluate(folder):
    estimator = estimator_of(folder, save_checkpoints_steps=2)
    train_spec = est.TrainSpec(input_fn, max_steps=4)
    eval_spec = est.EvalSpec(eval_input_fn, steps=4, start_delay_secs=0, throttle_secs=0)
    result = est.train_and_evaluate(estimator, train_spec, eval_spec)
    return [result[0], variables(folder)]


@case(cores=True)
def tpu_checkpoints_and_summaries(folder):
    estimator = estimator_of(folder, save_checkpoints_steps=2, save_summary_steps=2)
    estimator.train(input_fn, steps=6)
    return [name for name in files(folder) if "ckpt" in name]


@case(cores=True)
def tpu_batch_norm(folder):
    """Moving averages of a batch that is the same on all cores."""
    same = np.tile(np.array([[0.1, 0.5], [0.7, 0.2]], np.float32), [4, 1])

    def data(params):
        dataset = tf.data.Dataset.from_tensor_slices(({"x": same}, np.ones([8], np.float32)))
        return dataset.repeat().batch(params["batch_size"], drop_remainder=True)

    def model(features, labels, mode, params):
        x = tf.layers.batch_normalization(
            features["x"], training=mode == est.ModeKeys.TRAIN, momentum=0.5, fused=False
        )
        y = network({"x": x})
        loss = tf.reduce_mean(tf.square(y - labels))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimize(loss, params)
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator_of(folder, model).train(data, steps=4)
    return variables(folder)


@case
def tpu_bad_arguments(folder):
    out = []
    for options in (
        {"train_batch_size": None},
        {"train_batch_size": "8"},
        {"eval_batch_size": -1},
        {"predict_batch_size": 0},
    ):
        out.append(error_of(estimator_of, folder, options=options)[0])
    for arguments in (
        {"iterations_per_loop": 0},
        {"iterations_per_loop": -3},
        {"num_shards": 0},
        {"num_cores_per_replica": 3},
        {"tpu_job_name": "x"},
        {"per_host_input_for_training": tpu.InputPipelineConfig.PER_HOST_V2},
        {"input_partition_dims": [[1, 2]]},
        {"unknown": 1},
    ):
        out.append([sorted(arguments), error_of(lambda: tpu.TPUConfig(**arguments) and 0)[:2]])
    return out


@case
def tpu_params_refused(folder):
    error_for = lambda name: error_of(
        lambda: estimator_of(folder, params={name: 1}).train(input_fn, steps=1) and 0
    )[:2]
    return [error_for(name) for name in ("batch_size", "context", "use_tpu")]


@case
def tpu_config_fields(folder):
    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(iterations_per_loop=5))
    fields = config.tpu_config._fields
    return [
        config.tpu_config.iterations_per_loop,
        config.tpu_config.num_shards,
        config.tpu_config.per_host_input_for_training,
        [name for name in ("iterations_per_loop", "num_shards") if name in fields],
        config.evaluation_master,
        config.master,
        config.cluster is None,
        type(config.replace(save_summary_steps=3)).__name__,
        config.replace(save_summary_steps=3).tpu_config.iterations_per_loop,
    ]


@case(cores=True)
def tpu_spec_as_estimator_spec(folder):
    """A TPUEstimatorSpec turned into a plain one, for an Estimator."""
    log = []

    def model(features, labels, mode, params):
        params = dict(params, use_tpu=False)
        spec = model_fn(features, labels, mode, params).as_estimator_spec()
        log.append([type(spec).__name__, sorted(spec.eval_metric_ops or {})])
        return spec

    run = est.RunConfig(model_dir=folder, tf_random_seed=7)
    estimator = est.Estimator(model, config=run, params={"batch_size": 4})
    estimator.train(input_fn, steps=2)
    return [log, estimator.evaluate(eval_input_fn, steps=2), variables(folder)]


@case(cores=True)
def tpu_input_ends(folder):
    """An input that is shorter than the training."""

    def short(params):
        return eval_input_fn(params)

    estimator = estimator_of(folder, iterations=1)
    result = error_of(lambda: estimator.train(short, steps=9) and 0)[0]
    values = variables(folder)
    return [result, values and values["global_step"]]


@case(cores=True)
def tpu_two_losses_and_dropout(folder):
    """Regularization, a loss collection, and dropout that keeps everything."""

    def model(features, labels, mode, params):
        x = tf.layers.dropout(features["x"], 0.0, training=mode == est.ModeKeys.TRAIN)
        y = tf.layers.dense(
            x,
            1,
            kernel_initializer=tf.ones_initializer(),
            kernel_regularizer=lambda w: 0.1 * tf.reduce_sum(w * w),
        )[:, 0]
        loss = tf.losses.mean_squared_error(labels, y) + tf.losses.get_regularization_loss()
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=optimize(loss, params))

    with captured_log():
        estimator_of(folder, model).train(input_fn, steps=3)
    return variables(folder)
