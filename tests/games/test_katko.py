"""Tests of Katko: paragraphs of rules.md that the scenario files leave out, an oracle, worlds, and the heuristic."""

import collections
import itertools
import random

import numpy as np
import pytest
from katko_oracle import Oracle, poker_rank

from cardenvs.core.cards import CARD_LABELS, bits_of, parse_card, parse_cards
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.redeal import choose_place, packed
from cardenvs.core.registry import get_game
from cardenvs.games.katko.poker_hand import hand_strength

GAME = get_game("katko_v0")


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def hands_of(state):
    return [
        [CARD_LABELS[card] for card in range(52) if int(state.record.hands[p]) >> card & 1]
        for p in range(state.num_players)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 7, "cards_per_player": 8}, "need more than 52 cards"),
        ({"poker_point": True, "cards_per_player": 4}, "poker_point needs cards_per_player=5"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_2_2_all_cards_are_shuffled_before_each_deal():
    state = played(None, cards_per_player=1, deal_from_rest=False)
    while state.facts(0)["deal"] == 1:
        state.apply(state.legal_actions()[0])
    assert state.facts(0)["undealt_cards"] == 50


def test_2_3_and_2_4_rotating_dealer_and_a_winner_who_leads():
    state = played("Ah Kh Qh", *["lead Ah", "play Kh", "play Qh"], num_players=3, cards_per_player=1,
                   next_dealer="rotate", leader="winner")  # fmt: skip
    assert state.record.dealer == 0
    assert state.current_player == 0


EXCHANGE = "7c 8c 9c Tc 2d  2s 3s 4s 5s 7d  6c Kd"


def test_4_1_an_exchange_is_done_one_by_one_and_drawn_at_the_end():
    state = played(EXCHANGE, poker_point=True)
    assert state.phase == "exchange"
    with pytest.raises(IllegalActionError, match="exchanged first"):
        state.apply(parse_card("7c"))
    state.apply(state.action_from_label("set aside 2d"))
    assert state.current_player == 0
    state.apply(state.action_from_label("done"))
    assert "6c" in hands_of(state)[0]
    assert state.current_player == 1
    state.apply(state.action_from_label("done"))
    assert state.phase == "play"
    assert state.current_player == 0


def test_4_2_nobody_exchanges_more_than_the_rest_has():
    state = GAME.new_state(seed=1, num_players=7, poker_point=True)
    for _ in range(3):  # 17 cards are left; five each for three players
        for _ in range(5):
            state.apply(state.legal_actions()[0])
        state.apply(state.action_from_label("done"))
    for _ in range(2):
        state.apply(state.legal_actions()[0])
    assert [state.action_label(action) for action in state.legal_actions()] == ["done"]
    assert "no card left" in state.explain_illegal(52 + parse_card(hands_of(state)[state.current_player][0]))


def test_4_3_the_best_poker_hand_scores_after_the_last_trick():
    straight_flush = played(EXCHANGE, "set aside 2d", "done", "done", poker_point=True)
    while straight_flush.facts(0)["deal"] == 1:
        straight_flush.apply(straight_flush.legal_actions()[0])
    scores = straight_flush.facts(0)["scores"]
    assert "player_0 had the best poker hand." in straight_flush.recap(1)
    assert sum(scores) == 2
    assert scores[0] >= 1
    assert straight_flush.facts(0)["scores_by_deal"][0] == scores


def test_4_3_the_last_trick_is_counted_first():
    state = played(EXCHANGE, "done", "done", poker_point=True, target=1)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert not any("poker hand" in line for line in state.recap(0))


def test_6_1_the_others_deal_again():
    state = GAME.new_state(seed=4, num_players=3)
    state.apply(state.legal_actions()[0])
    leaver = state.current_player
    state.apply(FORFEIT + leaver)
    assert state.returns[leaver] == -0.5
    assert not state.is_terminal
    assert state.facts(0)["scores_by_deal"] == [[0, 0, 0], [0, 0, 0]]
    assert hands_of(state)[leaver] == []
    state.apply(FORFEIT + state.current_player)
    assert state.is_terminal
    assert sorted(state.returns) == [-0.5, -0.5, 1]


def test_7_2_only_the_owner_knows_what_was_set_aside():
    state = played(EXCHANGE, "set aside 2d", poker_point=True)
    assert table_texts(state.view(0))["piles"]["set_aside"][0] == ["2d"]
    assert table_texts(state.view(1))["piles"]["set_aside"][0] == ["?"]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random match beside the oracle; returns the number of deals."""
    chooser = random.Random(seed)
    options = {
        "num_players": chooser.randint(2, 7), "target": chooser.randint(1, 4), "two_rule": chooser.random() < 0.5,
        "poker_point": chooser.random() < 0.3, "next_dealer": chooser.choice(["winner", "rotate"]),
        "leader": chooser.choice(["left_of_dealer", "winner"]),
    }  # fmt: skip
    state = GAME.new_state(seed=seed, deal_from_rest=chooser.random() < 0.5, **options)
    oracle, deal = Oracle(**options), 0
    while not state.is_terminal:
        if state.phase == "exchange":
            state.apply(chooser.choice(state.legal_actions()))
            continue
        if state.facts(0)["deal"] > deal:
            deal += 1
            assert state.record.dealer == oracle.dealer
            oracle.begin_deal(hands_of(state))
        assert state.current_player == oracle.to_act
        card = chooser.choice(state.legal_actions())
        assert sorted(oracle.legal()) == sorted(CARD_LABELS[action] for action in state.legal_actions())
        oracle.play(CARD_LABELS[card])
        state.apply(card)
        assert state.facts(0)["scores"] == oracle.scores
    assert [p for p, value in enumerate(state.returns) if value == 1] == [oracle.winner]
    return deal


@pytest.mark.parametrize("seed", range(120))
def test_matches_agree_with_the_oracle(seed):
    check_against_the_oracle(seed)


@pytest.mark.slow
def test_ten_thousand_matches_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 11_000)) > 20_000


def test_poker_hands_are_ordered_as_the_oracle_orders_them():
    chooser = random.Random(2)
    texts = ["Ah 2d 3c 4s 5h", "As Ks Qs Js Ts", "5c 4c 3c 2c Ac", "9h 9d 9c 9s 2h", "3h 3d 3c 2s 2h", "Kh Qh 9h 3h 2h"]
    hands = [[CARD_LABELS[card] for card in chooser.sample(range(52), 5)] for _ in range(600)]
    hands += [text.split() for text in texts]
    numbers = [int(hand_strength(bits_of(parse_cards(" ".join(hand))))) for hand in hands]
    ranks = [poker_rank(hand) for hand in hands]
    for (a, b), (x, y) in zip(
        itertools.pairwise(numbers + numbers[::-1]), itertools.pairwise(ranks + ranks[::-1]), strict=True
    ):
        assert (a > b, a == b) == (x > y, x == y)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def test_worlds_respect_suits_that_were_not_followed():
    state = played("9h 2s 3s 4s 5s  7s 2c 3d 4c 5c", "lead 9h", "play 7s")
    lengths = collections.Counter()
    for seed in range(300):
        hand = hands_of(state.determinize(0, seed))[1]
        assert len(hand) == 4
        assert not any(card[1] == "h" for card in hand)
        lengths[sum(card[1] == "s" for card in hand)] += 1
    assert len(lengths) > 2


def test_places_are_found_whenever_the_cards_fit():
    """Cards that just fit: each place takes one suit only, and the last one takes what nobody else may have."""
    record = GAME.new_state(seed=1).record
    cards = [*range(3), *range(13, 15), *range(26, 30), *range(39, 40)]
    room = sum(packed(size, place) for place, size in enumerate((3, 2, 5)))
    voids = packed(0b1110, 0) + packed(0b1101, 1)
    for seed in range(200):
        order = random.Random(seed).sample(cards, len(cards))
        left_room, left = room, sum(packed(1, card // 13) for card in cards)
        for card in order:
            place = choose_place(record, card, left_room, left, voids, 3)
            assert not int(voids) >> 8 * place >> card // 13 & 1
            left_room -= packed(1, place)
            left -= packed(1, card // 13)
        assert left_room == left == 0


def test_without_voids_every_deal_is_as_likely():
    record, counts = GAME.new_state(seed=1).record, collections.Counter()
    for _ in range(6000):
        left_room, left = packed(2, 0) + packed(2, 1), packed(4, 0)
        got = []
        for card in range(4):
            place = choose_place(record, card, left_room, left, np.int64(0), 2)
            left_room, left = left_room - packed(1, place), left - packed(1, 0)
            got.append(int(place))
        counts[tuple(got)] += 1
    assert len(counts) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 20.5  # chi-square(5), 0.001


def test_the_heuristic_wins_against_random_players():
    won = 0
    for seed in range(300):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        won += state.returns[seed % 2] > 0
    assert won > 195
