"""Gin rummy for two players, as one hand or a match. Rules: rules.md."""

import numbers
from collections.abc import Iterable

from cardenvs.core.errors import DeckError
from cardenvs.core.game import Game
from cardenvs.core.returns import Returns
from cardenvs.games.gin_rummy import actions, belief, legal, observation, outcomes, rules, state, table, view
from cardenvs.games.gin_rummy.heuristic import greedy, heuristic
from cardenvs.games.gin_rummy.rules import most_points
from cardenvs.games.gin_rummy.state import HAND_SIZE, MAX_HANDS, SHUTOUTS, STOCK_SIZE
from cardenvs.kits.cards import NUM_CARDS, bits_of, card_label, parse_cards


def _hand_length(options):
    """Return the most plies of one hand: two passes, turns of two plies, and what may follow the last turn."""
    stock_turns, upcard_turns = STOCK_SIZE - options.last_stock_cards, options.max_upcard_draws
    turns = stock_turns + upcard_turns - 1  # the one used up first ends the hand
    return 2 + 2 * turns + options.wall_knock + (HAND_SIZE if options.layoff == "manual" else 0)


def _max_length(options):
    return _hand_length(options) * (1 if options.match_target is None else MAX_HANDS)


def _returns(options):
    most = most_points(options, SHUTOUTS.index(options.shutout), options.match_target is not None)
    return Returns(-most, most, 0, "points")


GAME = Game.of(
    "gin_rummy_v0",
    "Gin rummy",
    rules,
    legal,
    actions,
    observation,
    outcomes,
    state,
    table,
    view,
    max_length=_max_length,
    returns=_returns,
    sample_belief=belief.sample_belief,
    policies={"greedy": greedy, "heuristic": heuristic},
)


def min_deadwood(cards: str | Iterable[int]) -> int:
    """Return the least deadwood of a hand (rules.md 1.4); for eleven cards, after the best discard.

    Args:
        cards: one to eleven cards, as text such as "4h 5h 6h Ks", or as ids.

    Raises:
        DeckError: unknown card, duplicate card, no card or more than eleven.
    """
    ids = parse_cards(cards) if isinstance(cards, str) else list(cards)
    for card in ids:
        if isinstance(card, bool) or not isinstance(card, numbers.Integral) or not 0 <= card < NUM_CARDS:
            raise DeckError(f"{card!r} is not a card; ids are 0 to {NUM_CARDS - 1}")
    if len(set(ids)) != len(ids):
        raise DeckError(f"a card appears twice in {' '.join(card_label(card) for card in ids)}")
    if not 1 <= len(ids) <= HAND_SIZE + 1:
        raise DeckError(f"a hand has 1 to {HAND_SIZE + 1} cards; got {len(ids)}")
    return int(rules.least_deadwood(bits_of(ids)))
