"""The faces of a game: PettingZoo (`aec`), batches (`vector`), Gymnasium (`single`) and Stable-Baselines3 (`sb3`).

Importing this package imports none of them.
"""

import re


def register_with_pettingzoo() -> None:
    """Add every game to PettingZoo's registry: `pettingzoo.make("aec", "cardenvs/GAME-v0", **options)`.

    A game of another package gets that package's name before the slash. A game that is there already is left alone.
    Nothing happens where PettingZoo has no registry (before 1.27). No game is imported.
    """
    try:
        from pettingzoo import aec_registry, register
    except ImportError:
        return
    from cardenvs.core.registry import game_targets

    for name, target in game_targets().items():
        package = re.split(r"[.:]", target, maxsplit=1)[0]
        env_id = f"{package}/{re.sub(r'_v(?=[0-9]+$)', '-v', name)}"  # as PettingZoo writes ids
        if env_id not in aec_registry:
            register("aec", env_id, "cardenvs.envs.aec:make", kwargs={"name": name})
