"""Statistics of a finished game: points by category, and which powers, birds, goals and bonus cards came up.

A power counts as used when the event log has `use_power` for it, or `react` if it is pink. A repeated power counts for
its own bird and for the bird that repeats it. Birds without a power are not listed.
"""

import numpy as np

from cardenvs.core.events import KIND, TOKEN
from cardenvs.core.view import GameStatistics
from cardenvs.games.wingspan import cards
from cardenvs.games.wingspan.powers import BIRD_HANDLER, HANDLERS
from cardenvs.games.wingspan.scoring import SCORE_PARTS, score_part
from cardenvs.games.wingspan.table import TABLE

_NO_POWER = HANDLERS.index("no_power")
_REACTS = "react_"  # pink powers: declining a reaction declines all that are open, not that of one bird
_WITH_POWER = np.flatnonzero(BIRD_HANDLER != _NO_POWER)
_TURNS = {"play a bird": "choose_play", "gain food": "choose_food", "lay eggs": "choose_eggs", "draw": "choose_cards"}
_HUNTS = {"caught something": "hunt_succeeds", "caught nothing": "hunt_fails"}


def statistics(state):
    """Return points by category, the winners, and how often powers, birds, goals and bonus cards came up."""
    s, players = state.record, range(state.num_players)
    log = state.event_log()
    played = _birds_of(log, "place_bird")
    used = _birds_of(log, "use_power") + _birds_of(log, "react")
    declined = _birds_of(log, "decline")
    figures = {"points": [int(s.scores[p]) for p in players]}
    for part, name in enumerate(SCORE_PARTS):
        figures[name] = [int(score_part(s, p, part)) if s.active[p] else 0 for p in players]
    held = [sum(int(s.bonus_hands[p]) >> card & 1 for p in players) for card in range(cards.NUM_BONUSES)]
    goals = s.goals.tolist()
    return GameStatistics(
        figures=figures,
        counts={
            "powers used, by handler": _by_handler(used),
            "powers declined, by handler": {
                name: count for name, count in _by_handler(declined).items() if not name.startswith(_REACTS)
            },
            "powers used, by bird": {cards.BIRD_NAMES[bird]: int(used[bird]) for bird in _WITH_POWER},
            "birds played": dict(zip(cards.BIRD_NAMES, played.tolist(), strict=True)),
            "bonus cards held at the end": dict(zip(cards.BONUS_NAMES, held, strict=True)),
            "round goals": {name: goals.count(goal) for goal, name in enumerate(cards.GOAL_NAMES)},
            "turns": _events(log, _TURNS),
            "hunts": _events(log, _HUNTS),
        },
        winners=[p for p in players if s.standing[p] == 1],
    )


def _birds_of(log, kind):
    """Return the number of events of a kind for each bird, (170,)."""
    tokens = log[log[:, KIND] == TABLE.kind_ids[kind], TOKEN]
    return np.bincount(tokens[(tokens >= 0) & (tokens < cards.NUM_BIRDS)], minlength=cards.NUM_BIRDS)


def _by_handler(by_bird):
    """Return counts of birds summed by the handler of their power, without birds that have no power."""
    counts = np.bincount(BIRD_HANDLER, weights=by_bird, minlength=len(HANDLERS))
    return {name: int(count) for name, count in zip(HANDLERS, counts, strict=True) if name != HANDLERS[_NO_POWER]}


def _events(log, kinds):
    return {name: int((log[:, KIND] == TABLE.kind_ids[kind]).sum()) for name, kind in kinds.items()}
