"""Options of a game: a frozen, validated dataclass that fills `state.rules`.

A game declares its options once:

    @dataclass(frozen=True)
    class MyOptions(Options):
        num_players: int = option(2, low=2, high=10, doc="players at the table")
        layoff: str = option("auto", choices=("auto", "manual"), doc="who lays off")

The class provides the record dtype of `state.rules` (`rules_dtype`), validated construction from keywords or texts
(`Options.make`, `Options.parse`), and the options table of the game's page. In a record, an option is an int32: a bool
is 0 or 1, a choice its index, None is -1, and a tuple of up to `length` integers is an array padded with -1.
"""

import dataclasses
import numbers
from typing import Any, Self

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.record import packed
from cardenvs.core.text import did_you_mean

NONE = -1  # None in a record


def option(
    default: Any,
    *,
    doc: str,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[str, ...] | None = None,
    values: tuple[int, ...] | None = None,
    optional: bool = False,
    length: int | None = None,
    min_length: int = 0,
) -> Any:
    """Declare one option.

    Args:
        default: an int, a bool, one of `choices`, a tuple of ints (with `length`), or None (with `optional`).
        doc: one line for the options table.
        low, high: bounds of an int, or of each entry of a tuple, inclusive.
        choices: allowed strings.
        values: allowed ints, ascending, where they are no range; gives `low` and `high`.
        optional: whether None is allowed too.
        length: maximum length of an option that is a tuple of ints.
        min_length: its minimum length.
    """
    if values is not None:
        low, high = values[0], values[-1]
    metadata = {"doc": doc, "low": low, "high": high, "choices": choices, "values": values, "optional": optional}
    lengths = {"length": length, "min_length": min_length}
    return dataclasses.field(default=default, metadata=metadata | lengths)


@dataclasses.dataclass(frozen=True)
class Options:
    """Base class of every game's options. Every game has the option `num_players`, even if it is fixed."""

    num_players: int = option(2, low=2, high=2, doc="players at the table")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _checked(field, getattr(self, field.name)))
        self.check()

    def check(self) -> None:
        """Raise OptionError if the options do not fit together. Games override this."""

    def check_environment(self) -> None:
        """Raise OptionError if these options allow a `State` but no environment, as when the deal ends the game."""

    @classmethod
    def make(cls, /, **values: Any) -> Self:
        """Build options from keywords.

        Raises:
            OptionError: unknown name (the message suggests the closest one) or invalid value.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                hint = did_you_mean(name, known)
                raise OptionError(f"unknown option {name!r}; {hint}options are: {', '.join(known)}")
        return cls(**values)

    @classmethod
    def parse(cls, texts: dict[str, str]) -> Self:
        """Build options from texts, as on a command line: "5", "true", "none", "1,2,3" or a choice.

        Raises:
            OptionError: unknown name or invalid value.
        """
        fields = {field.name: field for field in dataclasses.fields(cls)}
        return cls.make(**{k: _from_text(fields[k], v) if k in fields else v for k, v in texts.items()})

    def as_dict(self) -> dict[str, Any]:
        """Return all options by name as JSON-compatible values (a tuple becomes a list)."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, as JSON-compatible values."""
        defaults = type(self)().as_dict()
        return {name: value for name, value in self.as_dict().items() if value != defaults[name]}


def rules_dtype(options: type[Options]) -> np.dtype:
    """Return the record dtype of `state.rules` for a class of options: one int32 field per option."""
    fields = []
    for field in dataclasses.fields(options):
        length = field.metadata["length"]
        fields.append((field.name, "i4") if length is None else (field.name, "i4", (length,)))
    return packed(fields)


def fill_rules(rules: np.ndarray, options: Options) -> None:
    """Write `options` into `rules`, an array or scalar of `rules_dtype(type(options))`."""
    for field in dataclasses.fields(options):
        rules[field.name] = _as_integer(field, getattr(options, field.name))


def _as_integer(field: dataclasses.Field[Any], value: Any) -> Any:
    if value is None:
        return NONE
    if field.metadata["choices"]:
        return field.metadata["choices"].index(value)
    if field.metadata["length"] is not None:
        return np.array([*value, *[NONE] * (field.metadata["length"] - len(value))], np.int32)
    return int(value)


def _checked(field: dataclasses.Field[Any], value: Any) -> Any:
    """Return `value` as a plain Python value of `field`, or raise OptionError."""
    meta = field.metadata
    if value is None and meta["optional"]:
        return None
    if meta["choices"]:
        if not isinstance(value, str) or value not in meta["choices"]:
            raise OptionError(f"option {field.name} takes one of {', '.join(meta['choices'])}; got {value!r}")
        return value
    if field.type in (bool, "bool") or isinstance(field.default, bool):
        if not isinstance(value, bool | np.bool_):
            raise OptionError(f"option {field.name} takes True or False; got {value!r}")
        return bool(value)
    if meta["length"] is not None:
        low, high = meta["min_length"], meta["length"]
        is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        if not is_list or not low <= len(value) <= high:
            size = high if low == high else f"up to {high}"
            raise OptionError(f"option {field.name} takes a list of {size} integers; got {value!r}")
        return tuple(_checked_int(field, entry) for entry in value)
    return _checked_int(field, value)


def _checked_int(field: dataclasses.Field[Any], value: Any) -> int:
    low, high = field.metadata["low"], field.metadata["high"]
    low = -(2**31) + 1 if low is None else low
    high = 2**31 - 1 if high is None else high
    values = field.metadata["values"]
    is_int = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_int or not low <= int(value) <= high or (values and int(value) not in values):
        what = range_text(field) if values else f"an integer from {low} to {high}"
        extra = " or None" if field.metadata["optional"] else ""
        raise OptionError(f"option {field.name} takes {what}{extra}; got {value!r}")
    return int(value)


def range_text(field: dataclasses.Field[Any]) -> str:
    """Return which integers an option takes, as in "2", "2 to 5" or "2, 3, 4 or 6"; "" if any."""
    low, high, values = (field.metadata[name] for name in ("low", "high", "values"))
    if values:
        return f"{', '.join(map(str, values[:-1]))} or {values[-1]}"
    if low is None:
        return ""
    return str(low) if low == high else f"{low} to {'' if high is None else high}"


def players_text(options: type[Options]) -> str:
    """Return how many players a game with these options takes, as in "2 to 5" or "2 or 4"."""
    (field,) = (field for field in dataclasses.fields(options) if field.name == "num_players")
    return range_text(field)


def _from_text(field: dataclasses.Field[Any], text: str) -> Any:
    lowered = text.strip().lower()
    if lowered == "none" and field.metadata["optional"]:
        return None
    if isinstance(field.default, bool):
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(lowered, text)
    if field.metadata["choices"]:
        return text.strip()
    try:
        if field.metadata["length"] is not None:
            return tuple(int(part) for part in lowered.replace(",", " ").split())
        return int(lowered)
    except ValueError:
        return text
