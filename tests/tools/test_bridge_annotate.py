"""Annotated boards: the cost of every card, of the contract, and what is shown of them."""

import base64
import dataclasses
import gzip
import json
import re

import pytest

pytest.importorskip("endplay")

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game
from cardenvs.games.bridge.state import BID_0, PASS
from cardenvs.tools.bridge.annotate import annotate
from cardenvs.tools.bridge.boards import Board, new_board_state
from cardenvs.tools.bridge.deals import read_card, read_deal

GAME = get_game("bridge_v0")
# North declares 3NT and has nine tricks on top; East has the four top clubs.
TOPS = "N:AKQ.AKQ.AKQ.5432 765.765.654.AKQJ 432.432.32.T9876 JT98.JT98.JT987."


@pytest.fixture(scope="module")
def tops():
    """3NT by North: East leads a spade and never gets the clubs; then North throws a top heart away."""
    state = new_board_state(read_deal(TOPS), 1, 0, 0)
    for action in (BID_0 + 14, PASS, PASS, PASS):
        state.apply(action)
    for text in ["S7", "S2", "S8", "SA", "HA", "H5", "H2", "H8", "C2", "CA", "C6", "D7"]:
        state.apply(38 + read_card(text))
    return annotate(Board(state, 1, tricks=8, is_claimed=True))


def test_costs_of_the_lead_and_of_a_slip(tops):
    assert tops.expected == 9
    lead, *rest = tops.cards
    assert (lead.player, lead.trick, lead.cost, lead.tricks) == (1, 1, 0, 9), "the ace takes care of all clubs"
    assert len(lead.best) == 13, "whatever East leads, the clubs come in"
    assert [one.cost for one in rest[:7]] == [0] * 7
    slip = tops.cards[8]
    assert slip.cost == 0, "the four clubs are lost anyway"
    assert tops.cards[3].decided_by == 0
    assert {one.decided_by for one in tops.cards if one.player == 2} == {0}, "declarer plays dummy's cards"


def test_costs_explain_the_result_exactly():
    for seed in range(2):
        state = GAME.new_state(seed=seed, phase="play")
        while not state.is_terminal:
            state.apply(state.policy_action("random", state.ply))
        found = annotate(Board.of(state))
        declarer = int(state.record.declarer)
        lost = [found.lost(p) for p in range(4)]
        assert lost[(declarer + 2) % 4] == 0
        defence = lost[(declarer + 1) % 4] + lost[(declarer + 3) % 4]
        assert found.board.tricks == found.expected - lost[declarer] + defence
        assert found.cards[-1].tricks == found.board.tricks
        assert len(found.cards) == 52
        for one in found.cards:
            assert (one.cost == 0) == (one.card in one.best)
        assert sum(lost) > 0


def test_contract_beside_par(tops):
    assert tops.contract_score == 400
    assert tops.board.score == -50
    assert tops.bidding_cost is not None
    assert tops.par.score >= 400
    passed = new_board_state(read_deal(TOPS), 1, 0, 0)
    for _ in range(4):
        passed.apply(PASS)
    found = annotate(Board.of(passed))
    assert (found.expected, found.contract_score, found.cards) == (None, 0, ())
    assert found.bidding_cost < 0


def test_a_deal_without_an_auction_has_a_table_only():
    found = annotate(Board.of(new_board_state(read_deal(TOPS), 1, 0, 0)))
    assert found.table[4].tolist() == [9, 4, 9, 4]
    assert (found.contract_score, found.bidding_cost) == (None, None)
    assert json.loads(json.dumps(found.as_dict()))["contract"] is None


def test_json_and_page_have_the_costs(tops):
    data = json.loads(json.dumps(tops.as_dict()))
    assert data["contract"] == "3NT by N"
    assert data["double_dummy"]["N"]["NT"] == 9
    assert data["cards"][0] | {"best": 0} == {
        "trick": 1, "hand": "E", "decided_by": "E", "card": "S7", "cost": 0, "best": 0, "tricks": 9,
    }  # fmt: skip
    named = dataclasses.replace(tops, board=dataclasses.replace(tops.board, players=("<b>", "", "", "")))
    page = named.page()
    assert "<b>" not in page
    packed = max(re.findall(r"[A-Za-z0-9+/=]{500,}", page), key=len)
    frames = json.loads(gzip.decompress(base64.b64decode(packed)))["frames"]
    assert frames[4]["notes"]["cost"] == "0 tricks"
    assert "notes" not in frames[3]


def test_a_game_that_somebody_left_is_refused():
    state = GAME.new_state(seed=1, phase="play")
    state.apply(FORFEIT + state.current_player)
    with pytest.raises(FormatError, match="a player left this game"):
        annotate(Board.of(state))
