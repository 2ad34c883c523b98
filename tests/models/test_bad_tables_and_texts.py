"""What train.py refuses of tables and texts before it trains; nothing is written then."""

import re

import numpy as np
import pytest
import tensorflow as tf
from task_runs import open_task, parsed
from train_here import train

from models.common.errors import UserError
from models.common.task import InputRequest
from models.tabular.values import read_values

TINY = ("--nouse_tpu", "--mode=train", "--train_steps=2", "--train_batch_size=4")
ROWS = "x,target\n" + "".join(f"{i}.5,{i % 3}\n" for i in range(9))
GAP = ROWS.replace(",1\n", ",2\n")
LABELED = "a\tone text\nb\ttwo texts\n"
NOT_TEXT = b"\x89PNG\r\n\x1a\n"
LONG = "This sentence has more than five words in it. " * 60


def content(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def table(train=ROWS, test=ROWS):
    return {"t/train.csv": train, "t/test.csv": test}


def labeled(train=LABELED, test=LABELED):
    return {"train.tsv": train, "test.tsv": test}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


TABLES = {
    "text in a cell": (table(ROWS + "red,1\n"), r"train\.csv, line 11: column 'x' has 'red', want"),
    "an empty cell": (table(test=ROWS + ",1\n"), r"test\.csv, line 11: column 'x' has an empty ce"),
    "not finite": (table(ROWS + "inf,1\n"), r"train\.csv, line 11: column 'x' has 'inf', want a n"),
    "cut short": (table(ROWS + "7"), r"train\.csv, line 11: 1 cells, want 2 .* may be cut short"),
    "no rows": (table("x,target\n"), r"train\.csv: no rows below the header"),
    "no header": (table(""), r"train\.csv: empty\. Want a header"),
    "no text": (table(NOT_TEXT), r"train\.csv: not a CSV file in UTF-8"),
    "no target": (
        table("x,y\n1,1\n", "x,y\n1,1\n"),
        r"train\.csv: no column 'target', .* has x, y",
    ),
    "no other column": (table("target\n0\n1\n", "target\n0\n"), r"no column besides 'target'"),
    "other columns": (table(test="y,target\n1,1\n"), r"test\.csv: its columns .* differ from"),
    "one name twice": (table("x,x,target\n1,2,0\n"), r"line 1: two columns are named 'x'"),
    "one file": ({"t/train.csv": ROWS}, r"test\.csv: no such file\. --table=t wants train\.csv"),
    "an unknown class": (
        table(test=ROWS + "1,3\n"),
        r"test\.csv: row 10 has the class 3 .* 0 to 2",
    ),
    "one class": (table("x,target\n1,0\n2,0\n"), r"all rows have the class 0 in column 'target'"),
    "a gap": (
        table(GAP, GAP),
        r"has 0, 2, but not 1\. Are they classes or numbers\? Pass --target_",
    ),
}
TEXTS = {
    "three columns": (
        labeled(LABELED + "a\tb\tc\td\n"),
        r"train\.tsv, line 3: 4 columns, want a l",
    ),
    "no label": (labeled(LABELED + "a text\n"), r"train\.tsv, line 3: 1 columns, want a label"),
    "no text": (labeled(test=LABELED + "a\t\n"), r"test\.tsv, line 3: .* none of them empty"),
    "no lines": (labeled("\n\n"), r"train\.tsv: empty\. Want a label and a text in each line"),
    "not UTF-8": (labeled("a\té".encode()[:-1]), r"train\.tsv: cannot be read: 'utf-8' codec"),
    "an unknown label": (labeled(test="c\tx\n"), r"test\.tsv, line 1: the label 'c' is not in tra"),
    "one label": (
        labeled("a\tone\na\ttwo\n", "a\tx\n"),
        r"train\.tsv: all texts have the label 'a'",
    ),
    "one file": ({"train.tsv": LABELED}, r"has train\.tsv and no test\.tsv"),
    "no labels": ({"a.txt": LONG}, r"has \.txt files, and no train\.tsv and test\.tsv .*pretrain"),
}
FOR_LSTM = {
    "an empty file": ({"a.txt": LONG, "b.txt": ""}, r"/b\.txt: empty\. Remove it"),
    "not UTF-8": ({"a.txt": NOT_TEXT}, r"/a\.txt: not a text file in UTF-8"),
    "a folder": ({"a.txt/b": ""}, r"/a\.txt: cannot be read: Is a directory"),
    "too little": ({"a.txt": "few words"}, r"too little text: the train set has less than the 65"),
}
CASES = [
    pytest.param(flags, *case, id=f"{flags[0]} {name}")
    for flags, cases in (
        (("tabular", "--table=t"), TABLES),
        (("bert", "--bert_size=nano"), TEXTS),
        (("lstm",), FOR_LSTM),
        (
            ("bert", "--bert_task=pretrain"),
            {"too little": ({"a.txt": "Too little."}, r"too little text to pretrain on")},
        ),
    )
    for name, case in cases.items()
]


@pytest.mark.parametrize(("flags", "files", "message"), CASES)
def test_it_is_refused_and_nothing_is_written(tmp_path, flags, files, message):
    folder = tmp_path / "data"
    write(folder, files)
    before = content(tmp_path)
    model, *others = flags
    done = train(tmp_path, f"--model={model}", *others, f"--data_dir={folder}", *TINY)
    assert done.code == 1, done
    assert re.search(message, done.err, re.S), done.err
    assert str(folder) in done.err
    assert "Traceback" not in done.err
    assert "step " not in done.out
    assert content(tmp_path) == before


def opened(tmp_path, rows, *flags):
    write(tmp_path, table(rows, rows))
    return open_task(parsed("--model=tabular", "--table=t", f"--data_dir={tmp_path}", *flags))


def labels_of(task):
    input_fn = task.data.input_fn(InputRequest("test", False, 64))
    return np.concatenate([labels for _, labels in input_fn()])


@pytest.mark.parametrize(
    "rows", [GAP, "x,target\n" + "".join(f"1,{i % 3 + 1}\n" for i in range(9))]
)
def test_whole_numbers_with_a_gap_are_what_the_flag_says(tmp_path, rows):
    """Gaps in the middle, or at 0: classes and ratings are told apart by the user alone."""
    with pytest.raises(UserError, match="--target_kind=number to predict a number, --target_kind="):
        opened(tmp_path, rows)
    number = opened(tmp_path, rows, "--target_kind=number")
    assert number.params["outputs"] == 1
    assert labels_of(number).dtype == np.float32
    classes = opened(tmp_path, rows, "--target_kind=classes")
    assert classes.params["outputs"] == 1 + max(labels_of(number))
    assert labels_of(classes).dtype == np.int64


@pytest.mark.parametrize(
    ("targets", "outputs"),
    [
        ([0, 1, 2], 3),
        ([0.0, 1.5, 2.0], 1),
        ([-1, 0, 1], 1),
        ([2000, 0, 1], 1),
        (range(0, 80, 2), 1),  # counts: so many classes with gaps are not likely
        (range(30), 30),
    ],
)
def test_the_kind_that_the_values_tell(tmp_path, targets, outputs):
    rows = "x,target\n" + "".join(f"1,{target}\n" for target in targets)
    assert opened(tmp_path, rows).params["outputs"] == outputs


def test_classes_that_are_none_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"--target_kind=classes wants whole numbers .* has 1\.5"):
        opened(tmp_path, ROWS.replace(",1\n", ",1.5\n"), "--target_kind=classes")


def test_cells_are_read_as_the_records_have_them(tmp_path):
    """Quotes, a mark at the file's start, and empty lines."""
    path = tmp_path / "a.csv"
    path.write_text('\ufeffx,y\r\n"1.5",2\r\n\r\n-3e4, 0.1\r\n', encoding="utf-8")
    values = read_values(str(path))
    assert list(values) == ["x", "y"]
    assert values["x"].tolist() == [1.5, -3e4]
    assert values["y"].tolist() == [2.0, np.float32(0.1)]


def test_a_checkpoint_of_another_model_does_not_start_bert(tmp_path):
    checkpoint = tf.train.Checkpoint(other=tf.Variable([1.0])).save(str(tmp_path / "other"))
    folder = tmp_path / "data"
    write(folder, labeled())
    done = train(
        tmp_path, "--model=bert", "--bert_size=nano", f"--data_dir={folder}", *TINY,
        f"--init_checkpoint={checkpoint}", f"--model_dir={tmp_path / 'run'}",
    )  # fmt: skip
    assert done.code == 1
    assert f"--init_checkpoint={checkpoint}: it is of another model: bert/embedd" in done.err
    assert "word_embeddings is missing" in done.err
    assert not list((tmp_path / "run").glob("*.ckpt*"))
    done = train(
        tmp_path, "--model=bert", f"--data_dir={folder}", *TINY,
        f"--init_checkpoint={tmp_path}/none.ckpt",
    )  # fmt: skip
    assert f"there is no {tmp_path}/none.ckpt.index" in done.err
