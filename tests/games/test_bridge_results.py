"""Tests of what an auction alone is paid: the bank of solved deals, the option tricks, estimates, and likely worlds."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cardenvs.core.errors import FileError, OptionError
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.games.bridge import bank
from cardenvs.games.bridge.estimate import estimated_tricks
from cardenvs.games.bridge.evaluation import high_card_points
from cardenvs.games.bridge.state import BID_0, DENOMINATIONS, NOT_KNOWN, NUM_RESULTS
from cardenvs.kits.cards import CARD_LABELS, cards_of

GAME = get_game("bridge_v0")
ROWS = bank.read_bank(bank.FILE)
ONE_NO_TRUMP = BID_0 + 4
NEWSPAPER_SUITS = "shdc"


def hands_of(state):
    return [cards_of(state.record.hands[p]) for p in range(4)]


def auction(seed=0, **options):
    return GAME.new_state(seed=seed, phase="auction", **options)


def declare(state, call=ONE_NO_TRUMP):
    for action in (call, 0, 0, 0):
        state.apply(action)
    return state


# ---------------------------------------------------------------------------------------------------------------
# The file


def test_rows_are_packed_and_unpacked():
    chance = np.random.default_rng(1)
    owners = np.array([chance.permutation(np.repeat(np.arange(4), 13)) for _ in range(50)])
    tricks = chance.integers(0, 14, (50, 5, 4))
    rows = bank.pack(owners, tricks)
    assert rows.shape == (50, bank.ROW_BYTES)
    assert rows.dtype == np.uint8
    again, tricks_again = bank.unpack(rows)
    assert (again == owners).all()
    assert (tricks_again == tricks).all()


def test_kernels_read_what_unpack_reads():
    owners, tricks = bank.unpack(ROWS)
    assert bank.num_deals() == len(ROWS)
    for row in (0, len(ROWS) - 1):
        assert [bank.owner_of(row, card) for card in range(52)] == owners[row].tolist()
        found = [[bank.tricks_in(row, d, p) for p in range(4)] for d in range(5)]
        assert found == tricks[row].tolist()


def test_the_file_is_checked(tmp_path):
    path = tmp_path / "deals.npy"
    with pytest.raises(FileError, match="not a file of solved bridge deals"):
        bank.read_bank(path)
    for wrong, reason in (
        (ROWS[:, 1:], "an array uint8"),
        (ROWS[:0], "1 to 1000000 deals; it has 0"),
        (ROWS ^ np.uint8(1), "deal 0 is impossible: a player holds thirteen cards"),
        (ROWS | np.array([0] * 22 + [15], np.uint8), "deal 0 is impossible: a side takes at most thirteen tricks"),
    ):
        np.save(path, wrong)
        with pytest.raises(FileError, match=reason):
            bank.read_bank(path)
    np.save(path, np.array([{}], object), allow_pickle=True)
    with pytest.raises(FileError, match="not a file of solved bridge deals"):
        bank.read_bank(path)


PROGRAM = """
import cardenvs
state = cardenvs.get_game("bridge_v0").new_state(seed=3, phase="auction")
print(sorted(state.record.hands.tolist()))
"""


def test_another_file_can_be_named(tmp_path):
    """A bank of one deal in which each player holds a suit: whoever they are, the hands are the four suits."""
    path = tmp_path / "own.npy"
    np.save(path, bank.pack(np.repeat(np.arange(4), 13)[None], np.full((1, 5, 4), 7)))
    assert run_with(path).stdout.strip() == str([(1 << 13) - 1 << 13 * k for k in range(4)])
    path.write_bytes(b"nothing")
    assert "own.npy: not a file of solved bridge deals" in run_with(path).stderr


def run_with(path):
    env = os.environ | {bank.VARIABLE: str(path), "CARDENVS_QUIET": "1"}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False)


# ---------------------------------------------------------------------------------------------------------------
# Deals


def test_7_2_deals_come_from_the_bank():
    """Undoing the turn of the table and the exchange of suits gives a row, tricks included."""
    owners, tricks = bank.unpack(ROWS)
    stored = {shape_of(owners[k], tricks[k]) for k in range(len(ROWS))}
    turned = set()
    for seed in range(60):
        record = auction(seed).record
        dealt = np.array([next(p for p in range(4) if int(record.hands[p]) >> card & 1) for card in range(52)])
        results = record.tricks.reshape(5, 4)
        shapes = [shape_of((dealt - turn) % 4, np.roll(results, -turn, axis=1)) for turn in range(4)]
        assert [shape in stored for shape in shapes].count(True) == 1
        turned |= {k for k in range(4) if shapes[k] in stored}
    assert turned == {0, 1, 2, 3}


def shape_of(owners, tricks):
    """A deal whatever its suits are called: for each suit, who holds its cards and the tricks with it as trumps."""
    denomination = (3, 0, 1, 2)
    suits = [(tuple(owners[13 * k : 13 * k + 13]), tuple(tricks[denomination[k]])) for k in range(4)]
    return (*sorted(suits), tuple(tricks[4]))


def test_7_2_tricks_are_those_of_a_solver():
    types, dds = pytest.importorskip("endplay.types"), pytest.importorskip("endplay.dds")
    denominations = [types.Denom.find(name) for name in DENOMINATIONS]
    players = (types.Player.north, types.Player.east, types.Player.south, types.Player.west)
    for seed in (5, 6):
        state = auction(seed)
        table = dds.calc_dd_table(types.Deal("N:" + " ".join(map(pbn, hands_of(state)))))
        solved = [[table[denomination, player] for player in players] for denomination in denominations]
        assert solved == state.record.tricks.reshape(5, 4).tolist()


def pbn(cards):
    labels = [CARD_LABELS[card] for card in cards]
    return ".".join("".join(label[0] for label in labels if label[1] == suit) for suit in NEWSPAPER_SUITS)


def test_7_2_declarer_is_paid_the_stored_tricks():
    for seed in range(30):
        state = auction(seed, vulnerable="none")
        declarer, number = state.current_player, state.record.tricks.reshape(5, 4)
        declare(state)
        assert state.facts(0)["results"][0]["tricks"] == number[4, declarer]


def test_7_3_tricks_of_an_explicit_deal():
    tricks = tuple(range(13)) + (0,) * 7
    for denomination, declarer in ((0, 0), (1, 3), (2, 2), (3, 0)):
        state = auction(dealer="NESW"[declarer], tricks=tricks)
        declare(state, BID_0 + denomination)
        assert state.facts(0)["results"][0]["tricks"] == tricks[4 * denomination + declarer]
    with pytest.raises(OptionError, match='tricks needs phase="auction"'):
        GAME.make_options(tricks=tricks)
    with pytest.raises(OptionError, match="tricks takes 20 numbers; got 3"):
        GAME.make_options(phase="auction", tricks=(1, 2, 3))


def test_7_4_without_tricks_an_explicit_deal_is_estimated():
    suits = " ".join(CARD_LABELS)  # spades, clubs, diamonds and hearts, a suit each
    state = declare(auction(deck=suits, dealer="N", vulnerable="none"), BID_0 + 34)
    assert state.facts(0)["results"][0]["tricks"] == 6  # 20 points at no-trump
    state = declare(auction(deck=suits, dealer="N", vulnerable="none"), BID_0 + 33)
    assert state.returns[0] == 1510  # thirteen trumps


def test_7_4_the_estimate_is_about_right():
    """The mean error that docs/decisions/0019 states, on deals of the bank."""
    estimate = takes_records(estimated_tricks)
    errors = []
    for seed in range(150):
        state = auction(seed)
        guess = [[int(estimate(state.records[0], d, p)) for p in range(4)] for d in range(5)]
        errors.append(np.abs(guess - state.record.tricks.reshape(5, 4)).mean(axis=1))
    by_denomination = np.mean(errors, axis=0)
    assert (by_denomination[:4] < 1.0).all(), by_denomination
    assert by_denomination[4] < 1.25, by_denomination


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def test_7_4_worlds_are_not_paid_by_the_true_deal():
    """Two deals in which North holds the same cards, of which one makes all tricks and one none."""
    north, others = list(range(0, 52, 4)), [card for card in range(52) if card % 4]
    twins = []
    for hidden, tricks in ((others, 13), (others[::-1], 0)):
        state = auction(deck=[*north, *hidden], tricks=(tricks,) * NUM_RESULTS, dealer="N", vulnerable="none")
        twins.append([state.determinize(0, seed) for seed in range(20)])
    for one, other in zip(*twins, strict=True):
        assert one.record_bytes() == other.record_bytes()
        assert (one.record.tricks == NOT_KNOWN).all()
        assert declare(one).returns == declare(other).returns
    assert len({one.returns[0] for one in twins[0]}) > 1  # worlds differ


def test_worlds_of_the_bank_forget_the_results():
    for seed in range(20):
        state = auction(seed)
        twin = state.determinize(state.current_player, seed)
        assert (twin.record.tricks == NOT_KNOWN).all()
        assert (state.record.tricks >= 0).all()


def test_facts_explain_the_auction_by_the_calls_alone():
    for seed in range(15):
        state = GAME.new_state(seed=seed)
        for _ in range(3 + seed % 6):
            if state.phase == "auction":
                state.apply(state.policy_action("heuristic", 0))
        for player in range(4):
            for world in range(3):
                assert state.determinize(player, world).facts(player) == state.facts(player)


def test_calls_and_cards_show_only_what_was_called_and_played():
    """Events of calls are declared as revealing, because of phase="play"; here no event differs between twins."""
    for seed in range(8):
        state = GAME.new_state(seed=seed)
        twin = state.determinize(2, seed)
        seen, seen_twin = len(state.event_rows(2)), len(twin.event_rows(2))
        while state.phase == "auction" and not state.is_terminal:
            action = state.policy_action("heuristic", 0)
            state.apply(action)
            twin.apply(action)
            assert state.event_rows(2)[seen:].tolist() == twin.event_rows(2)[seen_twin:].tolist()


def test_likely_worlds_agree_with_the_calls_and_know_no_more():
    """After 1NT and a raise to three, opener has 15 to 17 points in nearly all likely worlds, and in few others."""
    sample = takes_records(GAME.sample_belief)
    points = takes_records(high_card_points)
    likely, uniform = [], []
    calls = (ONE_NO_TRUMP, 0, BID_0 + 14, 0, 0, 0)
    observer, opener = 1, 0
    for seed in range(10):
        state = GAME.new_state(seed=seed, phase="play", dealer="N", auction=calls)
        if points(int(state.record.hands[observer])) > 14:
            continue  # too few are left for the others
        for world in range(4):
            records = state.records
            sample(records[0], observer, world)
            likely.append(int(points(records[0].hands[opener])))
            twin = state.determinize(observer, world)
            uniform.append(int(points(twin.record.hands[opener])))
            of_twin = twin.records
            sample(of_twin[0], observer, world)
            assert (of_twin["hands"] == records["hands"]).all()
    in_range = [np.mean([15 <= number <= 17 for number in found]) for found in (likely, uniform)]
    assert in_range[0] > 0.9
    assert in_range[1] < 0.5
