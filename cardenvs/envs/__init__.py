"""Interfaces: PettingZoo (`aec`), batches (`vector`), Gymnasium (`single`) and Stable-Baselines3 (`sb3`).

Importing this package imports none of these modules.
"""

import re


def register_with_pettingzoo() -> None:
    """Register every game with PettingZoo, for `pettingzoo.make("aec", "cardenvs/GAME-v0", **options)`.

    The ids of another package's games start with that package's name. Existing ids are not changed, and no game is
    imported. Does nothing if PettingZoo has no registry (before 1.27).
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
