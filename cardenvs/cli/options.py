"""NAME=VALUE texts, such as the options of a game."""

from typing import TYPE_CHECKING, Any

from cardenvs.core.errors import CardenvsError, OptionError

if TYPE_CHECKING:
    from cardenvs.core.game import Game
    from cardenvs.core.options import Options


def parse_pairs(
    texts: list[str] | None, flag: str, example: str, error: type[CardenvsError] = OptionError
) -> dict[str, str]:
    """Return the values in NAME=VALUE texts, by name; the last value of a repeated name counts.

    Raises:
        error: a text has no "="; the message shows `flag` and `example`.
    """
    pairs = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise error(f"{flag} takes NAME=VALUE, as in {flag} {example}; got {text!r}")
        pairs[name.strip()] = value.strip()
    return pairs


def read_options(
    game: "Game", texts: list[str] | None, *, players: int | None = None, default_players: int | None = None
) -> "Options":
    """Return the options of a game from texts such as "ante=2".

    `players` is another name of the option num_players; `default_players` is used if neither is given.

    Raises:
        OptionError: a text is malformed, an option is unknown, or its value is not allowed.
    """
    pairs = parse_pairs(texts, "--option", "num_players=2")
    if players is not None:
        if "num_players" in pairs:
            raise OptionError("--players and -o num_players=... are the same option; give only one of them")
        pairs["num_players"] = str(players)
    if default_players is not None:
        pairs.setdefault("num_players", str(default_players))
    try:
        return game.options.parse(pairs)
    except OptionError as error:
        raise OptionError(f"{game.name}: {error}") from None


def option_text(value: Any) -> str:
    """Return the value of an option as text for the command line."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
