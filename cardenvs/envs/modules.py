"""The modules `cardenvs.NAME_vN`, which offer `env` and `raw_env` for each game, as PettingZoo's own modules do.

    from cardenvs import my_game_v0

    env = my_game_v0.env(num_players=3)

These modules have no files. An import finder creates them for every registered game, including those of other
packages, so that importing them works in every process in which the game is registered.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from cardenvs.core.registry import list_games

_PACKAGE = "cardenvs."


class _GameModules(MetaPathFinder, Loader):
    """Import finder and loader for the modules of registered games."""

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
    """Make registered games importable as `cardenvs.NAME_vN`. A second call changes nothing."""
    if not any(isinstance(finder, _GameModules) for finder in sys.meta_path):
        sys.meta_path.append(_GameModules())  # last, so that modules with a file take precedence
