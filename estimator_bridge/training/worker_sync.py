"""Agreements of the workers of a training: before a run, before each chunk, and after it."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.graph import LiftedSession, replica_locals
from estimator_bridge.model import RunConfig
from estimator_bridge.runtime import StepLoop, Workers, workers_of
from estimator_bridge.runtime.worker_loss import is_loss, is_slow_peer
from estimator_bridge.runtime.worker_restart import rejoin, tell_failure, too_late
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.supervision.termination import Termination

__all__ = [
    "SingleWorkerSync",
    "WorkerSync",
    "check_cluster",
    "wait_for_workers",
    "with_workers",
    "worker_sync_of",
]

_GraphKeys = tf.compat.v1.GraphKeys
# The prefixes of descriptions.
_TRAINED, _OTHER, _SUM, _OWN = "trainable ", "variable ", "sum ", "replica's "


def check_cluster(config: RunConfig, strategy: tf.distribute.Strategy | None) -> None:
    """Checks that the processes of a cluster train together.

    Args:
      config: holds this process's place in the cluster of TF_CONFIG.
      strategy: the strategy of training; None if RunConfig has none.

    Raises:
      ValueError: the cluster has parameter servers and the strategy uses none, or its workers would
        each train alone.
    """
    jobs = config.cluster_spec.as_dict() if config.cluster_spec else {}
    use = (
        "Give RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy()), made at the "
        "program's top: all workers then train one model, in step with each other."
    )
    if "ps" in jobs:
        if strategy is None:
            return
        raise ValueError(
            f"TF_CONFIG's cluster has {len(jobs['ps'])} parameter server(s) (job 'ps': "
            f"{list(jobs['ps'])}), and train_distribute={type(strategy).__name__} uses none. Leave "
            "train_distribute out: each worker then trains at its own pace, on variables that the "
            "servers hold. Or take 'ps' out of the cluster, and do not start those processes."
        )
    count = config.num_worker_replicas
    if count > 1 and (strategy is None or workers_of(strategy).count == 1):
        name = "None" if strategy is None else type(strategy).__name__
        raise ValueError(
            f"TF_CONFIG's cluster has {count} workers ({jobs}), but train_distribute={name} does "
            f"not join them: each would train a model of its own, and overwrite the others'. {use}"
        )


@contextlib.contextmanager
def with_workers(strategy: tf.distribute.Strategy, termination: Termination) -> Iterator[Workers]:
    """A context for all joint work of workers: a failure of one reaches the others.

    Args:
      strategy: the strategy of the workers.
      termination: whether this process was asked to end. Then it does not restart if another one
        is lost, and leaves cleanup to the caller.

    Yields:
      The workers of the strategy.

    Raises:
      WorkerError: another worker failed, or is lost and this process cannot restart, or it is
        alive but did not come within ESTIMATOR_BRIDGE_WORKER_SECS.
    """
    workers = workers_of(strategy)
    try:
        yield workers
    except (tf.compat.v1.train.NanLossDuringTrainingError, WorkerError):
        raise  # all workers have it
    except BaseException as error:
        if workers.count == 1:
            raise
        late = too_late(workers, error)
        if late is not None:
            raise late from error
        if not is_loss(error):
            tell_failure(workers, error)
            raise
        if termination.requested:
            logging.warning("Another worker was lost, before a last checkpoint: %s", error)
            return
        rejoin(workers, error)
        raise


def wait_for_workers(workers: Workers, step: int | None, config: RunConfig) -> int | None:
    """Waits for all workers, before a run.

    Args:
      workers: the workers of the run.
      step: the step of the latest checkpoint that this process sees; None if there is none.
      config: sets the longest wait.

    Returns:
      The chief's step. A worker may read the folder too early, or have a different folder.
    """
    mine = -1 if step is None else step
    try:
        (chiefs,) = workers.largest(
            [mine if workers.is_chief else -1], timeout_secs=config.session_creation_timeout_secs
        )
    except tf.errors.DeadlineExceededError as error:
        if not is_slow_peer(error):  # a heartbeat's: a worker is lost
            raise
        raise WorkerError(
            f"{workers.name} waited {config.session_creation_timeout_secs:g} s "
            "(RunConfig.session_creation_timeout_secs) for the others to call train(): "
            f"{', '.join(workers.addresses)}. Every worker has to run the same calls of train()."
        ) from error
    return None if chiefs < 0 else chiefs


def worker_sync_of(workers: Workers, session: LiftedSession) -> SingleWorkerSync:
    """Returns the agreements of a run; ``SingleWorkerSync`` for one process."""
    return WorkerSync(workers, session) if workers.count > 1 else SingleWorkerSync()


class SingleWorkerSync:
    """A run of one process, which settles everything by itself.

    Attributes:
      shares_steps: whether each step of this process needs the other workers.
    """

    shares_steps = False

    def start_alike(self) -> None:
        """Leaves the first values as they are."""

    def settle(self) -> None:
        """Leaves replica-local variables as a chunk left them."""

    def check_limit(self, limit: int | None) -> None:
        """Accepts any limit."""

    def agree(self, steps: int, stop: int) -> int:
        """Returns the number of steps of the next chunk."""
        del stop
        return steps

    def agreed_stop(self, own: int) -> int:
        """Returns the reason to stop.

        Args:
          own: what this process was asked.
        """
        return own

    def agree_on_loop(
        self,
        loop: StepLoop,
        base: Callable[[], StepLoop],
        with_more: Callable[[list[str], list[str]], StepLoop],
    ) -> tuple[StepLoop, bool]:
        """Returns the loop, and whether the last step has to run by itself."""
        del base, with_more
        return loop, loop.has_effects or loop.draws_more

    def note_step(self, step: int) -> None:
        """Ignores the step: no message to other workers names it."""

    def end(self, is_terminated: bool) -> bool:
        """Returns whether this process was asked to end."""
        return is_terminated


class WorkerSync(SingleWorkerSync):
    """One run of several workers, as one of them sees it.

    Args:
      workers: the workers of the run.
      session: the session of the traced model, before hooks add operations.

    Raises:
      WorkerError: the workers traced different models.
    """

    shares_steps = True

    def __init__(self, workers: Workers, session: LiftedSession):
        self._workers, self._session = workers, session
        graph = session.graph
        session.resources.wholes.has_first_replica = workers.is_chief
        common = self._common(_describe(graph))
        self._names = [line.split(" ")[1] for line in common if not line.startswith((_SUM, _OWN))]
        self._replica_locals = [line.split(" ")[1] for line in common if line.startswith(_OWN)]
        (first_key,) = workers.largest([workers.keys.next])
        workers.keys.start(graph, first_key)
        self._key_of_totals = workers.reserve_key_of_totals()
        self._agreed_stop = 0

    def _common(self, own: Sequence[str]) -> list[str]:
        """Returns what all workers have, sorted; the chief's hooks may add variables."""
        text = "\n".join(own)
        mark = zlib.crc32(text.encode())
        largest, smallest = self._workers.largest([mark, -mark])
        alike = largest == -smallest
        models = [set(own)] if alike else [set(s.split("\n")) for s in self._workers.texts(text)]
        common = set.intersection(*models)
        differing = sorted(set.union(*models) - common)
        if any(not line.startswith((_OTHER, _OWN)) for line in differing):
            raise WorkerError(
                "The workers traced different models. Not at all of "
                f"{', '.join(self._workers.addresses)}: {differing[:5]}. model_fn and its params "
                "have to be the same in every process."
            )
        return sorted(common)

    def start_alike(self) -> None:
        """Gives all workers the chief's values, instead of those they restored or drew."""
        resources = self._session.resources  # the same order everywhere: names are sorted
        own = set(self._replica_locals)
        resources.prepare({name + ":0" for name in [*self._names, *own]})
        self._workers.copy_from_chief(
            [
                [resources.session_copy(name)] if name in own else resources.copies(name)
                for name in self._names
            ]
        )
        with eager_mode():
            resources.deal_out(own.intersection(self._names), ran=())

    def settle(self) -> None:
        """Updates sessions with the replica-local variables of all workers after a chunk.

        It runs after every chunk, because only the chief knows when its hooks read or save them.
        """
        if not self._replica_locals:
            return
        resources = self._session.resources
        with eager_mode():
            here = [resources.local_total(name) for name in self._replica_locals]
            totals = self._workers.totals(here, self._key_of_totals)
            for name, total in zip(self._replica_locals, totals):
                resources.wholes.settle(name, total)

    def check_limit(self, limit: int | None) -> None:
        """Checks that all workers train to the same step.

        Raises:
          WorkerError: they do not: one would wait for the others indefinitely.
        """
        mine = -1 if limit is None else int(limit)
        largest, smallest = self._workers.largest([mine, -mine])
        if largest != -smallest:
            raise WorkerError(
                f"{self._workers.name} is to train to step {limit}, others to {largest} and "
                f"{-smallest}. Give train() the same steps or max_steps in every process."
            )

    def agree(self, steps: int, stop: int) -> int:
        """Settles the next chunk: the fewest steps that a worker wants, the strongest stop.

        Args:
          steps: the number of steps that this worker wants.
          stop: this worker's reason to stop, 0 for none; see ``agreed_stop``.
        """
        negative, self._agreed_stop = self._workers.largest([-steps, stop])
        return -negative

    def agreed_stop(self, own: int) -> int:
        """Returns the reason to stop that all workers know of."""
        del own
        return self._agreed_stop

    def agree_on_loop(
        self,
        loop: StepLoop,
        base: Callable[[], StepLoop],
        with_more: Callable[[list[str], list[str]], StepLoop],
    ) -> tuple[StepLoop, bool]:
        """Settles what a step computes jointly: the sums that any worker's hooks fetch.

        Where steps of all processes are one program (``StepLoop.needs``), it computes what any of
        their hooks fetch.

        Args:
          loop: the loop that this worker would run.
          base: makes the loop without hooks' fetches, which has the same sums at all workers.
          with_more: makes the loop with additional sums and needs.

        Returns:
          The loop to run, and whether the last step has to run by itself.
        """
        extra = sorted(loop.sums - base().sums)
        mark = 0
        if self._workers.shares_programs:
            mark = zlib.crc32(repr((loop.needs, loop.request.fed)).encode())
        split, any_extra, largest, negative = self._workers.largest(
            [int(loop.has_effects), int(bool(extra)), mark, -mark]
        )
        if self._workers.shares_programs:  # a sum that hooks fetch is one of the needs
            if largest != -negative:
                loop = with_more([], self._agreed_needs(loop))
        elif any_extra:
            texts = self._workers.texts("\n".join(extra))
            names = sorted({name for text in texts for name in text.split("\n") if name})
            self._check_known(names)
            missing = [name for name in names if name not in loop.sums]
            loop = with_more(missing, []) if missing else loop
        return loop, bool(split)

    def _agreed_needs(self, loop: StepLoop) -> list[str]:
        """Returns what any process's hooks need of a step."""
        own = {"needs": list(loop.needs), "fed": list(loop.request.fed)}
        every = [json.loads(text) for text in self._workers.texts(json.dumps(own))]
        if any(one["fed"] != own["fed"] for one in every):
            raise WorkerError(
                "Hooks feed different tensors in the processes "
                f"{', '.join(self._workers.addresses)}: {[one['fed'] for one in every]}. Their "
                "steps are one program: feed the same tensors in every process."
            )
        names = {operation.name for operation in self._session.graph.get_operations()}
        needs = sorted({ref for one in every for ref in one["needs"]})
        unknown = [ref for ref in needs if ref.lstrip("^").partition(":")[0] not in names]
        if unknown:
            raise NotImplementedError(
                f"A hook of another process fetches what needs {unknown[0]!r}, which "
                f"{self._workers.name} has not traced. Steps of all processes are one program: "
                "make the tensor in model_fn, and let the hook fetch it."
            )
        return needs

    def _check_known(self, sums: Sequence[str]) -> None:
        _, keys = self._workers.keys.of(self._session.graph)
        unknown = [name for name in sums if name not in keys]
        if unknown:
            raise NotImplementedError(
                f"A hook fetches {unknown[0]!r}, a cross-replica sum that it made itself. Not all "
                "workers have it, and a sum needs all of them. Make it in model_fn, and let the "
                "hook fetch it."
            )

    def note_step(self, step: int) -> None:
        """Notes the step that training has reached."""
        self._workers.last_step = max(self._workers.last_step, step)

    def end(self, is_terminated: bool) -> bool:
        """Waits for the chief's last checkpoint; all training is done.

        Args:
          is_terminated: whether this process was asked to end.

        Returns:
          Whether any worker was. Then all end, so that all are restarted.
        """
        try:
            (any_terminated,) = self._workers.largest([int(is_terminated)])
        except tf.errors.OpError as error:
            if not is_loss(error):
                raise
            logging.warning("Training is done, but a worker was lost at its end: %s", error)
            return is_terminated
        return bool(any_terminated)


def _describe(graph: tf.Graph) -> list[str]:
    """Returns what the workers' models must share, one line per variable and per sum."""
    trainable = {v.op.name for v in graph.get_collection(_GraphKeys.TRAINABLE_VARIABLES)}
    local = {v.op.name for v in graph.get_collection(_GraphKeys.LOCAL_VARIABLES)}
    lines = [
        f"{_TRAINED if v.op.name in trainable else _OTHER}{v.op.name} {v.dtype.name} {v.shape}"
        for v in graph.get_collection(_GraphKeys.GLOBAL_VARIABLES)
        if v.op.name not in local
    ]
    kinds = replica_locals(graph).variables
    lines += [f"{_OWN}{name} {'mean' if kind.is_mean else 'sum'}" for name, kind in kinds.items()]
    sums = [op for op in graph.get_operations() if op.type == "CrossReplicaSum"]
    return lines + [f"{_SUM}{op.name} {op.outputs[0].dtype.name}" for op in sums]
