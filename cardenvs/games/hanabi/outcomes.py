"""What each legal action of Hanabi should lead to: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import MAX_RANKS, RAINBOW, number_in
from cardenvs.games.hanabi.heuristic import EFFECTS, new_effect, value_of_hint
from cardenvs.games.hanabi.heuristic import heuristic as rule_agent
from cardenvs.games.hanabi.rules import fitting, is_hint, legal_actions
from cardenvs.kits.listing import legal_list

_NUM_ROWS = 2 * 4 + (5 - 1) * (RAINBOW + 1 + MAX_RANKS)  # all actions of five players
_MOST = 127
_CHANCES = ("playable", "playable by hints", "critical", "useless")
_BOUNDS = {
    "best": (0, 1),
    "worth": (-_MOST, _MOST),
    **dict.fromkeys(EFFECTS, (-_MOST, _MOST)),
    **dict.fromkeys(_CHANCES, (0, 100)),
}
_WIDTH = len(_BOUNDS)
_WORTH, _PLAYS, _MISLEADS, _MISTAKEN, _KEEPS, _WASTES, _LEARNS, _SAVES = range(1, 9)
_PLAYABLE, _BY_HINTS, _CRITICAL, _USELESS = range(9, 13)
_WORTH_STEPS = 4.0  # of a point
_new_list = legal_list(_NUM_ROWS)


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each action of player `p`, if it is to act."""
    if s.terminal or p != s.current_player:
        return
    legal, effect = _new_list(), new_effect()
    n, h = legal_actions(s, legal.actions), np.int64(s.rules.hand_size)
    unseen = st.unseen_by(s, p)
    choice = rule_agent(s, legal.actions, n, s.rng)
    for k in range(n):
        action, row = np.int64(legal.actions[k]), at + k * _WIDTH
        out[row] = action == choice
        if is_hint(s, action):
            worth = np.int64(np.rint(_WORTH_STEPS * value_of_hint(s, p, action, effect)))
            out[row + _WORTH] = min(max(worth, -_MOST), _MOST)
            _write_effect(effect, out, row)
        else:
            _write_chances(s, p, action - h if action >= h else action, unseen, out, row)


@kernel(inline=True)
def _write_effect(effect, out, row):
    out[row + _PLAYS] = effect.plays
    out[row + _MISLEADS] = effect.misleads
    out[row + _MISTAKEN] = effect.mistaken
    out[row + _KEEPS] = effect.keeps
    out[row + _WASTES] = effect.wastes
    out[row + _LEARNS] = effect.learns
    out[row + _SAVES] = effect.saves


@kernel
def _write_chances(s, p, place, unseen, out, row):
    """Write chances of the card at a place in percent; all unseen cards that fit are equally likely."""
    meant, fits = fitting(s, p, place, unseen, True), fitting(s, p, place, unseen, False)
    out[row + _PLAYABLE] = _percent(unseen, meant, s.playable)
    out[row + _BY_HINTS] = _percent(unseen, fits, s.playable)
    out[row + _CRITICAL] = _percent(unseen, meant, s.critical)
    out[row + _USELESS] = _percent(unseen, meant, s.useless)


@kernel(inline=True)
def _percent(unseen, fits, cards):
    return 100 * number_in(unseen, fits & cards) // number_in(unseen, fits)


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "whether the rule agent chooses it; of a hint what it is worth to that agent, in quarters of a point, and by "
    "its conventions, how many cards are played because of it, rightly or wrongly, how many are taken for others, "
    "how many critical and useless ones are touched for the first time, how many cards are ruled out, and whether a"
    " critical card is saved; of a play or discard the chances in percent, by conventions, that the card is "
    "playable, critical or useless, and by hints alone that it is playable",
    _write_outcomes,
)  # fmt: skip
