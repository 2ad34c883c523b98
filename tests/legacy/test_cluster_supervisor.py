"""When the processes of a local cluster are ended, with simulated processes and time."""

import signal

import pytest

from estimator_bridge.legacy.running.local_cluster.roles import parse_cluster, parse_workers
from estimator_bridge.legacy.running.local_cluster.supervisor import (
    Limits,
    Supervisor,
    limits_of,
)

INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
LIMITS = Limits(worker=20, evaluator=900, server=5, signal=65)


class FakeProcess:
    def __init__(self, task, job):
        self.task, self._job = task, job
        self.status = None
        self.signals = []

    def poll(self):
        return self.status

    def send(self, signum):
        self.signals.append((self._job.now, signum))

    def kill(self):
        self.send(KILL)
        self.status = 128 + KILL


class Job:
    """A cluster whose processes end when the test says so."""

    def __init__(self, cluster):
        self.now, self.lines = 0.0, []
        self.processes = {str(task): FakeProcess(task, self) for task in cluster.tasks}
        self.supervisor = Supervisor(
            list(self.processes.values()),
            cluster.chief,
            LIMITS,
            self.lines.append,
            lambda: self.now,
        )

    def at(self, now, **statuses):
        """Lets processes end, such as ps_0=1; looks as often as the launcher would."""
        while self.now < now:
            self.supervisor.look()
            self.now += 0.5
        for name, status in statuses.items():
            self.processes[name.replace("_", " ")].status = status
        return self.supervisor.look()

    def signals(self):
        return {name: p.signals for name, p in self.processes.items() if p.signals}


@pytest.fixture
def job():
    return Job(parse_cluster("ps=1,worker=1,chief=1,evaluator=1"))


def test_processes_that_end_by_themselves_get_no_signal(job):
    assert job.at(100, worker_0=0)
    assert job.at(110, chief_0=0)
    assert job.lines == [
        "chief 0 has ended. evaluator 0 has 900 s to evaluate the last checkpoint."
    ]
    assert job.at(112, ps_0=0)
    assert not job.at(1000, evaluator_0=0)
    assert (job.supervisor.status, job.signals()) == (0, {})


def test_after_the_chief_the_others_are_ended_each_at_its_time(job):
    job.at(100, chief_0=0)
    job.at(130, worker_0=143)
    job.at(140, ps_0=143)
    assert not job.at(1010, evaluator_0=143)
    assert job.signals() == {
        "worker 0": [(120, TERM)],
        "ps 0": [(135, TERM)],
        "evaluator 0": [(1000, TERM)],
    }
    assert job.supervisor.status == 0
    assert job.lines[1:] == [
        "worker 0 has not ended 20 s after chief 0: it gets SIGTERM.",
        "evaluator 0 has not ended 900 s after chief 0: it gets SIGTERM.",
    ]


def test_what_ignores_sigterm_is_killed(job):
    job.at(100, chief_0=0, evaluator_0=0)
    assert not job.at(300)
    assert job.signals() == {
        "worker 0": [(120, TERM), (185, KILL)],
        "ps 0": [(190.5, TERM), (255.5, KILL)],
    }
    assert "worker 0 has not ended 65 s after a signal: killed." in job.lines


def test_a_failed_chief_ends_the_job_at_once_and_servers_last(job):
    job.at(100, chief_0=3)
    assert job.lines == ["chief 0 failed with exit status 3: the job ends."]
    job.at(110, worker_0=143, evaluator_0=143)
    assert not job.at(111, ps_0=143)
    assert job.signals() == {
        "worker 0": [(100, TERM)],
        "evaluator 0": [(100, TERM)],
        "ps 0": [(110, TERM)],
    }
    assert job.supervisor.status == 3


@pytest.mark.parametrize("name", ["worker_0", "ps_0", "evaluator_0"])
def test_any_failure_before_the_chiefs_end_ends_the_job(job, name):
    job.at(100, **{name: 4})
    others = [each for each in ("chief_0", "worker_0", "evaluator_0") if each != name]
    assert job.lines == [f"{name.replace('_', ' ')} failed with exit status 4: the job ends."]
    job.at(101, **dict.fromkeys(others, 143))
    assert not job.at(102, ps_0=143 if name != "ps_0" else 4)
    assert job.processes["chief 0"].signals == [(100, TERM)]
    assert job.supervisor.status == 4
    assert len(job.lines) == 1


def test_of_failures_at_the_same_time_the_chiefs_counts(job):
    job.at(100, worker_0=1, evaluator_0=1, chief_0=7)
    job.at(101, ps_0=143)
    assert job.supervisor.status == 7
    assert job.lines == ["chief 0 failed with exit status 7: the job ends."]


def test_a_failed_last_evaluation_is_a_failure_of_the_job(job):
    job.at(100, chief_0=0)
    job.at(101, worker_0=9)
    job.at(102, ps_0=0)
    assert not job.at(103, evaluator_0=1)
    assert job.supervisor.status == 1
    assert job.lines[1:] == [
        "worker 0 failed with exit status 9 after the end of chief 0.",
        "evaluator 0 failed with exit status 1 after the end of chief 0.",
    ]


@pytest.mark.parametrize(("signum", "status"), [(INT, 130), (TERM, 143)])
@pytest.mark.parametrize("chief_status", [0, 5])
def test_a_signal_is_passed_on_once_and_to_the_servers_last(job, signum, status, chief_status):
    job.at(100)
    job.supervisor.receive(signum)
    job.supervisor.receive(signum)  # from a wrapper that signals the group too
    job.at(110, worker_0=status, evaluator_0=status)
    job.at(112, chief_0=chief_status)
    assert not job.at(113, ps_0=status)
    assert job.signals() == {
        "chief 0": [(100, signum)],
        "worker 0": [(100, signum)],
        "evaluator 0": [(100, signum)],
        "ps 0": [(112, signum)],
    }
    assert job.supervisor.status == (chief_status or status)
    assert job.lines == []


def test_a_second_ctrl_c_is_passed_on_too(job):
    for now in (100, 102):
        job.at(now)
        job.supervisor.receive(INT)
    assert job.processes["chief 0"].signals == [(100, INT), (102, INT)]
    assert not job.at(300)
    assert job.processes["chief 0"].signals[2:] == [(165, KILL)]
    assert job.supervisor.status == 137


def test_a_signal_while_the_evaluator_runs_alone(job):
    job.at(100, chief_0=0, worker_0=0, ps_0=0)
    job.supervisor.receive(INT)
    assert not job.at(101, evaluator_0=130)
    assert job.supervisor.status == 130


def test_worker_0_is_the_chief_of_synchronous_workers():
    job = Job(parse_workers("2"))
    job.at(100, worker_0=0)
    assert not job.at(101, worker_1=0)
    assert (job.supervisor.status, job.lines, job.signals()) == (0, [], {})


def test_sigkill_comes_after_the_grace_period_of_training():
    assert limits_of({}).signal == 65
    assert limits_of({"ESTIMATOR_BRIDGE_GRACE_SECS": "100"}).signal == 205
    assert limits_of({"ESTIMATOR_BRIDGE_GRACE_SECS": "none"}).signal == 65
