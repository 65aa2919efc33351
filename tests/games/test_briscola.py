"""Tests of Briscola: each paragraph of rules.md, a slow second implementation, worlds, and the heuristic."""

import random

import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.registry import get_game
from cardenvs.kits.cards import ITALIAN

GAME = get_game("briscola_v0")
ORDER = "A3KQJ76542"
VALUES = {"A": 11, "3": 10, "K": 4, "Q": 3, "J": 2}


def hand(state, player):
    return [label for card, label in enumerate(ITALIAN.labels) if int(state.record.hands[player]) >> card & 1]


def play(state, *labels):
    for label in labels:
        state.apply(state.action_from_label(f"play {label}"))
    return state


def test_1_1_two_or_four_players():
    with pytest.raises(OptionError, match="2 or 4; got 3"):
        GAME.make_options(num_players=3)
    with pytest.raises(DeckError, match="not in the deck of 40 cards"):
        GAME.new_state(seed=1, deck="8d")


def test_2_1_the_turned_up_card_is_drawn_last():
    state = GAME.new_state(seed=3, deck="As 2s 3s 4s 5s 6s 7d")
    assert table_texts(state.view(0))["piles"]["turned_up"] == ["7♦"]
    while table_texts(state.view(0))["piles"]["turned_up"]:
        state.apply(state.legal_actions()[0])
    holder = int(state.record.trump_holder)
    assert "7d" in hand(state, holder)
    assert state.facts(1 - holder)["turned_up_is_held_by"] == f"player_{holder}"  # 3.4
    assert table_texts(state.view(1 - holder))["piles"]["hand"][holder].count("?") == 2


def test_2_2_the_next_player_leads_the_next_deal():
    state = GAME.new_state(seed=1, target=2)
    while state.record.num_deals == 1:
        state.apply(state.legal_actions()[0])
    assert state.current_player == 1
    assert state.facts(0)["deal"] == 2
    assert sum(state.facts(0)["points_by_deal"][0]) == 120


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        ("4s 5s", 1), ("5s 4s", 0),  # the higher card
        ("Ks 3s", 1), ("3s As", 1), ("7s Js", 1), ("2s 4s", 1),  # the order of 1.2
        ("4s Ac", 0),  # another suit
        ("As 2d", 1),  # the lowest trump
        ("2d 4d", 1), ("4d 2d", 0),
    ],
)  # fmt: skip
def test_3_2_who_wins_a_trick(cards, winner):
    first, second = cards.split()
    rest = iter(label for label in ("6h", "7h", "Jh", "Qh") if label not in cards)
    deck = f"{first} {next(rest)} {next(rest)} {second} {next(rest)} {next(rest)} 7d"
    state = play(GAME.new_state(seed=1, deck=deck), first, second)
    assert state.current_player == winner
    points = [0, 0]
    points[winner] = sum(VALUES.get(card[0], 0) for card in (first, second))
    assert state.facts(0)["points"] == points


def test_3_3_the_winner_draws_first():
    state = play(GAME.new_state(seed=1, deck="As 6h 7h 2s Jh Qh 7d Kc 4c"), "As", "2s")
    assert "Kc" in hand(state, 0)
    assert "4c" in hand(state, 1)
    assert state.recap(1)[-2:] == ["player_0 draws a card.", "player_1 draws 4♣."]


def test_4_1_sixty_all_is_a_draw():
    draws = 0
    for seed in range(400):
        state = GAME.new_state(seed=seed, num_players=4)
        while not state.is_terminal:
            state.apply(state.policy_action("random", seed))
        points = state.facts(0)["points"]
        sign = (points[0] > 60) - (points[0] < 60)
        assert state.returns == [sign, -sign, sign, -sign]
        draws += sign == 0
    assert draws > 0


def test_4_2_a_match_ends_after_twice_the_target_and_one():
    state = GAME.new_state(seed=1, target=2)
    while not state.is_terminal:
        state.apply(state.policy_action("random", state.ply))
    won = state.facts(0)["deals_won"]
    assert max(won) == 2 or state.facts(0)["deal"] == 5


def test_4_3_points_as_reward():
    state = GAME.new_state(seed=2, reward="points", target=2)
    while not state.is_terminal:
        state.apply(state.policy_action("random", state.ply))
    assert state.returns[0] == sum(own - 60 for own, _ in state.facts(0)["points_by_deal"])


def test_5_1_forfeits():
    state = GAME.new_state(seed=2, num_players=4)
    state.apply(FORFEIT + 0)
    assert state.is_terminal
    assert state.returns == [-1, 1, -1, 1]
    state = GAME.new_state(seed=2, reward="points")
    state.apply(FORFEIT + 0)
    assert state.returns == [-60, 60]


def test_5_1_a_forfeit_loses_all_deals_that_the_others_need():
    state = GAME.new_state(seed=2, reward="points", target=3)
    while state.record.num_deals == 1:
        state.apply(state.policy_action("random", state.ply))
    before, won = state.returns, state.record.deals_won.tolist()
    player = state.current_player
    state.apply(FORFEIT + player)
    assert state.returns[player] == before[player] - 60 * (3 - won[1 - player])
    assert sum(state.returns) == 0
    assert state.game.returns(state.options).low == -180


# ---------------------------------------------------------------------------------------------------------------
# A second implementation, slow and obvious


def check_against_the_oracle(seed):
    """Play one deal of random cards by lists of labels, and compare every position with the kernels'."""
    chooser = random.Random(seed)
    n = chooser.choice([2, 4])
    deck = chooser.sample(ITALIAN.labels, 40)
    state = GAME.new_state(seed=seed, deck=" ".join(deck), num_players=n)
    hands = [deck[3 * p : 3 * p + 3] for p in range(n)]
    trump = deck[3 * n]
    stock = [*deck[3 * n + 1 :], trump]
    leader, points = 0, [0, 0]
    while any(hands):
        trick = []
        for k in range(n):
            player = (leader + k) % n
            assert state.current_player == player
            assert sorted(hand(state, player)) == sorted(hands[player])
            card = chooser.choice(hands[player])
            hands[player].remove(card)
            trick.append((player, card))
            play(state, card)
        trumps = [pair for pair in trick if pair[1][1] == trump[1]]
        following = trumps or [pair for pair in trick if pair[1][1] == trick[0][1][1]]
        leader = min(following, key=lambda pair: ORDER.index(pair[1][0]))[0]
        points[leader % 2] += sum(VALUES.get(card[0], 0) for _, card in trick)
        if stock:
            for k in range(n):
                hands[(leader + k) % n].append(stock.pop(0))
        assert state.facts(0)["points"] == points
    assert state.is_terminal
    assert state.returns[0] == (points[0] > 60) - (points[0] < 60)


@pytest.mark.parametrize("part", range(4))
def test_deals_agree_with_the_oracle(part):
    for seed in range(50 * part, 50 * part + 50):
        check_against_the_oracle(seed)


@pytest.mark.slow
def test_ten_thousand_deals_agree_with_the_oracle():
    for seed in range(1000, 11_000):
        check_against_the_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# Worlds and the heuristic


def test_the_drawn_trump_card_stays_where_it_is_known_to_be():
    state = GAME.new_state(seed=3)
    while state.record.trump_holder < 0:
        state.apply(state.legal_actions()[0])
    holder = int(state.record.trump_holder)
    trump = ITALIAN.labels[int(state.record.trump)]
    for seed in range(40):
        assert trump in hand(state.determinize(1 - holder, seed), holder)


def test_the_heuristic_wins_against_random_players():
    won = 0
    for seed in range(300):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        won += state.returns[seed % 2] > 0
    assert won > 250


def test_the_heuristic_feeds_its_partner():
    state = play(GAME.new_state(seed=1, deck="4s 5s 6s As 5c 4c 3s 2c Jc Qh Kh 6h 7d", num_players=4), "4s", "As")
    assert state.action_label(state.policy_action("heuristic", 0)) != "play 3♠"  # the others win
    state = play(GAME.new_state(seed=1, deck="7s 2h 4h 7c 5c 4c Jh 2c Jc 3h Kh 6h 7d", num_players=4), "7s", "4c", "2c")
    assert state.action_label(state.policy_action("heuristic", 0)) == "play 6♥"
    state = play(GAME.new_state(seed=1, deck="7s 2h 4h As 5c 4c Jh 2c Jc 3h Kh 6h 7d", num_players=4), "7s", "As", "2c")
    assert state.action_label(state.policy_action("heuristic", 0)) == "play 3♥"
