"""Double-dummy results: against a search of our own on endings, against published tables, and in bulk."""

import functools
import json

import numpy as np
import pytest

pytest.importorskip("endplay")

from endplay import _dds
from endplay.dds import calc_all_tables, par
from endplay.dds.ddtable import DDTable
from endplay.types import Deal, Player, Vul

from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game
from cardenvs.kits.cards import cards_of
from cardenvs.tools.bridge import double_dummy, solving
from cardenvs.tools.bridge.deals import deal_text, hands_of_seed, read_deal
from cardenvs.tools.bridge.par import par_of

GAME = get_game("bridge_v0")
# The examples of DDS (dds/examples/hands.cpp): tricks of N E S W in spades, hearts, diamonds, clubs, no-trump.
PUBLISHED = {
    "N:QJ6.K652.J85.T98 873.J97.AT764.Q4 K5.T83.KQ9.A7652 AT942.AQ4.32.KJ3":
        "5 8 5 8  6 6 6 6  5 7 5 7  7 5 7 5  6 6 6 6",
    "E:QJT5432.T.6.QJ82 .J97543.K7532.94 87.A62.QJT4.AT75 AK96.KQ8.A98.K63":
        "4 9 4 9  10 2 10 2  8 3 8 3  6 7 6 7  9 3 9 3",
    "N:73.QJT.AQ54.T752 QT6.876.KJ9.AQ84 5.A95432.7632.K6 AKJ9842.K.T8.J93":
        "3 10 3 10  9 4 9 4  8 4 8 4  3 9 3 9  4 8 4 8",
}  # fmt: skip
OPEN_LEAD = "N:AKQ.AKQ.AKQ.5432 765.765.654.AKQJ 432.432.32.T9876 JT98.JT98.JT987."


def ending(seed, num_cards, in_trick):
    """A state of random play with `num_cards` tricks to go, the current trick having `in_trick` cards."""
    state = GAME.new_state(seed=seed, phase="play")
    for k in range(4 * (13 - num_cards) + in_trick):
        state.apply(state.policy_action("random", 100 * seed + k))
    return state


def slow_tricks(state):
    """Tricks that the side to play takes after each card, from the rules as every beginner knows them."""
    s = state.record
    trump = (1, 2, 3, 0, None)[int(s.contract) % 5]  # suit of the deck: s c d h
    hands = tuple(frozenset(cards_of(int(hand))) for hand in s.hands)
    trick = tuple(int(s.played[(s.leader + k) % 4, s.trick]) for k in range((int(s.turn) - int(s.leader)) % 4))

    def strength(card, led):
        rank = (card % 13 - 1) % 13
        return (card // 13 == trump, card // 13 == led, rank)

    @functools.cache
    def most(hands, leader, trick, side):
        """Tricks that `side` takes from here on."""
        player = (leader + len(trick)) % 4
        if not hands[player]:
            return 0
        found = [after(hands, leader, trick, card, side) for card in legal(hands[player], trick)]
        return max(found) if player % 2 == side else min(found)

    def legal(hand, trick):
        following = [card for card in hand if trick and card // 13 == trick[0] // 13]
        return following or hand

    def after(hands, leader, trick, card, side):
        player = (leader + len(trick)) % 4
        hands = tuple(hand - {card} if p == player else hand for p, hand in enumerate(hands))
        trick = (*trick, card)
        if len(trick) < 4:
            return most(hands, leader, trick, side)
        best = max(range(4), key=lambda k: strength(trick[k], trick[0] // 13))
        winner = (leader + best) % 4
        return (winner % 2 == side) + most(hands, winner, (), side)

    player = int(s.turn)
    tricks = np.full(52, -1)
    for card in legal(hands[player], trick):
        tricks[card] = after(hands, int(s.leader), trick, card, player % 2)
    return tricks


def compare(seeds, num_cards):
    states = [ending(seed, num_cards, seed % 4) for seed in seeds]
    found = double_dummy.card_tricks([state.record for state in states])
    for state, tricks in zip(states, found, strict=True):
        assert tricks.tolist() == slow_tricks(state).tolist(), state.actions
    return found


def test_every_card_of_endings_agrees_with_a_slow_search():
    found = compare(range(24), num_cards=4)
    assert any(len(set(tricks.tolist()) - {-1}) > 1 for tricks in found)  # cards that matter
    compare(range(8), num_cards=1)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 80, 10))
def test_longer_endings_agree_too(first):
    compare(range(1000 + first, 1010 + first), num_cards=5)


def test_published_tables():
    hands = np.array([read_deal(text) for text in PUBLISHED])
    found = double_dummy.tables(hands)
    for table, text in zip(found, PUBLISHED.values(), strict=True):
        spades, hearts, diamonds, clubs, no_trump = np.array(text.split(), int).reshape(5, 4)
        assert table.tolist() == np.array([clubs, diamonds, hearts, spades, no_trump]).tolist()
    assert found.dtype == np.int8


def test_four_top_clubs_beat_three_no_trump_by_no_trick():
    (table,) = double_dummy.tables(read_deal(OPEN_LEAD)[None])
    assert table[4].tolist() == [9, 4, 9, 4]  # declarer N or S: the defence takes four clubs and no more


def test_chunks_are_put_together_and_equal_endplays_own_tables(monkeypatch):
    monkeypatch.setattr(double_dummy, "MOST_TABLES", 2)
    hands = np.array([hands_of_seed(seed) for seed in range(3)])
    found = double_dummy.tables(hands)
    theirs = calc_all_tables([Deal(deal_text(one)) for one in hands])
    for table, other in zip(found, theirs, strict=True):
        assert table.tolist() == np.array(other.to_list())[[3, 2, 1, 0, 4]].tolist()


def test_positions_in_chunks_equal_single_ones(monkeypatch):
    records = [ending(seed, 5, 2).record for seed in range(5)]
    whole = double_dummy.card_tricks(records)
    monkeypatch.setattr(double_dummy, "MOST_POSITIONS", 2)
    assert (double_dummy.card_tricks(records) == whole).all()
    assert ((whole >= 0).sum(axis=1) > 0).all()


def random_table(rng):
    """Tricks as they might be: the two hands of a side differ by one at most."""
    table = np.zeros((5, 4), np.int8)
    for k in range(5):
        ns = int(rng.integers(0, 14))
        for p in range(4):
            table[k, p] = np.clip((ns if p % 2 == 0 else 13 - ns) + rng.integers(-1, 2), 0, 13)
    return table


def test_par_scores_agree_with_dds():
    rng = np.random.default_rng(5)
    for _ in range(150):
        table, dealer, vulnerable = random_table(rng), int(rng.integers(4)), int(rng.integers(4))
        theirs = _dds.ddTableResults()
        for k, row in enumerate(table[[3, 2, 1, 0, 4]]):
            for p in range(4):
                theirs.resTable[k][p] = int(row[p])
        vul = (Vul.none, Vul.ns, Vul.ew, Vul.both)[vulnerable]
        wanted = par(DDTable(theirs), vul, Player(dealer)).score
        assert par_of(table, dealer, vulnerable).score == wanted, (table.tolist(), dealer, vulnerable)


# ---------------------------------------------------------------------------------------------------------------
# In bulk


@pytest.fixture
def counted(monkeypatch):
    """Tables that cost nothing, and how many deals were solved."""
    solved = []

    def tables(hands):
        solved.append(len(hands))
        return (hands[:, None, :] % 14).astype(np.int8).repeat(5, axis=1)

    monkeypatch.setattr(solving, "tables", tables)
    return solved


def deals(number):
    return np.arange(4 * number, dtype=np.int64).reshape(number, 4)


def test_a_stopped_run_goes_on_where_it_was(tmp_path, counted):
    part, hands = tmp_path / "a.part", deals(3 * solving.CHUNK + 1)
    stops = []

    def stop(done, total):
        stops.append(done)
        if done == 2 * solving.CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solving.solve(hands, part, 1, stop)
    with part.open("a") as file:
        file.write('{"first": 16, "tri')  # a process that was killed while it wrote
    seen = []
    found = solving.solve(hands, part, 1, lambda done, total: seen.append((done, total)))
    assert counted == [8, 8, 8, 1], "no chunk is solved twice"
    assert seen[0] == (16, 25)
    assert seen[-1] == (25, 25)
    assert (found == solving.solve(hands, None, 1)).all()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"first": 3, "tricks": []}', "line 2 .* is damaged"),
        ('{"first": 0, "tricks": [14' + ", 0" * 159 + "]}", "line 2 .* is damaged"),
        ("[1]", "line 2 .* is damaged"),
        ("x", "line 2"),
    ],
)
def test_a_damaged_part_is_refused(tmp_path, counted, line, message):
    part, hands = tmp_path / "a.part", deals(8)
    solving.solve(hands, part, 1)
    part.write_text(part.read_text().splitlines()[0] + "\n" + line + "\n")
    with pytest.raises(FormatError, match=message):
        solving.solve(hands, part, 1)


def test_a_part_of_other_deals_is_refused(tmp_path, counted):
    part = tmp_path / "a.part"
    solving.solve(deals(8), part, 1)
    with pytest.raises(FormatError, match="belongs to other work"):
        solving.solve(deals(9), part, 1)
    assert json.loads(part.read_text().splitlines()[0])["deals"] == 8, "and stays as it was"


def test_processes_give_the_same_tables(monkeypatch):
    hands = np.array([hands_of_seed(seed) for seed in range(2)])
    here = double_dummy.tables(hands)
    monkeypatch.setattr(solving, "CHUNK", 1)
    assert (solving.solve(hands, None, 2) == here).all()
