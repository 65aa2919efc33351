"""The observation of gin rummy."""

import numpy as np

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, RANKS, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
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

# Thermometers: entry k is 1 if the quantity is at least the k-th step.
_DEADWOOD_STEPS = np.array((*range(1, 12), 15, 20, 25, 30, 40, 50, 60, 70, 80))
_STOCK_STEPS = np.arange(1, state.STOCK_SIZE + 1, 2)
_TENTHS = np.arange(1, 11)  # of what wins the match; of the most hands that it has
_HANDS_WON_STEPS = np.arange(1, 9)
_LAST_DRAWS = 4
_SCORE_DIGITS = 9  # match_target is at most 500, and the match ends there
_LAST = "1 in hand, 2 melded, 3 laid off on the other's melds"
_WHO = ("observer", "opponent")
_DECISIONS = state.PHASES[: state.HAND_OVER]


def _cards(name, doc, high=1):
    return Section(name, NUM_CARDS, doc, high=high, labels=CARD_LABELS)


def _thermometer(name, steps, doc):
    return Section(name, len(steps), f"{doc}: 1 for each step reached", labels=tuple(f">={step}" for step in steps))


def _digits(name, doc):
    labels = tuple(str(1 << k) for k in range(_SCORE_DIGITS))
    doc = f"{doc} in binary digits, the ones first, at most {(1 << _SCORE_DIGITS) - 1}"
    return Section(name, _SCORE_DIGITS, doc, labels=labels)


_COMMON = Layout(
    (
        _cards("own_hand", "the cards in hand"),
        _cards("own_melds", "of these, 2: melded in the best arrangement, 1: could be in some meld", high=2),
        _cards("own_shown", "of these, the ones that the opponent has seen"),
        _cards("opponent_shown", "cards in the opponent's hand that the observer has seen"),
        _cards("discard_pile", "the cards in the discard pile"),
        _cards("opponent_discards", "of these, the ones that the opponent discarded"),
        _cards("upcard", "one-hot top of the discard pile, or, until the next discard, the card just taken from it"),
        Section("upcard_taken", 1, "1 if the upcard has just been taken, so that it may not be discarded at once"),
        Section("phase", len(_DECISIONS), "one-hot phase, zeros when the game is over", labels=_DECISIONS),
        Section("to_act", 1, "1 if the observer is to act"),
        Section("is_dealer", 1, "1 if the observer dealt this hand"),
        _thermometer("deadwood", _DEADWOOD_STEPS, "own deadwood, of eleven cards after the best discard"),
        _thermometer(
            "deadwood_with_upcard", _DEADWOOD_STEPS, "the same with the upcard, while the observer may take it"
        ),
        _thermometer("stock", _STOCK_STEPS, "cards in the stock"),
        Section("last_upcard_draws", _LAST_DRAWS, "1 each if at most 1, 2, 3, 4 draws from the discard pile are left"),
    )
)
(
    _OWN_HAND, _OWN_MELDS, _OWN_SHOWN, _OPPONENT_SHOWN, _DISCARD_PILE, _OPPONENT_DISCARDS, _UPCARD, _UPCARD_TAKEN,
    _PHASE, _TO_ACT, _IS_DEALER, _DEADWOOD, _DEADWOOD_WITH_UPCARD, _STOCK, _LAST_UPCARD_DRAWS,
) = _COMMON.starts  # fmt: skip
_OPTIONAL = _COMMON.size  # sections that depend on the options begin here


def layout(options):
    """Return the observation sections, int8: the common ones, then those of the chosen options."""
    sections = list(_COMMON.sections)
    if options.oklahoma:
        limits = ("gin", *RANKS[:MAX_CARD_POINTS])
        sections.append(Section("knock_limit", len(limits), "one-hot knock limit, 0 to 10", labels=limits))
    if options.oklahoma_spade_double:
        sections.append(Section("doubled", 1, "1 if the points of this hand count twice"))
    if options.match_target is not None:
        sections += [
            _thermometer("own_score", _TENTHS, "own score in tenths of match_target"),
            _thermometer("opponent_score", _TENTHS, "the opponent's score in tenths of match_target"),
            _thermometer("own_hands_won", _HANDS_WON_STEPS, "hands that the observer has won"),
            _thermometer("opponent_hands_won", _HANDS_WON_STEPS, "hands that the opponent has won"),
            _thermometer("hand_number", _TENTHS, f"hands finished, in tenths of {state.MAX_HANDS}"),
            _digits("own_score_digits", "own score"),
            _digits("opponent_score_digits", "the opponent's score"),
            _cards("own_last_hand", f"the hand before, own cards at its end: {_LAST}", high=3),
            _cards("opponent_last_hand", f"the opponent's, those that the observer has seen: {_LAST}", high=3),
            _cards("last_discard_pile", "the discard pile at the end of the hand before"),
            Section("last_knocker", state.NUM_PLAYERS, "who knocked in the hand before, zeros if nobody", labels=_WHO),
        ]
    if options.layoff == "manual":
        sections += [
            _cards("knocker_sets", "cards in the knocker's sets, lay-offs included"),
            _cards("knocker_runs", "cards in the knocker's runs, lay-offs included"),
            _thermometer("knocker_deadwood", _DEADWOOD_STEPS, "the knocker's deadwood"),
        ]
    return Layout(sections)


@kernel
def observe(s, player, out):
    """Write the observation of `player` into `out`, int8 (layout.size,): own cards, cards seen, public figures."""
    out[:] = 0
    _observe_cards(s, player, out)
    if not s.terminal:
        out[_PHASE + s.phase] = 1
        out[_TO_ACT] = player == s.current_player
    out[_IS_DEALER] = player == s.dealer
    _observe_deadwood(s, player, out)
    _mark_steps(np.int64(s.num_stock), _STOCK_STEPS, _STOCK, out)
    draws_left = s.rules.max_upcard_draws - s.num_upcard_draws
    for k in range(_LAST_DRAWS):
        out[_LAST_UPCARD_DRAWS + k] = draws_left <= k + 1
    _observe_options(s, player, out)


@kernel
def _observe_cards(s, player, out):
    opponent = 1 - player
    hand = s.hands[player]
    melded = best_melded(hand)
    _mark_cards(hand, _OWN_HAND, 1, out)
    _mark_cards(meldable(hand), _OWN_MELDS, 1, out)
    _mark_cards(melded, _OWN_MELDS, 2, out)
    _mark_cards(s.known[player], _OWN_SHOWN, 1, out)
    _mark_cards(s.known[opponent], _OPPONENT_SHOWN, 1, out)
    _mark_cards(s.discards, _DISCARD_PILE, 1, out)
    _mark_cards(s.discarded[opponent], _OPPONENT_DISCARDS, 1, out)
    if s.taken != state.NO_CARD:
        out[_UPCARD_TAKEN] = 1
        out[_UPCARD + s.taken] = 1
    elif s.num_discards > 0:
        out[_UPCARD + top_discard(s)] = 1


@kernel
def _observe_deadwood(s, player, out):
    hand = s.hands[player]
    _mark_steps(least_deadwood(hand), _DEADWOOD_STEPS, _DEADWOOD, out)
    on_offer = (
        s.phase == state.FIRST_UPCARD
        or s.phase == state.WALL
        or (s.phase == state.DRAW and s.num_passes < state.NUM_PLAYERS)
    )
    if on_offer and player == s.current_player:
        with_upcard = min_deadwood_after_discard(hand | 1 << top_discard(s))
        _mark_steps(with_upcard, _DEADWOOD_STEPS, _DEADWOOD_WITH_UPCARD, out)


@kernel
def _observe_options(s, player, out):
    """Write the sections that depend on the options, in the order of `layout`."""
    start = _OPTIONAL
    if s.rules.oklahoma:
        out[start + s.knock_limit] = 1
        start += MAX_CARD_POINTS + 1
    if s.rules.oklahoma_spade_double:
        out[start] = s.doubled
        start += 1
    if s.rules.match_target != NONE:
        start = _observe_match(s, player, start, out)
    if s.rules.layoff == state.MANUAL:
        _observe_knock(s, start, out)


@kernel
def _observe_match(s, player, start, out):
    for seat in range(state.NUM_PLAYERS):
        tenths = 10 * s.scores[(player + seat) % state.NUM_PLAYERS] // s.rules.match_target
        start = _mark_steps(tenths, _TENTHS, start, out)
    for seat in range(state.NUM_PLAYERS):
        hands_won = np.int64(s.hands_won[(player + seat) % state.NUM_PLAYERS])
        start = _mark_steps(hands_won, _HANDS_WON_STEPS, start, out)
    start = _mark_steps(10 * s.hand_number // state.MAX_HANDS, _TENTHS, start, out)
    for seat in range(state.NUM_PLAYERS):
        score = min(np.int64(s.scores[(player + seat) % state.NUM_PLAYERS]), (1 << _SCORE_DIGITS) - 1)
        for k in range(_SCORE_DIGITS):
            out[start + k] = score >> k & 1
        start += _SCORE_DIGITS
    return _observe_last_hand(s, player, start, out) if s.hand_number else start + 3 * NUM_CARDS + state.NUM_PLAYERS


@kernel
def _observe_last_hand(s, player, start, out):
    """Write what the observer has seen of the previous hand (rules.md 8.2); return where the next section starts."""
    for seat in range(state.NUM_PLAYERS):
        p = (player + seat) % state.NUM_PLAYERS
        _mark_cards(s.last_hands[p] if seat == 0 else s.last_known[p], start, 1, out)
        _mark_cards(s.last_melded[p], start, 2, out)
        if p != s.last_knocker:
            _mark_cards(s.last_laid_off, start, 3, out)
        start += NUM_CARDS
    _mark_cards(s.last_discards, start, 1, out)
    start += NUM_CARDS
    if s.last_knocker >= 0:
        out[start + (s.last_knocker + player) % state.NUM_PLAYERS] = 1
    return start + state.NUM_PLAYERS


@kernel
def _observe_knock(s, start, out):
    if s.knocker < 0:
        return
    for k in range(MAX_MELDS):
        meld = s.melds[s.knocker, k]
        _mark_cards(meld, start if is_set(meld) else start + NUM_CARDS, 1, out)
    _mark_steps(hand_points(s.hands[s.knocker]), _DEADWOOD_STEPS, start + 2 * NUM_CARDS, out)


@kernel
def _mark_cards(cards, start, mark, out):
    while cards:
        out[start + lowest_card(cards)] = mark
        cards &= cards - 1


@kernel
def _mark_steps(quantity, steps, start, out):
    """Mark the steps of a thermometer that `quantity` has reached; return where the next section starts."""
    for k in range(steps.shape[0]):
        out[start + k] = quantity >= steps[k]
    return start + steps.shape[0]
