"""Decks of challenges with something at stake: each is dealt once, and nobody can know or choose it."""

import secrets

from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game
from cardenvs.server.poker.advice import rule_agent_points
from cardenvs.server.poker.pools import MOST_SEED, Pools
from cardenvs.server.poker.session import CHALLENGE, GAME

_MOST_DECKS = 2000  # looked at for one of a tier, to which a third of all belong


def fresh_seed(pools: Pools, tier: str) -> int:
    """Return a random seed whose deck, shuffled with the key of the pools, is of a tier.

    Neither a restart nor another server with the same key brings it again: among a million, two are equal with a
    probability of 1 in 18,000.

    Raises:
        FormatError: the manifest leaves no decks for the tier.
    """
    for _ in range(_MOST_DECKS):
        seed = secrets.randbelow(MOST_SEED + 1)
        state = get_game(GAME).new_state(seed=pools.deck_seed(CHALLENGE, seed))
        if pools.tier_of(rule_agent_points(state)) == tier:
            return seed
    raise FormatError(f"no deck is of tier {tier}: the least points of the tiers leave none")
