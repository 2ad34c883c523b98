"""Removes credentials from texts for logs, errors and reports."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["redacted"]

_MASK = "***"
_LONG = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|account[_-]?key|credential|authorization|signature)[\w.-]*"
)
_SHORT = r"key|sig|pwd|auth"  # in JSON and in addresses; plain words elsewhere
_KEY = re.compile(f"{_LONG}|{_SHORT}", re.IGNORECASE)
_PATH = re.compile(r"(?:~|\.{0,2}/|[A-Za-z]:\\)[\w./\\ -]*")
_RULES = [
    # PEM blocks, including truncated ones and ones with \n written as two characters.
    (re.compile(r"-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|$)", re.DOTALL), _MASK),
    (re.compile(r"(?<=://)[^\s/@\"']+@"), _MASK + "@"),  # https://user:password@host
    (re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE), rf"\1 {_MASK}"),
    # Prefixes of some services' tokens.
    (
        re.compile(
            r"\b(?:ya29\.|AIza|AKIA|ASIA|gh[opsu]_|github_pat_|glpat-|hf_|xox[abp]-|sk-|eyJ)"
            r"[\w.~+/=-]{8,}"
        ),
        _MASK,
    ),
]
_NAMED = re.compile(
    rf"(?P<key>(?<![\w.-])(?:{_LONG})|(?<=[?&\"'])(?:{_SHORT}))(?P<is>[\"']?\s*[:=]\s*)"
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|\[[^\]]*\]?|[^\s,;&}\"']+)",
    re.IGNORECASE,
)


def redacted(text: str) -> str:
    """Replaces passwords, tokens and keys by ***; paths of credential files stay.

    Args:
      text: a text such as an environment variable's value, or an error that may quote one.
    """
    try:
        parsed = json.loads(text)
    except ValueError:
        return _of_text(text)
    if not isinstance(parsed, (dict, list)):
        return _of_text(text)
    masked = _of_json(parsed)
    return text if masked == parsed else json.dumps(masked)


def _of_json(value: Any, is_secret: bool = False) -> Any:
    if isinstance(value, dict):
        return {
            key: _of_json(inner, is_secret or bool(_KEY.fullmatch(key)))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_of_json(inner, is_secret) for inner in value]
    if is_secret and value is not None:
        return value if isinstance(value, str) and _PATH.fullmatch(value) else _MASK
    return _of_text(value) if isinstance(value, str) else value


def _of_text(text: str) -> str:
    for pattern, mask in _RULES:
        text = pattern.sub(mask, text)
    return _NAMED.sub(_masked, text)


def _masked(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    if _PATH.fullmatch(value.strip("\"'")):
        return match[0]
    return f"{match['key']}{match['is']}{quote}{_MASK}{quote}"
