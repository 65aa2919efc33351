"""Parameters of agents, as specs write them: `name=value,name=value`."""

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cardenvs.core.errors import AgentError
from cardenvs.core.text import did_you_mean

PARAMETER = re.compile(r"\s*[A-Za-z_]\w*=")
Reader = Callable[[str], Any]


def truth(text: str) -> bool:
    """Read "true" or "false"."""
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def probability(text: str) -> float:
    """Read a number from 0 to 1."""
    if not 0 <= float(text) <= 1:  # nor nan
        raise ValueError(text)
    return float(text)


_WHAT: dict[Reader, str] = {
    int: "an integer", float: "a number", truth: "true or false", probability: "a number from 0 to 1",
}  # fmt: skip


def split_path(kind: str, argument: str, example: str) -> tuple[str, str]:
    """Return the path that a spec's argument begins with, and the parameters after it.

    Raises:
        AgentError: there is no path; the message shows `kind` and `example`.
    """
    name, *rest = argument.split(",")
    while rest and not PARAMETER.match(rest[0]):  # a comma in the path
        name += f",{rest.pop(0)}"
    if not name:
        raise AgentError(f"{kind} needs the path of a file, as in {kind}:{example}")
    return name, ",".join(rest)


def split_file(kind: str, argument: str, example: str) -> tuple[Path, str]:
    """Return the path of an existing file that an argument begins with, and the parameters after it.

    Raises:
        AgentError: there is no path, or it does not lead to a file.
    """
    name, rest = split_path(kind, argument, example)
    path = Path(name)
    if path.is_dir():
        raise AgentError(f"{kind}: {name!r} is a folder; name a file in it, as in {example}")
    if "\0" in name or not path.is_file():
        raise AgentError(f"{kind}: there is no file {name!r}")
    return path, rest


def file_fingerprint(path: Path) -> str:
    """Return a hash of a file's contents, 16 hex digits, for AgentKind.fingerprint."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def files_fingerprint(paths: Iterable[Path]) -> str:
    """Return a hash of what several files hold, 16 hex digits; "" for no files."""
    digest, has_any = hashlib.sha256(), False
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
        has_any = True
    return digest.hexdigest()[:16] if has_any else ""


def read_parameters(kind: str, text: str, known: dict[str, Reader]) -> dict[str, Any]:
    """Return the values in "name=value,name=value", each read by `known[name]`."""
    values: dict[str, Any] = {}
    for part in text.split(",") if text else ():
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name not in known:
            hint = did_you_mean(name, known)
            raise AgentError(f"{kind} has no parameter {part.strip()!r}; {hint}it takes {'=..., '.join(known)}=...")
        if name in values:
            raise AgentError(f"{kind} takes {name} once; got it again in {text!r}")
        try:
            values[name] = known[name](value.strip())
        except ValueError:
            raise AgentError(f"{kind} takes {_WHAT[known[name]]} for {name}; got {value!r}") from None
    return values
