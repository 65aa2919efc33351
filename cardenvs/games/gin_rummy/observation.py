"""What a player of gin rummy observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.games.gin_rummy import state
from cardenvs.games.gin_rummy.legal import top_discard
from cardenvs.games.gin_rummy.melds import (
    MAX_CARD_POINTS,
    MAX_MELDS,
    best_melded,
    hand_points,
    is_set,
    meldable,
    min_deadwood_after_discard,
)
from cardenvs.games.gin_rummy.rules import least_deadwood
from cardenvs.kits.cards import CARD_LABELS, RANKS, lowest_card
from cardenvs.kits.sections import Observation, cards, entries, number, one_hot, one_seat, only, steps, written

_DEADWOOD_STEPS = np.array((*range(1, 12), 15, 20, 25, 30, 40, 50, 60, 70, 80))
_STOCK_STEPS = np.arange(1, state.STOCK_SIZE + 1, 2)
_TENTHS = np.arange(1, 11)  # of what wins the match; of the most hands that it has
_HANDS_WON_STEPS = np.arange(1, 9)
_DIGITS = tuple(str(1 << k) for k in range(9))  # match_target is at most 500, and the match ends there
_MOST_SCORE = (1 << len(_DIGITS)) - 1
_BINARY = f"in binary digits, the ones first, at most {_MOST_SCORE}"
_LAST = "1 in hand, 2 melded, 3 laid off on the other's melds"


@kernel(inline=True)
def _mark(cards, mark, out, at):
    while cards:
        out[at + lowest_card(cards)] = mark
        cards &= cards - 1


@kernel(inline=True)
def _write_own_melds(s, p, out, at):
    _mark(meldable(s.hands[p]), 1, out, at)
    _mark(best_melded(s.hands[p]), 2, out, at)


@kernel(inline=True)
def _opponent_shown(s, p):
    return s.known[1 - p]


@kernel(inline=True)
def _opponent_discards(s, p):
    return s.discarded[1 - p]


@kernel(inline=True)
def _upcard(s, p):
    if s.taken != state.NO_CARD:
        return np.int64(s.taken)
    return top_discard(s) if s.num_discards > 0 else -1


@kernel(inline=True)
def _upcard_taken(s, p):
    return s.taken != state.NO_CARD


@kernel(inline=True)
def _phase(s, p):
    return -1 if s.terminal else s.phase


@kernel(inline=True)
def _is_to_act(s, p):
    return p == s.current_player


@kernel(inline=True)
def _is_dealer(s, p):
    return p == s.dealer


@kernel(inline=True)
def _deadwood(s, p):
    return least_deadwood(s.hands[p])


@kernel(inline=True)
def _deadwood_with_upcard(s, p):
    on_offer = (
        s.phase == state.FIRST_UPCARD
        or s.phase == state.WALL
        or (s.phase == state.DRAW and s.num_passes < state.NUM_PLAYERS)
    )
    if on_offer and p == s.current_player:
        return min_deadwood_after_discard(s.hands[p] | 1 << top_discard(s))
    return 0


@kernel(inline=True)
def _is_last_draw(s, p, k):
    return s.rules.max_upcard_draws - s.num_upcard_draws <= k + 1


@kernel(inline=True)
def _is_match(rules):
    return rules.match_target != NONE


@kernel(inline=True)
def _own_tenths(s, p):
    return 10 * s.scores[p] // s.rules.match_target


@kernel(inline=True)
def _opponent_tenths(s, p):
    return _own_tenths(s, 1 - p)


@kernel(inline=True)
def _opponent_hands_won(s, p):
    return s.hands_won[1 - p]


@kernel(inline=True)
def _hand_tenths(s, p):
    return 10 * s.hand_number // state.MAX_HANDS


@kernel(inline=True)
def _own_score(s, p):
    return min(np.int64(s.scores[p]), _MOST_SCORE)


@kernel(inline=True)
def _opponent_score(s, p):
    return _own_score(s, 1 - p)


@kernel(inline=True)
def _write_own_last_hand(s, p, out, at):
    _write_last_hand(s, p, s.last_hands[p], out, at)


@kernel(inline=True)
def _write_opponent_last_hand(s, p, out, at):
    _write_last_hand(s, 1 - p, s.last_known[1 - p], out, at)


@kernel(inline=True)
def _write_last_hand(s, p, hand, out, at):
    """Write what an observer of `hand` has seen of player p in the hand before (rules.md 8.2)."""
    _mark(hand, 1, out, at)
    _mark(s.last_melded[p], 2, out, at)
    if p != s.last_knocker:
        _mark(s.last_laid_off, 3, out, at)


@kernel(inline=True)
def _last_knocker(s, p):
    return s.last_knocker if s.hand_number else -1


@kernel(inline=True)
def _has_layoffs(rules):
    return rules.layoff == state.MANUAL


@kernel(inline=True)
def _knocker_sets(s, p):
    return _knocker_melds(s, True)


@kernel(inline=True)
def _knocker_runs(s, p):
    return _knocker_melds(s, False)


@kernel(inline=True)
def _knocker_melds(s, are_sets):
    """Return the cards in the knocker's sets, or in the knocker's runs."""
    cards = np.int64(0)
    if s.knocker >= 0:
        for k in range(MAX_MELDS):
            meld = s.melds[s.knocker, k]
            if is_set(meld) == are_sets:
                cards |= meld
    return cards


@kernel(inline=True)
def _knocker_deadwood(s, p):
    return hand_points(s.hands[s.knocker]) if s.knocker >= 0 else 0


OBSERVATION = Observation(
    state.STATE,
    cards("own_hand", CARD_LABELS, "the cards in hand", "hands"),
    written("own_melds", CARD_LABELS, "of these, 2: melded in the best arrangement, 1: could be in some meld",
            _write_own_melds, high=2),
    cards("own_shown", CARD_LABELS, "of these, the ones that the opponent has seen", "known"),
    cards("opponent_shown", CARD_LABELS, "cards in the opponent's hand that the observer has seen", _opponent_shown),
    cards("discard_pile", CARD_LABELS, "the cards in the discard pile", "discards"),
    cards("opponent_discards", CARD_LABELS, "of these, the ones that the opponent discarded", _opponent_discards),
    one_hot("upcard", CARD_LABELS,
            "one-hot top of the discard pile, or, until the next discard, the card just taken from it", _upcard),
    number("upcard_taken", "1 if the upcard has just been taken, so that it may not be discarded at once",
           _upcard_taken),
    one_hot("phase", state.PHASES[: state.HAND_OVER], "one-hot phase, zeros when the game is over", _phase),
    number("to_act", "1 if the observer is to act", _is_to_act),
    number("is_dealer", "1 if the observer dealt this hand", _is_dealer),
    steps("deadwood", "own deadwood, of eleven cards after the best discard", _DEADWOOD_STEPS, _deadwood),
    steps("deadwood_with_upcard", "the same with the upcard, while the observer may take it", _DEADWOOD_STEPS,
          _deadwood_with_upcard),
    steps("stock", "cards in the stock", _STOCK_STEPS, "num_stock"),
    entries("last_upcard_draws", None, "1 each if at most 1, 2, 3, 4 draws from the discard pile are left",
            _is_last_draw, size=4),
    *only(lambda options: options.oklahoma,
          one_hot("knock_limit", ("gin", *RANKS[:MAX_CARD_POINTS]), "one-hot knock limit, 0 to 10", "knock_limit")),
    *only(lambda options: options.oklahoma_spade_double,
          number("doubled", "1 if the points of this hand count twice", "doubled")),
    *only(lambda options: options.match_target is not None,
          steps("own_score", "own score in tenths of match_target", _TENTHS, _own_tenths),
          steps("opponent_score", "the opponent's score in tenths of match_target", _TENTHS, _opponent_tenths),
          steps("own_hands_won", "hands that the observer has won", _HANDS_WON_STEPS, "hands_won"),
          steps("opponent_hands_won", "hands that the opponent has won", _HANDS_WON_STEPS, _opponent_hands_won),
          steps("hand_number", f"hands finished, in tenths of {state.MAX_HANDS}", _TENTHS, _hand_tenths),
          cards("own_score_digits", _DIGITS, f"own score {_BINARY}", _own_score),
          cards("opponent_score_digits", _DIGITS, f"the opponent's score {_BINARY}", _opponent_score),
          written("own_last_hand", CARD_LABELS, f"the hand before, own cards at its end: {_LAST}",
                  _write_own_last_hand, high=3),
          written("opponent_last_hand", CARD_LABELS,
                  f"the opponent's, those that the observer has seen: {_LAST}", _write_opponent_last_hand, high=3),
          cards("last_discard_pile", CARD_LABELS, "the discard pile at the end of the hand before", "last_discards"),
          one_seat("last_knocker", "who knocked in the hand before, zeros if nobody", _last_knocker),
          rules=_is_match),
    *only(lambda options: options.layoff == "manual",
          cards("knocker_sets", CARD_LABELS, "cards in the knocker's sets, lay-offs included", _knocker_sets),
          cards("knocker_runs", CARD_LABELS, "cards in the knocker's runs, lay-offs included", _knocker_runs),
          steps("knocker_deadwood", "the knocker's deadwood", _DEADWOOD_STEPS, _knocker_deadwood),
          rules=_has_layoffs),
)  # fmt: skip
