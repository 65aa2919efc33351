"""Texas hold'em for two to ten players, with a limit or without: a tournament or a number of hands. Rules: rules.md."""

import numbers
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cardenvs.core.checks import checked_integers
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError
from cardenvs.core.game import Amounts, Game
from cardenvs.core.returns import Returns, by_place, win_or_loss
from cardenvs.games.texas_holdem import (
    actions,
    evaluator,
    legal,
    observation,
    outcomes,
    rules,
    state,
    strategy,
    table,
    view,
    worth,
)
from cardenvs.games.texas_holdem.actions import FULL_RAISE_0, RAISE_TO
from cardenvs.games.texas_holdem.state import NUM_STREETS
from cardenvs.kits.cards import NUM_CARDS, card_label, parse_cards


def _max_length(options):
    """Return a bound on the number of actions: everybody acts once per street, and once more after each raise.

    A full raise adds at least the smallest bet; a seat can go all-in for less once per hand, and with a limit somebody
    else can complete that.
    """
    n = options.num_players
    raises = sum(options.first_stacks()) // options.least_bet() + (2 * n if options.betting == "limit" else n)
    return options.most_hands() * n * (NUM_STREETS + raises)


def _returns(options):
    n, stacks = options.num_players, options.first_stacks()
    if options.format == "cash" or options.returns == "chips":
        chips = Returns(-max(stacks), sum(stacks) - min(stacks), 0, "chips")
        if options.format != "cash":
            return chips
        _, big_blind = options.all_blinds()[0]
        return replace(chips, result_factor=100 / (options.num_hands * big_blind), result_unit="bb/100")
    if options.returns == "payouts":
        paid = [*options.payouts, *[0] * (n - len(options.payouts))]
        return Returns(min(paid), max(paid), sum(paid), "points")
    if options.returns == "placement":
        return by_place(n)
    return win_or_loss(n)


GAME = Game.of(
    "texas_holdem_v0",
    "Texas hold'em",
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
    amounts=Amounts(
        legal.legal_but_amounts,
        zero=lambda options: FULL_RAISE_0 if options.betting == "full" else None,
        codes=range(RAISE_TO, FORFEIT),
    ),
    policies={
        "push_fold": strategy.push_fold,
        "tight_aggressive": strategy.tight_aggressive,
        "equity": strategy.equity,
    },
    worth=worth.worth,
    playout_policy="tight_aggressive",
    state_class="cardenvs.games.texas_holdem.play:TexasHoldemState",
)


def hand_rank(cards: str | Iterable[int]) -> int:
    """Return the rank of the best five of five to seven cards, 1 to 7462: higher wins, equal ties (rules.md 7).

    Args:
        cards: text such as "Qh 3h 5h Ah 2h 7h 2c", or card ids.

    Raises:
        DeckError: unknown card, duplicate card, fewer than five cards or more than seven.
    """
    ids = parse_cards(cards) if isinstance(cards, str) else list(cards)
    for card in ids:
        if isinstance(card, bool) or not isinstance(card, numbers.Integral) or not 0 <= card < NUM_CARDS:
            raise DeckError(f"{card!r} is not a card; ids are 0 to {NUM_CARDS - 1}")
    if len(set(ids)) != len(ids):
        raise DeckError(f"a card appears twice in {' '.join(card_label(card) for card in ids)}")
    if not evaluator.MIN_CARDS <= len(ids) <= evaluator.MAX_CARDS:
        raise DeckError(f"a hand is ranked from {evaluator.MIN_CARDS} to {evaluator.MAX_CARDS} cards; got {len(ids)}")
    return int(hand_ranks(np.array([ids], np.int64))[0])


def hand_ranks(hands: np.ndarray) -> np.ndarray:
    """Return the ranks of many hands; see `hand_rank`.

    Args:
        hands: integer card ids, shape (n, 5), (n, 6) or (n, 7), in any integer dtype.

    Returns:
        int64 (n,).

    Raises:
        DeckError: wrong shape or dtype, unknown card, or duplicate card in a hand.
    """
    try:
        hands = checked_integers("hands", hands, (None, None), 0, NUM_CARDS - 1)
    except ValueError as error:
        raise DeckError(str(error)) from None
    if not evaluator.MIN_CARDS <= hands.shape[1] <= evaluator.MAX_CARDS:
        raise DeckError(
            f"a hand is ranked from {evaluator.MIN_CARDS} to {evaluator.MAX_CARDS} cards; got {hands.shape[1]}"
        )
    twice = evaluator.first_with_a_card_twice(hands)
    if twice >= 0:
        raise DeckError(f"a card appears twice in hand {twice}: {' '.join(card_label(card) for card in hands[twice])}")
    ranks = np.zeros(len(hands), np.int64)
    evaluator.rank_hands(hands, ranks)
    return ranks


def hand_category(cards: str | Iterable[int]) -> str:
    """Return the category of the best five of five to seven cards: "straight flush", ... "high card".

    Raises:
        DeckError: as for `hand_rank`.
    """
    return evaluator.category_of_rank(hand_rank(cards))
