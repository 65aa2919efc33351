"""What a match consists of."""

import pickle

import pytest

from cardenvs.arena import Match
from cardenvs.core.errors import AgentError, ArenaError, OptionError


def test_two_players_every_pair_in_both_seatings():
    match = Match.of("leduc_poker_v0", ["random", "search", "random"], deals=4)
    assert match.lineups == ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1))
    assert match.num_games == 24
    assert match.names == ("random", "search", "random#2")


def test_three_players_every_seating_four_every_rotation():
    assert len(Match.of("kuhn_poker_v0", ["random"] * 3, deals=1, num_players=3).lineups) == 6
    four = Match.of("kuhn_poker_v0", ["random"] * 4, deals=1, num_players=4)
    assert four.lineups == ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
    assert len(Match.of("kuhn_poker_v0", ["random"] * 5, deals=1, num_players=4).lineups) == 5 * 4


def test_what_cannot_be_played_is_refused():
    with pytest.raises(
        ArenaError, match="is played by 2 here, so a match needs at least as many agents; got 1: random"
    ):
        Match.of("leduc_poker_v0", ["random"], deals=1)
    with pytest.raises(ArenaError, match=r"agents are a list, .* got the text 'random,search'"):
        Match.of("leduc_poker_v0", "random,search", deals=2)
    with pytest.raises(ArenaError, match="at least one deal; got 0"):
        Match.of("leduc_poker_v0", ["random", "random"], deals=0)
    with pytest.raises(ArenaError, match="a match's seed is a number from 0"):
        Match.of("leduc_poker_v0", ["random", "random"], deals=1, seed=-1)
    with pytest.raises(OptionError, match="unknown option 'antes'"):
        Match.of("leduc_poker_v0", ["random", "random"], deals=1, antes=3)


def test_the_id_names_what_is_compared_but_not_how_long(tmp_path):
    path = tmp_path / "policy.pt"
    path.write_bytes(b"one")
    agents = ["random", f"ppo:{path}"]

    def identity(agents=agents, deals=5, seed=1, game="leduc_poker_v0", **options):
        return Match.of(game, agents, deals, seed, **options).id

    first = identity()
    assert identity(deals=9) == first
    others = {
        identity(seed=2), identity(ante=3), identity(agents=agents[::-1]), identity(agents=["random", "search"]),
        identity(game="kuhn_poker_v0"),
    }  # fmt: skip
    path.write_bytes(b"two")
    others.add(identity())
    assert len(others) == 6
    assert first not in others
    with pytest.raises(AgentError, match=r"there is no file 'nowhere.pt'"):
        identity(agents=["random", "ppo:nowhere.pt"])


def test_seeds_follow_from_the_deal_and_the_name():
    match = Match.of("leduc_poker_v0", ["random", "search", "random"], deals=100, seed=1)
    deals = {match.deal_seed(deal) for deal in range(100)}
    assert len(deals) == 100
    assert all(0 <= seed < 2**63 for seed in deals)
    assert len({match.agent_seed(deal, agent) for deal in range(100) for agent in range(3)}) == 300
    longer = Match.of("leduc_poker_v0", ["search", "random"], deals=7, seed=1)
    assert longer.deal_seed(6) == match.deal_seed(6)
    assert longer.agent_seed(6, 0) == match.agent_seed(6, 1)


def test_a_match_can_be_sent_to_another_process():
    match = Match.of("leduc_poker_v0", ["random", "search"], deals=4, ante=2)
    twin = pickle.loads(pickle.dumps(match))
    assert twin == match
    assert twin.id == match.id
