"""Texts such as NAME=VALUE, and the options of a game among them."""

from typing import TYPE_CHECKING, Any

from cardenvs.core.errors import CardenvsError, OptionError

if TYPE_CHECKING:
    from cardenvs.core.game import Game
    from cardenvs.core.options import Options


def parse_pairs(
    texts: list[str] | None, flag: str, example: str, error: type[CardenvsError] = OptionError
) -> dict[str, str]:
    """Return values by name, from texts that read NAME=VALUE.

    Args:
        texts: as they were given; where a name is repeated, its last value counts.
        flag: of the command line, for the message.
        example: a text that would be right, for the message.
        error: the class of error to raise.

    Raises:
        error: a text has no "=".
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

    Args:
        game: whose options.
        texts: of --option.
        players: of --players, which is num_players by another name.
        default_players: num_players, unless `texts` has it.

    Raises:
        OptionError: a text is malformed, an option is unknown, or its value is not allowed.
    """
    pairs = parse_pairs(texts, "--option", "num_players=2")
    if players is not None:
        if "num_players" in pairs:
            raise OptionError("--players and -o num_players=... say the same; give one of them")
        pairs["num_players"] = str(players)
    if default_players is not None:
        pairs.setdefault("num_players", str(default_players))
    try:
        return game.options.parse(pairs)
    except OptionError as error:
        raise OptionError(f"{game.name}: {error}") from None


def option_text(value: Any) -> str:
    """Return the value of an option in the form the command line takes."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
