"""Removes credentials from texts for logs, errors and reports."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.base.secret_names import is_secret_name, may_be_a_path

__all__ = ["redacted", "redacted_arguments", "redacted_lines"]

_MASK = "***"
_PATH = re.compile(r"(?:~|\.{0,2}/|[A-Za-z]:\\)[\w./\\ -]*")
_RULES = [
    # PEM blocks, including truncated ones and ones with \n written as two characters.
    (re.compile(r"-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|$)", re.DOTALL), _MASK),
    # https://user:password@host; a password may have / and :, but what follows a port is none.
    (re.compile(r"(?<=://)[^\s/@:\"']*:(?!\d+/)[^\s\"'@]*@"), _MASK + "@"),
    (re.compile(r"(?<=://)[^\s/@\"']+@"), _MASK + "@"),
    (re.compile(r"(?i)\b(Bearer|Basic)\s+[\w.~+/=-]{6,}"), rf"\1 {_MASK}"),
    # Prefixes of some services' tokens.
    (
        re.compile(
            r"\b(?:ya29\.|AIza|AKIA|ASIA|gh[opsu]_|github_pat_|glpat-|hf_|xox[abp]-|eyJ"
            r"|sk_live_|rk_live_|npm_|pypi-|sk-(?=[\w-]*\d))[\w.~+/=-]{8,}"
        ),
        _MASK,
    ),
]
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?"
# A value ends at white space, or before what looks like the next of a list.
_BARE = r"(?:[^\s,;&}\"']|[,;&](?![\s]|[\w.-]+=|$))+"
_FLAG = re.compile(
    rf"(?P<start>(?<![\w-])--?)(?P<name>[A-Za-z][\w.-]*)(?P<is>=|\s+(?!-))"
    rf"(?P<value>{_QUOTED}|[^\s\"']+)"
)
_IN_ADDRESS = re.compile(r"(?P<start>[?&])(?P<name>[\w.%-]+)(?P<is>=)(?P<value>[^\s&\"';]+)")
_NAMED = re.compile(
    rf"(?P<start>(?<![\w.?&-])[\"']?)(?P<name>[A-Za-z_][\w.-]*)(?P<is>[\"']?\s*[:=]\s*)"
    rf"(?P<value>{_QUOTED}|\[[^\]]*\]?|{_BARE})"
)
_LINE = re.compile(r"(?P<indent>\s*(?:- )?)[\"']?(?P<name>[\w.-]+)[\"']?\s*:(?:\s+(?P<value>.*))?")


def redacted(text: str) -> str:
    """Replaces passwords, tokens and keys by ***; paths of credential files stay.

    Args:
      text: a text such as an environment variable's value, or an error that may quote one.
    """
    try:
        parsed = foreign_json(text, is_nan_allowed=True, are_names_unique=False)
    except ValueError:
        return _of_text(text)
    if not isinstance(parsed, (dict, list)):
        return _of_text(text)
    masked = _of_json(parsed)
    return text if masked == parsed else json.dumps(masked)


def redacted_arguments(words: Sequence[str]) -> str:
    """Returns a command line for a shell as one text, with the values of secret flags as ***.

    Args:
      words: the program and its arguments: a secret value may have spaces, or be its own word.
    """
    texts: list[str] = []
    is_value = False
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        is_flag = word.startswith("-") and bool(name)
        if is_value and not is_flag:
            texts.append(_MASK)
        elif is_flag and equals and _is_secret(name, value, True):
            texts.append(f"{word[: -len(value)] if value else word}{_MASK}")
        else:
            texts.append(word if is_flag and not equals else _of_text(word))
        is_value = is_flag and not equals and is_secret_name(name, is_flag=True)
    return " ".join(text if _MASK in text else shlex.quote(text) for text in texts)


def redacted_lines(text: str) -> str:
    """Returns a YAML file's text with the values of secret names as ***, nested ones included."""
    lines: list[str] = []
    depth: int | None = None  # of the secret name whose block goes on
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        is_item = line.lstrip().startswith("- ") and indent == depth
        if depth is not None and (not line.strip() or indent > depth or is_item):
            lines.append(f"{line[:indent]}{_MASK}" if line.strip() else line)
            continue
        depth = None
        match = _LINE.fullmatch(line)
        if match and is_secret_name(match["name"], is_flag=True):
            value = (match["value"] or "").strip()
            if not value or value[0] in "|>&!{[\"'":
                depth = len(match["indent"])
            is_kept = bool(value) and not _is_secret(match["name"], value.strip("\"'"), True)
            masked = line if not value or is_kept else f"{line[: -len(match['value'])]}{_MASK}"
            lines.append(masked)
        else:
            lines.append(_of_text(line))
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _of_json(value: Any, secret: str = "") -> Any:
    if isinstance(value, dict):
        return {
            key: _of_json(inner, secret or (key if is_secret_name(key, is_flag=True) else ""))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_of_json(inner, secret) for inner in value]
    if secret and value is not None:
        is_kept = isinstance(value, str) and not _is_secret(secret, value, True)
        return value if is_kept else _MASK
    return _of_text(value) if isinstance(value, str) else value


def _of_text(text: str) -> str:
    for pattern, mask in _RULES:
        text = pattern.sub(mask, text)
    text = _IN_ADDRESS.sub(lambda match: _mask(match, True), text)
    text = _FLAG.sub(lambda match: _mask(match, True), text)
    return _NAMED.sub(lambda match: _mask(match, bool(match["start"])), text)


def _mask(match: re.Match[str], is_flag: bool) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    if not _is_secret(match["name"], value.strip("\"'"), is_flag):
        return match[0]
    return f"{match['start']}{match['name']}{match['is']}{quote}{_MASK}{quote}"


def _is_secret(name: str, value: str, is_flag: bool) -> bool:
    """Returns whether a name is that of a secret, and its value is not the path of its file."""
    if not is_secret_name(name, is_flag):
        return False
    return not (may_be_a_path(name) and _PATH.fullmatch(value))
