"""Leduc poker, 2 to 10 players. Rules: rules.md."""

from cardenvs.core.game import Game, Returns
from cardenvs.games.leduc_poker import rules
from cardenvs.games.leduc_poker.observation import layout, observe, round_decisions
from cardenvs.games.leduc_poker.view import LeducView


def _returns(options):
    most = options.ante + options.max_raises * sum(options.raise_size)
    return Returns(-most, most * (options.num_players - 1), 0, "chips")


GAME = Game(
    name="leduc_poker_v0",
    title="Leduc poker",
    options=rules.LeducOptions,
    state_dtype=rules.STATE,
    table=rules.TABLE,
    view=LeducView(),
    deal=rules.deal,
    legal_actions=rules.legal_actions,
    apply_action=rules.apply_action,
    forfeit=rules.forfeit,
    observe=observe,
    determinize=rules.determinize,
    explain_illegal=rules.explain_illegal,
    num_actions=lambda options: rules.NUM_ACTIONS,
    max_legal=lambda options: rules.NUM_ACTIONS,
    max_length=lambda options: 2 * round_decisions(options),
    layout=layout,
    returns=_returns,
    deck=rules.deck,
    phases=("first_round", "second_round"),
    hidden_phases=("first_round", "second_round"),
    deals=rules.deals,
)
