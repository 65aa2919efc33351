"""Interfaces: PettingZoo (`aec`), batches (`vector`), Gymnasium (`single`, `seat_vector`), Stable-Baselines3 (`sb3`).

Importing this package imports none of these modules.
"""

import re
from collections.abc import Iterator


def register_with_pettingzoo() -> None:
    """Register every game with PettingZoo, for `pettingzoo.make("aec", "cardenvs/GAME-v0", **options)`.

    The ids of another package's games start with that package's name. Existing ids are not changed, and no game is
    imported. Does nothing if PettingZoo has no registry (before 1.27).
    """
    try:
        from pettingzoo import aec_registry, register
    except ImportError:
        return
    for name, env_id in _env_ids():
        if env_id not in aec_registry:
            register("aec", env_id, "cardenvs.envs.aec:make", kwargs={"name": name})


def register_with_gymnasium() -> None:
    """Register one seat of every game with Gymnasium, for `gymnasium.make("cardenvs/GAME-v0", **options)`.

    `make` gives a `SeatEnv` in which an illegal action ends the episode with the game's lowest return, `make_vec` a
    `SeatVectorEnv`. Each game is also registered in Gymnasium's own spelling, as "cardenvs/NameOfGame-v0". Existing ids
    are not changed, and no game is imported.
    """
    import gymnasium

    for name, env_id in _env_ids():
        for one in (env_id, _camel_case(env_id)):
            if one not in gymnasium.registry:
                gymnasium.register(
                    one, "cardenvs.envs.single:make_seat", vector_entry_point="cardenvs.envs.seat_vector:SeatVectorEnv",
                    kwargs={"game": name},
                )  # fmt: skip


def _camel_case(env_id: str) -> str:
    package, name = env_id.split("/")
    words, version = name.rsplit("-v", 1)
    return f"{package}/{''.join(word.capitalize() for word in words.split('_'))}-v{version}"


def _env_ids() -> Iterator[tuple[str, str]]:
    """Yield the name of every game and its id as PettingZoo and Gymnasium write ids, such as "cardenvs/GAME-v0"."""
    from cardenvs.core.registry import game_targets

    for name, target in game_targets().items():
        package = re.split(r"[.:]", target, maxsplit=1)[0]
        yield name, f"{package}/{re.sub(r'_v(?=[0-9]+$)', '-v', name)}"
