"""Gin rummy for two players, as one hand or a match. Rules: rules.md."""

import numbers
from collections.abc import Iterable

from cardenvs.core.cards import NUM_CARDS, bits_of, card_label, parse_cards
from cardenvs.core.errors import DeckError
from cardenvs.core.game import Game
from cardenvs.core.rules import Returns, Rules
from cardenvs.games.gin_rummy import actions, belief, legal, observation, rules, state, table
from cardenvs.games.gin_rummy.heuristic import greedy, heuristic
from cardenvs.games.gin_rummy.state import HAND_SIZE, MAX_DEADWOOD, MAX_HANDS, PHASES, STOCK_SIZE
from cardenvs.games.gin_rummy.view import GinRummyView


def _hand_length(options):
    """Return the most plies of one hand: two passes, turns of two plies, and what may follow the last turn."""
    stock_turns, upcard_turns = STOCK_SIZE - options.last_stock_cards, options.max_upcard_draws
    turns = stock_turns + upcard_turns - 1  # the one used up first ends the hand
    return 2 + 2 * turns + options.wall_knock + (HAND_SIZE if options.layoff == "manual" else 0)


def _most_points(options):
    """Return the most points of one hand."""
    limit = 10 if options.oklahoma else options.knock_max
    bonuses = [MAX_DEADWOOD + options.gin_bonus]
    if options.big_gin:
        bonuses.append(MAX_DEADWOOD + options.big_gin_bonus)
    if limit > 0:
        bonuses.append(limit + options.undercut_bonus)
    return max(bonuses) * (2 if options.oklahoma_spade_double else 1)


def _most_in_match(options):
    """Return the most points of a match, bonuses included: a shutout by hands of one point and a last hand of most."""
    hands = min(options.match_target, MAX_HANDS)
    total = options.match_target - 1 + _most_points(options) + hands * options.box_bonus + options.game_bonus
    return {"all": 2 * total, "bonus": total + options.game_bonus, "off": total}[options.shutout]


def _max_length(options):
    return _hand_length(options) * (1 if options.match_target is None else MAX_HANDS)


def _returns(options):
    most = _most_points(options) if options.match_target is None else _most_in_match(options)
    return Returns(-most, most, 0, "points")


GAME = Game(
    name="gin_rummy_v0",
    title="Gin rummy",
    rules=Rules.of(
        rules,
        legal,
        actions,
        observation,
        state,
        table,
        options=state.GinRummyOptions,
        max_length=_max_length,
        returns=_returns,
        sample_belief=belief.sample_belief,
    ),
    view=GinRummyView(),
    phases=PHASES,
    policies={"greedy": greedy, "heuristic": heuristic},
    playout_policy="heuristic",
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
