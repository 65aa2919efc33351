"""Tests of Hearts: paragraphs of rules.md that the scenario files leave out, an oracle, worlds, and the heuristic."""

import collections
import itertools
import random

import numpy as np
import pytest
from hearts_oracle import Oracle
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.games.hearts import heuristic, rules
from cardenvs.games.hearts import state as hearts_state
from cardenvs.games.hearts.state import ADD, JACK, PACK, POINT_CARDS, SUBTRACT
from cardenvs.kits.cards import bits_of, cards_of

GAME = get_game("hearts_v0")
END_PLAY = takes_records(rules.end_play)
NO_LOG = np.zeros((0, 8), np.int32)
HEARTS = [f"{rank}h" for rank in "A23456789TJQK"]
PLAIN = {"passing": "none"}


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def hands_of(state):
    return [[PACK.labels[card] for card in cards_of(hand)] for hand in state.record.hands[: state.num_players]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 3, "passing": "across"}, "needs num_players=4"),
        ({"num_players": 6}, "num_players"),
        ({"moon_needs_jd": True}, "needs jd_bonus=True"),
        ({"moon_needs_jd": True, "jd_bonus": True, "moon": "off"}, "moon other than 'off'"),
        ({"reward": "points_saved", "target": 100}, "for single hands"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


@pytest.mark.parametrize(("players", "size", "left_out"), [(3, 17, {"2d"}), (4, 13, set()), (5, 10, {"2d", "2c"})])
def test_2_1_all_cards_are_dealt(players, size, left_out):
    hands = hands_of(GAME.new_state(seed=3, num_players=players))
    assert [len(hand) for hand in hands] == [size] * players
    assert set(PACK.labels) - set().union(*hands) == left_out


def test_3_1_a_card_cannot_be_passed_twice_and_the_order_stays_hidden():
    first, second = (GAME.new_state(seed=5) for _ in range(2))
    cards = hands_of(first)[0][:3]
    for state, order in ((first, cards), (second, cards[::-1])):
        state.apply(PACK.parse(order[0]))
        with pytest.raises(IllegalActionError, match="not in hand"):
            state.apply(PACK.parse(order[0]))
        for card in order[1:]:
            state.apply(PACK.parse(card))
        for p in (1, 2, 3):
            for card in hands_of(state)[p][:3]:
                state.apply(PACK.parse(card))
    assert first.phase == "play"
    assert [first.recap(p) for p in (1, 2, 3)] == [second.recap(p) for p in (1, 2, 3)]
    assert all((first.observation(p) == second.observation(p)).all() for p in range(4))


@pytest.mark.parametrize("passing", ["cycle", "cycle_lra"])
@pytest.mark.parametrize("players", [3, 4, 5])
def test_3_2_the_direction_changes_every_hand(passing, players):
    distances = {"left": 1, "right": players - 1, "across": 2, "hold": 0}
    cycle = ["left", "right"] + ["across"] * (players == 4) + ["hold"] * (passing == "cycle")
    state = GAME.new_state(seed=1, num_players=players, passing=passing, target=250)
    found = {}
    while not state.is_terminal and len(found) < 6:
        found.setdefault(int(state.record.num_hands), int(state.record.distance))
        state.apply(state.legal_actions()[0])
    assert list(found.values()) == [distances[cycle[k % len(cycle)]] for k in range(6)]


# ---------------------------------------------------------------------------------------------------------------
# Points (5)


def hand_points(won, scores=(0, 0, 0, 0), **options):
    """Return the state's record after a hand in which the players have taken these cards, one text each."""
    records = GAME.new_state(seed=1, **PLAIN, **options).records
    record = records[0]
    record["hands"], record["scores"][:4] = 0, scores
    for p, text in enumerate(won):
        record["won"][p] = bits_of([PACK.parse(card) for card in text.split()])
        hearts = sum(card[1] == "h" for card in text.split())
        record["points"][p] = hearts + 13 * ("Qs" in text) - 10 * (options.get("jd_bonus", False) and "Jd" in text)
    END_PLAY(records[0], NO_LOG)
    return records[0]


def hearts(first, last):
    """Return hearts by number, as a text."""
    return " ".join(HEARTS[first:last])


SPLIT = [hearts(0, 5) + " 2c", hearts(5, 7) + " Qs", hearts(7, 13), ""]
MOON = [hearts(0, 13) + " Qs", "Jd", "2c", "3c"]


@pytest.mark.parametrize(
    ("won", "options", "points"),
    [
        (SPLIT, {}, [5, 15, 6, 0]),
        (SPLIT, {"no_trick_bonus": True}, [5, 15, 6, -5]),
        ([hearts(0, 3) + " Jd", "Qs", hearts(3, 13), "2c"], {"jd_bonus": True}, [-7, 13, 10, 0]),
        (MOON, {}, [0, 26, 26, 26]),
        (MOON, {"jd_bonus": True}, [0, 16, 26, 26]),
        (MOON, {"moon": "shooter_minus"}, [-26, 0, 0, 0]),
        (MOON, {"jd_bonus": True, "moon": "shooter_minus"}, [-26, -10, 0, 0]),
        (MOON, {"jd_bonus": True, "moon_needs_jd": True}, [26, -10, 0, 0]),
        ([MOON[0] + " Jd", "2c", "3c", ""], {"jd_bonus": True, "moon_needs_jd": True}, [-10, 26, 26, 26]),
        (MOON, {"moon": "off"}, [26, 0, 0, 0]),
        ([hearts(0, 12) + " Qs", hearts(12, 13), "2c", "3c"], {}, [25, 1, 0, 0]),
    ],
    ids=itertools.count(),
)
def test_5_points_of_a_hand_in_scenarios_8_to_11(won, options, points):
    assert hand_points(won, **options).points[:4].tolist() == points


def test_6_1_and_6_2_the_match_of_scenario_15():
    won = [hearts(0, 5), "Qs", hearts(5, 13), ""]
    over = hand_points(won, scores=(98, 60, 45, 80), target=100)
    assert over.scores[:4].tolist() == [103, 73, 53, 80]
    assert over.terminal
    assert over.rewards[:4].tolist() == pytest.approx([-1 / 3, -1 / 3, 1, -1 / 3])
    tied = [hearts(0, 6), hearts(6, 10), hearts(10, 13), "Qs"]
    goes_on = hand_points(tied, scores=(98, 60, 61, 80), target=100)
    assert goes_on.scores[:4].tolist() == [104, 64, 64, 93]
    assert not goes_on.terminal
    assert goes_on.num_hands == 2
    shared = hand_points(tied, scores=(98, 60, 61, 80), target=100, tie="share")
    assert shared.terminal
    assert shared.rewards[:4].tolist() == pytest.approx([-1 / 3, 1 / 3, 1 / 3, -1 / 3])


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def random_options(chooser):
    """Return options that fit together."""

    def one_in(number):
        return chooser.random() < 1 / number

    players = chooser.choice([3, 4, 4, 5])
    ways = ["cycle", "cycle_lra", "none", "left", "right"] + ["across"] * (players == 4)
    options = {
        "num_players": players, "passing": chooser.choice(ways), "pass_count": chooser.choice([1, 2, 3, 3, 4, 5]),
        "lead_any_club": one_in(2), "first_trick_points": one_in(3), "must_break_hearts": not one_in(4),
        "qs_breaks_hearts": not one_in(3), "lead_hearts_instead_of_qs": one_in(2),
        "queen_points": chooser.choice([13, 13, 5]), "jd_bonus": one_in(2), "no_trick_bonus": one_in(2),
        "moon": chooser.choice(["others_plus", "shooter_minus", "choice", "off"]),
        "tie": chooser.choice(["play_on", "share"]), "target": chooser.choice([None, None, 20, 50]),
    }  # fmt: skip
    if options["target"] is None:
        options["reward"] = chooser.choice(["relative", "points_saved"])
    if options["jd_bonus"] and options["moon"] != "off":
        options["moon_needs_jd"] = one_in(2)
    return options


def text_of(action):
    return {SUBTRACT: "subtract", ADD: "add"}.get(action) or PACK.labels[action]


STRONG = ["As", "Ks", "Qs", "Js", "Ah", "Kh", "Qh", "Jh", "Th", "Ac", "Kc", "Ad", "Kd"]


def choose(state, chooser, is_moon_sought):
    """Return a random action; or player 0 takes tricks and the others do not, so that moons happen."""
    legal = state.legal_actions()
    if not is_moon_sought or state.phase != "play":
        return chooser.choice(legal)
    return legal[-1] if state.current_player == 0 else legal[0]


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; return what has happened in it."""
    chooser = random.Random(seed)
    options, seen = random_options(chooser), collections.Counter()
    deck = None
    if seed % 4 == 0:
        deck, options["passing"] = " ".join(STRONG[: 50 // options["num_players"]]), "none"
    state, oracle = GAME.new_state(seed=seed, deck=deck, **options), Oracle(**options)
    while not state.is_terminal:
        if state.record.num_hands > oracle.number:
            oracle.begin_hand(hands_of(state))
        assert state.current_player == oracle.to_act
        assert sorted(oracle.legal()) == sorted(map(text_of, state.legal_actions()))
        action = choose(state, chooser, is_moon_sought=deck is not None)
        seen[state.phase] += 1
        oracle.act(text_of(action))
        state.apply(action)
        points = state.record.hand_points[: len(oracle.points_by_hand), : state.num_players].tolist()
        assert points == oracle.points_by_hand
    assert state.returns == pytest.approx(oracle.returns)
    bounds = GAME.returns(state.options)
    assert all(bounds.low - 1e-9 <= value <= bounds.high + 1e-9 for value in state.returns)
    seen["moon shot"] = any("shoots the moon" in line for line in state.recap(0))
    return seen


def test_games_agree_with_the_oracle():
    seen = sum((check_against_the_oracle(seed) for seed in range(60 if COMPILED else 6)), collections.Counter())
    assert seen["play"] > seen["pass"] > 0
    if COMPILED:
        assert seen["moon"]
        assert seen["moon shot"]


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    seeds = range(1000, 6000)
    print(dict(sum((check_against_the_oracle(seed) for seed in seeds), collections.Counter())))


def test_returns_stay_within_the_bounds_whatever_players_take():
    """The bounds are exact: the worst and the best split of cards reach them."""
    for seed in range(60):
        options = GAME.make_options(**random_options(random.Random(seed)))
        if options.target is not None:
            continue
        bounds = GAME.returns(options)
        found = [value for points in possible_points(options) for value in returns_of(points, options)]
        assert max(found) == pytest.approx(bounds.high), options.changed()
        low = min(found) if options.reward == "relative" else 0
        assert low == pytest.approx(bounds.low), options.changed()


def possible_points(options):
    """Yield the points of hands in which one or two players take all that counts."""
    n, total = options.num_players, 13 + options.queen_points
    shares = [(total, 0), (total - 1, 1), (0, total)]
    for (own, other), jack, tricks in itertools.product(shares, range(n), range(1, n + 1)):
        points = [own, other] + [0] * (n - 2)
        has_trick = [p < tricks or points[p] > 0 for p in range(n)]
        if options.jd_bonus:
            has_trick[jack] = True
            points[jack] -= 10
        shooter = 0 if own == total else 1 if other == total else None
        if options.moon == "off" or (options.moon_needs_jd and jack != shooter):
            shooter = None
        if shooter is None:
            bonus = 5 * options.no_trick_bonus
            yield [value - bonus * (not has) for value, has in zip(points, has_trick, strict=True)]
        if shooter is not None and options.moon != "shooter_minus":
            yield [value - total if p == shooter else value + total for p, value in enumerate(points)]
        if shooter is not None and options.moon != "others_plus":
            yield [value - 2 * total * (p == shooter) for p, value in enumerate(points)]


def returns_of(points, options):
    par = sum(points) / len(points) if options.reward == "relative" else 13 + options.queen_points
    return [par - value for value in points]


# ---------------------------------------------------------------------------------------------------------------
# Leaving (7.3)


@pytest.mark.parametrize(
    ("options", "returns"),
    [
        ({}, [-18.5, 18.5 / 3, 18.5 / 3, 18.5 / 3]),
        ({"moon": "off"}, [-19.5, 6.5, 6.5, 6.5]),
        ({"jd_bonus": True}, [-21, 7, 7, 7]),
        ({"reward": "points_saved"}, [0, 26, 26, 26]),
        ({"target": 100}, [-1 / 3, 1 / 9, 1 / 9, 1 / 9]),
    ],
)
def test_7_3_a_player_who_forfeits_pays_the_most(options, returns):
    state = GAME.new_state(seed=1, **options)
    state.apply(FORFEIT + 0)
    assert state.is_terminal
    assert state.returns == pytest.approx(returns)


# ---------------------------------------------------------------------------------------------------------------
# Worlds (8)


def careful(state, chooser):
    """Return a random action, but no heart and no Q♠ if another card is legal: hearts stay unbroken for long."""
    legal = state.legal_actions()
    harmless = [card for card in legal if PACK.labels[card][1] != "h" and PACK.labels[card] != "Qs"]
    return chooser.choice(harmless if harmless and state.phase == "play" else legal)


def played_until(left, seed, choose=careful, **options):
    """Play until the player to act has `left` cards; return the state, and who has played what."""
    chooser, plays = random.Random(seed), []
    state = GAME.new_state(seed=seed, **options)
    while state.phase == "pass" or int(state.record.hands[state.current_player]).bit_count() > left:
        action = choose(state, chooser)
        if state.phase == "play":
            plays.append((state.current_player, PACK.labels[action]))
        state.apply(action)
    return state, plays


def worlds_of(state, plays, viewer, most):
    """Return all hands of the others, as bit sets, from which what has been played is legal; None if too many fit.

    By the oracle. Cards that the viewer has passed must lie with their receiver.
    """
    record, n = state.record, state.num_players
    others = [p for p in range(n) if p != viewer]
    hidden = sorted(set().union(*(cards_of(record.hands[p]) for p in others)))
    sizes = [int(record.hands[p]).bit_count() for p in others]
    has_played = [[card for q, card in plays if q == p] for p in range(n)]
    options = state.options.as_dict() | {"passing": "none", "target": None, "reward": "relative"}
    receiver = (viewer + int(record.distance)) % n
    passed = {PACK.labels[card] for card in cards_of(record.passed[viewer])}
    found = []
    for split in splits(hidden, sizes):
        hands = [list(has_played[p]) for p in range(n)]
        for p, cards in zip(others, split, strict=True):
            hands[p] += [PACK.labels[card] for card in cards]
        hands[viewer] += [PACK.labels[card] for card in cards_of(record.hands[viewer])]
        if (receiver == viewer or passed <= set(hands[receiver])) and is_legal(hands, plays, options):
            found.append(tuple(int(bits_of(list(cards))) for cards in split))
        if len(found) > most:
            return None
    return found


def splits(cards, sizes):
    """Yield all ways to split cards into parts of these sizes."""
    if len(sizes) == 1:
        yield (tuple(cards),)
        return
    for part in itertools.combinations(cards, sizes[0]):
        rest = [card for card in cards if card not in part]
        for others in splits(rest, sizes[1:]):
            yield (part, *others)


def is_legal(hands, plays, options):
    oracle = Oracle(**options)
    oracle.begin_hand(hands)
    for player, card in plays:
        if oracle.to_act != player or card not in oracle.legal():
            return False
        oracle.act(card)
    return True


def uniformity(state, plays, viewer, most=60, each=60 if COMPILED else 2):
    """Return the p-value of all worlds being equally likely; None if they are too many, or one."""
    worlds = worlds_of(state, plays, viewer, most)
    if not worlds or len(worlds) < 2:
        return None
    others = [p for p in range(state.num_players) if p != viewer]
    twins = (state.determinize(viewer, seed).record.hands for seed in range(each * len(worlds)))
    counts = collections.Counter(tuple(int(hands[p]) for p in others) for hands in twins)
    assert set(counts) <= set(worlds)
    return float(chdtrc(len(worlds) - 1, sum((counts[world] - each) ** 2 / each for world in worlds)))


def check_worlds(number, left, wanted=lambda state, viewer: True, **options):
    """Check positions of careful play, for random viewers."""
    values, seed = [], 0
    while len(values) < number:
        seed += 1
        state, plays = played_until(left, seed, **options)
        viewer = seed % state.num_players
        if wanted(state, viewer):
            p = uniformity(state, plays, viewer)
            values += [] if p is None else [p]
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


@pytest.mark.parametrize(
    "options",
    [{"num_players": 3}, {"num_players": 4, "lead_any_club": True}, {"num_players": 5, "passing": "right"}],
    ids=["three", "any club", "five"],
)
def test_8_worlds_are_equally_likely(options):
    check_worlds(6 if COMPILED else 1, 3 if options["num_players"] == 3 else 2, **options)


def guest_of(state, viewer):
    """Return a player who has nothing but hearts and perhaps Q♠, if the viewer does not see where the queen is."""
    guest, queen = int(state.record.only_points), PACK.parse("Qs")
    hidden = any(state.record.hands[p] >> queen & 1 for p in range(state.num_players) if p != viewer)
    return guest not in (-1, viewer) and hidden and state.record.hands[guest] > 0


@pytest.mark.parametrize("players", [3, 4])
def test_8_3_only_hearts_and_perhaps_the_queen(players):
    options = {"num_players": players, "passing": "none", "lead_hearts_instead_of_qs": True}
    check_worlds(5 if COMPILED else 1, 2, guest_of, **options)


def test_8_3_points_on_the_first_trick():
    """A player who throws a heart on the first trick has 10 of 13 hearts and the queen; 9 of 13 cards are left."""
    deck = [
        "3c 4c 5c 6c 7c 8c 9c Tc Jc Qc", "Ah Kh Qh Jh Th 9h 8h 7h 6h 5h", "Kc 2s 3s 4s 5s 6s 7s 8s 9s Ts",
        "Ac 3d 4d 5d 6d 7d 8d 9d Td Jd", "As Ks Qs Js Qd Kd Ad 2h 3h 4h",
    ]  # fmt: skip
    state = played(" ".join(deck), "lead 3c", "play Ah", num_players=5, **PLAIN)
    number = 2000 if COMPILED else 5
    worlds = [int(state.determinize(0, seed).record.hands[1]) for seed in range(number)]
    assert all(PACK.labels[card][1] == "h" or PACK.labels[card] == "Qs" for hand in worlds for card in cards_of(hand))
    share = sum(hand >> PACK.parse("Qs") & 1 for hand in worlds) / number
    if COMPILED:
        assert share == pytest.approx(9 / 13, abs=0.05)


def test_8_2_what_others_pass_is_dealt_again():
    state = GAME.new_state(seed=4)
    while state.phase == "pass":
        state.apply(state.legal_actions()[0])
    record = state.record
    passed = collections.defaultdict(set)
    for seed in range(300):
        twin = state.determinize(0, seed).record
        assert twin.passed[0] == record.passed[0]
        assert twin.passed[3] == record.passed[3]
        assert twin.passed[0] & ~twin.hands[1] == 0
        for p in (1, 2):
            assert int(twin.passed[p]).bit_count() == 3
            assert twin.passed[p] & ~twin.hands[p + 1] == 0
            passed[p].add(int(twin.passed[p]))
    assert min(map(len, passed.values())) > 250


# ---------------------------------------------------------------------------------------------------------------
# The heuristic


def test_the_heuristic_takes_fewer_points_than_random_players():
    total, hands = 0.0, 60 if COMPILED else 3
    for seed in range(hands):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 4 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        total += state.returns[seed % 4]
    assert total / hands > (2 if COMPILED else -20)


def chosen(deck, *labels, **options):
    """The label of what the heuristic does after some actions."""
    state = played(deck, *labels, **options)
    return state.action_label(state.policy_action("heuristic", seed=0))


def test_the_heuristic_passes_a_queen_without_guards_or_what_catches_her():
    assert chosen("Qs 4s 2c 3c 4c 5c 2d 3d 4d 5d 2h 3h 4h") == "pass Q♠"
    catchers = "As Ks 3s Ac 9c 8c 7c Ad 4d 3d Qh 7h 2h"
    assert chosen(catchers) == "pass A♠"
    assert chosen(catchers, "pass A♠") == "pass K♠"
    assert chosen(catchers, "pass A♠", "pass K♠") == "pass A♣"


def test_the_heuristic_passes_its_losers_if_the_rest_is_a_moon():
    moon = "As Ks Qs Ah Kh Qh Jh Th Ac Kc 2d 3d 4c"
    assert {chosen(moon), chosen(moon, "pass 2♦")} <= {"pass 2♦", "pass 3♦", "pass 4♣"}


# Player 2 wins the first trick and leads the second; player 1 is out of diamonds.
UNLOADING = " ".join([
    "2c 3c 4c 5c 6c 7c 8c 9c Tc Jc 2d 3d 4d",
    "Kc Qs 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh",
    "Ac Jd Td 9d 8d 7d 6d 5d 5s 6s 2s 3s 4s",
    "Qc Ad Kd Qd Kh 7s 8s 9s Ts Js Ah Ks As",
])  # fmt: skip


def test_the_heuristic_throws_the_queen_when_it_cannot_follow_and_ducks():
    lead = ["lead 2c", "play Kc", "play Ac", "play Qc", "lead Jd"]
    assert chosen(UNLOADING, *lead, "play Ad", "play 2d", **PLAIN) == "play Q♠"
    assert chosen(UNLOADING, *lead, "play Ad", **PLAIN) == "play 4♦"


def test_the_heuristic_shoots_no_moon_whose_jack_somebody_else_has():
    options = {"moon_needs_jd": True, "jd_bonus": True, "passing": "none"}
    looked_at = 0
    for seed in range(400):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal:
            s, player = state.record, state.current_player
            others = [int(s.won[p]) for p in range(4) if p != player]
            wins_all = (
                not any(won & POINT_CARDS for won in others)
                and heuristic._losers(s.hands[player], heuristic._unseen(s, player)) == 0
            )
            if wins_all and len(state.legal_actions()) > 1:
                has_lost_jack = any(won >> JACK & 1 for won in others)
                assert heuristic._shoots(s, player, heuristic._unseen(s, player)) == (not has_lost_jack)
                looked_at += has_lost_jack
            state.apply(state.policy_action("heuristic", 0))
    assert looked_at > 5


@pytest.mark.parametrize(
    ("scores", "choice"),
    [
        ((78, 83, 34, 65), SUBTRACT),  # adding ends the match at 109, and player 2 wins it with 60
        ((10, 83, 34, 65), ADD),  # adding ends it, and the shooter wins
        ((60, 40, 34, 30), ADD),  # adding ends nothing
    ],
)
def test_the_heuristic_adds_a_moon_unless_that_loses_the_match(scores, choice):
    state = GAME.new_state(seed=1, moon="choice", target=100, passing="none")
    s = state.records.copy()[0]
    s.scores[:4], s.points[:4] = scores, (26, 0, 0, 0)
    s.phase, s.current_player = hearts_state.MOON, 0
    legal = np.array([SUBTRACT, ADD], np.int32)
    assert heuristic.heuristic(s, legal, 2, np.zeros(4, np.uint64)) == choice
