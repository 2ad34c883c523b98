"""Reads flags from a YAML file, `--config run.yaml`; the command line has precedence."""

from __future__ import annotations

import difflib
import math
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags as absl_flags

from flags.rules import AUTO
from flags.validate import FlagsError

__all__ = ["flags_in_force", "with_config", "write_config"]

_NAME = "config"
# One of these on the command line replaces the others of the file.
_ALTERNATIVES = (
    {"batch_size_per_core"},
    {"train_batch_size", "eval_batch_size", "predict_batch_size"},
)
_NOT_KEPT = {"config", "flagfile", "undefok", "dry_run", "help", "helpfull", "helpshort", "helpxml"}
# The folders that libraries are installed in; the second is Debian's.
_INSTALLED = {"site-packages", "dist-packages"}
# A file of all flags has 5,000 characters, and one level.
_MOST_CHARACTERS = 100_000
_MOST_LEVELS = 20
_SHOWN = 80
_WANTED = {
    "bool": "true or false",
    "switch or auto": "true, false or auto",
    "int": "a whole number",
    "float": "a number",
    "string": "a text",
    "string enum": "a text",
}


def with_config(argv: Sequence[str], flag_values: absl_flags.FlagValues) -> list[str]:
    """Puts the flags of the YAML files that a command line names in front of its own.

    Args:
        argv: the program's name and its arguments.
        flag_values: the defined flags.

    Returns:
        The arguments, without `--config`.

    Raises:
        FlagsError: a file cannot be read, is not a mapping of flags, or has an unknown key or a
            value of another type. The message lists all of it, with lines.
    """
    program, *words = argv
    files, rest = _split(words)
    flag_names = {name for word in rest if (name := _flag_name(word, flag_values))}
    arguments: list[str] = []
    for path in files:
        arguments += _arguments(path, flag_names, flag_values)
    return [program, *arguments, *rest]


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the files that `--config` names, and the other words."""
    files: list[str] = []
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return files, [*rest, word, *waiting]
        name, has_equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or name != _NAME:
            rest.append(word)
        elif has_equals and value:
            files.append(value)
        elif not has_equals and waiting:
            files.append(waiting.pop(0))
        else:
            raise FlagsError(["--config= is empty: name a YAML file, as in --config=run.yaml"])
    return files, rest


def _flag_name(word: str, flag_values: absl_flags.FlagValues) -> str | None:
    if not word.startswith("-"):
        return None
    name = word.lstrip("-").partition("=")[0]
    is_negated = name not in flag_values and name.startswith("no") and name[2:] in flag_values
    return name[2:] if is_negated else name


def _compose(path: str) -> Any:
    """Returns the nodes of a YAML file, if it is not too deep and has no alias of a collection.

    A few lines of such aliases can stand for gigabytes.
    """
    import yaml  # few runs have such a file

    from estimator_bridge.base.any_files import open_text

    try:
        with open_text(path) as file:
            text = file.read(_MOST_CHARACTERS + 1)
        if len(text) > _MOST_CHARACTERS:
            raise FlagsError([f"--config={path}: more than {_MOST_CHARACTERS:,} characters"])
        depth = 0
        texts: set[str] = set()
        for event in yaml.parse(text, yaml.SafeLoader):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.ScalarEvent) and event.anchor:
                texts.add(event.anchor)  # PyYAML refuses an anchor that occurs twice
            if isinstance(event, yaml.AliasEvent) and event.anchor not in texts:
                raise FlagsError(
                    [f"{path}, line {line}: the alias *{event.anchor} is not of one value"]
                )
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_LEVELS:
                raise FlagsError([f"{path}, line {line}: nested more than {_MOST_LEVELS} deep"])
        return yaml.compose(text, yaml.SafeLoader)
    except OSError as error:
        raise FlagsError([f"--config={path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise FlagsError([f"--config={path}: not a text file. Want YAML"]) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise FlagsError([f"--config={path}: not YAML: {reason}"]) from None


def _arguments(path: str, flag_names: set[str], flag_values: absl_flags.FlagValues) -> list[str]:
    import yaml  # few runs have such a file

    root = _compose(path)
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        raise FlagsError([f"--config={path}: want lines of `flag: value`, got a {root.id}"])
    left_out = {
        name
        for mine, other in (_ALTERNATIVES, _ALTERNATIVES[::-1])
        if mine & flag_names
        for name in other
    }
    problems: list[str] = []
    arguments: list[str] = []
    line_by_name: dict[str, int] = {}
    for key, node in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            problems.append(f"{path}, line {line}: got a {key.id} as a flag's name, want a text")
            continue
        name = str(key.value)
        where = f"{path}, line {line}: {name}"
        if name in line_by_name:
            problems.append(f"{where}: given twice, in line {line_by_name[name]} too")
            continue
        line_by_name[name] = line
        if name not in flag_values or name == _NAME:
            problems.append(f"{where}: there is no such flag{_nearest(name, flag_values)}")
            continue
        try:
            value = _value(node, flag_values[name])
        except ValueError as error:
            problems.append(f"{where}: {error}")
            continue
        if value is not None and name not in left_out:
            arguments.append(f"--{name}={value}")
    if problems:
        raise FlagsError(problems)
    return arguments


def _nearest(name: str, flag_values: absl_flags.FlagValues) -> str:
    near = difflib.get_close_matches(name.replace("-", "_"), list(flag_values), n=1)
    return f"; did you mean {near[0]}?" if near else "; --help lists all"


def _value(node: Any, flag: absl_flags.Flag) -> str | None:
    """Returns a value as a command line has it; None for null, the flag's default.

    Raises:
        ValueError: it has another type than the flag.
    """
    import yaml

    kind = flag.flag_type()
    if not isinstance(node, yaml.ScalarNode):
        excerpt = "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"
        raise ValueError(f"got {excerpt}, want {_WANTED.get(kind, 'one value')}")
    tag = node.tag.rpartition(":")[2]
    if tag == "null":
        return None
    text = str(node.value)
    fits = {
        "bool": tag == "bool",
        "switch or auto": tag == "bool" or text.lower() == AUTO,
        "int": tag == "int" and _is_whole(text),
        "float": tag in ("int", "float") or _is_number(text),  # YAML 1.1 reads 1e-3 as a text
    }.get(kind, tag == "str" or not _is_word(node))
    if not fits:
        quoted = f', such as {flag.name}: "{text}"' if kind.startswith("string") else ""
        excerpt = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        raise ValueError(f"got {excerpt} ({_type_of(tag)}), want {_WANTED.get(kind, kind)}{quoted}")
    if tag == "bool":
        return "true" if text.lower() in ("true", "yes", "on") else "false"
    return text


def _is_word(node: Any) -> bool:
    """Returns whether YAML took a word such as yes, off or 12 for something other than a text."""
    return node.style is None


def _is_whole(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _type_of(tag: str) -> str:
    return {
        "str": "a text",
        "int": "a whole number",
        "float": "a number",
        "bool": "a truth value",
        "timestamp": "a date",
    }.get(tag, tag)


def flags_in_force(flag_values: absl_flags.FlagValues) -> dict[str, Any]:
    """Returns the values of all flags that have one, without those of libraries.

    Libraries define flags too, such as TensorFlow Hub. Another program that reads the file may not
    import them, and would not know their flags.

    Args:
        flag_values: parsed flags.
    """
    names = [
        flag.name
        for module, flags in flag_values.flags_by_module_dict().items()
        for flag in flags
        if flag.name not in _NOT_KEPT and not _is_installed(module)
    ]
    values = {name: flag_values[name].value for name in sorted(names)}
    if values.get("batch_size_per_core") is not None:
        values = {name: value for name, value in values.items() if name not in _ALTERNATIVES[1]}
    return {name: value for name, value in values.items() if value is not None}


def _is_installed(module: str) -> bool:
    """Returns whether flags are a library's: its file is in a folder of installed packages."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or module.partition(".")[0] == __name__.partition(".")[0]:
        return False
    return not _INSTALLED.isdisjoint(pathlib.Path(file).parts)


def write_config(path: str, values: Mapping[str, Any], about: str) -> None:
    """Writes flags as a file for `--config`.

    Args:
        path: the file.
        values: the flags.
        about: a comment for its first line.
    """
    import yaml

    text = yaml.safe_dump(dict(values), sort_keys=True, allow_unicode=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# {about}\n{text}")
