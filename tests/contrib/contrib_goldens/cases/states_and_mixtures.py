"""tf.contrib.training's batches with states, graphs of mixtures, settings of a block cache."""

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case

__all__ = ["CASES"]

training, factorization, cloud = tf.contrib.training, tf.contrib.factorization, tf.contrib.cloud
_RANDOM = np.random.RandomState(5)
_POINTS = np.concatenate(
    [_RANDOM.normal(loc=center, scale=0.4, size=(8, 2)) for center in ((0, 0), (2, 1))]
).astype(np.float32)
_MEANS = np.array([[0.5, 0.5], [1.5, 1.0]], np.float32)


def _session():
    return tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20000))


def _saver(**options):
    arguments = {
        "batch_size": 2,
        "num_unroll": 2,
        "input_length": 3,
        "input_key": tf.as_string(tf.placeholder_with_default(7, [], name="number")),
        "input_sequences": {"s": np.arange(8.0, dtype=np.float32).reshape(4, 2)},
        "input_context": {"c": [1, 2]},
        "initial_states": {"state": 0.5, "matrix": np.ones([2, 3], np.float32)},
    }
    return training.SequenceQueueingStateSaver(**dict(arguments, **options))


def _seen(batch):
    return {
        "key": batch.key,
        "next": batch.next_key,
        "part": batch.sequences["s"],
        "context": batch.context["c"],
        "insertion": batch.insertion_index - tf.reduce_min(batch.insertion_index),
        "length": batch.length,
        "total": batch.total_length,
        "number": batch.sequence,
        "count": batch.sequence_count,
        "state": batch.state("state"),
        "matrix": batch.state("matrix"),
        "size": batch.batch_size,
    }


def _parts(**options):
    """Two sequences in two parts: keys, contexts, and states that go from part to part."""

    def build():
        saver = _saver(**options)
        batch = saver.next_batch
        save = [
            batch.save_state("state", batch.state("state") + 1.0),
            batch.save_state("matrix", batch.state("matrix") * 2.0),
        ]
        number = tf.get_default_graph().get_tensor_by_name("number:0")
        rows = []
        with _session() as session:
            for value in (7, 8):
                session.run(saver.prefetch_op, {number: value})
            for _ in range(2):
                seen = session.run([_seen(batch), save])[0]
                order = np.argsort(seen["key"])
                for name in sorted(seen):
                    value = np.asarray(seen[name])
                    value = value[order] if value.ndim else value
                    is_text = value.dtype.kind in "SO"
                    rows.append(
                        [name, [tf.compat.as_str(each) for each in value] if is_text else value]
                    )
            rows.append([int(each) for each in session.run([saver.barrier.ready_size()])])
        shapes = [[name, str(each.shape)] for name, each in sorted(_seen(batch).items())]
        return [rows, shapes, saver.num_unroll, saver.name]

    return Case(build, has_gradients=False)


def _batch_class():
    batch = _saver().next_batch
    return [
        isinstance(batch, training.NextQueuedSequenceBatch),
        [each.dtype.name for each in (batch.key, batch.length, batch.insertion_index)],
        sorted(batch.sequences),
        sorted(batch.context),
    ]


def _states(length=3, pad=True):
    def build():
        batch = training.batch_sequences_with_states(
            input_key=tf.constant("k"),
            input_sequences={"s": tf.constant(np.arange(3.0, dtype=np.float32).reshape(3, 1))},
            input_context={"c": tf.constant(4)},
            input_length=tf.constant(length),
            initial_states={"state": tf.constant([0.5])},
            num_unroll=2,
            batch_size=1,
            num_threads=1,
            capacity=1,
            allow_small_batch=False,
            pad=pad,
            make_keys_unique=True,
            make_keys_unique_seed=3,
        )
        save = batch.save_state("state", batch.state("state") * 3.0)
        fetches = [batch.sequences["s"], batch.context["c"], batch.state("state"), batch.length]
        tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
        with _session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            rows = [session.run([fetches, batch.key, save])[:2] for _ in range(2)]
            coordinator.request_stop()
            tf.get_default_graph().clear_collection(tf.GraphKeys.QUEUE_RUNNERS)
        del threads
        return [[numbers, [tf.compat.as_str(key)[:16] for key in keys]] for numbers, keys in rows]

    return Case(build, has_gradients=False)


def _mixture(**options):
    """Four steps of a mixture's graph."""

    def build():
        arguments = {"covariance_type": "full", "params": "wmc"}
        arguments.update(options)
        mixture = factorization.gmm(
            tf.constant(_POINTS), _MEANS, num_clusters=2, random_seed=1, **arguments
        )
        likelihood, scores, assignments, train_op, init_op, is_initialized = mixture
        with _session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            before = bool(session.run(is_initialized))
            session.run(init_op)
            rows = []
            for _ in range(4):
                session.run(train_op)
                rows.append(session.run(likelihood))
            results = session.run([scores, assignments])
            names = sorted(each.op.name for each in tf.global_variables() + tf.local_variables())
            after = bool(session.run(is_initialized))
        tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
        return [np.array(rows).ravel(), results, before, after, names]

    return Case(build, has_gradients=False)


def _algorithm(**options):
    """The parts of a mixture's class."""

    def build():
        algorithm = factorization.GmmAlgorithm(
            [tf.constant(_POINTS)], 2, tf.constant(_MEANS), random_seed=1, **options
        )
        with _session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(algorithm.init_ops())
            session.run(algorithm.training_ops())
            return session.run(
                [
                    algorithm.clusters(),
                    algorithm.alphas(),
                    algorithm.covariances(),
                    algorithm.scores(),
                    algorithm.assignments(),
                ]
            )

    return Case(build, has_gradients=False)


def _cached_blocks():
    with _session() as session:
        return cloud.configure_gcs(session, block_cache=cloud.BlockCacheParams(1, 2, 3))


CASES = {
    "training.SequenceQueueingStateSaver": _parts(),
    "training.SequenceQueueingStateSaver: no multiple": _parts(num_unroll=3),
    "training.SequenceQueueingStateSaver: small": _saver,
    "training.SequenceQueueingStateSaver: no states": lambda: _saver(initial_states={}),
    "training.SequenceQueueingStateSaver: name twice": lambda: _saver(
        input_context={"s": [1]}, input_sequences={"s": np.arange(4.0)}
    ),
    "training.SequenceQueueingStateSaver: unroll": lambda: _saver(num_unroll=0),
    "training.NextQueuedSequenceBatch": _batch_class,
    "training.NextQueuedSequenceBatch: state": lambda: _saver().next_batch.state("none"),
    "training.batch_sequences_with_states": _states(),
    "training.batch_sequences_with_states: not padded": _states(pad=False),
    "factorization.gmm": _mixture(),
    "factorization.gmm: diag": _mixture(covariance_type="diag"),
    "factorization.gmm: means": _mixture(params="m"),
    "factorization.GmmAlgorithm": _algorithm(),
    "factorization.GmmAlgorithm: weights": _algorithm(params="w", covariance_type="diag"),
    "factorization.GmmAlgorithm: type": _algorithm(covariance_type="round"),
    "cloud.ConfigureGcsHook: kind": lambda: cloud.ConfigureGcsHook(credentials=1),
    "cloud.configure_gcs": _cached_blocks,
    "cloud.configure_gcs: kind": lambda: cloud.configure_gcs(tf.Session(), credentials=1),
    "cloud.configure_colab_session: outside": lambda: cloud.configure_colab_session(tf.Session()),
    "cloud.BlockCacheParams": lambda: [
        [params.block_size, params.max_bytes, params.max_staleness]
        for params in (cloud.BlockCacheParams(), cloud.BlockCacheParams(1, 2, 3))
    ],
}
