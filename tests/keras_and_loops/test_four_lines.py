"""The guides' four lines on emulated cores: resolver, connect, initialize, TPUStrategy."""

import logging

import four_lines
import guide_programs
import numpy as np
import pytest
import tensorflow as tf
from engine import run_program

import estimator_bridge as eb


@pytest.mark.parametrize(
    "kind",
    [
        tf.distribute.TPUStrategy,
        tf.distribute.experimental.TPUStrategy,
        tf.compat.v1.distribute.experimental.TPUStrategy,
    ],
)
def test_each_class_has_a_replica_on_each_core(kind):
    strategy = four_lines.start("emulated:4", kind)
    assert isinstance(strategy, kind)
    assert strategy.num_replicas_in_sync == 4
    assert strategy.cluster_resolver.master() == "emulated:4"
    assert strategy.extended.num_hosts == 1 and strategy.extended.num_replicas_per_host == 4
    numbers = tf.function(lambda: strategy.run(replica_number))()
    assert strategy.reduce(tf.distribute.ReduceOp.SUM, numbers, axis=None).numpy() == 0 + 1 + 2 + 3


def replica_number():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def test_initialize_returns_a_topology_and_says_once_that_no_tpu_is_in_use(caplog):
    resolver = eb.tpu.TPUClusterResolver("emulated:8")
    tf.tpu.experimental.shutdown_tpu_system(resolver)
    logger = tf.get_logger()
    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.WARNING):
            topology = tf.tpu.experimental.initialize_tpu_system(cluster_resolver=resolver)
            tf.tpu.experimental.initialize_tpu_system(resolver)
    finally:
        logger.removeHandler(caplog.handler)
    messages = {record.getMessage() for record in caplog.records}
    assert messages == {"No TPU in use: 8 emulated CPU core(s) on this machine replace its cores."}
    assert topology.num_tpus_per_task == 8 and topology.num_tasks == 1


def test_a_resolver_that_was_not_initialized():
    resolver = eb.tpu.TPUClusterResolver("emulated:3")
    with pytest.raises(RuntimeError, match=r"'emulated:3', whose cores are not init.*initialize_"):
        tf.distribute.TPUStrategy(resolver)
    strategy = four_lines.start("emulated:3")
    tf.tpu.experimental.shutdown_tpu_system(resolver)
    assert strategy.num_replicas_in_sync == 3
    with pytest.raises(RuntimeError, match="not initialized"):
        tf.distribute.TPUStrategy(tpu_cluster_resolver=resolver)


def test_more_gpus_than_there_are():
    resolver = eb.tpu.TPUClusterResolver("gpu:64")
    with pytest.raises(eb.errors.AcceleratorNotFoundError, match=r"64 GPU\(s\).*'emulated:8'"):
        tf.tpu.experimental.initialize_tpu_system(resolver)
    with pytest.raises(RuntimeError, match="'gpu:64', whose cores are not initialized"):
        tf.distribute.TPUStrategy(resolver)


def test_a_strategy_after_tensorflow_started_with_fewer_cores():
    lines = run_program(
        """
        import tensorflow as tf
        import estimator_bridge as eb

        tf.ones([2]) + 1
        resolver = eb.tpu.TPUClusterResolver("emulated:8")
        tf.config.experimental_connect_to_cluster(resolver)
        try:
            tf.tpu.experimental.initialize_tpu_system(resolver)
        except eb.errors.TooLateError as error:
            print(error)
        """
    )
    assert "8 emulated cores were asked for, but TensorFlow has already started with 1" in lines[0]


@pytest.mark.parametrize("cores", [1, 8])
def test_the_guides_fit_learns(cores):
    tf.keras.utils.set_random_seed(1)
    assert guide_programs.fit(four_lines.start(f"emulated:{cores}"), epochs=4) > 0.85


def test_the_guides_custom_loop_learns():
    tf.keras.utils.set_random_seed(1)
    assert guide_programs.custom_loop(four_lines.start(), epochs=4) > 0.85


def trained(scope_of, images, labels):
    """A model's history and weights after fit; the data's order is fixed."""
    with scope_of.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(16, activation="relu", input_shape=(64,)),
                tf.keras.layers.Dense(10),
            ]
        )
        rng = np.random.RandomState(0)
        model.set_weights([rng.randn(*w.shape).astype("f") / 8 for w in model.get_weights()])
        model.compile(
            tf.keras.optimizers.Adam(1e-2),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    history = model.fit(images, labels, batch_size=40, epochs=3, shuffle=False, verbose=0)
    return model, history.history


def test_eight_cores_give_the_numbers_of_one_device():
    images, labels = guide_programs.load("train")
    images, labels = images.reshape(-1, 64)[:200], labels[:200]
    one, one_history = trained(tf.distribute.get_strategy(), images, labels)
    many, history = trained(four_lines.start(), images, labels)
    for key, values in one_history.items():
        np.testing.assert_allclose(history[key], values, rtol=2e-4, err_msg=key)
    for a, b in zip(one.get_weights(), many.get_weights()):
        np.testing.assert_allclose(a, b, atol=2e-5)
    # 200 examples in batches of 48: the last batch is short, and no example counts twice.
    quiet = {"batch_size": 48, "verbose": 0}
    np.testing.assert_allclose(many.predict(images, **quiet), one.predict(images, **quiet),
                               atol=2e-4)  # fmt: skip
    assert many.evaluate(images, labels, **quiet)[1] == one.evaluate(images, labels, **quiet)[1]


def test_a_compiled_step_runs_uncompiled_as_a_tpu_compiles_the_whole():
    images, labels = guide_programs.load("train")
    with four_lines.start().scope():
        model = guide_programs.make_model()
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, jit_compile=True, steps_per_execution=2)
    history = model.fit(images[:320], labels[:320], batch_size=80, epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]


def test_a_batch_that_the_cores_do_not_divide():
    strategy = four_lines.start()
    data = tf.data.Dataset.range(100).batch(20)
    with pytest.raises(ValueError, match=r"20 examples .* 8 cores.*a multiple of 8, such as 16 or"):
        strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        model = guide_programs.make_model()
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    with pytest.raises(ValueError, match="global batch of 20 examples"):
        model.fit(guide_programs.dataset(20, training=True), steps_per_epoch=1, verbose=0)


def test_a_function_that_a_tpu_would_not_compile():
    strategy = four_lines.start("emulated:2")
    with pytest.raises(NotImplementedError, match="does not support pure eager"):
        strategy.run(lambda: tf.constant(1))
    doubled = strategy.run(tf.function(lambda x: 2 * x), args=(tf.constant(3.0),))
    assert [float(x) for x in strategy.experimental_local_results(doubled)] == [6.0, 6.0]


def test_branches_of_python_in_a_step_depend_on_tensors():
    strategy = four_lines.start("emulated:2")

    @tf.function
    def signs(x):
        def step(x):
            if x > 0:
                return tf.constant(1)
            return tf.constant(-1)

        return strategy.run(step, args=(x,))

    for value in (3.0, -3.0):
        got = strategy.experimental_local_results(signs(tf.constant(value)))
        assert [int(each) for each in got] == [int(np.sign(value))] * 2


def test_a_strategy_derived_from_tensorflows():
    class Own(tf.distribute.TPUStrategy):
        """A subclass that expects a TPU."""

    four_lines.start("emulated:2")
    with pytest.raises(NotImplementedError, match="Own is derived from TPUStrategy"):
        Own(eb.tpu.TPUClusterResolver("emulated:2"))


def test_replicas_of_several_cores_are_whole_on_one_device():
    resolver = eb.tpu.TPUClusterResolver("emulated:8")
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    assignment = tf.tpu.experimental.DeviceAssignment.build(
        topology, computation_shape=[1, 1, 1, 2], num_replicas=4
    )
    strategy = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
    assert strategy.num_replicas_in_sync == 4
    with strategy.scope(), strategy.extended.experimental_logical_device(1):
        weight = tf.Variable([[1.0], [2.0]])

    @tf.function
    def step(x):
        x = strategy.experimental_split_to_logical_devices(x, [1, 2])
        y = strategy.experimental_assign_to_logical_device(x @ weight, 1)
        return strategy.experimental_replicate_to_logical_devices(y)

    got = strategy.run(step, args=(tf.constant([[3.0, 4.0]]),))
    assert [float(y[0, 0]) for y in strategy.experimental_local_results(got)] == [11.0] * 4
    with pytest.raises(ValueError, match="total of 2 logical devices"):
        strategy.experimental_assign_to_logical_device(weight, 2)
    with pytest.raises(ValueError, match="their product is 4"):
        strategy.experimental_split_to_logical_devices(tf.ones([2, 2]), [2, 2])
    with pytest.raises(ValueError, match="must be divisible"):
        strategy.experimental_split_to_logical_devices(tf.ones([1, 3]), [1, 2])
    with pytest.raises(ValueError, match="rank of the tensor, 2"):
        strategy.experimental_split_to_logical_devices(tf.ones([2, 2]), [2])
    with pytest.raises(ValueError, match="not in range"), \
            strategy.extended.experimental_logical_device(2):  # fmt: skip
        pass
    small = eb.tpu.TPUClusterResolver("emulated:4")
    tf.tpu.experimental.initialize_tpu_system(small)
    with pytest.raises(ValueError, match=r"4 replica\(s\) of 2 core\(s\), but 'emulated:4' has 4"):
        tf.distribute.TPUStrategy(small, experimental_device_assignment=assignment)
    with pytest.raises(TypeError, match="device assignment of a TPUStrategy must be"):
        tf.distribute.TPUStrategy(small, experimental_device_assignment=[[0]])


def test_embedding_hardware_is_not_there():
    strategy = four_lines.start()
    table = tf.tpu.experimental.embedding.TableConfig(8, 4)
    feature = tf.tpu.experimental.embedding.FeatureConfig(table)
    optimizer = tf.tpu.experimental.embedding.SGD()
    with strategy.scope(), pytest.raises(NotImplementedError, match="Make the tables with"):
        tf.tpu.experimental.embedding.TPUEmbedding(feature, optimizer)
    alone = tf.tpu.experimental.embedding.TPUEmbedding(feature, optimizer)
    alone.build()
    assert alone.embedding_tables[table].shape == (8, 4)


def test_an_estimator_trains_under_it():
    strategy = four_lines.start("emulated:2")

    def model_fn(features, labels, mode):
        logits = tf.compat.v1.layers.dense(features, 1)
        loss = tf.compat.v1.losses.mean_squared_error(labels, logits)
        step = tf.compat.v1.train.get_or_create_global_step()
        train = tf.compat.v1.train.GradientDescentOptimizer(0.3).minimize(loss, step)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn():
        x = np.random.RandomState(0).rand(32, 3).astype("f")
        data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True)))
        return data.repeat().batch(4)

    config = eb.RunConfig(train_distribute=strategy, eval_distribute=strategy, tf_random_seed=1)
    estimator = eb.Estimator(model_fn, config=config).train(input_fn, steps=100)
    assert estimator.evaluate(input_fn, steps=4)["loss"] < 0.05


def test_the_resolver_says_what_programs_print_of_a_tpu():
    resolver = eb.tpu.TPUClusterResolver("emulated:8")
    assert resolver.cluster_spec().as_dict()["worker"] == ["emulated:8"]
    assert resolver.get_tpu_system_metadata().num_cores == 8
    config = eb.tpu.RunConfig(cluster=resolver)
    assert not config.cluster_spec.as_dict() and config.master == "emulated:8"


def test_other_resolvers_reach_tensorflows_own_functions():
    four_lines.start("emulated:2")
    local = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({}))
    tf.config.experimental_connect_to_cluster(cluster_spec_or_resolver=local)
    with pytest.raises(AssertionError):
        tf.tpu.experimental.initialize_tpu_system(local)


def test_iterators_of_the_cores_have_no_thread_that_tunes_them():
    """Each such thread ends late: with one for each core, `fit` returned up to minutes late."""
    strategy = four_lines.start()
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(64).batch(16))
    settings = []
    own = tf.data.Dataset.with_options

    def noted(dataset, options):
        settings.append(options.autotune.enabled)
        return own(dataset, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf.data.Dataset, "with_options", noted)
        assert len(list(data)) == 4
    assert settings.count(False) == 8
