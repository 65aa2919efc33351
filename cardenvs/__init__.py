"""Card and tile games with hidden information, for reinforcement learning.

    import cardenvs

    cardenvs.list_games()                                     # ["gin_rummy_v0", "kuhn_poker_v0", ...]
    env = cardenvs.make("gin_rummy_v0")                       # PettingZoo AEC
    vec = cardenvs.make_vec("gin_rummy_v0", num_envs=4096)    # a batch, stepped by one compiled call
    state = cardenvs.get_game("gin_rummy_v0").new_state(seed=7)

Importing this package compiles nothing. It registers the games with PettingZoo and Gymnasium, and makes the
modules `cardenvs.NAME_v0` importable.
"""

from typing import TYPE_CHECKING, Any

from cardenvs.core.registry import get_game, list_games, register_game
from cardenvs.envs import register_with_gymnasium, register_with_pettingzoo
from cardenvs.envs.modules import offer_game_modules

if TYPE_CHECKING:
    from cardenvs.core.replay import Replay
    from cardenvs.core.state import State
    from cardenvs.envs.aec import make
    from cardenvs.envs.single import SeatEnv
    from cardenvs.envs.vector import VectorEnv, make_vec

__version__ = "0.1.0"

__all__ = ["Replay", "SeatEnv", "State", "VectorEnv", "get_game", "list_games", "make", "make_vec", "register_game"]

_WHERE = {
    "Replay": "cardenvs.core.replay",
    "SeatEnv": "cardenvs.envs.single",
    "State": "cardenvs.core.state",
    "VectorEnv": "cardenvs.envs.vector",
    "make": "cardenvs.envs.aec",
    "make_vec": "cardenvs.envs.vector",
}


def __getattr__(name: str) -> Any:
    """Import public names and `NAME_v0` modules on first use."""
    import importlib

    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    if name in list_games():
        return importlib.import_module(f"cardenvs.{name}")
    raise AttributeError(f"module 'cardenvs' has no attribute {name!r}")


offer_game_modules()
register_with_pettingzoo()
register_with_gymnasium()
