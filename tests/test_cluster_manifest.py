"""The Kubernetes manifest of docs/workers.md: the roles that it starts are those of a cluster."""

import re
from pathlib import Path

import yaml

PAGE = Path(__file__).parents[1] / "docs" / "workers.md"
# Kubeflow's names of replicas, and the jobs that it writes into TF_CONFIG.
JOBS = {
    "Chief": "chief",
    "Master": "master",
    "Worker": "worker",
    "PS": "ps",
    "Evaluator": "evaluator",
}


def test_the_manifest_starts_a_job_with_parameter_servers():
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    job = yaml.safe_load(text)
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "TFJob")
    replicas = job["spec"]["tfReplicaSpecs"]
    counts = {JOBS[name]: spec["replicas"] for name, spec in replicas.items()}
    assert counts == {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}
    for spec in replicas.values():
        (container,) = spec["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow"  # the operator sets TF_CONFIG in this one
        assert container["command"][:2] == ["estimator-bridge", "run"]
        mounted = {each["name"] for each in container["volumeMounts"]}
        assert mounted == {each["name"] for each in spec["template"]["spec"]["volumes"]}
        assert spec["restartPolicy"] == "OnFailure"
