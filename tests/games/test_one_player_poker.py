"""Tests of one-player poker: each paragraph of rules.md, traces of another program, a slow second implementation."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from ascii_cards import in_ascii

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, IllegalActionError, OptionError
from cardenvs.core.registry import get_game
from cardenvs.envs.vector import VectorEnv
from cardenvs.games.one_player_poker.heuristic import IMPROVED, RULES, recommended
from cardenvs.games.one_player_poker.rules import MODEL_POINTS, NUM_PLAYS, POINTS, POSITIONS
from cardenvs.kits.cards import CARD_LABELS, cards_of, parse_cards
from cardenvs.kits.poker_hands import CATEGORIES, best_category

GAME = get_game("one_player_poker_v0")
ALL_CARDS = [rank + suit for rank in "23456789TJQKA" for suit in "SHDC"]
IDS = {sum(1 << k for k in range(7) if int(bits) >> k & 1) | (1 << 7 if action < NUM_PLAYS else 0): action
       for action, bits in enumerate(POSITIONS)}  # fmt: skip


def shuffled(seed):
    """The deck that Python's generator makes of a seed; the traces below were computed with it."""
    cards = ALL_CARDS.copy()
    random.Random(seed).shuffle(cards)
    return cards


def start(seed, **options):
    return GAME.new_state(seed=0, deck=" ".join(shuffled(seed)), **options)


def play(*positions):
    return IDS[sum(1 << k for k in positions) | 1 << 7]


def discard(*positions):
    return IDS[sum(1 << k for k in positions)]


def hand(state):
    return " ".join(CARD_LABELS[int(card)].upper() for card in state.record.hand)


def facts(state):
    return state.facts(0)


# ---------------------------------------------------------------------------------------------------------------
# A second implementation, slow and obvious


def category(cards):
    """The index of the category of five cards such as "TD"."""
    ranks = sorted(["23456789TJQKA".index(card[0]) for card in cards])
    counts = sorted(Counter(ranks).values(), reverse=True)
    straight = counts[0] == 1 and (ranks[4] - ranks[0] == 4 or ranks == [0, 1, 2, 3, 12])
    flush = len({card[1] for card in cards}) == 1
    tests = [
        straight and flush, counts[0] == 4, counts[:2] == [3, 2], flush, straight, counts[0] == 3,
        counts[:2] == [2, 2], counts[0] == 2, True,
    ]  # fmt: skip
    return 8 - tests.index(True)


class Slow:
    """A game on a list of cards."""

    def __init__(self, deck):
        self.hand, self.pile = deck[:7], deck[7:]
        self.plays, self.discards, self.score, self.model = 4, 10, 0, 0

    def step(self, kind, positions):
        chosen = [self.hand[k] for k in positions]
        if kind == "play":
            self.plays -= 1
            self.score += (50, 70, 150, 250, 300, 360, 440, 730, 999_999)[category(chosen)]
            self.model += (50, 70, 150, 250, 300, 360, 440, 730, 360)[category(chosen)]
        else:
            self.discards -= len(chosen)
        kept = [card for k, card in enumerate(self.hand) if k not in positions]
        self.hand = kept + self.pile[: len(chosen)]
        self.pile = self.pile[len(chosen) :]

    def actions(self):
        yield from (("play", chosen) for chosen in itertools.combinations(range(7), 5))
        for n in range(1, min(7, self.discards) + 1):
            yield from (("discard", chosen) for chosen in itertools.combinations(range(7), n))


def compare(seeds):
    for seed in seeds:
        draw, slow, state = random.Random(f"play {seed}"), Slow(shuffled(seed)), start(seed)
        while slow.plays:
            options = list(slow.actions())
            legal = [play(*chosen) if kind == "play" else discard(*chosen) for kind, chosen in options]
            assert state.legal_actions() == legal
            k = draw.randrange(len(options) if draw.random() < 0.4 else 21)
            slow.step(*options[k])
            state.apply(legal[k])
            assert hand(state) == " ".join(slow.hand)
            assert (facts(state)["score"], facts(state)["model_score"]) == (slow.score, slow.model)
            assert sorted(in_ascii(card).upper() for card in facts(state)["cards_to_come"]) == sorted(slow.pile)
        assert state.is_terminal
        assert state.returns == [pytest.approx(slow.model / 100)]


def test_random_games_are_those_of_the_slow_implementation():
    compare(range(150))


@pytest.mark.slow
def test_ten_thousand_random_games_are_those_of_the_slow_implementation():
    compare(range(10_000))


# ---------------------------------------------------------------------------------------------------------------
# Categories and points


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("2S 3H 4D 5C AS", "straight"), ("TS JH QD KC AS", "straight"), ("QH KD AS 2C 3D", "high card"),
        ("2S 5S 9S JS KS", "flush"), ("2S 3S 4S 5S 7S", "flush"), ("AS 2S 3S 4S 5S", "straight flush"),
        ("TD JD QD KD AD", "straight flush"), ("2S 2H 2D 2C 9S", "four of a kind"), ("2S 2H 2D 9C 9S", "full house"),
        ("2S 2H 9D 9C KS", "two pair"), ("2S 2H 2D 9C KS", "three of a kind"), ("2S 2H 4D 9C KS", "one pair"),
    ],
)  # fmt: skip
def test_3_1_categories(cards, expected):
    bits = np.int64(sum(1 << card for card in parse_cards(cards)))
    assert CATEGORIES[best_category(bits)] == expected == CATEGORIES[category(cards.split())]


def test_3_1_points():
    assert POINTS.tolist() == [50, 70, 150, 250, 300, 360, 440, 730, 999_999]
    assert MODEL_POINTS.tolist() == [50, 70, 150, 250, 300, 360, 440, 730, 360]  # 3.3


@pytest.mark.slow
def test_3_1_all_hands_of_five():
    counts = Counter(best_category(sum(1 << card for card in five)) for five in itertools.combinations(range(52), 5))
    assert [counts[k] for k in range(9)] == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]


def test_the_best_of_more_cards_is_the_best_of_its_fives():
    draw = random.Random(1)
    for _ in range(400):
        cards = draw.sample(range(52), draw.randrange(5, 10))
        best = max(best_category(np.int64(sum(1 << c for c in five))) for five in itertools.combinations(cards, 5))
        assert best_category(np.int64(sum(1 << card for card in cards))) == best


# ---------------------------------------------------------------------------------------------------------------
# Deals and traces


@pytest.mark.parametrize(
    ("seed", "cards"),
    [
        (0, "9S 5S KH QH JD 3C 3H"), (1, "AH 4H JH 7D 2D JD 6C"), (42, "4H 7C 8H 2C 7H JD 6S"),
        (123, "JH AH 9H AS 7S 8H 6D"), (999, "JD 6C 5C 9H KH 8S 8D"), (123456, "KD 3D 5S 4H TS QS 5C"),
    ],
)  # fmt: skip
def test_1_1_deals(seed, cards):
    state = start(seed)
    assert hand(state) == cards
    assert max(POINTS[category(five)] for five in itertools.combinations(cards.split(), 5)) == 70


def test_a_whole_game_with_discards():
    state = start(123)
    steps = [
        (play(0, 1, 2, 3, 4), "8H 6D 7D TH 4C QC 3C", 70, 10, 40),
        (discard(1, 3), "8H 7D 4C QC 3C 4H KD", 70, 8, 38),
        (play(0, 1, 2, 3, 4), "4H KD 6S 7C KC 3S 9D", 120, 8, 33),
        (play(2, 3, 4, 5, 6), "4H KD 2H JC 5D TS 9C", 170, 8, 28),
        (discard(*range(7)), "8C 5S 6C KH KS 5H 9S", 170, 1, 21),
        (discard(6), "8C 5S 6C KH KS 5H 2S", 170, 0, 20),
        (play(0, 2, 3, 5, 6), "5S KS JD 5C JS QD QS", 220, 0, 15),
    ]
    numbers = {1: 148, 5: 28, 6: 21}  # of legal actions after that many steps
    for k, (action, cards, score, discards, left) in enumerate(steps, 1):
        state.apply(action)
        assert (hand(state), facts(state)["score"], facts(state)["discards_left"]) == (cards, score, discards)
        assert len(facts(state)["cards_to_come"]) == left
        if k in numbers:
            assert len(state.legal_actions()) == numbers[k]
    assert state.is_terminal
    assert state.returns == [pytest.approx(2.2)]


def test_a_whole_game_of_first_cards():
    state = start(42)
    state.apply(discard(0))
    assert hand(state) == "7C 8H 2C 7H JD 6S JC"
    totals = []
    for _ in range(4):
        state.apply(play(0, 1, 2, 3, 4))
        totals.append(facts(state)["score"])
    assert totals == [70, 140, 210, 260]
    assert hand(state) == "2S KS 6D QD AD TC AS"
    assert len(facts(state)["cards_to_come"]) == 24


def first_five(state):
    return play(0, 1, 2, 3, 4)


def best_five(state):
    """The play with the most points, the first of these."""
    cards = [CARD_LABELS[int(card)].upper() for card in state.record.hand]
    return max(range(NUM_PLAYS), key=lambda a: (category([cards[k] for k in range(7) if POSITIONS[a] >> k & 1]), -a))


@pytest.mark.parametrize(
    ("policy", "totals", "others", "total"),
    [
        (
            first_five,
            [240, 220, 240, 240, 420, 440, 240, 200, 240, 240],
            {42: 340, 123: 220, 123456: 220},
            280140,
        ),
        (
            best_five,
            [420, 530, 570, 260, 520, 1250, 440, 280, 510, 340],
            {42: 340, 123: 240, 123456: 510},
            500260,
        ),
    ],
)
def test_totals_of_fixed_policies(policy, totals, others, total):
    def run(seed):
        state = start(seed)
        while not state.is_terminal:
            state.apply_unchecked(policy(state))
        return int(state.record.score)

    found = [run(seed) for seed in range(1000)]
    assert found[:10] == totals
    assert sum(found) == total
    assert {seed: run(seed) for seed in others} == others
    if policy is best_five:
        assert (min(found), max(found)) == (200, 1470)


# ---------------------------------------------------------------------------------------------------------------
# Options and refusals


def test_1_2_budgets_may_change_as_long_as_the_deck_lasts():
    state = GAME.new_state(seed=1, plays=1, discards=40)
    while facts(state)["discards_left"] >= 7:
        state.apply(discard(*range(7)))
    state.apply(discard(*range(5)))
    assert facts(state)["discards_left"] == 0
    state.apply(play(0, 1, 2, 3, 4))
    assert state.is_terminal
    assert facts(state)["cards_to_come"] == []
    with pytest.raises(OptionError, match="with plays=4, discards is at most 25; got 26"):
        GAME.make_options(discards=26)
    with pytest.raises(OptionError, match="num_players"):
        GAME.make_options(num_players=2)
    with pytest.raises(DeckError):
        GAME.new_state(seed=1, deck="9S 9S")


@pytest.mark.parametrize(("left", "number"), [(10, 148), (7, 148), (6, 147), (3, 84), (2, 49), (1, 28), (0, 21)])
def test_2_2_as_many_discards_as_are_left(left, number):
    state = GAME.new_state(seed=1, discards=left)
    assert len(state.legal_actions()) == number


def test_2_2_more_discards_than_are_left_are_refused():
    state = GAME.new_state(seed=1, discards=2)
    before = state.to_bytes()
    with pytest.raises(IllegalActionError, match=r"3 cards cannot be discarded with 2 discards left \(rules.md 2.2\)"):
        state.apply(discard(0, 1, 2))
    state = GAME.new_state(seed=1, discards=0)
    with pytest.raises(IllegalActionError, match="1 card cannot be discarded with no discards left"):
        state.apply(discard(0))
    assert before == GAME.new_state(seed=1, discards=2).to_bytes()


def test_2_4_after_the_last_play_nothing_can_be_done():
    state = start(1)
    for _ in range(4):
        state.apply(play(0, 1, 2, 3, 4))
    assert state.legal_actions() == []
    with pytest.raises(IllegalActionError, match="over"):
        state.apply(play(0, 1, 2, 3, 4))


def test_3_3_rewards_are_model_points_or_real_points():
    deck = "AS 2S 3S 4S 5S 9D KH"
    for reward, expected in (("model", 3.6), ("gameplay", 9999.99)):
        state = GAME.new_state(seed=1, deck=deck, reward=reward)
        state.apply(play(0, 1, 2, 3, 4))
        assert state.rewards == [pytest.approx(expected)]
        assert (facts(state)["score"], facts(state)["model_score"]) == (999_999, 360)


def test_4_1_a_forfeit_keeps_the_score():
    state = start(1)
    state.apply(play(0, 1, 2, 3, 4))
    before = state.returns
    state.apply(FORFEIT)
    assert state.is_terminal
    assert state.returns == before


# ---------------------------------------------------------------------------------------------------------------
# What the player may know


def test_1_3_decks_that_differ_in_their_order_look_the_same():
    """Whatever is shown of two games whose cards to come differ in their order alone is the same."""
    for seed in range(30):
        state = GAME.new_state(seed=seed)
        for _ in range(seed % 3):
            state.apply(state.policy_action("random", seed))
        twin = state.determinize(0, seed + 1000)
        cards = [one.record.deck[int(one.record.num_dealt) :].tolist() for one in (state, twin)]
        assert cards[0] != cards[1]
        assert sorted(cards[0]) == sorted(cards[1]) == cards_of(state.record.left)
        assert twin.view(0) == state.view(0)
        assert (twin.observation(0) == state.observation(0)).all()
        assert twin.policy_action("heuristic", 1) == state.policy_action("heuristic", 1)


# ---------------------------------------------------------------------------------------------------------------
# The heuristic


def advice(cards, **options):
    state = GAME.new_state(seed=3, deck=cards, **options)
    action, rule, chance = recommended(state.record)
    return state.action_label(int(action)), RULES[int(rule)], float(chance)


@pytest.mark.parametrize(
    ("cards", "label", "rule"),
    [
        ("2s 5s 9s Js Ks 3d 4d", "play 2♠ 5♠ 9♠ J♠ K♠", "play_made_hand"),
        ("2s 2h 2d 9c 9s Kd Qd", "play 2♠ 2♥ 2♦ 9♣ 9♠", "play_made_hand"),
        ("2s 5s 9s Js 3h 4d Kd", "discard 3♥", "draw_to_flush"),
        ("5s 6h 7d 8c Ks 2d Jh", "discard K♠", "draw_to_straight"),
        ("2s 2h 2d 9c 7s Kd Qd", "discard", "improve_hand"),
    ],
)
def test_the_heuristic_says_why(cards, label, rule):
    said = advice(cards)
    assert said[1] == rule
    assert said[0].split()[0] == label.split()[0]
    assert set(label.split()) <= set(said[0].split())


def test_the_chance_of_a_draw_is_that_of_the_cards_to_come():
    label, rule, chance = advice("2s 5s 9s Js 3h 4d Kd")
    number = len(label.split()) - 1
    missed = np.prod([(36 - k) / (45 - k) for k in range(number)])  # 9 of 45 cards are spades
    assert rule == "draw_to_flush"
    assert chance == pytest.approx(1 - missed)


def test_the_heuristic_plays_when_nothing_can_be_discarded():
    assert advice("2s 5h 9s Jd Ks 3d 4d", discards=0)[1] in ("play_best_hand", "play_and_keep_pair")
    assert advice("2s 2h 9s Jd Ks 3d 7d", plays=1, discards=0) == (
        advice("2s 2h 9s Jd Ks 3d 7d", plays=1, discards=0)[0], "play_best_hand", 1.0,
    )  # fmt: skip


def test_the_planner_scores_more_than_the_heuristic():
    totals = {}
    for policy in ("heuristic", "planner"):
        totals[policy] = []
        for seed in range(12):
            state = GAME.new_state(seed=seed, plays=2, discards=3)
            while not state.is_terminal:
                state.apply(state.policy_action(policy, state.ply))
            totals[policy].append(facts(state)["model_score"])
    assert np.mean(totals["planner"]) > np.mean(totals["heuristic"])


def test_1_3_the_planner_does_not_know_the_order():
    state = GAME.new_state(seed=5, plays=2, discards=2)
    actions = {state.determinize(0, seed).policy_action("planner", 7) for seed in range(5)}
    assert actions == {state.policy_action("planner", 7)}


def test_the_means_of_improved_hands_are_those_of_random_hands():
    draw, sums = random.Random(7), {}
    for _ in range(6000):
        deck = draw.sample(range(52), 14)
        bits = [np.int64(sum(1 << card for card in deck[:7]))]
        best = best_category(bits[0])
        if best > 3:
            continue
        ranks = Counter(card % 13 for card in deck[:7])
        keep = [card for card in deck[:7] if best and ranks[card % 13] > 1]
        keep = keep[:4] if best == 2 else keep
        free = [card for card in deck[:7] if card not in keep]
        for n in range(len(free) + 1):
            new = keep + free[n:] + deck[7 : 7 + n]
            points = MODEL_POINTS[best_category(np.int64(sum(1 << card for card in new)))]
            sums.setdefault((best, n), []).append(points)
    for (best, n), points in sums.items():
        if n <= 3:
            error = np.std(points) / len(points) ** 0.5 + 0.05
            assert abs(np.mean(points) - IMPROVED[best, n]) < 5 * error, (best, n)


def test_the_heuristic_scores_three_times_as_much_as_chance():
    means = {}
    for policy in ("random", "heuristic"):
        env = VectorEnv(GAME, 500, 1)
        batch = env.reset(2)
        total, rows = np.zeros(500), np.arange(500)
        open_games = np.ones(500, bool)
        for step in range(14):
            batch = env.step(env.policy_actions(policy, rows, 3, step))
            total += np.where(open_games, batch.reward[:, 0], 0)
            open_games &= ~batch.terminated.astype(bool)
        assert not open_games.any()
        means[policy] = total.mean() * 100
    assert means["random"] == pytest.approx(280, abs=20)
    assert means["heuristic"] > 3 * means["random"]


def test_the_observation_counts_mates_suits_and_runs_in_hand():
    """Against counting card by card."""
    layout = GAME.layout(GAME.make_options())
    for seed in range(300):
        state = GAME.new_state(seed=seed)
        shown = layout.describe(state.observation(0))
        ranks, suits = state.record.hand % 13, state.record.hand // 13
        rows = [{(low + step) % 13 for step in range(5)} for low in range(10)]
        for k in range(7):
            best = max(len(row & set(ranks.tolist())) for row in rows if ranks[k] in row)
            at = [layout.starts[layout_index(layout, name)] + k for name in ("mates", "suited", "runs")]
            assert state.observation(0)[at].tolist() == [
                (ranks == ranks[k]).sum() - 1, (suits == suits[k]).sum() - 1, best,
            ]  # fmt: skip
        assert shown


def layout_index(layout, name):
    return [section.name for section in layout.sections].index(name)
