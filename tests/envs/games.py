"""What the tests of the environments run on."""

from dataclasses import replace

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.registry import register_game
from cardenvs.games.leduc_poker import GAME as LEDUC
from cardenvs.games.leduc_poker import rules

GAMES = ["kuhn_poker_v0", "leduc_poker_v0"]


@kernel
def fold_for_good(s, action, log):
    """Leduc poker in which who folds leaves the game, and who raises pays 1 to the next player at once."""
    player = np.int64(s.current_player)
    if action == rules.FOLD:
        s.active[player] = 0
        s.rewards[player] = -s.chips_in[player]
        rules._leave_pot(s, player, log)
        return
    rules.apply_action(s, action, log)
    if action == rules.RAISE:
        s.rewards[player] -= 1
        s.rewards[s.current_player] += 1


def wider_returns(options):
    """What the raises of a game may cost besides."""
    promised, most = LEDUC.returns(options), 2 * options.max_raises
    return replace(promised, low=promised.low - most, high=promised.high + most)


# A game with eliminations and with rewards on the way, until the suite has one of its own.
ELIMINATION = replace(LEDUC, name="elimination_v0", apply_action=fold_for_good, returns=wider_returns)
register_game(ELIMINATION.name, f"{__name__}:ELIMINATION")
