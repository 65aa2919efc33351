"""Checks that leaving never pays: who forfeits ends no better than by staying, however badly the rest is played.

The least that staying can bring is searched for by playing on. Lines of play are drawn with random moves and with the
game's policies; the search follows the one that has cost the player most so far and varies what comes next.
"""

import random
from collections.abc import Iterator

from cardenvs.core.codes import FORFEIT
from cardenvs.core.state import State
from cardenvs.testing.case import Case, fail

_PLIES = 2000  # of the search at one position
_MOVES = 4  # tried at each step of the search
_TOLERANCE = 1e-9


def check_price_of_leaving(case: Case, state: State, plies: int = _PLIES) -> None:
    """Check that the player to act gets no more by leaving than in any line of play that a search finds.

    What a player gets by leaving is settled at once (see positions.check_forfeit). The search ends after `plies`
    actions.
    """
    if state.is_terminal:
        return
    player, left = state.current_player, state.clone()
    left.apply(FORFEIT + player)
    price = left.returns[player]
    for line in lines_of_play(case, state, player, plies):
        if price > line.returns[player] + _TOLERANCE:
            fail(
                case, line, f"player {player} got {line.returns[player]:g}, but {price:g} by leaving at ply {state.ply}"
            )  # fmt: skip


def lines_of_play(case: Case, state: State, player: int, plies: int = _PLIES) -> Iterator[State]:
    """Yield finished games that continue from a state before the end, searching for those that cost `player` most.

    The search ends after `plies` actions.
    """
    chooser = random.Random(case.play_seed + state.ply)
    current, worst = state.clone(), None
    while not current.is_terminal:
        legal = current.legal_actions()
        for action in chooser.sample(legal, min(_MOVES, len(legal))):
            line = current.clone()
            line.apply(action)
            _play_out(line, _some_policy(case, chooser), chooser, plies)
            plies -= line.ply - current.ply
            if line.is_terminal:
                yield line
                if worst is None or line.returns[player] < worst.returns[player]:
                    worst = line
            if plies <= 0:
                return
        current.apply(worst.actions[current.ply] if worst else chooser.choice(legal))


def _some_policy(case: Case, chooser: random.Random) -> str:
    """Return a policy; in one of two lines, play is random, which is faster and loses more."""
    return chooser.choice(sorted(case.game.policies) or ["random"]) if chooser.random() < 0.5 else "random"


def _play_out(state: State, policy: str, chooser: random.Random, plies: int) -> None:
    """Play to the end, or up to `plies` actions."""
    for _ in range(plies):
        if state.is_terminal:
            return
        if policy == "random":
            action = chooser.choice(state.legal_actions())
        else:
            action = state.policy_action(policy, chooser.getrandbits(32))
        state.apply_unchecked(action)
