"""Ranks of the small research poker games: J, Q, K, then more above the king."""

from typing import Any

from cardenvs.core.view import View

SMALL_RANKS = ("J", "Q", "K", *(f"R{rank}" for rank in range(3, 11)))


class SmallCardView(View):
    """View of a game whose tokens are ranks of a single suit, from the jack up."""

    tokens = SMALL_RANKS

    def token_face(self, token: int) -> dict[str, Any]:
        """Return a card as its rank."""
        return {"kind": "card", "rank": SMALL_RANKS[token]}
