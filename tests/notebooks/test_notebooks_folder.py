"""The notebooks of `notebooks/` run from their first cell to their last, each in a kernel."""

import re
import shutil
from pathlib import Path

import nbclient
import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
# What a reader should see at the end of each, by notebook.
SHOWN_AT_THE_END = {
    "first_run": r"accuracy on 320 test digits: 0\.(8|9)\d+",
    "kaggle_and_colab": r"accuracy (0\.[89]\d|1\.00)",
    "keras_on_cores": r"cores: 2\n.*accuracy of the last epoch: 0\.9\d+\n.*loss after each",
    "migration": r"fully_connected\n.*accuracy (0\.9\d|1\.00)\n.*EB012.*\n\+import estimator_",
}
NOISE = re.compile(r"WARNING|Warning|Traceback|deprecated|\bE0000\b|\bI0000\b")
EMULATION_NOTE = "No TPU in use: 2 emulated"


def read(name):
    return nbformat.read(str(FOLDER / f"{name}.ipynb"), as_version=4)


def text_of(output):
    if "text" in output:
        return output["text"]
    return output.get("data", {}).get("text/plain", "")


@pytest.mark.parametrize("name", SHOWN_AT_THE_END)
def test_a_notebook_runs_and_shows_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # with it, a kernel hides what C++ code prints
    shutil.copy(FOLDER / f"{name}.ipynb", tmp_path)
    book = read(name)
    client = nbclient.NotebookClient(
        book, timeout=200, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = "\n".join(
        text_of(output).rstrip() for cell in book.cells for output in cell.get("outputs", ())
    )
    assert re.search(SHOWN_AT_THE_END[name], shown, re.DOTALL), shown
    puzzling = [
        line for line in shown.splitlines() if NOISE.search(line) and EMULATION_NOTE not in line
    ]
    assert puzzling == []


def test_each_notebook_is_run_and_kept_without_outputs():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(SHOWN_AT_THE_END)
    for name in SHOWN_AT_THE_END:
        cells = [cell for cell in read(name).cells if cell.cell_type == "code"]
        assert all(cell.outputs == [] and cell.execution_count is None for cell in cells), name


def test_links_between_notebooks_and_pages_lead_somewhere():
    for name in SHOWN_AT_THE_END:
        for cell in read(name).cells:
            for link in re.findall(r"\]\(([^)\s]+)\)", cell.source):
                assert (FOLDER / link).exists(), f"{name}: {link}"
