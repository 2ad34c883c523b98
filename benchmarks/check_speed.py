"""Measures `estimator-bridge check` and `rewrite` on 10,000 lines.

    python -m benchmarks.check_speed [--lines 10000] [--rounds 5] [PATH...]

Without a path, the source is a generated model of that many lines, in which every eighth line has
a finding. Times are CPU seconds of this process for 10,000 lines, the minimum of the rounds, beside
those of Python's own parser. The goal for `check` is less than 2 s.
"""

from __future__ import annotations

import argparse
import ast
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from estimator_bridge.migrate.check import check
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.rewriting import rewrite

BLOCK = """\
def f{0}(features, params):
    net = tf.layers.dense(features["x"], params.size, activation=tf.nn.relu)
    net = tf.contrib.layers.layer_norm(net) if {0} > 2 else net
    for i in range({0}):
        net = net + tf.reduce_sum(net, axis=1, keepdims=True)
    return net


"""


def generate(lines: int) -> str:
    """Returns a source of about this number of lines."""
    blocks = map(BLOCK.format, range(lines // BLOCK.count("\n")))
    return "import tensorflow as tf\n\n" + "".join(blocks)


def least(rounds: int, work: Callable[[], object]) -> float:
    """Returns the CPU seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measures, and prints a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="PATH")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.py"
        file.write_text(generate(arguments.lines), encoding="utf-8")
        paths = arguments.paths or [str(file)]
        report = check(paths, Options())
        checked_files = [
            checked_file for checked_file in report.files if not checked_file.passed_over
        ]
        lines = sum(checked_file.lines for checked_file in checked_files)
        sources = [Path(f.path).read_bytes() for f in checked_files if f.path.endswith(".py")]
        works: dict[str, Callable[[], object]] = {
            "ast.parse": lambda: [ast.parse(source) for source in sources],
            "check": lambda: check(paths, Options()),
            "rewrite, in memory": lambda: rewrite(paths, Options()),
        }
        print(f"{lines:,} lines in {len(checked_files):,} files, {len(report.findings):,} findings")
        for name, work in works.items():
            seconds = least(arguments.rounds, work)
            print(f"{name:20} {seconds / lines * 10_000:6.2f} s for 10,000 lines")


if __name__ == "__main__":
    main()
