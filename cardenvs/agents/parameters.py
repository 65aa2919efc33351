"""Parameters of agents, as specs write them: `name=value,name=value`."""

import re
from collections.abc import Callable
from typing import Any

from cardenvs.core.errors import AgentError
from cardenvs.core.text import did_you_mean

PARAMETER = re.compile(r"\s*[A-Za-z_]\w*=")
Reader = Callable[[str], Any]


def truth(text: str) -> bool:
    """Reads "true" or "false"."""
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_WHAT: dict[Reader, str] = {int: "an integer", float: "a number", truth: "true or false"}


def read_parameters(kind: str, text: str, known: dict[str, Reader]) -> dict[str, Any]:
    """Return the values in "name=value,name=value", each read by `known[name]`."""
    values = {}
    for part in text.split(",") if text else ():
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name not in known:
            hint = did_you_mean(name, known)
            raise AgentError(f"{kind} has no parameter {part.strip()!r}; {hint}it takes {'=..., '.join(known)}=...")
        try:
            values[name] = known[name](value.strip())
        except ValueError:
            raise AgentError(f"{kind} takes {_WHAT[known[name]]} for {name}; got {value!r}") from None
    return values
