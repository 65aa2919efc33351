"""Arguments that several interfaces have in common, and the text that they render."""

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from cardenvs.core.checks import is_integer, short
from cardenvs.core.errors import AgentError, OptionError, require
from cardenvs.core.events import PileLayout
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

INFO_KEYS = ("legal_actions", "place")  # in infos, besides the mask
RENDER_MODES = ("human", "ansi", "rgb_array")
_IMAGE_WIDTH, _IMAGE_HEIGHT, _TALL = 640, 480, 800  # pixels; the last is for games with mats
MOST_SKIPPED = 1000  # deals in a row without a turn for the seat, after which `reset` fails
_MOST_PLIES = 2**31 - 1  # records count plies as int32


def checked_render_mode(game: Game, render_mode: str | None) -> str | None:
    """Return `render_mode` if it is None or one of RENDER_MODES.

    Raises:
        OptionError: it is neither.
        MissingExtraError: images need the extra `pictures`.
    """
    if render_mode == "rgb_array":
        for module in ("resvg_py", "font_hanken_grotesk", "PIL"):
            require(module, "pictures")
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise OptionError(f"{game.name}: option render_mode takes None, {', '.join(RENDER_MODES)}; got {render_mode!r}")
    return render_mode


def checked_max_plies(game: Game, options: Options, max_plies: int | None) -> int:
    """Return `max_plies` as an int; for None, the game's own bound.

    Raises:
        OptionError: it is not an integer from 1 to 2**31 - 1.
    """
    if max_plies is None:
        return game.max_length(options)
    if not is_integer(max_plies) or not 1 <= max_plies <= _MOST_PLIES:
        raise OptionError(
            f"{game.name}: option max_plies takes None or an integer from 1 to 2**31 - 1; got {short(max_plies)}"
        )
    return int(max_plies)


def checked_choice(game: Game, name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`. Raises OptionError if it is not."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError(f"{game.name}: option {name} takes {' or '.join(choices)}; got {short(value)}")
    return value


def checked_keys(game: Game, observation_key: Any, mask_key: Any) -> tuple[str, str]:
    """Return the keys of an observation in a dict and of its mask.

    Raises:
        OptionError: they are not two different texts, or infos have something else under that of the mask.
    """
    if not (isinstance(observation_key, str) and isinstance(mask_key, str)) or observation_key == mask_key:
        raise OptionError(
            f"{game.name}: options observation_key and mask_key take two different texts; got "
            f"{short(observation_key)} and {short(mask_key)}"
        )
    if mask_key in INFO_KEYS:
        raise OptionError(
            f"{game.name}: option mask_key takes another text than {' and '.join(INFO_KEYS)}, which infos have besides "
            f"the mask; got {mask_key!r}"
        )
    return observation_key, mask_key


def checked_dtype(game: Game, wanted: Any, own: np.dtype) -> np.dtype:
    """Return the dtype of observations: `wanted`, or the game's `own` if it is None.

    Raises:
        OptionError: `wanted` is not a dtype that holds every value of `own`.
    """
    if wanted is None:
        return own
    try:
        dtype = np.dtype(wanted)
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "iuf" or not np.can_cast(own, dtype, "safe"):
        raise OptionError(
            f"{game.name}: option observation_dtype takes a dtype that holds {own}, such as float32; got "
            f"{short(wanted)}"
        )
    return dtype


def checked_reward(game: Game, illegal_reward: Any) -> float | None:
    """Return the reward of an illegal action, or None.

    Raises:
        OptionError: it is neither None nor a finite number.
    """
    is_number = isinstance(illegal_reward, int | float | np.number) and not isinstance(illegal_reward, bool)
    if illegal_reward is None or (is_number and math.isfinite(illegal_reward)):
        return illegal_reward
    raise OptionError(f"{game.name}: option illegal_reward takes None or a number; got {short(illegal_reward)}")


def checked_seat(game: Game, seat: int | str, num_players: int) -> int | str:
    """Return `seat` if it is a player number, "random" or "rotate". Raises OptionError if it is not one of these."""
    if seat in ("random", "rotate") or (type(seat) is int and 0 <= seat < num_players):
        return seat
    raise OptionError(
        f"{game.name}: option seat takes a player from 0 to {num_players - 1}, 'random' or 'rotate'; got {seat!r}"
    )


def opponent_of_each(opponents: Any, game: Game, num_players: int) -> list[Any]:
    """Return the opponent for each other player, starting to the learner's left; None: the game's default opponent.

    Raises:
        AgentError: a list has another length.
    """
    others = num_players - 1
    opponents = game.default_opponent if opponents is None else opponents
    each = list(opponents) if isinstance(opponents, list | tuple) else [opponents] * others
    if len(each) != others:
        raise AgentError(f"{game.name} with {num_players} players needs {others} opponents; got {len(each)}")
    return each


def positive(name: str, value: Any) -> int:
    """Return `value` as an int. Raises ValueError if it is not an integer, or is less than 1."""
    if not is_integer(value) or value < 1:
        raise ValueError(f"{name} takes an integer of at least 1; got {short(value)}")
    return int(value)


def table_image(state: State, player: int) -> np.ndarray:
    """Return the table as `player` sees it as uint8 (height, 640, 3).

    The height is 480, or 800 in games with mats, so all frames of a video have one size.
    """
    from cardenvs.pictures import draw_svg
    from cardenvs.pictures.raster import rgb_array

    has_mats = any(pile.layout == PileLayout.GRID for pile, _ in state.game.table.pile_of)
    return rgb_array(draw_svg(state.view(player)), _IMAGE_WIDTH, _TALL if has_mats else _IMAGE_HEIGHT)


def tiled(images: Sequence[np.ndarray]) -> np.ndarray:
    """Return pictures of one size side by side in rows, about as many rows as columns; the rest is white."""
    columns = math.ceil(math.sqrt(len(images)))
    rows = math.ceil(len(images) / columns)
    height, width, colours = images[0].shape
    whole = np.full((rows * height, columns * width, colours), 255, np.uint8)
    for k, image in enumerate(images):
        row, column = divmod(k, columns)
        whole[row * height : (row + 1) * height, column * width : (column + 1) * width] = image
    return whole


def shown(state: State, player: int, mode: str) -> str | np.ndarray | None:
    """Return the picture or the text of the table as `player` sees it, or for "human", print the text."""
    if mode == "rgb_array":
        return table_image(state, player)
    text = table_text(state, player, sys.stdout.isatty())
    if mode == "ansi":
        return text
    print(text)
    return None


def table_text(state: State, player: int, colour: bool) -> str:
    """Return the table as `player` sees it, with or without ANSI colours, below a line that says whose turn it is."""
    if state.is_terminal:
        turn = "over, returns " + " ".join(f"{value:g}" for value in state.returns)
    else:
        turn = f"player_{state.current_player} to act"
    return f"{state.game.title}: {turn}, seen by player_{player}\n{state.render(player, colour)}"
