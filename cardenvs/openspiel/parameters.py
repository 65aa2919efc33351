"""Options of a game as parameters of OpenSpiel, and back.

Parameters have a type each (int, bool or string) and must survive being written into a game string such as
"cardenvs_leduc_poker_v0(raise_size=[2 4])", where a text that reads like a number becomes one. So None is -1, as in a
record, and a list of integers is a text in brackets.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from cardenvs.core.errors import OptionError
from cardenvs.core.options import NONE, Options

Parameter = int | bool | str


def parameter_defaults(options: type[Options]) -> dict[str, Parameter]:
    """Return the default of every option, as a parameter: what OpenSpiel calls a parameter specification."""
    return {field.name: _encoded(field.default) for field in dataclasses.fields(options)}


def changed_parameters(options: Options) -> dict[str, Parameter]:
    """Return the options that differ from their defaults, as parameters."""
    return {name: _encoded(getattr(options, name)) for name in options.changed()}


def option_values(options: type[Options], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the option values of parameters.

    Raises:
        OptionError: a text that is not a list of integers in brackets, where one is needed.
    """
    fields = {field.name: field for field in dataclasses.fields(options)}
    return {name: _decoded(fields[name], value) for name, value in parameters.items() if name in fields}


def _encoded(value: Any) -> Parameter:
    if value is None:
        return NONE
    if isinstance(value, tuple):
        return f"[{' '.join(map(str, value))}]"
    return value


def _decoded(field: dataclasses.Field[Any], value: Parameter) -> Any:
    if field.metadata["optional"] and value == NONE:
        return None
    if field.metadata["length"] is None:
        return value
    text = str(value).strip()
    try:
        if not (text.startswith("[") and text.endswith("]")):
            raise ValueError
        return tuple(int(part) for part in text[1:-1].split())
    except ValueError:
        raise OptionError(
            f"option {field.name} takes integers in brackets, separated by blanks, as in [2 4]; got {text!r}"
        ) from None
