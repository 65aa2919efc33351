"""Tests of Marjapussi: paragraphs of rules.md that the scenarios leave out, an oracle, worlds, and the heuristic."""

import collections
import itertools
import os
import random

import numpy as np
import pytest
from marjapussi_oracle import Oracle
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.kernel import COMPILED
from cardenvs.core.options import fill_rules
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.marjapussi import state as parts
from cardenvs.games.marjapussi.heuristic import sample_belief
from cardenvs.games.marjapussi.state import HALF_0, NAME_0, OWN_0, PACK, SUITS, WHOLE
from cardenvs.games.marjapussi.worlds import determinize

GAME = get_game("marjapussi_v0")
VALUES = {
    "pack": ["36", "36", "32", "28"], "values": ["original", "simple"], "first_lead": ["any", "ace", "ace_or_spade"],
    "must_trump": [True, True, False], "beat": ["none", "suit", "trump", "full"],
    "declare_first_lead": [False, True], "ask": ["none", "whole", "whole_and_half", "whole_and_half", "open"],
    "ask_only_without_own": [False, True], "calls_per_lead": [1, 2, 9], "trump_change": [False, True],
    "scoring": ["marks", "hand_points"], "majority": ["card_points", "mates"], "last_trick": [10, 20, 0],
    "marriage_points": [(40, 20), (20, 20)], "bag": [False, True], "match_target": [None, 12, 4, 3],
    "exact": [True, True, False], "overshoot": ["ignore", "back", "zero"], "dealer": [0, 1, 2, 3],
}  # fmt: skip


def cards(text):
    """The cards of a text such as "TKQc A9d"."""
    return [rank + group[-1] for group in text.split() for rank in group[:-1]]


def played(hands, *actions, **options):
    """The state after some actions on hands of all players, as in "TKQc A9d"."""
    state = GAME.new_state(seed=1, deck=" ".join(card for hand in hands for card in cards(hand)), **options)
    for text in actions:
        state.apply(action_of(text))
    return state


def action_of(text):
    """The id of an action in the words of the oracle."""
    if text in PACK.labels:
        return PACK.labels.index(text)
    if text == "whole":
        return WHOLE
    return {"own": OWN_0, "half": HALF_0, "name": NAME_0}[text[:4].strip()] + SUITS.index(text[-1])


def text_of(action):
    """An action in the words of the oracle."""
    if action < OWN_0:
        return PACK.labels[action]
    if action == WHOLE:
        return "whole"
    for word, first in (("name", NAME_0), ("half", HALF_0), ("own", OWN_0)):
        if action >= first:
            return f"{word} {SUITS[action - first]}"
    raise AssertionError(action)


def legal(state):
    return [text_of(action) for action in state.legal_actions()]


def hands_of(state):
    return [[PACK.labels[card] for card in PACK.cards_of(bits)] for bits in state.record.hands]


def random_options(chooser):
    return {name: chooser.choice(values) for name, values in VALUES.items()}


# ---------------------------------------------------------------------------------------------------------------
# Rules

DEAL_A = ["TKQc A9d KQh AQs", "Q7d AJ98h TK6s", "AJ98c J86d 87s", "76c TKd T76h J9s"]
DEAL_C = ["TQc Jd TKQ6h A9s", "J976c Td 9h T87s", "K8c A986d J7h Js", "Ac KQ7d A8h KQ6s"]
DEAL_D = ["8c AJ6d J7h KQ9s", "ATJc Kd ATh TJ7s", "Q76c 8d KQ9h A6s", "K9c TQ97d 86h 8s"]
RUFF = ["Ac 7h KQs ATKQJd", "T9876s TK8c 9d", "9TKQJ6h QJ9c", "8Ah JAs 67c 678d"]  # seat 1 ruffs 7h with Ts
RUFF_WITHOUT_HEARTS = [*RUFF[:2], "9TKQJ68Ah 9c", "JAs 67QJc 678d"]
RUFF_WITHOUT_ACE = [RUFF[0], "TA987s TK8c 9d", "9TKQJ68Ah 9c", "J6s 67QJc 678d"]
TO_THE_RUFF = ("Ac", "8c", "9c", "6c", "own s", "7h", "Ts", "9h")
HALVES = ["KATc QA6d A6h 6s", "98c 98d 98h T9As", "Q7c KJTd TJh JQs", "6Jc 7d KQ7h 78Ks"]  # of clubs and diamonds
ALL_FOUR = ["AKQc KQd KQh KQs", "87c J98d J9h J9s", "TJ9c ATd ATh ATs", "6c 76d 876h 876s"]


@pytest.mark.parametrize("beat", ["none", "suit", "trump", "full"])
def test_11_who_can_follow_need_not_beat_a_ruff(beat):
    assert legal(played(RUFF, *TO_THE_RUFF, beat=beat)) == ["8h", "Ah"]


@pytest.mark.parametrize(
    ("beat", "cards"), [("none", ["Js", "As"]), ("suit", ["Js", "As"]), ("trump", ["As"]), ("full", ["As"])]
)
def test_11_who_must_trump_must_go_above_the_highest_trump(beat, cards):
    state = played(RUFF_WITHOUT_HEARTS, *TO_THE_RUFF, beat=beat)
    assert legal(state) == cards
    assert "must play a trump" in state.explain_illegal(action_of("7c"))
    if "Js" not in cards:
        assert "a card that beats the best one" in state.explain_illegal(action_of("Js"))


@pytest.mark.parametrize("beat", ["none", "suit", "trump", "full"])
def test_11_who_cannot_go_above_must_trump_all_the_same(beat):
    assert legal(played(RUFF_WITHOUT_ACE, *TO_THE_RUFF, beat=beat)) == ["6s", "Js"]
    free = played(RUFF_WITHOUT_ACE, *TO_THE_RUFF, beat=beat, must_trump=False)
    assert len(legal(free)) == 8


def test_10_first_leads_without_an_ace():
    hands = ["KQs JTc 67d 678h", "A9876c ATKQd", "AJT9h A9876s", "KQc KQh JTs J98d"]
    assert legal(played(hands, first_lead="ace_or_spade")) == ["Qs", "Ks"]
    assert len(legal(played(hands, first_lead="ace"))) == 9
    state = played(hands, first_lead="ace_or_spade")
    assert "a spade must be led" in state.explain_illegal(action_of("6d"))


def test_12_halves_are_no_whole_marriage():
    lead = ("Ac", "8c", "7c", "6c")
    asked = played(HALVES, *lead, "whole")
    assert asked.recap(1)[-1] == "player_2 answers no."
    assert not any(text.startswith(("half", "own", "whole")) for text in legal(asked))
    half = played(HALVES, *lead, "half c")
    assert half.facts(0)["trump"] == "♣"
    assert "no more calls" in half.explain_illegal(action_of("half d"))
    twice = played(HALVES, *lead, "half c", "half d", calls_per_lead=2)
    assert twice.facts(0)["marriages"]["us"] == ["♣", "♦"]
    assert twice.facts(0)["trump"] == "♣"


def test_4_2_only_the_leader_calls():
    assert "only the player who leads" in played(DEAL_A, "As", "Ts", "8s", "Js", "own c", "Ad").explain_illegal(WHOLE)
    assert "before the first trick" in played(DEAL_A).explain_illegal(WHOLE)
    assert "nobody has asked" in played(DEAL_A).explain_illegal(NAME_0)


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({"ask": "none"}, ["own c", "own h"]),
        ({"ask": "whole"}, ["own c", "own h", "whole"]),
        ({"ask_only_without_own": True}, ["own c", "own h"]),
        ({"ask": "open"}, ["own c", "own h"]),
    ],
)
def test_4_4_and_4_6_options_of_asking(options, calls):
    state = played(DEAL_A, "As", "Ts", "8s", "Js", **options)
    assert [text for text in legal(state) if text not in PACK.labels] == calls
    reason = state.explain_illegal(action_of("half s"))
    assert ("may not ask" if "ask_only_without_own" in options else "do not have this question") in reason


def test_4_7_open_marriages_of_the_partner():
    state = played(DEAL_C, "6h", "9h", "7h", "8h", ask="open")
    assert [text for text in legal(state) if text not in PACK.labels] == ["own d", "own s"]
    assert "player_1 sees that player_3 holds marriages: diamonds, spades." in state.recap(1)
    assert not any("sees" in line for player in (0, 2, 3) for line in state.recap(player))
    assert state.facts(1)["partner_holds_marriages"] == ["♦", "♠"]
    state.apply(action_of("own d"))
    assert state.facts(0)["known_cards"] == {"player_3": ["Q♦", "K♦"]}


def test_4_4_who_may_choose_holds_several_marriages_in_every_world():
    state = played(DEAL_C, "6h", "9h", "7h", "8h", "whole")
    assert legal(state) == ["name d", "name s"]
    for viewer in (0, 1, 2):
        for k in range(100):
            assert len(state.determinize(viewer, k).legal_actions()) >= 2
    assert hands_of(state.determinize(3, 1))[3] == hands_of(state)[3]


@pytest.mark.parametrize(("pack", "size", "lowest"), [("36", 9, "6"), ("32", 8, "7"), ("28", 7, "8")])
def test_1_2_packs(pack, size, lowest):
    state = GAME.new_state(seed=3, pack=pack)
    hands = hands_of(state)
    assert [len(hand) for hand in hands] == [size] * 4
    assert sorted({card[0] for hand in hands for card in hand}, key=PACK.ranks.index)[0] == lowest


# ---------------------------------------------------------------------------------------------------------------
# The score


def before_the_end(points, winner=0, mates=(0, 0), scores=(0, 0), bonus=(0, 0), in_bag=(0, 0), **options):
    """A record before the last card of a hand, which `winner` takes; the last trick has no card points."""
    states, options = blank(**options)
    s = states[0]
    s["trick"], s["num_hands"], s["dealer"] = 8, 1, 3
    s["leader"], s["current_player"] = 0, 3
    for p, card in enumerate(["9c", "8c", "7c", "6c"]):
        s["played"][(winner + p) % 4, 8] = PACK.labels.index(card)
    s["hands"][3] = 1 << int(s["played"][3, 8])
    card, s["played"][3, 8] = int(s["played"][3, 8]), -1
    s["points"], s["scores"], s["bonus"], s["bagged"] = points, scores, bonus, in_bag
    tens_and_aces = [card for card in range(PACK.size) if PACK.labels[card][0] in "AT"]
    for side, number in enumerate(mates):
        s["won"][side] = sum(1 << tens_and_aces.pop() for _ in range(number))
    state = State._from_record(GAME, options, states)
    state.apply(card)
    return state.records[0]


def blank(**options):
    """An array of one record without hands and tricks, and its options."""
    states, options = np.zeros(1, parts.STATE), GAME.make_options(**options)
    fill_rules(states["rules"], options)
    states["active"], states["trump"], states["played"] = 1, -1, -1
    return states, options


def score(*arguments, **options):
    return before_the_end(*arguments, **options)["scores"].tolist()


def test_13_the_majority():
    assert score((60, 60)) == [1, 0]
    assert score((61, 59)) == [2, 0]
    assert score((59, 61)) == [1, 1]
    assert score((70, 50), mates=(4, 4), majority="mates") == [2, 0]
    assert score((70, 50), mates=(3, 5), majority="mates") == [1, 1]
    assert score((60, 60), mates=(4, 4), majority="mates") == [1, 0]


def test_14_the_most_marks_of_a_hand():
    calls = ("own c", "own d", "own h", "own s")
    state = played(ALL_FOUR, "Ac", "7c", "9c", "6c", *calls, calls_per_lead=4)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert state.returns == [7, -7, 7, -7]


def test_15_game_points():
    hand_points = {"scoring": "hand_points"}
    assert score((100, 20), bonus=(40, 0), **hand_points) == [1, 0]
    assert score((101, 19), bonus=(40, 0), **hand_points) == [2, 0]
    assert score((60, 60), bonus=(60, 70), **hand_points) == [0, 0]
    assert score((60, 60), bonus=(60, 71), **hand_points) == [0, 1]
    assert score((60, 60), last_trick=0, **hand_points) == [0, 0]


def test_16_marriages_beside_the_target():
    assert declared(match_target=12)["scores"].tolist() == [12, 9]
    s = declared(match_target=12, calls=1)
    assert s["scores"].tolist() == [11, 9]
    assert not s["terminal"]
    assert declared(match_target=12, overshoot="back", calls=1)["scores"].tolist() == [11, 9]
    assert declared(match_target=12, overshoot="zero", calls=1)["scores"].tolist() == [0, 9]
    over = declared(match_target=12, exact=False, calls=1)
    assert over["scores"].tolist() == [13, 9]
    assert over["terminal"]
    assert over["rewards"].tolist() == [1, -1, 1, -1]


def declared(calls=2, **options):
    """A record in which player 0 has declared marriages at 11 to 9."""
    states, options = blank(calls_per_lead=2, **options)
    s = states[0]
    s["trick"], s["scores"] = 4, (11, 9)
    s["hands"][0] = sum(1 << PACK.labels.index(card) for card in cards("KQc KQh Js"))
    state = State._from_record(GAME, options, states)
    for suit in range(calls):
        state.apply(OWN_0 + 2 * suit)
    return state.records[0]


def test_17_the_last_trick_scores_before_the_majority():
    s = before_the_end((20, 100), scores=(11, 11), match_target=12)
    assert s["scores"].tolist() == [12, 11]
    assert s["rewards"].tolist() == [1, -1, 1, -1]


def test_18_a_side_in_the_bag():
    options = {"scoring": "hand_points", "bag": True, "match_target": 12}
    first = before_the_end((120, 0), **options)
    assert first["scores"].tolist() == [2, 0]
    assert first["bagged"].tolist() == [0, 1]
    second = before_the_end((40, 80), winner=1, in_bag=(0, 1), mates=(1, 1), **options)
    assert second["scores"].tolist() == [0, 0]
    assert second["bagged"].tolist() == [0, 0]
    assert score((40, 80), winner=1, mates=(1, 1), **options) == [0, 1]
    # It stays there while it wins no trick, and the other side scores as usual.
    again = before_the_end((120, 0), in_bag=(0, 1), **options)
    assert again["bagged"].tolist() == [0, 1]
    assert again["scores"].tolist() == [2, 0]
    # Marks: neither the last trick nor the majority.
    assert score((10, 110), winner=1, in_bag=(0, 1), bag=True, match_target=12) == [0, 0]


def test_9_1_leaving():
    state = GAME.new_state(seed=1)
    state.apply(FORFEIT + state.current_player)
    assert state.returns == [-7, 7, -7, 7]
    match = GAME.new_state(seed=1, match_target=12)
    match.apply(FORFEIT + match.current_player)
    assert match.returns == [-1, 1, -1, 1]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random game of random options beside the oracle; return the number of hands."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    state, oracle = GAME.new_state(seed=seed, **options), Oracle(options)
    while not state.is_terminal:
        if oracle.number < state.record.num_hands:
            oracle.begin_hand(hands_of(state))
        assert state.current_player == oracle.to_act
        assert sorted(legal(state)) == sorted(oracle.legal())
        possible = legal(state)
        calls = [text for text in possible if text not in PACK.labels]
        text = chooser.choice(calls if calls and chooser.random() < 0.5 else possible)
        state.apply(action_of(text))
        oracle.do(text)
        assert state.record.scores.tolist() == oracle.scores
    assert oracle.over
    assert list(state.returns) == oracle.returns()
    return oracle.number


@pytest.mark.parametrize("seed", range(60))
def test_games_agree_with_the_oracle(seed):
    check_against_the_oracle(seed)


@pytest.mark.slow
def test_three_thousand_games_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 4000)) > 8000


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def fits(oracle, hands, actions, viewer):
    """Whether a hand of play from other cards is legal throughout, and looks the same to `viewer`."""
    other = Oracle(oracle.options)
    other.begin_hand(hands)
    for text in actions:
        if text not in other.legal():
            return False
        other.do(text)
    return other.seen[viewer] == oracle.seen[viewer]


def worlds_of(oracle, actions, viewer):
    """All deals of the hidden cards that fit what `viewer` has seen in this hand, as tuples of three sets."""
    others = [(viewer + k) % 4 for k in (1, 2, 3)]
    played_by = [[card for card in oracle.had[p] if card not in oracle.hands[p]] for p in range(4)]
    hidden = [card for p in others for card in oracle.hands[p]]
    found = []
    for first in itertools.combinations(hidden, len(oracle.hands[others[0]])):
        rest = [card for card in hidden if card not in first]
        for second in itertools.combinations(rest, len(oracle.hands[others[1]])):
            third = [card for card in rest if card not in second]
            hands = [None] * 4
            hands[viewer] = oracle.had[viewer]
            for p, part in zip(others, (first, second, third), strict=True):
                hands[p] = played_by[p] + list(part)
            if fits(oracle, hands, actions, viewer):
                found.append(tuple(map(frozenset, (first, second, third))))
    return found


def positions(seed, number, most_hidden=8, **fixed):
    """Yield positions near the end of hands of random play with many calls: state, oracle, actions, viewer."""
    chooser = random.Random(seed)
    while number:
        options = random_options(chooser) | {"match_target": None} | fixed
        state, oracle = GAME.new_state(seed=chooser.randrange(2**32), **options), Oracle(options)
        oracle.begin_hand(hands_of(state))
        actions = []
        while not state.is_terminal:
            viewer = chooser.randrange(4)
            hidden = sum(len(hand) for hand in oracle.hands) - len(oracle.hands[viewer])
            if hidden <= most_hidden:
                yield state, oracle, actions, viewer
                number -= 1
                break
            possible = legal(state)
            calls = [text for text in possible if text not in PACK.labels]
            text = chooser.choice(calls or keeping_marriages(possible, chooser))
            actions.append(text)
            oracle.do(text)
            state.apply(action_of(text))


def keeping_marriages(cards, chooser):
    """Cards other than kings and queens, mostly, so that there is much to know about these."""
    others = [card for card in cards if card[0] not in "KQ"]
    return others if others and chooser.random() < 0.9 else cards


def uniformity(state, worlds, viewer, seed, each):
    """The p-value of twins being equally likely among all worlds that fit."""
    counts = collections.Counter()
    for k in range(each * len(worlds)):
        hands = hands_of(state.determinize(viewer, seed + k))
        counts[tuple(frozenset(hands[(viewer + j) % 4]) for j in (1, 2, 3))] += 1
    assert set(counts) <= set(worlds)
    if len(worlds) == 1:
        return 1.0
    return float(chdtrc(len(worlds) - 1, sum((counts[world] - each) ** 2 / each for world in worlds)))


def check_worlds(seed, number, most=60, each=40 if COMPILED else 2, **fixed):
    values, sizes = [], []
    for k, (state, oracle, actions, viewer) in enumerate(positions(seed, number, **fixed)):
        worlds = worlds_of(oracle, actions, viewer)
        assert worlds
        sizes.append(len(worlds))
        if len(worlds) <= most:
            values.append(uniformity(state, worlds, viewer, 1000 * k, each))
        else:
            drawn = hands_of(state.determinize(viewer, k))
            assert tuple(frozenset(drawn[(viewer + j) % 4]) for j in (1, 2, 3)) in worlds
    print(f"{len(values)} of {len(sizes)} positions, least p {min(values):.2g}, worlds {sorted(sizes)}")
    return values


@pytest.mark.parametrize("ask", ["whole_and_half", "open"])
def test_worlds_are_equally_likely_among_all_that_fit(ask):
    values = check_worlds(5, 12 if COMPILED else 2, most_hidden=6, ask=ask)
    assert min(values) > 1e-4


@pytest.mark.slow
def test_worlds_are_equally_likely_in_many_positions():
    seed = int(os.environ.get("CARDENVS_TEST_SEED", random.randrange(2**32)))
    print(f"CARDENVS_TEST_SEED={seed}")
    values = check_worlds(seed, 200, most_hidden=8) + check_worlds(seed, 100, most_hidden=8, ask="open")
    assert min(values) > 1e-6


# ---------------------------------------------------------------------------------------------------------------
# The heuristic


def choice(state):
    return text_of(state.policy_action("heuristic", 0))


def test_the_heuristic_declares_before_it_asks_and_asks_before_it_leads():
    own = played(DEAL_A, "As", "Ts", "8s", "Js")
    assert choice(own) == "own c"  # three clubs to the ten, two hearts
    half = played(HALVES, "Ac", "8c", "7c", "6c")
    assert choice(half) in ("half c", "half d")
    half.apply(action_of("half c"))
    assert choice(half) in PACK.labels


def test_the_heuristic_asks_nothing_that_it_knows():
    state = played(HALVES, "Ac", "8c", "7c", "6c", "half d", calls_per_lead=4)
    assert choice(state) == "half c"
    state.apply(action_of("half c"))
    assert choice(state) == "whole"  # in hearts or spades
    state.apply(WHOLE)
    assert choice(state) in PACK.labels


def test_the_heuristic_gives_the_partner_tens_and_keeps_them_from_opponents():
    deal = ["Ac 6c 678d 678h 6s", "789c 9JTd 9Jh 7s", "TKc QKd QKh 89Js", "QJc Ad TAh TQKAs"]
    state = played(deal, "Ac", "7c")
    assert choice(state) == "Tc"
    other = played([deal[3], deal[0], deal[1], deal[2]], "Qc", "Ac", "7c", dealer=3)
    assert choice(other) == "Kc"


def test_the_heuristic_wins_against_random_players():
    total = 0
    for seed in range(100):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player % 2 == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        total += state.returns[seed % 2]
    assert total > 120


def test_search_leaves_out_worlds_in_which_somebody_kept_a_marriage():
    """Player 0 led a second time without a call, so a pair in their hand is a guess that beliefs avoid."""
    state = played(HALVES, "Ac", "8c", "7c", "6c", "Tc", "9c", "Qc", "Jc")
    silent = int(state.record.silent[0])
    assert silent == 0b1111
    kept = []
    for world in (takes_records(determinize), takes_records(sample_belief)):
        twins = np.repeat(state.records, 200)
        for seed, twin in enumerate(twins):
            world(twin, 1, seed)
        kept.append(sum(bool(king & queen & silent) for king, queen in map(kings_and_queens, twins)))
    assert kept[0] > 10
    assert kept[1] < kept[0] / 4


def kings_and_queens(record):
    """The suits of which player 0 has the king, and the queen, as bit sets."""
    hand = int(record["hands"][0])
    return hand >> parts.KING * 4 & 15, hand >> parts.QUEEN * 4 & 15
