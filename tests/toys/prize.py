"""The least that is a game: one player at a time says 0 or 1; who says 1 first wins PRIZE. No cards.

Tests write copies of this file with other prizes, so that many games compile at once.
"""

import numpy as np

from cardenvs.core.events import Op, Table, log_note
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.options import Options, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.view import View

PRIZE = 1

TABLE = Table(2)
SAY = TABLE.event("say", Op.NOTE, "{player} says {value}.")


@kernel
def prize():
    return PRIZE


@kernel
def deal(s, given, log):
    s.current_player = 0


@kernel
def legal_actions(s, out):
    out[0] = 0
    out[1] = 1
    return 2


@kernel
def apply_action(s, action, log):
    player = s.current_player
    log_note(log, SAY, player, action)
    if action == 1:
        s.rewards[player] = prize()
        s.rewards[1 - player] = -prize()
    if action == 1 or s.ply == 2:
        s.terminal = 1
    s.current_player = 1 - player


@kernel
def forfeit(s, player, log):
    s.active[player] = 0
    s.rewards[player] = -prize()
    s.rewards[1 - player] = prize()
    s.terminal = 1


@kernel
def observe(s, player, out):
    out[0] = s.ply


@kernel
def determinize(s, player, seed):
    s.seed = seed


class PrizeView(View):
    def fill_table(self, s, viewer, table):
        pass

    def action_label(self, s, action):
        return str(action)


GAME = Game(
    name="prize_v0",
    title="Prize",
    options=Options,
    state_dtype=record(rules_dtype(Options), 2, []),
    table=TABLE,
    deal=deal,
    legal_actions=legal_actions,
    apply_action=apply_action,
    forfeit=forfeit,
    observe=observe,
    determinize=determinize,
    num_actions=lambda options: 2,
    max_length=lambda options: 2,
    layout=lambda options: Layout((Section("ply", 1, "actions so far", high=2),)),
    returns=lambda options: Returns(-PRIZE, PRIZE, 0, "points"),
    deck=lambda options: np.zeros(0, np.int16),
    view=PrizeView(),
    hidden_phases=(),
)
