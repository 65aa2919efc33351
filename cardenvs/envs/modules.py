"""The modules `cardenvs.NAME_vN`: each registered game offers `env` and `raw_env`, as PettingZoo's own modules do.

    from cardenvs import my_game_v0

    env = my_game_v0.env(num_players=3)

No file holds these modules. A finder makes them for every registered game, those of other packages too, so
that import works in every process that knows the game.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from cardenvs.core.registry import list_games

_PACKAGE = "cardenvs."


class _GameModules(MetaPathFinder, Loader):
    """Finds and makes the module of a registered game."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith(_PACKAGE) or fullname.removeprefix(_PACKAGE) not in list_games():
            return None
        return ModuleSpec(fullname, self, origin="a registered game")

    def exec_module(self, module: ModuleType) -> None:
        from cardenvs.envs.aec import environment_functions

        name = module.__name__.removeprefix(_PACKAGE)
        module.__doc__ = f"{name} as a PettingZoo environment: `env(**options)` and `raw_env(**options)`."
        module.__all__ = ["env", "raw_env"]  # type: ignore[attr-defined]
        module.env, module.raw_env = environment_functions(name, module.__name__)  # type: ignore[attr-defined]


def offer_game_modules() -> None:
    """Let `import cardenvs.NAME_vN` find registered games; a second call changes nothing."""
    if not any(isinstance(finder, _GameModules) for finder in sys.meta_path):
        sys.meta_path.append(_GameModules())  # last: it is asked for what no file holds
