"""Leaving never pays, with the options that decide how much can be lost."""

import random

import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.registry import get_game
from cardenvs.testing.case import Case
from cardenvs.testing.leaving import check_price_of_leaving, lines_of_play

VARIANTS = [
    ("leduc_poker_v0", {"num_players": 3}),
    ("texas_holdem_v0", {"format": "cash", "num_players": 2, "num_hands": 20}),
    ("texas_holdem_v0", {"format": "cash", "num_players": 4, "num_hands": 3, "stacks": (50, 400, 90, 2000)}),
    ("texas_holdem_v0", {"returns": "chips", "num_players": 3}),
    ("casino_v0", {"match": False, "spade_casino": True}),
    ("casino_v0", {"match": False, "num_players": 3}),
    ("kasino_v0", {"sweeps": "plain", "sweep_last_deal": True, "sweep_freeze_at": 1000}),
    ("kasino_v0", {"num_players": 3, "misere": True}),
    ("scopa_v0", {"target": None, "num_players": 4, "napola": True, "rebello": True}),
    ("scopa_v0", {"target": None, "num_players": 3}),
    ("canasta_v0", {"num_players": 4}),
    ("canasta_v0", {"match": True}),
    ("canasta_v0", {"match": True, "target": 500, "num_players": 3}),
    ("gin_rummy_v0", {"knock_max": 98, "undercut_bonus": 500}),
    ("gin_rummy_v0", {"match_target": 20, "oklahoma": True, "oklahoma_spade_double": True}),
    ("hearts_v0", {"moon": "off", "no_trick_bonus": True}),
    ("hearts_v0", {"num_players": 3, "jd_bonus": True, "moon": "shooter_minus"}),
    ("hearts_v0", {"reward": "points_saved", "moon": "choice", "jd_bonus": True}),
    ("briscola_v0", {"reward": "points", "target": 3}),
    ("bridge_v0", {"scoring": "rubber", "max_deals": 4}),
    ("euchre_v0", {"super_euchre": True, "lone_defender": True, "stick_the_dealer": False}),
    ("euchre_v0", {"target": 3, "alone_euchre": 4}),
    ("spades_v0", {"blind_nil": True, "blind_deficit": 0, "max_team_bid": None, "bag_limit": 3}),
    ("spades_v0", {"partners": False, "failed_nil": "count"}),
    ("spades_v0", {"target": 100, "lose_at": -100}),
    ("rummikub_v0", {"num_players": 2}),
    ("wingspan_v0", {"reward": "score", "num_players": 3}),
]


def check(name, options, seed, positions):
    game = get_game(name)
    case = Case(game, game.make_options(**options), seed, seed)
    for state in case.sampled(positions):
        check_price_of_leaving(case, state, plies=600)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_leaving_never_pays(name, options):
    check(name, options, seed=1, positions=3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_leaving_never_pays_with_other_seeds(name, options):
    for seed in (random.SystemRandom().getrandbits(32) for _ in range(10)):
        check(name, options, seed, positions=12)  # a failure names the seed


def test_the_search_loses_as_much_as_a_forfeit_where_that_is_possible():
    game = get_game("kuhn_poker_v0")
    case = Case(game, game.make_options(), 1, 1)
    left = case.start()
    left.apply(FORFEIT)
    lines = (line for seed in range(9) for line in lines_of_play(case, game.new_state(seed=seed), 0))
    assert min(line.returns[0] for line in lines) == left.returns[0] == -2
