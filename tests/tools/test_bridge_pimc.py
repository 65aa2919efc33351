"""The PIMC agent and duels: what it must find, that it knows no more than its player, and what a duel counts."""

import numpy as np
import pytest

pytest.importorskip("endplay")

from cardenvs.agents.base import Turn
from cardenvs.agents.specs import make_agent
from cardenvs.arena.store import Store
from cardenvs.core.errors import AgentError, ArenaError
from cardenvs.core.registry import get_game
from cardenvs.games.bridge.scoring import imps
from cardenvs.games.bridge.state import BID_0, CARD_0, PASS
from cardenvs.tools.bridge import duel, pimc
from cardenvs.tools.bridge.deals import deck_of, read_card, read_deal
from cardenvs.tools.bridge.pimc import PimcAgent

GAME = get_game("bridge_v0")


def agent(worlds=4, tried=12):
    return PimcAgent(GAME, worlds, tried)


def at(seed, plies, **options):
    """A state of rule agents after some actions."""
    state = GAME.new_state(seed=seed, **options)
    while state.ply < plies and not state.is_terminal:
        state.apply(state.policy_action("heuristic", 0))
    return state


def position(deal, bid, *cards, **options):
    """South declares a contract; the cards have been played."""
    state = GAME.new_state(seed=0, deck=deck_of(read_deal(deal)), board=3, dealer="S", vulnerable="none", **options)
    for action in (BID_0 + bid, PASS, PASS, PASS, *(CARD_0 + read_card(card) for card in cards)):
        state.apply(action)
    return state


# ---------------------------------------------------------------------------------------------------------------
# What it plays


def test_it_makes_a_contract_that_needs_counting():
    # 7NT by South with thirteen tricks on top: from the first card on, whatever it plays, it must keep them all.
    state = position("N:AKQ2.432.432.432 JT98.JT9.JT9.JT9 543.AKQ.AKQ.AKQ5 76.8765.8765.876", 34)
    player = agent()
    while not state.is_terminal:
        if state.current_player == 2:
            state.apply(player.act(Turn(state, 1)))
        else:
            state.apply(state.policy_action("random", state.ply))
    assert state.record.tricks_won[0] == 13


def test_it_takes_the_setting_trick():
    # West is on lead against 7NT with an ace: any other card lets it through.
    state = position("N:KQJ2.432.432.432 T987.JT9.JT9.JT9 543.AKQ.AKQ.AKQ5 A6.8765.8765.876", 34)
    assert state.current_player == 3
    assert agent(worlds=100, tried=120).act(Turn(state, 1)) == CARD_0 + read_card("SA")


def test_calls_are_the_natural_bidders():
    for seed in range(5):
        state = at(seed, 2)
        assert agent().act(Turn(state, 1)) == state.policy_action("heuristic", 0)


def test_of_equal_cards_it_takes_the_rule_agents_or_the_lowest(monkeypatch):
    monkeypatch.setattr(pimc, "_values", lambda worlds, cards: np.zeros(len(cards)))
    state = at(3, 30)
    assert agent().act(Turn(state, 1)) == state.policy_action("heuristic", 0)
    turn = Turn(state, 1)
    turn.policy_action = lambda policy: -1
    lowest = min(turn.legal_actions, key=lambda action: (action - CARD_0 - 1) % 13)
    assert agent().act(turn) == lowest


def test_worlds_fit_the_auction_of_natural_bidders():
    for seed in range(6):
        turn = Turn(GAME.new_state(seed=seed, phase="play"), 1)
        auction = pimc._Auction(turn.determinize(1), turn.player)
        assert [auction.num_differing(world) for world in PimcAgent(GAME, 6, 6)._worlds(turn)] == [0] * 6


# ---------------------------------------------------------------------------------------------------------------
# What it knows


@pytest.mark.parametrize("plies_played", [0, 1, 6, 20, 33])
def test_it_chooses_the_same_in_every_twin(plies_played):
    varied = 0
    for seed in range(3 if plies_played > 4 else 1):  # the fewer cards, the faster
        state = GAME.new_state(seed=seed, phase="play")
        for _ in range(plies_played):
            state.apply(state.policy_action("heuristic", 0))
        turn = Turn(state, 7)
        action = agent().act(turn)
        for k in range(2):
            twin = state.determinize(state.current_player, 1000 + k)
            other = Turn(twin, 7)
            varied += bool((twin.record.hands != state.record.hands).any())
            assert agent().act(other) == action
            assert other.notes == turn.notes
    assert varied > 0, "twins that do not vary show nothing"


def test_it_repeats_and_depends_on_the_seed():
    state = GAME.new_state(seed=4, phase="play")
    notes = []
    for seed in (1, 1, 2):
        turn = Turn(state, seed)
        agent().act(turn)
        notes.append(turn.notes)
    assert notes[0] == notes[1] != notes[2]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:worlds=0", "pimc takes 1 to 200 worlds; got 0"),
        ("pimc:worlds=201", "pimc takes 1 to 200 worlds"),
        ("pimc:worlds=5,tried=4", "tried from the number of worlds, 5, to"),
        ("pimc:tried=99999", "tried from the number of worlds"),
        ("pimc:world=5", "pimc has no parameter 'world=5'"),
        ("pimc:worlds=x", "pimc takes an integer for worlds"),
    ],
)
def test_wrong_parameters_are_refused(spec, message):
    with pytest.raises(AgentError, match=message):
        make_agent(spec, GAME, GAME.make_options())


def test_it_plays_no_other_game():
    kuhn = get_game("kuhn_poker_v0")
    with pytest.raises(AgentError, match="pimc plays bridge_v0; got kuhn_poker_v0"):
        make_agent("pimc", kuhn, kuhn.make_options())


# ---------------------------------------------------------------------------------------------------------------
# Duels


def played(agents, deals=4, seed="5", **options):
    tables = duel.tables_of(agents, GAME.make_options(**options), deals, seed)
    with Store(None) as store:
        duel.play(tables, store)
        return duel.result_of(tables, store), duel.boards_of(tables, store)


def test_a_duel_converts_the_difference_of_both_tables():
    result, boards = played(("heuristic", "random"))
    assert len(result.imps) == 4
    assert [int(imps(int(one - two))) for one, two in result.points] == result.imps.tolist()
    assert [board.score for board in boards] == [*result.points[:, 0], *result.points[:, 1]]
    assert boards[0].players[0].startswith("heuristic")
    assert boards[4].players[0].startswith("random")
    for one, two in zip(boards[:4], boards[4:], strict=True):
        assert (one.state.deck == two.state.deck).all()
        assert one.number == two.number
    back, _ = played(("random", "heuristic"))
    assert (back.imps == -result.imps).all()
    assert result.mean.mean == pytest.approx(result.imps.mean())


def test_with_phase_play_both_tables_have_the_same_auction():
    _, boards = played(("heuristic", "random"), phase="play")
    for one, two in zip(boards[:4], boards[4:], strict=True):
        assert one.calls == two.calls


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        (("random", "random"), {}, "two different agents; got random twice"),
        (("heuristic", "random"), {"result": "imps"}, "a duel needs result=points"),
        (("heuristic", "random"), {"scoring": "rubber"}, "it has no rubbers"),
    ],
)
def test_what_is_no_duel_is_refused(agents, options, message):
    with pytest.raises(ArenaError, match=message):
        duel.tables_of(agents, GAME.make_options(**options), 1)
