"""Records loop_draws.json: the numbers that sessions draw in loops, branches and functions.

cd tests && python -m goldens.loop_draws.make_loop_draws      # TensorFlow 2.15.1, then 1.15.5

A second recording has to be equal to the first one.
"""

import json
import os

import tensorflow as tf
from goldens.loop_draws import loop_draw_cases

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loop_draws.json")


def main():
    """Writes the file, or compares it with what this TensorFlow draws."""
    tf.compat.v1.disable_eager_execution()
    tf.compat.v1.enable_control_flow_v2()
    golden = {"tensorflow": [tf.__version__], "draws": loop_draw_cases.draw()}
    if os.path.exists(FILE):
        with open(FILE) as file:
            first = json.load(file)
        if first["draws"] != golden["draws"]:
            raise SystemExit(f"This TensorFlow draws other numbers than {first['tensorflow']}")
        golden["tensorflow"] = sorted({*first["tensorflow"], tf.__version__})
    with open(FILE, "w") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
