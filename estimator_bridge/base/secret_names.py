"""Decides by a name whether its value is a secret: `db_password` is, `num_tokens` is not."""

from __future__ import annotations

import re

__all__ = ["is_secret_name", "may_be_a_path"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDS = (
    "password", "passwd", "passphrase", "secret", "secrets", "apikey", "accesskey", "secretkey",
    "privatekey", "authtoken", "accesstoken", "credential", "credentials", "passcode", "passwords",
)  # fmt: skip
_PASSES = frozenset(["pass", "pwd", "dbpass", "userpass", "rootpass", "mypass", "adminpass"])
# Names that end so are of something about the secret or the tokens of a text.
_ABOUT = frozenset(
    ["size", "sizes", "length", "len", "count", "type", "types", "id", "ids", "name", "names",
     "column", "columns", "index", "dim", "dims", "limit", "max", "min", "format", "version",
     "policy", "ttl", "timeout", "required", "enabled", "vocab", "embedding", "embeddings", "dir",
     "path", "file", "folder", "url", "uri"]
)  # fmt: skip
_KEYS = frozenset(
    ["api", "access", "private", "account", "secret", "encryption", "signing", "ssh", "master",
     "storage", "service", "license", "subscription", "auth", "hmac", "aws", "gcp", "azure"]
)  # fmt: skip
# Before `token`: parts of a text, and counts.
_OF_TEXTS = frozenset(
    ["pad", "unk", "eos", "bos", "cls", "sep", "mask", "oov", "start", "end", "num", "n", "max",
     "min", "per", "special", "go", "first", "last", "next", "unknown", "padding", "word"]
)  # fmt: skip
_OF_COUNTS = frozenset(
    ["num", "n", "single", "one", "two", "first", "last", "forward", "backward", "max", "min",
     "per", "each", "multi", "second", "by", "low", "high", "band"]
)  # fmt: skip
_OF_ACCESS = frozenset(["auth", "access", "api", "refresh", "bearer", "session", "security", "id"])


def is_secret_name(name: str, is_flag: bool = False) -> bool:
    """Returns whether a name is that of a password, a token or a key.

    Args:
      name: the name of a flag, a variable or an entry.
      is_flag: whether it stands where names do: a flag, a quoted or a YAML key, a parameter of an
        address. Words such as `key` and `pass` are then names, too.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT:
        return False
    last, before = words[-1], (words[-2] if len(words) > 1 else "")
    letters = "".join(words)
    if letters.endswith(_ENDS) or any(word in _ENDS for word in words):
        return True
    if last == "token":
        return before not in _OF_TEXTS
    if last == "tokens":
        return before in _OF_ACCESS
    if last == "key":
        is_of_environment = name.isupper() and bool(before)
        return before in _KEYS or is_of_environment or (is_flag and not before)
    if last in _PASSES:
        return before not in _OF_COUNTS and (is_flag or bool(before) or last != "pass")
    if last in ("authorization", "signature") and before:
        return True
    if last == "authorization":
        return True
    return is_flag and last in ("auth", "sig", "cookie")


def may_be_a_path(name: str) -> bool:
    """Returns whether a secret's name may have the path of a file with it as value.

    Passwords and tokens may begin with a slash themselves.
    """
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(words & {"credential", "credentials", "key", "authorization", "pwd"}) and not (
        words & {"secret", "token", "password"}
    )
