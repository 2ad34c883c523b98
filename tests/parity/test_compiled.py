"""The matrix of compiled programs: commands, continued runs, the page, counts."""

from __future__ import annotations

import json
import os
import types
from pathlib import Path

import documents
import pytest

from estimator_bridge.compile_for import find_slice
from parity import compile_for_tpu
from parity.compiled import counted, fetched, on_cores
from parity.compiled.page import figures_table, matrix, page, unexplained
from parity.compiled.results import ON_JAX, Results
from parity.compiled.several import SeveralSlices, by_replicas

FOLDERS = {"data": "/data", "out": "/out", "code": "/code"}


@pytest.mark.parametrize("name", fetched.FETCHED)
def test_commands_are_filled_in(name):
    program = fetched.FETCHED[name]
    words = fetched.command(program, 4, **FOLDERS)
    assert words[0].startswith("/code/")
    text = " ".join(words)
    for left in ("{n}", "n}", "{data}", "{out}", "{code}", "CONFIG", "LENGTH", "BATCH"):
        assert left not in text
    options = dict(
        word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word
    )
    for flag in ("train_batch_size", "batch_size", "train-batch-size"):
        assert int(options.get(flag, 4)) % 4 == 0


def step(name="training", **more):
    memory = {"total": 3 * 2**20, "available": 2**30, "arguments": 2048, "arguments_unpadded": 1000}
    return {
        "compiled": True, "name": name, "examples": 8, "flops": 1e6, "bytes_moved": 2e6,
        "hbm_bytes_moved": 1e6,
        "memory": memory, "sums": 4, "all_reduces": 1, "seconds": 1e-5, "bound": "memory",
        "compile_seconds": 0.5, **more,
    }  # fmt: skip


def refused(message):
    return {"compiled": False, "name": "training", "target": "v3-8", "why": "a", "message": message}


def test_a_later_run_goes_on_from_what_is_there(tmp_path):
    path = tmp_path / "compiled.json"
    Results(path).add("mlp", {"v3-8": [step()]}, {"jax": "1", "libtpu": "2"})
    again = Results(path)
    assert again.missing("mlp", ["v3-8", "v5e-1"]) == ["v5e-1"]
    assert again.missing("conv", ["v3-8"]) == ["v3-8"]
    Results(path).add("conv", {"v3-8": [step()]}, {"jax": "1", "libtpu": "2"})
    again.add("mlp", {"v5e-1": [step()]}, {})
    assert set(Results(path).programs) == {"conv", "mlp"}
    assert json.loads(path.read_text())["versions"] == {
        "conv": {"v3-8": {"jax": "1", "libtpu": "2"}},
        "mlp": {"v3-8": {"jax": "1", "libtpu": "2"}, "v5e-1": {}},
    }


def test_the_page_says_which_release_compiled_what(tmp_path):
    results = Results(tmp_path / "compiled.json")
    results.add("mlp", {"v3-8": [step()]}, {"jax": "1", "libtpu": "2"})
    assert "It was libtpu 2, by jax 1." in page(results)
    results.add("mlp", {"v5e-1": [step()]}, {"jax": "1", "libtpu": "3"})
    results.add("conv", {"v3-8": [step()]}, {"jax": "1", "libtpu": "2"})
    shown = page(results)
    assert "libtpu 2, by jax 1: conv (v3-8); mlp (v3-8)." in shown.replace("\n", " ")
    assert "libtpu 3, by jax 1: mlp (v5e-1)." in shown


def test_the_page_counts_and_names_what_nobody_has_explained(tmp_path):
    results = Results(tmp_path / "compiled.json")
    strange = refused("the compiler ended")
    refusal = refused("LookupTableFindV2 (hash_table)")
    results.add("mlp", {"v3-8": [step(), strange]}, {"jax": "1", "libtpu": "2"})
    results.add("warm_start", {"v3-8": [refusal]}, {})
    assert list(matrix(results))[-1] == "| all | 1 of 3 |"
    assert unexplained(results) == ["mlp, training for v3-8: a: the compiler ended"]
    assert "NOT EXPLAINED: the compiler ended" in page(results)
    assert "parity/programs/warm_start.py" in page(results)


def test_the_documentation_shows_the_results_that_are_kept():
    results = Results(compile_for_tpu.JSON)
    assert unexplained(results) == []
    shown = documents.ROOT.joinpath("docs/tpu.md").read_text(encoding="utf-8")
    for line in (*matrix(results), *figures_table(results)):
        assert line in shown
    assert compile_for_tpu.PAGE.read_text(encoding="utf-8") == page(results)


def test_an_unknown_program_slice_or_folder_is_named(capsys, tmp_path):
    for arguments, words in (
        (["mpl"], "no such program: mpl"),
        (["mlp", "--slices", "v9-8"], "no TPU slice is named 'v9-8'"),
        (["tpu: mnist_tpu"], "name the folder of their repositories with --checkouts"),
        (["tpu: mnist_tpu", "--checkouts", str(tmp_path)], "https://github.com/tensorflow/tpu"),
    ):
        with pytest.raises(SystemExit) as stopped:
            compile_for_tpu.main(arguments)
        assert stopped.value.code == 2
        assert words in capsys.readouterr().err


def test_a_program_imports_its_repository_as_a_package(tmp_path, monkeypatch):
    checkout = tmp_path / "google-research+albert"
    checkout.mkdir()
    (checkout / "modeling.py").write_text("")
    roots = []

    def process(arguments, folder, secs, environment):
        paths = environment["PYTHONPATH"].split(os.pathsep)
        roots.extend(path for path in paths if Path(path, "albert", "modeling.py").exists())
        return "it ended"

    monkeypatch.setattr(compile_for_tpu, "_process", process)
    options = types.SimpleNamespace(checkouts=tmp_path, again=True)
    results = Results(tmp_path / "compiled.json")
    compile_for_tpu._compile_fetched(
        "albert: run_pretraining", [find_slice("v5e-1")], results, options, tmp_path
    )
    assert len(roots) == 1
    (ended,) = results.programs["albert: run_pretraining"]["v5e-1"]
    assert ended["message"] == "it ended"


def test_slices_of_one_job_have_equally_many_replicas():
    slices = [find_slice(name) for name in ("v3-8", "v5e-1", "v5e-8")]
    assert {n: [s.name for s in some] for n, some in by_replicas(slices).items()} == {
        1: ["v5e-1"],
        8: ["v3-8", "v5e-8"],
    }
    with pytest.raises(ValueError, match="v5e-1: 1"):
        SeveralSlices(slices)


def test_counts_by_hand_agree_with_published_ones():
    # He et al., table 1: 3.8e9 multiply-adds for a picture, with the stride in the first of a
    # block's convolutions; in the second, as here, they are 4.1e9 (tensorflow/tpu's README).
    forward = resnet_forward = counted.resnet50_flops(1, padding=True) / 6
    assert resnet_forward == pytest.approx(4.1e9, rel=0.02)
    assert forward > counted.resnet50_flops(1) / 6
    # Six FLOPs a weight and token, with attention and words besides: Kaplan et al. 2020, 2.1.
    weights = 12 * (4 * 768**2 + 2 * 768 * 3072)
    words = 4 * 512 * 768 * 30524
    attention = 12 * 3 * 4 * 512 * 128 * 768
    pooler = 6 * 4 * 768 * 770
    assert counted.bert_flops(4, 128) == 6 * 512 * weights + words + attention + pooler
    assert counted.mlp_flops(2, [3, 5, 7]) == 2 * 2 * (3 * (15 + 35) - 15)


@pytest.mark.parametrize("program", counted.BY_HAND)
def test_the_compilers_flops_are_those_counted_by_hand(program):
    (training,) = Results(compile_for_tpu.JSON).programs[program]["v5e-1"]
    assert training["flops"] == pytest.approx(counted.BY_HAND[program], rel=0.05)


@pytest.mark.parametrize("program", counted.ARGUMENT_BYTES)
def test_arguments_have_the_size_of_their_shapes(program):
    (training,) = Results(compile_for_tpu.JSON).programs[program]["v5e-1"]
    memory = training["memory"]
    assert memory["arguments_unpadded"] == counted.ARGUMENT_BYTES[program]
    assert memory["arguments_unpadded"] < memory["arguments"] < 1.01 * memory["arguments_unpadded"]
    assert memory["total"] == (
        memory["arguments"] + memory["outputs"] - memory["aliases"]
        + memory["temporaries"] + memory["code"]
    )  # fmt: skip


def test_training_moves_its_arguments_through_hbm_and_not_all_that_moves_does():
    programs = Results(compile_for_tpu.JSON).programs.values()
    # A block's batches on JAX are arguments, of which a step moves one.
    steps = [
        one
        for slices in programs
        for name, of_slice in slices.items()
        for one in of_slice
        if not name.endswith(ON_JAX)
    ]
    counted = [one for one in steps if "hbm_bytes_moved" in one]
    assert len(counted) > 400
    for one in counted:
        # Other modes leave alone what only training needs.
        arguments = one["memory"]["arguments_unpadded"] if one["name"] == "training" else 0
        assert 0.99 * arguments < one["hbm_bytes_moved"] < one["bytes_moved"]


def test_input_that_is_no_dataset_and_cannot_be_made_one_stays_as_it_is():
    program = types.ModuleType("without_examples")
    tensors = {"x": object()}, object()
    input_fn = on_cores._in_full_batches(program, lambda params: tensors, 6, training=True)
    assert input_fn({}) is tensors
