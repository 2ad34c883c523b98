"""The roles of a local cluster, and the TF_CONFIG of each process."""

import json
import socket

import pytest

from estimator_bridge.commands import cli
from estimator_bridge.legacy.running.local_cluster.options import options_of_processes
from estimator_bridge.legacy.running.local_cluster.ports import free_ports
from estimator_bridge.legacy.running.local_cluster.roles import (
    Task,
    parse_cluster,
    parse_workers,
    tf_configs,
)


def configs(cluster):
    texts = tf_configs(cluster.tasks, range(1, len(cluster.tasks) + 1))
    return {str(task): json.loads(text) for task, text in texts.items()}


def test_each_process_has_the_same_cluster_and_its_own_task():
    cluster = parse_cluster("chief=1, worker=2,ps=1,evaluator=1")
    assert cluster.chief == Task("chief", 0)
    assert [str(task) for task in cluster.tasks] == [
        "ps 0", "chief 0", "worker 0", "worker 1", "evaluator 0",
    ]  # fmt: skip
    jobs = {
        "ps": ["localhost:1"],
        "chief": ["localhost:2"],
        "worker": ["localhost:3", "localhost:4"],
    }
    assert configs(cluster) == {
        name: {"cluster": jobs, "task": {"type": name[:-2], "index": int(name[-1])}}
        for name in ("ps 0", "chief 0", "worker 0", "worker 1", "evaluator 0")
    }


def test_without_servers_the_evaluator_is_listed():
    config = configs(parse_cluster("chief=1,worker=1,evaluator=1"))["evaluator 0"]
    assert config["cluster"]["evaluator"] == ["localhost:3"]
    assert config["task"] == {"type": "evaluator", "index": 0}


def test_worker_0_is_the_chief_of_synchronous_workers():
    cluster = parse_workers("3")
    assert cluster.chief == Task("worker", 0)
    assert set(configs(cluster)) == {"worker 0", "worker 1", "worker 2"}
    assert list(configs(cluster)["worker 1"]["cluster"]) == ["worker"]


def test_a_master_is_the_chief():
    assert parse_cluster("ps=1,master=1").chief == Task("master", 0)


def test_beside_servers_worker_0_leads_where_there_is_no_chief():
    cluster = parse_cluster("worker=2,ps=1")
    assert cluster.chief == Task("worker", 0)
    assert set(configs(cluster)["worker 1"]["cluster"]) == {"ps", "worker"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server=1,chief=1", "unknown role, 'server'"),
        ("", "unknown role, ''"),
        ("chief=1,", "unknown role, ''"),
        ("\x1b[2J=1,chief=1", r"'\x1b[2J'"),
        ("ps=one,chief=1", "ps wants a number of processes, 1 to 9999, got 'one'"),
        ("ps=0,chief=1", "got '0'"),
        ("ps=-1,chief=1", "got '-1'"),
        ("ps=99999,chief=1", "got '99999'"),
        ("ps,chief=1", "got ''"),
        ("chief=2", "one chief at most, got 2"),
        ("ps=1,ps=1,chief=1", "names ps twice"),
        ("chief=1,master=1", "chief and master both"),
        ("ps=1", "needs chief=1 (or master=1)"),
        ("ps=1,evaluator=1", "needs chief=1 (or master=1)"),
        ("worker=2", "needs chief=1 (or master=1)"),
        ("master=1,evaluator=1", "a master evaluates its own checkpoints"),
        ("chief=1,evaluator=2", "one evaluator at most, got 2"),
    ],
)
def test_an_impossible_cluster_is_one_clear_error(text, message):
    with pytest.raises(ValueError) as error:
        parse_cluster(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5"])
def test_workers_wants_a_number(text):
    with pytest.raises(ValueError, match="--workers wants a number of processes"):
        parse_workers(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "chief=1", "--workers", "2"], "--cluster and --workers both"),
        (["--cluster", "chief=1", "--cores", "2"], "--cores is for a program in one process"),
        (["--workers", "2", "--cores", "2"], "--cores is for a program in one process"),
        (["--workers", "2", "--compile-for", "v5e-8"], "--compile-for is for a program"),
        (["--workers", "2", "--compile-only"], "needs a slice"),
        (["--workers", "2", "--check-tpu"], "give --cores N too"),
        (["--workers", "none"], "--workers wants a number"),
        (["--cluster", "worker=2"], "--workers N starts synchronous workers"),
        (["--workers", "2"], "there is no file 'none.py'"),
    ],
)
def test_wrong_usage_starts_nothing(options, message, capsys):
    assert cli.main(["run", *options, "none.py"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("estimator-bridge run: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_each_process_has_the_other_options():
    words = ["run", "--workers=2", "--tf1", "-v", "--tpu", "any", "-m", "tool", "--cores", "3"]
    arguments = cli.parse(words)
    assert options_of_processes(arguments) == ["--tpu=any", "--tf1", "-v", "-m"]
    assert arguments.program == ["tool", "--cores", "3"]
    assert options_of_processes(cli.parse(["run", "--tf2", "tool.py"])) == ["--tf2"]


def test_ports_are_free_and_different():
    ports = free_ports(50)
    assert len(set(ports)) == 50
    for port in ports:
        with socket.socket() as server:
            server.bind(("", port))
            server.listen()
    with pytest.raises(OSError, match="are free"):
        free_ports(100_000)
