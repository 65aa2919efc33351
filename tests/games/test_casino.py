"""Tests of Casino: an oracle, scores of hands, what is put together item by item, what builds show."""

import copy
import itertools
import os
import random
from collections import Counter

import numpy as np
import pytest
from ascii_cards import in_ascii
from casino_oracle import Build, PlainCasino
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.casino.state import COMPOSE_BUILD, COMPOSE_CAPTURE, MAX_BUILDS, SLOTS
from cardenvs.kits.cards import CARD_LABELS, bits_of, cards_of, parse_cards

GAME = get_game("casino_v0")
VARIANTS = (
    {},
    {"royal": True},
    {"num_players": 4, "teams": True, "build_for_partner": True},
    {"num_players": 3, "raise_with_table_cards": True, "table_only_builds": True},
    {"royal": True, "table_only_builds": True, "raise_with_table_cards": True},
    {"same_value_builds": False, "raise_own_build": False, "court_capture": "all"},
    {"owner_may_trail": True, "may_trail_capturing_card": False, "court_capture": "one_or_three"},
    {"num_players": 4, "spade_casino": True, "sweeps": False},
)


def position(hands, table="", won=("", ""), *, num_dealt=52, scores=(0, 0), last_taker=-1, builds=(), **options):
    """A position: the cards in hand, on the table and won; builds are (cards, value, sets, owner)."""
    begun = GAME.new_state(seed=1, **{"num_players": len(hands)} | options)
    record = np.frombuffer(begun.record_bytes(), GAME.state_dtype).copy()
    record["num_dealt"] = num_dealt
    record["hands"], record["table"] = 0, bits(table)
    for k, (hand, cards) in enumerate(zip(hands, won, strict=True)):
        record["hands"][0, k], record["won"][0, k] = bits(hand), bits(cards)
        record["scores"][0, k] = scores[k]
    for k, (cards, value, sets, owner) in enumerate(builds):
        record["builds"][0, k], record["build_values"][0, k] = bits(cards), value
        record["build_sets"][0, k], record["build_owners"][0, k] = sets, owner
        record["shown"][0, owner] |= 1 << value
    seen = bits(" ".join([*hands, table, *won, *(cards for cards, *_ in builds)]))
    rest = [card for card in range(52) if not int(seen) >> card & 1]
    record["deck"] = -1
    record["deck"][0, num_dealt:] = rest[: 52 - num_dealt]
    record["last_taker"] = last_taker
    return State._from_record(GAME, begun.options, record)


def bits(text):
    return bits_of(parse_cards(text) if text.strip() else [])


def labels(state):
    return {in_ascii(state.action_label(action)) for action in state.legal_actions()}


def play(state, *texts):
    for text in texts:
        state.apply(state.action_from_label(text))
    return state


def without(*texts):
    """All cards but those of the texts."""
    given = set(" ".join(texts).split())
    return " ".join(card for card in CARD_LABELS if card not in given)


# ---------------------------------------------------------------------------------------------------------------
# Numbered scenarios of the rules' source that do not begin a hand; the others are in tests/scenarios/casino


def test_7_the_owner_of_a_build_may_not_trail():
    builds = [("5h 3c", 8, 1, 0)]
    state = position(["8c Qd", "2h 3h"], "", builds=builds)
    assert labels(state) == {"8c takes (3c 5h)"}
    assert "lay Qd" in labels(position(["8c Qd", "2h 3h"], "", builds=builds, owner_may_trail=True))
    assert "Qd takes Qs" in labels(position(["8c Qd", "2h 3h"], "Qs", builds=builds))


def test_10_1_an_owner_who_can_do_nothing_else_may_trail():
    assert labels(position(["Qd", "2h"], "", builds=[("5h 3c", 8, 1, 0)])) == {"lay Qd"}


def test_8_an_owner_whose_build_was_raised_may_trail():
    state = position(["6c Qd", "4h 9h 2c"], "", builds=[("3s 2s", 5, 1, 0)])
    record = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    record["current_player"] = 1
    state = play(State._from_record(GAME, state.options, record), "4h builds 9 on (2s 3s)")
    assert {"lay 6c", "lay Qd"} <= labels(state)


@pytest.mark.parametrize("allowed", [False, True])
def test_9_raising_with_table_cards(allowed):
    state = position(["3h Tc", "9c 9d"], "2d", builds=[("4s As", 5, 1, 1)], raise_with_table_cards=allowed)
    assert ("3h builds 10 on (As 4s) with 2d" in labels(state)) == allowed


def test_11_taking_the_only_build_is_a_sweep():
    state = play(position(["7h 2c", "9c 9d"], "", builds=[("3s 4s", 7, 1, 1)]), "7h takes (3s 4s)")
    assert state.facts(0)["sweeps"] == [1, 0]


def test_12_the_points_of_a_hand():
    plain = [card for card in CARD_LABELS if card[0] != "A" and card[1] != "s" and card != "Td"]
    own = ["3s", "4s", "5s", "6s", "7s", "8s", "Td", "Ac", *plain[:19]]
    last = own[-1]
    state = position([last, ""], "", [" ".join(own[:-1]), without(*own)], last_taker=0, match=False)
    record = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    record["sweeps"][0, 1] = 1
    state = play(State._from_record(GAME, state.options, record), f"lay {last}")
    assert (state.facts(0)["cards"], state.facts(0)["spades"]) == ([27, 25], [6, 7])
    assert state.facts(0)["scores"] == [6, 6]
    assert state.returns == [0, 0]


def test_13_tied_cards():
    half = " ".join(CARD_LABELS[:26])
    state = position([CARD_LABELS[0], ""], "", [half.replace("As ", ""), without(half)], last_taker=0, match=False)
    play(state, "lay As")
    assert state.facts(0)["cards"] == [26, 26]
    assert sum(state.facts(0)["scores"]) == 8


def test_14_the_higher_score_wins_a_match():
    red = " ".join(card for card in CARD_LABELS if card[1] in "dh" and card not in ("Ad", "Ah", "Td"))
    own = red + " 3c 4c 5c 6c 7c"
    state = position(["3c", ""], "", [own.replace("3c ", ""), without(own)], last_taker=0, scores=(20, 12))
    play(state, "lay 3c")
    assert state.facts(0)["scores"] == [23, 20]
    assert state.returns == [1, -1]


def test_spade_casino_has_24_points():
    state = position(["Kh", ""], "", [without("Kh"), ""], last_taker=0, match=False, spade_casino=True)
    assert play(state, "lay Kh").facts(0)["scores"] == [24, 0]


def test_options_and_forfeits():
    with pytest.raises(OptionError, match="teams=true needs num_players=4; got 2"):
        GAME.make_options(teams=True)
    with pytest.raises(OptionError, match="build_for_partner=true needs teams=true"):
        GAME.make_options(build_for_partner=True)


@pytest.mark.parametrize(
    ("options", "returns"),
    [
        ({}, [-35, 35]),  # 11 points, and every other card of 48 sweeps
        ({"spade_casino": True}, [-48, 48]),
        ({"sweeps": False}, [-11, 11]),
        ({"num_players": 3}, [-17.5, 8.75, 8.75]),
        ({"num_players": 4, "teams": True}, [-35, 35, -35, 35]),
    ],
)
def test_9_1_who_forfeits_a_hand_loses_the_most_that_it_can_cost(options, returns):
    state = GAME.new_state(seed=1, match=False, **options)
    state.apply(FORFEIT + 0)
    assert state.returns == returns
    assert state.game.returns(state.options).low == returns[0]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random hand beside the oracle: legal actions, table, builds and owners after each, points at the end."""
    chooser = random.Random(seed)
    state = GAME.new_state(seed=seed, match=False, **VARIANTS[seed % len(VARIANTS)])
    r = state.record
    hands = [names(r.hands[p]) for p in range(state.options.num_players)]
    stock = [CARD_LABELS[card] for card in r.deck[int(r.num_dealt) :]]
    plain = PlainCasino(hands, names(r.table), stock, state.options, state.current_player)
    while not state.is_terminal:
        listed = {
            in_ascii(state.action_label(a)): a // SLOTS for a in state.legal_actions() if a % SLOTS not in COMPOSING
        }
        if len(plain.table) < 8:
            every = set(plain.plays())
            overflows = len(listed) < len(state.legal_actions())
            assert set(listed) < every if overflows else set(listed) == every
        label = chooser.choice(sorted(listed))
        plain.play(label, CARD_LABELS[listed[label]])
        play(state, label)
        if not plain.is_over:
            r = state.record
            assert sorted(plain.table) == sorted(names(r.table))
            for k, build in enumerate(plain.builds):
                assert sorted(build.cards if build else []) == sorted(names(r.builds[k]))
                found = (int(r.build_values[k]), int(r.build_sets[k]), int(r.build_owners[k]))
                assert found == ((build.value, build.sets, build.owner) if build else (0, 0, 0))
    assert plain.is_over
    assert state.facts(0)["scores"] == plain.points()


COMPOSING = (COMPOSE_CAPTURE, COMPOSE_BUILD)


def names(cards):
    return [CARD_LABELS[card] for card in cards_of(cards)]


@pytest.mark.rotating
@pytest.mark.parametrize("part", range(6))
def test_hands_agree_with_the_oracle(part):
    for seed in range(20 * part, 20 * part + (20 if COMPILED else 2)):
        check_against_the_oracle(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_hands_agree_with_the_oracle(part):
    for seed in range(1000 * (part + 1), 1000 * (part + 2)):
        check_against_the_oracle(seed)


@pytest.mark.parametrize("owns", [False, True])
def test_10_6_a_card_laid_down_with_a_build_is_not_trailed(owns):
    """6.2 forbids to lay the nine, which could capture, and 6.1 an owner to trail; 5.8 allows both with a build."""
    builds = [("5d 2d", 7, 1, 0)] if owns else []
    options = {"table_only_builds": True, "may_trail_capturing_card": False, "builds": builds}
    state = position(["9h 8s 7h", "Qs Qc Qd"], "9d 5c 3c", **options)
    assert "lay 9h" not in labels(state)
    play(state, "lay 9h and build 8 with 3c 5c")
    assert state.record.table & bits("9h")
    assert list(state.record.build_owners[state.record.builds != 0]) == [0] * (1 + owns)


# ---------------------------------------------------------------------------------------------------------------
# Captures and builds that are put together


CROWDED = "2c 3c 4c 5c 6c 7c 8c 2h 3h 4h"
WAYS = (
    ({}, "8d 3d 9h", "8d", [("9d", 9, 1, 1)]),
    ({"royal": True}, "Ad Ah Kd", "Ad", [("Kc As", 14, 1, 1)]),
    ({"table_only_builds": True, "raise_with_table_cards": True}, "2d 9h Th", "2d", [("3d 2s", 5, 1, 1)]),
)


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_everything_can_be_put_together_and_nothing_else(way):
    options, hand, card, builds = WAYS[way]
    table = "Ac 3c 4c 5c 6c 7c 2h 3h 4h" if way == 1 else CROWDED
    state = position([hand, "Qs Qc Qd"], table, builds=builds, **options)
    plain = PlainCasino([hand.split(), []], table.split(), [], state.options, 0)
    plain.builds[0] = Build(builds[0][0].split(), *builds[0][1:])
    every = {label for label in plain.plays() if label.startswith((f"{card} ", f"lay {card} and"))}
    listed = {label for label in labels(state) if label in every}
    assert len(listed) < len(every)
    outcomes = set(outcomes_in_words(plain, every))
    chooser, met = random.Random(way), set()
    for _ in range(600 if COMPILED else 20):
        trial = state.clone()
        starts = {f"{card} takes other cards", f"{card} builds otherwise"} & labels(state)
        play(trial, chooser.choice(sorted(starts)))
        while trial.phase != "play" and not trial.is_terminal:
            trial.apply(chooser.choice(trial.legal_actions()))
        met.add(outcome(trial))
    assert met <= outcomes
    assert len(met) > (40 if COMPILED else 3)


def outcome(state):
    """Table, builds and cards won in words."""
    r = state.record
    builds = (f"{int(r.build_values[k])}x{int(r.build_sets[k])} {names(r.builds[k])}" for k in range(MAX_BUILDS))
    return f"{names(r.table)} {sorted(builds)} {names(r.won[0])}"


def outcomes_in_words(plain, chosen):
    """The same after each of the chosen plays of the oracle's."""

    def ordered(cards):
        return sorted(cards, key=CARD_LABELS.index)

    before = copy.deepcopy(plain.__dict__)
    for label, move in plain.plays().items():
        if label in chosen:
            move()
            builds = (f"{b.value}x{b.sets} {ordered(b.cards)}" if b else "0x0 []" for b in plain.builds)
            yield f"{ordered(plain.table)} {sorted(builds)} {ordered(plain.won[0])}"
            plain.__dict__ = copy.deepcopy(before)


# ---------------------------------------------------------------------------------------------------------------
# What builds show


def test_worlds_keep_what_a_build_has_shown_and_are_equally_likely():
    state = position(["Qs Qc", "9c Kd"], "2c 3h", num_dealt=46, builds=[("5h 4c", 9, 1, 1)])
    counts = Counter()
    for seed in range(4000 if COMPILED else 40):
        world = state.determinize(0, seed)
        hand = names(world.record.hands[1])
        assert any(card[0] == "9" for card in hand)
        counts[len([card for card in hand if card[0] == "9"])] += 1
    # Some of the hidden cards are nines; each pair with a nine must be as likely as any other.
    hidden = names(state.record.hands[1]) + [CARD_LABELS[card] for card in state.record.deck[46:]]
    nines = sum(card[0] == "9" for card in hidden)
    both, one = nines * (nines - 1) / 2, nines * (len(hidden) - nines)
    if COMPILED and nines > 1:
        assert abs(counts[2] / sum(counts.values()) - both / (both + one)) < 0.03


class Round:
    """A round of a hand, which can be played again with other cards in the hands that a viewer does not see."""

    def __init__(self, state):
        self.state, self.start, self.labels, self.trails = state, state.record_bytes(), [], Counter()

    def apply(self, action):
        player, label = self.state.current_player, in_ascii(self.state.action_label(action))
        owns = any(
            b and o == player for b, o in zip(self.state.record.builds, self.state.record.build_owners, strict=True)
        )
        self.trails[player] += owns and label.startswith("lay ") and "build" not in label
        self.labels.append((player, label))
        self.state.apply(action)

    def fits(self, viewer, hands):
        """Whether all plays are legal if the others have these hands left, as bit sets by player."""
        record = np.frombuffer(self.start, GAME.state_dtype).copy()
        before = [int(hand) for hand in record["hands"][0]]
        unseen = sum(before[p] for p in hands) | bits_of([int(c) for c in record["deck"][0] if c >= 0])
        for p, left in hands.items():
            record["hands"][0, p] = left | before[p] & ~int(self.state.record.hands[p])
            unseen &= ~int(record["hands"][0, p])
        stock = int(record["num_dealt"][0])
        record["deck"][0, stock:] = cards_of(unseen)
        state = State._from_record(GAME, self.state.options, record)
        for player, label in self.labels:
            if state.current_player != player or label not in labels(state):
                return False
            state.apply(state.action_from_label(label))
        return True

    def p_value(self, viewer, seed, each):
        """Return the p-value of twins being equally likely among all hands that fit, and how many do not fit."""
        others = [p for p in range(self.state.num_players) if p != viewer]
        sizes = [int(self.state.record.hands[p]).bit_count() for p in others]
        stock = [int(card) for card in self.state.record.deck if card >= 0]
        hidden = cards_of(sum(int(self.state.record.hands[p]) for p in others)) + stock
        every = list(all_hands(frozenset(hidden), sizes))
        fitting = [hands for hands in every if self.fits(viewer, dict(zip(others, hands, strict=True)))]
        if len(fitting) < 2:
            return None, len(every) - len(fitting)
        twins = (self.state.determinize(viewer, seed + k).records["hands"][0] for k in range(each * len(fitting)))
        counts = Counter(tuple(int(hands[p]) for p in others) for hands in twins)
        assert set(counts) <= set(fitting)
        p = chdtrc(len(fitting) - 1, sum((counts[hands] - each) ** 2 / each for hands in fitting))
        return float(p), len(every) - len(fitting)


def all_hands(cards, sizes):
    """All ways to deal hands of some sizes, as bit sets."""
    if not sizes:
        yield ()
        return
    for hand in itertools.combinations(sorted(cards), sizes[0]):
        for rest in all_hands(cards - set(hand), sizes[1:]):
            yield (int(bits_of(list(hand))), *rest)


def rounds_with_a_trail(seed, number, **options):
    """Yield rounds of two players late in a hand, in which an owner of a build has trailed and still holds cards."""
    chooser = random.Random(seed)
    while number:
        state = GAME.new_state(seed=chooser.randrange(2**32), match=False, **options)
        while state.record.num_dealt < 36:
            state.apply(chooser.choice(state.legal_actions()))
        this = Round(state)
        while not state.is_terminal and number:
            dealt = int(state.record.num_dealt)
            if dealt > 44:
                break
            actions = state.legal_actions()
            builds = [action for action in actions if "build" in state.action_label(action)]
            takes = [action for action in actions if "takes" in state.action_label(action)]
            this.apply(chooser.choice(builds or takes or actions))
            if state.is_terminal or int(state.record.num_dealt) != dealt:
                this = Round(state)
            elif this.trails[1 - state.current_player] and state.record.hands[1 - state.current_player]:
                number -= 1
                yield this
                break


@pytest.mark.skipif(not COMPILED, reason="takes minutes")
@pytest.mark.parametrize(
    "options", [{}, {"royal": True}, {"may_trail_capturing_card": False, "same_value_builds": False}]
)
def test_10_1_an_owner_who_trails_shows_what_is_not_in_hand(options):
    values, impossible = [], 0
    for k, this in enumerate(rounds_with_a_trail(1, 5, **options)):
        p, number = this.p_value(this.state.current_player, 1000 * k, 20)
        impossible += number > 0
        values += [] if p is None else [p]
    print(f"{len(values)} positions, {impossible} in which some hands do not fit, least p {min(values):.2g}")
    assert impossible >= 3
    assert min(values) > 1e-4


def small_rounds(seed, number, **options):
    """Yield rounds of several players from random positions with builds, few hidden cards, and an owner who trails."""
    chooser = random.Random(seed)
    while number:
        n = options["num_players"]
        cards = chooser.sample(CARD_LABELS, 52)
        hands = [" ".join(cards[4 * p : 4 * p + 4]) for p in range(n)]
        table, cards = " ".join(cards[4 * n : 4 * n + 5]), cards[4 * n + 5 :]
        sides = 2 if options.get("teams") else n
        won = [" ".join(cards[3:]), *[""] * (sides - 1)]
        state = position(hands, table, [*won, *[""] * (n - sides)], num_dealt=49, scores=(0,) * n, **options)
        this = Round(state)
        while sum(int(hand).bit_count() for hand in state.record.hands[:n]) > n + 2:
            actions = state.legal_actions()
            builds = [action for action in actions if "build" in state.action_label(action)]
            this.apply(chooser.choice(builds or actions))
        viewer = chooser.randrange(n)
        if sum(this.trails[p] for p in range(n) if p != viewer):
            number -= 1
            yield this, viewer


def check_small_rounds(seed, number, least, **options):
    values, impossible = [], 0
    for k, (this, viewer) in enumerate(small_rounds(seed, number, **options)):
        p, unfit = this.p_value(viewer, seed + 1000 * k, 12)
        impossible += unfit > 0
        values += [] if p is None else [p]
    print(f"{len(values)} positions, {impossible} in which some hands do not fit, least p {min(values):.2g}")
    assert min(values) > least


@pytest.mark.skipif(not COMPILED, reason="takes minutes")
@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 3},
        {"num_players": 4, "teams": True, "build_for_partner": True},
        {"num_players": 3, "royal": True, "table_only_builds": True, "raise_with_table_cards": True},
    ],
)
def test_worlds_of_several_players_are_equally_likely(options):
    check_small_rounds(2, 3, 1e-4, **options)


@pytest.mark.slow
def test_worlds_are_equally_likely_in_many_rounds():
    seed = int(os.environ.get("CARDENVS_TEST_SEED", random.randrange(2**32)))
    print(f"CARDENVS_TEST_SEED={seed}")
    for options in ({"num_players": 3}, {"num_players": 4, "teams": True, "build_for_partner": True}):
        check_small_rounds(seed, 40, 1e-7, **options)


def test_5_9_a_build_for_the_partner_shows_nothing():
    """Two hands with the same events: one holds a nine and one does not, and nobody can see which."""
    for card in ("9c", "Kc"):
        builds = [("5h 4c", 9, 1, 2)]
        hands = [f"3c {card} Jd", "Qs Qc Qd", "2c 9h Js", "Ks Kd Jc"]
        state = position(
            hands, "6d", [""] * 4, scores=(0,) * 4, builds=builds, num_players=4, teams=True, build_for_partner=True
        )
        play(state, "3c builds 9 with 6d")
        assert state.facts(1)["shown"]["player_0"] == []


def test_a_card_that_is_played_ends_what_was_shown():
    state = position(["4c 9c 9d", "Qs Qc Qd"], "5s 9h")
    play(state, "4c builds 9 with 5s")
    assert state.facts(1)["shown"]["player_0"] == [9]
    play(state, "lay Qs", "9c takes 9h")
    assert state.facts(1)["shown"]["player_0"] == []


def test_the_heuristic_wins_against_random_players():
    margin = 0
    for seed in range(120 if COMPILED else 4):
        state = GAME.new_state(seed=seed, match=False)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        margin += state.returns[seed % 2]
    assert margin > (240 if COMPILED else -60)
