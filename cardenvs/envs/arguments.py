"""Arguments that several interfaces take, and the text that they render."""

from typing import Any

from cardenvs.core.checks import is_integer, short
from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

RENDER_MODES = ("human", "ansi")
MOST_SKIPPED = 1000  # deals in a row in which the seat gets no turn, before `reset` gives up
_MOST_PLIES = 2**31 - 1  # what the records count up to


def checked_render_mode(game: Game, render_mode: str | None) -> str | None:
    """`render_mode` as given, if it is None or one of RENDER_MODES.

    Raises:
        OptionError: it is not.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise OptionError(f"{game.name}: option render_mode takes None, {', '.join(RENDER_MODES)}; got {render_mode!r}")
    return render_mode


def checked_max_plies(game: Game, options: Options, max_plies: int | None) -> int:
    """The ply cap as an int; the game's own bound for None.

    Raises:
        OptionError: it is no positive integer.
    """
    if max_plies is None:
        return game.max_length(options)
    if not is_integer(max_plies) or not 1 <= max_plies <= _MOST_PLIES:
        raise OptionError(
            f"{game.name}: option max_plies takes None or an integer of at least 1, below 2**31; got {short(max_plies)}"
        )
    return int(max_plies)


def checked_seat(game: Game, seat: int | str, num_players: int) -> int | str:
    """`seat` as given, if it is a player number, "random" or "rotate".

    Raises:
        OptionError: it is not.
    """
    if seat in ("random", "rotate") or (type(seat) is int and 0 <= seat < num_players):
        return seat
    raise OptionError(
        f"{game.name}: option seat takes a player from 0 to {num_players - 1}, 'random' or 'rotate'; got {seat!r}"
    )


def positive(name: str, value: Any) -> int:
    """`value` as an int of at least 1.

    Raises:
        ValueError: it is not one.
    """
    if not is_integer(value) or value < 1:
        raise ValueError(f"{name} takes an integer of at least 1; got {short(value)}")
    return int(value)


def table_text(state: State, player: int, colour: bool) -> str:
    """The table as `player` sees it, under a line that says whose turn it is; with ANSI colours if asked."""
    if state.is_terminal:
        turn = "over, returns " + " ".join(f"{value:g}" for value in state.returns)
    else:
        turn = f"player_{state.current_player} to act"
    return f"{state.game.title}: {turn}, seen by player_{player}\n{state.render(player, colour)}"
