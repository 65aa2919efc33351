"""Tests of Blackjack: paragraphs that scenario files leave out, an oracle, the libraries, worlds, exact values."""

import collections
import random

import numpy as np
import pytest
from blackjack_oracle import RANKS, Oracle
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.registry import get_game
from cardenvs.games.blackjack import rules
from cardenvs.games.blackjack.state import NO_CARD, cards_in, most_cards
from cardenvs.testing.case import Case, Report
from cardenvs.testing.conformance import check_case
from cardenvs.tools.blackjack import edge

GAME = get_game("blackjack_v0")
GYMNASIUM = {"decks": 0, "naturals": "none", "peek": False, "hit_21": True, "double": "none", "max_hands": 1}
ONE_DECK = GYMNASIUM | {"decks": 1}


def played(deck=None, *labels, **options):
    """The state after some actions on explicit cards."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


def random_options(chooser):
    """Options of all kinds that fit together."""
    while True:
        naturals = chooser.choice(["casino", "casino", "casino", "none", "natural", "sab"])
        peek = naturals == "casino" and chooser.random() < 0.6
        try:
            return GAME.make_options(
                num_players=chooser.choice([1, 1, 2, 3, 7]),
                decks=chooser.choice([0, 1, 2, 6, 8]),
                penetration=chooser.choice([0, 0, 50]),
                dealer_soft17=chooser.choice(["stand", "hit"]),
                naturals=naturals,
                blackjack_pays=chooser.choice(["3:2", "6:5", "1:1"]),
                peek=peek,
                obo=naturals == "casino" and not peek and chooser.random() < 0.5,
                hit_21=chooser.random() < 0.3,
                double=chooser.choice(["any_two", "9_11", "10_11", "none"]),
                double_after_split=chooser.random() < 0.5,
                max_hands=chooser.choice([1, 2, 4, 4]),
                split_by=chooser.choice(["value", "rank"]),
                resplit_aces=chooser.random() < 0.5,
                split_aces_one_card=chooser.random() < 0.5,
                surrender=chooser.choice(["none", "late"]),
                insurance=naturals == "casino" and chooser.random() < 0.5,
                rounds=chooser.choice([1, 1, 3]),
                bet_units=chooser.choice([(), (), (1, 5), (2, 3, 100)]),
            )
        except OptionError:
            continue


def favours_pairs(chooser, number):
    """Cards with many aces, tens and eights, which make blackjacks and pairs."""
    return [chooser.choice("AATTTJQK88" + RANKS) for _ in range(number)]


# -- the oracle -----------------------------------------------------------------------------------------------------


def shoe_order(state):
    """Card texts in the order in which they have come, from the events."""
    kinds = {"deal", "draw", "dealer_up", "dealer_hole", "dealer_draw"}
    return [RANKS[event.token] for event in state.events() if event.kind.removesuffix("_new") in kinds]


def compare_with_oracle(options, seed):
    """Play at random, and compare every decision and the returns."""
    chooser = random.Random(seed)
    deck = None
    if options.decks == 0:
        deck = [RANKS.index(card) for card in favours_pairs(chooser, 60)]
    state = GAME.new_state(seed=seed, deck=deck, **options.as_dict())
    script = []
    while not state.is_terminal:
        action = chooser.choice([a for a in state.legal_actions() for _ in range(1 + 2 * (a in (2, 3)))])
        shown = [[cards_in(state.record.hands[p, h]) for h in range(4)] for p in range(state.num_players)]
        script.append((state.current_player, int(state.record.hand), labels(state), state.action_label(action), shown))
        state.apply(action)
    oracle = Oracle(options, shoe_order(state))
    for player, hand, legal, label, shown in script:
        assert not oracle.over
        assert oracle.question() == (player, hand, legal)
        for p, hands in enumerate(oracle.hands):
            for h, one in enumerate(hands):
                assert sorted(one.cards, key=RANKS.index) == [RANKS[card] for card in shown[p][h]]
        oracle.act(label)
    assert oracle.over
    assert state.returns == pytest.approx(oracle.returns)


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    for seed in range(100 * block, 100 * block + 100):
        compare_with_oracle(random_options(random.Random(seed)), seed)


@pytest.mark.slow
def test_ten_thousand_games_agree_with_the_oracle():
    for seed in range(10_000, 20_000):
        compare_with_oracle(random_options(random.Random(seed)), seed)


# -- the libraries --------------------------------------------------------------------------------------------------


def cards_of(state):
    """The ranks of player 0's only hand."""
    return cards_in(state.record.hands[0, 0])


@pytest.mark.parametrize("games", [150, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("naturals", ["none", "natural", "sab"])
def test_8_2_gymnasium_has_the_same_games(naturals, games, monkeypatch):
    gymnasium = pytest.importorskip("gymnasium")
    theirs = pytest.importorskip("gymnasium.envs.toy_text.blackjack")
    coming = []
    monkeypatch.setattr(theirs, "draw_card", lambda np_random: coming.pop(0))
    env = gymnasium.make("Blackjack-v1", natural=naturals == "natural", sab=naturals == "sab").unwrapped
    for seed in range(games):
        chooser = random.Random(seed)
        ranks = [RANKS.index(card) for card in favours_pairs(chooser, 40)]
        state = GAME.new_state(seed=seed, deck=ranks, **GYMNASIUM | {"naturals": naturals})
        values = [min(rank + 1, 10) for rank in ranks]
        coming[:] = [*values[2:4], *values[:2], *values[4:]]  # they deal to the dealer first
        (total, up, usable), _ = env.reset()
        over, reward = False, 0
        while not over:
            shown = state.game.layout(state.options).split(state.observation(0))
            assert (shown["total"][0], min(shown["up"].argmax() + 1, 10), shown["soft"][0]) == (total, up, usable)
            assert labels(state) == ["stick", "hit"]
            action = chooser.choice([0, 1, 1] if total < 17 else [0, 0, 1])
            state.apply(action)
            (total, up, usable), reward, over, _, _ = env.step(action)
            assert state.is_terminal == over
        assert state.returns == [reward]


@pytest.mark.parametrize("games", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_8_2_openspiel_has_the_same_games(games):
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("blackjack")
    for seed in range(games):
        chooser = random.Random(seed)
        deck = chooser.sample(range(52), 52)  # their ids, as ours: 13 of a suit, from the ace
        state = GAME.new_state(seed=seed, deck=[card % 13 for card in deck], **ONE_DECK)
        other = theirs.new_initial_state()
        coming = iter(deck)
        while True:
            while other.is_chance_node():
                other.apply_action(next(coming))
            assert state.is_terminal == other.is_terminal()
            if state.is_terminal:
                break
            hit = chooser.random() < 0.5
            assert len(other.legal_actions()) == len(state.legal_actions()) == 2
            other.apply_action(0 if hit else 1)
            state.apply(1 if hit else 0)
        assert state.returns == other.returns()


@pytest.mark.parametrize("num_players", [1, 3])
def test_8_2_rlcard_has_the_same_games(num_players):
    rlcard = pytest.importorskip("rlcard")
    options = {"game_num_players": num_players, "game_num_decks": 1, "seed": 1}
    env = rlcard.make("blackjack", config=options)
    for seed in range(60):
        chooser = random.Random(seed)
        env.reset()
        game, chosen = env.game, []
        hands = [[RANKS.index(card.rank) for card in player.hand] for player in game.players]
        hole, up = (RANKS.index(card.rank) for card in game.dealer.hand)
        while not game.is_over():
            chosen.append((game.get_player_id(), chooser.random() < 0.5))
            env.step(0 if chosen[-1][1] else 1)
        drawn = []
        for player in game.players:
            drawn += [RANKS.index(card.rank) for card in player.hand[2:]]
        drawn += [RANKS.index(card.rank) for card in game.dealer.hand[2:]]
        deck = [card for hand in hands for card in hand] + [up, hole] + drawn
        state = GAME.new_state(seed=seed, deck=deck, **ONE_DECK | {"num_players": num_players})
        for player, hit in chosen:
            assert state.current_player == player
            state.apply(1 if hit else 0)
        assert state.is_terminal
        assert state.returns == list(env.get_payoffs())


# -- paragraphs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 8}, "1 to 7"),
        ({"decks": 3}, "0, 1, 2, 4, 6 or 8"),
        ({"num_players": 7, "decks": 1}, "7 players with max_hands=4 can need 81 cards, and decks=1 has 52"),
        ({"penetration": 90}, "penetration is at most 7"),
        ({"decks": 0, "penetration": 50}, "set penetration=0"),
        ({"naturals": "sab"}, "set peek=False"),
        ({"naturals": "none", "peek": False, "insurance": True}, "set insurance=False"),
        ({"obo": True}, "set peek=False"),
        ({"bet_units": (2, 1)}, "must ascend"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


@pytest.mark.parametrize("options", [{"num_players": 2, "decks": 1}, {"num_players": 7, "decks": 4}, ONE_DECK])
def test_1_2_a_round_never_needs_more_cards_than_the_bound(options):
    bound, most = most_cards(GAME.make_options(**options)), 0
    for seed in range(50):
        deck = sorted(GAME.deck(GAME.make_options(**options)).tolist())[seed:]
        state = GAME.new_state(seed=seed, deck=deck, **options)
        while not state.is_terminal:
            state.apply(max(set(state.legal_actions()) & {0, 1, 3}))
        most = max(most, int(state.record.num_drawn))
    assert 0 < most <= bound


def test_1_1_shoes_and_endless_decks():
    assert len(GAME.deck(GAME.make_options(decks=2))) == 104
    assert len(GAME.deck(GAME.make_options(decks=0))) == 0
    state = played("A A A A A A A A A A A A A A A A A A A A A", *["hit"] * 8, decks=0)
    assert state.facts(0)["hands"][0][0]["cards"] == ["A"] * 10


@pytest.mark.parametrize("decks", [0, 1, 6])
def test_1_1_every_card_is_as_likely(decks):
    counts = np.zeros(13)
    for seed in range(1500):
        s = GAME.new_state(seed=seed, decks=decks).record
        for card in [*cards_in(s.hands[0, 0]), int(s.up), *cards_in(s.dealer)]:
            counts[card] += 1
    expected = counts.sum() / 13
    assert chdtrc(12, ((counts - expected) ** 2 / expected).sum()) > 1e-6


def test_1_2_the_shoe_is_shuffled_every_round_or_at_the_cut_card():
    for penetration, expected in ((0, 30), (50, 2)):
        state = GAME.new_state(seed=3, rounds=30, decks=6, penetration=penetration)
        while not state.is_terminal:
            if penetration and state.record.num_shuffles == 1:
                assert state.facts(0)["unseen"]["A"] <= 24
            state.apply(0)
        shoes = [event for event in state.events() if event.kind == "new_shoe"]
        assert len(shoes) == state.record.num_shuffles
        assert len(shoes) == 30 if not penetration else 1 <= len(shoes) <= expected


def test_2_2_bets_multiply_all_payments():
    state = played("A K 9 7", "bet 20", bet_units=(5, 20))
    assert state.is_terminal
    assert state.returns == [30]
    state = played("6 5 9 T T", "bet 5", "double", bet_units=(5, 20))
    assert state.returns == [10]


def test_3_3_without_peek_a_blackjack_shows_at_the_end():
    state = played("8 8 T A T T T", "split", peek=False)
    assert not state.is_terminal
    state.apply(0)
    state.apply(0)
    assert state.returns == [-2]


@pytest.mark.parametrize(
    ("deck", "actions", "returns"),
    [
        ("8 8 T A T T", ["split", "stick", "stick"], -1),
        ("6 5 T A 9", ["double"], -1),
        ("6 5 T A 9", ["stick"], -1),
        ("8 8 T A 5 T 9", ["split", "hit", "stick"], -1),
        ("8 8 T A T 5 9", ["split", "stick", "hit"], -2),
        ("A K T A", ["stick"], 0),
    ],
)
def test_6_4_only_the_original_bet(deck, actions, returns):
    assert played(deck, *actions, peek=False, obo=True).returns == [returns]


def test_4_2_whoever_may_hit_21_is_asked():
    assert labels(played("5 6 9 7 T", "hit", hit_21=True)) == ["stick", "hit"]
    assert played("5 6 9 7 T 9", "hit").is_terminal


def test_4_8_who_waits_may_leave():
    state = played("T 9 A K 5 5 A T", num_players=3)
    state.apply(FORFEIT)
    assert state.current_player == 1
    assert labels(state) == ["stick"]
    state.apply(0)
    assert state.returns == [-8, 0, -1]


def test_7_1_the_others_go_on():
    state = played("T 5 T 9 9 8 T", num_players=2)
    state.apply(FORFEIT)
    assert state.current_player == 1
    state.apply(0)
    assert state.is_terminal
    assert state.returns == [-8, 1]


def test_7_1_all_rounds_are_lost():
    state = GAME.new_state(seed=1, rounds=5, bet_units=(1, 10), insurance=True)
    state.apply(FORFEIT)
    assert state.is_terminal
    assert state.returns == [-5 * 10 * 8.5]


# -- worlds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deck", "options", "barred"),
    [
        ("T 6 A 9", {}, {9, 10, 11, 12}),
        ("T 6 K 9", {}, {0}),
        ("T 6 K 9", {"peek": False}, set()),
        ("T 6 5 9", {"decks": 1}, set()),
        ("T 6 A 9", {"decks": 0}, {9, 10, 11, 12}),
    ],
)
def test_3_4_worlds_deal_the_hidden_card_as_chance_does(deck, options, barred):
    state = played(deck, **options)
    left = {card: float(state.record.left[card]) + (card == 8) for card in range(13)}
    if options.get("decks") == 0:
        left = dict.fromkeys(range(13), 1.0)
    weights = {card: weight for card, weight in left.items() if card not in barred}
    total = sum(weights.values())
    found = collections.Counter(int(state.determinize(0, seed).record.hole) for seed in range(4000))
    assert set(found) <= set(weights)
    statistic = sum((found[card] - 4000 * w / total) ** 2 / (4000 * w / total) for card, w in weights.items())
    assert chdtrc(len(weights) - 1, statistic) > 1e-6


def test_3_4_worlds_draw_other_cards_and_know_no_explicit_deck():
    state = played("T 2 5 9 2 3")
    draws = collections.Counter()
    for seed in range(200):
        twin = state.determinize(0, seed)
        assert not twin.record.deck.any()
        assert twin.record.num_given == 0
        twin.apply(1)
        draws[int(twin.record.hard[0, 0])] += 1
    assert len(draws) == 10
    assert (played("T 2 5 9", "stick").record.hole) == NO_CARD


# -- the rule agent -------------------------------------------------------------------------------------------------


def advice(deck, *actions, **options):
    return GAME.view.action_label(
        (state := played(deck, *actions, **options)).record, state.policy_action("heuristic", 0)
    )


@pytest.mark.parametrize(
    ("deck", "expected"),
    [
        ("T 6 T 9", "hit"), ("T 6 6 9", "stick"), ("T 2 2 9", "hit"), ("T 2 4 9", "stick"), ("T 3 2 9", "stick"),
        ("A 7 9 9", "hit"), ("A 7 2 9", "stick"), ("A 7 5 9", "double"), ("A 8 6 9", "stick"), ("6 5 T 9", "double"),
        ("6 4 T 9", "hit"), ("6 4 9 9", "double"), ("5 4 3 9", "double"), ("5 4 2 9", "hit"), ("8 8 T 9", "split"),
        ("A A T 9", "split"), ("9 9 7 9", "stick"), ("9 9 9 9", "split"), ("T T 6 9", "stick"), ("5 5 9 9", "double"),
        ("4 4 5 9", "split"), ("4 4 4 9", "hit"), ("2 2 7 9", "split"), ("6 6 7 9", "hit"), ("7 7 8 9", "hit"),
    ],
)  # fmt: skip
def test_basic_strategy(deck, expected):
    """Published basic strategy for six decks, dealer stands on soft 17, double after split."""
    assert advice(deck) == expected


def test_surrender_and_insurance():
    assert advice("T 6 T 9", surrender="late") == "surrender"
    assert advice("T 6 9 9", surrender="late") == "surrender"
    assert advice("8 8 T 9", surrender="late") == "split"
    assert advice("T 6 A 9", insurance=True) == "no insurance"
    assert advice("2 3 4 5 A 9", insurance=True, decks=1, num_players=2) == "insure"  # 16 of 47 cards count 10


def test_the_rule_agent_bets_more_when_the_shoe_is_good():
    poor = played(bet_units=(1, 10))
    assert poor.policy_action("heuristic", 0) == 7
    good = played("5 5 4 6 6 3 3 2 2 4", "bet 1", "stick", bet_units=(1, 10), decks=1, rounds=2, penetration=20)
    assert good.policy_action("heuristic", 0) == 8


def solve_slowly(naturals):
    """The worth of Gymnasium's game by plain recursion over card values, without any table of the rule agent."""
    import functools

    chances = dict.fromkeys(range(1, 10), 1 / 13) | {10: 4 / 13}

    def best(hard, ace):
        return hard + 10 if ace and hard <= 11 else hard

    @functools.cache
    def dealer(hard, ace, size):
        """The distribution of (total, is natural)."""
        total = best(hard, ace)
        if total >= 17 and size > 1:
            return (((min(total, 22), size == 2 and total == 21), 1.0),)
        found = collections.Counter()
        for value, chance in chances.items():
            for outcome, more in dealer(hard + value, ace or value == 1, size + 1):
                found[outcome] += chance * more
        return tuple(found.items())

    def stick(hard, ace, size, up):
        total, won = best(hard, ace), 0.0
        natural = size == 2 and total == 21
        for (other, dealt), chance in dealer(up, up == 1, 1):
            result = 1 if other == 22 or total > other else -1 if total < other else 0
            if naturals == "sab" and natural and not dealt:
                result = 1
            elif naturals == "natural" and natural and result == 1:
                result = 1.5
            won += chance * result
        return won

    @functools.cache
    def play(hard, ace, size, up):
        if hard > 21:
            return -1.0
        hit = sum(chance * play(hard + value, ace or value == 1, size + 1, up) for value, chance in chances.items())
        return max(stick(hard, ace, size, up), hit)

    return sum(
        chance * first * second * play(a + b, 1 in (a, b), 2, up)
        for up, chance in chances.items()
        for a, first in chances.items()
        for b, second in chances.items()
    )


@pytest.mark.parametrize(("naturals", "known"), [("none", -0.046556), ("natural", -0.025729), ("sab", -0.043113)])
def test_exact_values_of_gymnasium(naturals, known):
    exact = edge.exact_edge(GAME.make_options(**GYMNASIUM | {"naturals": naturals})).value
    assert exact == pytest.approx(known, abs=1e-6)
    assert exact == pytest.approx(solve_slowly(naturals), abs=1e-9)


def solve_a_shoe_slowly(options, up):
    """The worth of a round without splits against a first card, by trying all orders in which cards can come."""
    import functools

    casino, looks = options.naturals == "casino", options.peek and up in (1, 10)
    doubles = {"any_two": range(22), "9_11": (9, 10, 11), "10_11": (10, 11), "none": ()}[options.double]

    def best(cards):
        hard = sum(cards)
        return hard + 10 if 1 in cards and hard <= 11 else hard

    def without(counts, value):
        return (*counts[: value - 1], counts[value - 1] - 1, *counts[value:])

    def draws(counts):
        return [(value, number / sum(counts)) for value, number in enumerate(counts, 1) if number]

    @functools.cache
    def dealer(cards, counts):
        """The distribution of the dealer's last total, 22 if he is bust, 23 with two cards."""
        total, soft = best(cards), 1 in cards and sum(cards) <= 11
        if len(cards) > 1 and (total > 17 or (total == 17 and not (soft and options.dealer_soft17 == "hit"))):
            return {23 if len(cards) == 2 and total == 21 else min(total, 22): 1.0}
        found = collections.Counter()
        for value, chance in draws(counts):
            for outcome, more in dealer(tuple(sorted((*cards, value))), without(counts, value)).items():
                found[outcome] += chance * more
        return found

    def stick(cards, hole, counts, stake=1.0):
        """After the hidden card is drawn, all that is left can be drawn by the dealer."""
        total, natural = best(cards), len(cards) == 2 and best(cards) == 21
        won = 0.0
        for outcome, chance in dealer(tuple(sorted((up, hole))), counts).items():
            points = {22: 0, 23: 21}.get(outcome, outcome)
            result = float(total > points) - float(total < points)
            if casino and outcome == 23:
                result = 0 if natural else -1
            elif (casino and natural) or (options.naturals == "natural" and natural and result == 1):
                result = 1.5
            won += chance * result * stake
        return won

    @functools.cache
    def mean_stick(cards, counts, stake=1.0):
        """Over the hidden card, which is none that the dealer has seen to make no blackjack."""
        allowed = [
            (value, number) for value, number in enumerate(counts, 1) if number and not (looks and up + value == 11)
        ]
        total = sum(number for _, number in allowed)
        return sum(number / total * stick(cards, value, without(counts, value), stake) for value, number in allowed)

    def next_cards(counts):
        """The chances of the player's next card: the hidden card is drawn first, then that one."""
        hidden = [
            (value, number) for value, number in enumerate(counts, 1) if number and not (looks and up + value == 11)
        ]
        found, total = collections.Counter(), sum(number for _, number in hidden)
        for value, number in hidden:
            for drawn, chance in draws(without(counts, value)):
                found[drawn] += number / total * chance
        return found.items()

    @functools.cache
    def play(cards, counts):
        worth = [mean_stick(cards, counts)]
        total = best(cards)
        if (casino and len(cards) == 2 and total == 21) or (total == 21 and not options.hit_21):
            return worth[0]
        hit = double = 0.0
        for value, chance in next_cards(counts):
            new, rest = tuple(sorted((*cards, value))), without(counts, value)
            hit += chance * (play(new, rest) if sum(new) <= 21 else -1)
            double += chance * (mean_stick(new, rest, 2.0) if sum(new) <= 21 else -2)
        worth.append(hit)
        if len(cards) == 2 and total in doubles:
            worth.append(double)
        return max(worth)

    full = without((*[4 * options.decks] * 9, 16 * options.decks), up)
    total = 0.0
    for first, one in draws(full):
        for second, other in draws(without(full, first)):
            cards, left = tuple(sorted((first, second))), without(without(full, first), second)
            bad = left[10 - up] / sum(left) if looks else 0.0
            lost = 0.0 if best(cards) == 21 else bad
            total += one * other * ((1 - bad) * play(cards, left) - lost)
    return total


SHOES = [ONE_DECK, ONE_DECK | {"naturals": "natural"}, {"decks": 1, "max_hands": 1, "dealer_soft17": "hit"}]


@pytest.mark.parametrize("options", SHOES)
@pytest.mark.parametrize("up", [10, *(pytest.param(up, marks=pytest.mark.slow) for up in range(1, 10))])
def test_exact_values_of_a_shoe(options, up):
    options = GAME.make_options(**options)
    assert edge.worth_against(options, up - 1) == pytest.approx(solve_a_shoe_slowly(options, up), abs=1e-9)


def test_the_conformance_suite_knows_an_endless_shoe():
    """Without a deck, the dealer's hidden card in a twin may be any, so the tokens on the table are others."""
    options = GAME.make_options(decks=0, peek=False, double_after_split=False, split_aces_one_card=False)
    report = Report()
    check_case(Case(GAME, options, seed=0, play_seed=0), report)
    assert report.twins > 0


@pytest.mark.parametrize("penetration", [1, 10, 15, 33])
def test_the_shoe_is_shuffled_once_so_many_percent_have_been_dealt(penetration):
    s = GAME.new_state(seed=1, decks=2, max_hands=1, penetration=penetration).records.copy()[0]
    s.left[:] = 0
    for left in range(2 * 52 + 1):
        s.left[0] = left
        dealt = 2 * 52 - left
        assert rules._is_used_up(s) == (100 * dealt >= 2 * 52 * penetration), dealt
