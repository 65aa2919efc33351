"""Tests of liar's dice: paragraphs that the scenario file leaves out, an oracle, OpenSpiel, worlds, the rule agent."""

import collections
import itertools
import math
import random

import numpy as np
import pytest
from liars_dice_oracle import EXACT_BIDDINGS, Oracle
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.games.liars_dice import belief, rules

GAME = get_game("liars_dice_v0")


def played(hands, actions="", **options):
    """The state after some actions (labels) with explicit dice: "3|6" are a three of player 0 and a six of player 1."""
    rolls = [hand.split() for hand in hands.split("|")]
    options = {"num_players": len(rolls), "dice": len(rolls[0]), **options}
    state = GAME.new_state(seed=1, deck=" ".join(itertools.chain(*rolls)), **options)
    for label in actions.split():
        state.apply(state.action_from_label(label))
    return state


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


def numbers(state):
    return state.record.num_dice[: state.num_players].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ones_bids": "halved"}, "ones_bids=halved needs wild=ones"),
        ({"ones_bids": "halved", "wild": "ones", "bidding": "face_first"}, "ones_bids=halved needs wild=ones"),
        ({"open_on_ones": False}, "open_on_ones=false needs ones_bids=halved"),
        ({"loss": "difference"}, "loss=difference needs format=elimination"),
        ({"palifico": True}, "palifico=true needs format=elimination"),
        ({"num_players": 6}, "2 to 5"),
        ({"dice": 0}, "1 to 5"),
        ({"sides": 9}, "4 to 8"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_1_2_explicit_rolls_are_checked():
    with pytest.raises(DeckError, match="the first roll has 2 dice; got 3"):
        GAME.new_state(seed=1, dice=1, deck="1 2 3")
    with pytest.raises(DeckError, match="token 7 is not in this game"):
        GAME.new_state(seed=1, dice=1, deck="8")


def test_1_2_dice_are_rolled_fairly():
    faces = collections.Counter()
    for seed in range(600):
        faces += collections.Counter(dict(enumerate(GAME.new_state(seed=seed).record.dice[:2].sum(axis=0).tolist())))
    expected = 600 * 10 / 6
    assert set(faces) == set(range(6))
    assert chdtrc(5, sum((number - expected) ** 2 / expected for number in faces.values())) > 1e-3


@pytest.mark.parametrize("bidding", ["quantity_first", "face_first"])
def test_2_2_and_2_3_ids_ascend_with_bids(bidding):
    state = GAME.new_state(seed=1, num_players=3, dice=2, sides=4, bidding=bidding)
    order = labels(state)
    pairs = [tuple(map(int, label.split("-"))) for label in order]
    assert len(order) == 24
    assert pairs == sorted(pairs, key=(lambda bid: bid) if bidding == "quantity_first" else (lambda bid: bid[::-1]))
    for k, label in enumerate(order):
        later = state.clone()
        later.apply(state.action_from_label(label))
        assert labels(later) == [*order[k + 1 :], "liar"]


def test_2_5_halved_bids_are_a_line():
    """A bid is higher than another, or the other way round, and those above a higher bid are above the lower."""
    bids = list(itertools.product(range(1, 11), range(1, 7)))
    state = GAME.new_state(seed=1, wild="ones", ones_bids="halved")
    above = {}
    for bid in bids:
        later = state.clone()
        later.apply(state.action_from_label("{}-{}".format(*bid)))
        above[bid] = {tuple(map(int, label.split("-"))) for label in labels(later)[:-1]}
    for one, other in itertools.combinations(bids, 2):
        assert (one in above[other]) != (other in above[one])
    assert all(above[higher] < above[bid] for bid in bids for higher in above[bid])


def call_exactly(state):
    """Bid what is on the table, and call it exact."""
    counts = state.record.dice.sum(axis=0)
    state.apply(state.action_from_label(f"{counts.max()}-{counts.argmax() + 1}"))
    state.apply(state.action_from_label("exact"))


def test_4_4_and_4_5_an_exact_call_wins_a_die_back():
    state = played("2 1|2 1", "1-2 exact", format="elimination", exact_call=True, wild="none")
    assert numbers(state) == [2, 1]
    call_exactly(state)  # player 1, who starts, bids; player 0 calls
    assert numbers(state) == [2, 1]
    assert state.current_player == 0
    call_exactly(state)
    assert numbers(state) == [2, 2]
    assert "player_1 gets a die back and has 2." in state.recap(0)


def test_4_6_facts_at_the_end_are_those_of_the_palifico_that_ended():
    options = {"format": "elimination", "palifico": True, "wild": "sixes"}
    state = played("2 1|3 1", "4-1 liar", **options)
    while not state.record.is_palifico:
        state.apply(state.legal_actions()[-1])
    for label in ("3-1", "liar"):
        state.apply(state.action_from_label(label))
    assert state.is_terminal
    assert state.facts(0)["wild_face"] is None
    matches = state.facts(0)["matches"]
    assert any(f"{matches} " in line and "match the bid" in line for line in state.recap(0))

    """Player 1 comes down to one die, gets one back, and comes down again; then player 0 does."""
    state = played("2 1|2 1", "1-2 exact", format="elimination", exact_call=True, palifico=True, wild="none")
    assert state.record.is_palifico
    call_exactly(state)
    assert not state.record.is_palifico
    call_exactly(state)
    assert (numbers(state), state.current_player) == ([2, 2], 1)
    lose(state)
    assert (numbers(state), state.record.is_palifico) == ([2, 1], 0)
    call_exactly(state)
    assert state.current_player == 0
    lose(state)
    assert (numbers(state), state.record.is_palifico) == ([1, 1], 1)


def lose(state):
    """Bid what is not on the table, and call it."""
    dice = int(state.record.all_dice)
    face = next(face for face in range(6) if state.record.dice[:, face].sum() < dice)
    state.apply(state.action_from_label(f"{dice}-{face + 1}"))
    state.apply(state.action_from_label("liar"))


def test_4_7_exact_calls_end():
    state = GAME.new_state(seed=5, dice=2, num_players=2, format="elimination", exact_call=True, wild="none")
    layout = GAME.layout(state.options)
    for number in range(1, EXACT_BIDDINGS + 1):
        assert state.record.num_biddings == number
        assert layout.split(state.observation(0))["exact_biddings"] == EXACT_BIDDINGS + 1 - number
        call_exactly(state)
    state.apply(state.action_from_label("1-1"))
    assert "exact" not in labels(state)
    assert "after 100 biddings" in state.explain_illegal(GAME.num_actions(state.options) - 1)
    assert layout.split(state.observation(0))["exact_biddings"] == 0
    while not state.is_terminal:
        state.apply(state.legal_actions()[-1])
    assert sorted(state.returns) == [-1, 1]
    assert state.ply < GAME.max_length(state.options)


def test_longest_game():
    """With all bids from the lowest to the highest, a single bidding reaches the bound."""
    state = GAME.new_state(seed=1, dice=1, sides=4)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert state.ply == GAME.max_length(state.options) == 9


def test_6_1_observations_show_bids_and_the_dice_of_the_bidding_before():
    state = played("1 5|2 6|3 3", "1-3 2-3 5-3 liar", format="elimination")
    seen = GAME.layout(state.options).split(state.observation(1))
    assert seen["num_dice"].tolist() == [2, 1, 2]
    assert seen["to_act"].tolist() == [0, 1, 0]
    assert seen["shown"].reshape(3, 6).tolist() == [[0, 1, 0, 0, 0, 1], [0, 0, 2, 0, 0, 0], [1, 0, 0, 0, 1, 0]]
    assert not seen["bids"].any()
    state.apply(state.action_from_label("1-2"))
    state.apply(state.action_from_label("2-4"))
    seen = GAME.layout(state.options).split(state.observation(1))
    assert seen["bids"].nonzero()[0].tolist() == [1, 9]
    assert seen["bids"][[1, 9]].tolist() == [2, 3]  # by the player after the observer, and by the one after that
    assert (seen["last_quantity"], seen["last_face"].argmax()) == (2, 3)


def test_the_chance_that_a_bid_holds_is_that_of_all_rolls():
    for quantity, face in itertools.product(range(1, 5), range(1, 5)):
        state = played("3 4|1 1", f"{quantity}-{face}", sides=4)
        holds = [
            sum(die in (face, 4) for die in (3, 4, *other)) >= quantity
            for other in itertools.product(range(1, 5), repeat=2)
        ]
        assert state.facts(0)["bid_holds"] == pytest.approx(np.mean(holds), abs=1e-4)
        state.apply(state.action_from_label("liar"))
        assert state.facts(0)["matches"] == sum(die in (face, 4) for die in (3, 4, 1, 1))


def test_faces_above_six_are_numbers():
    state = played("7 8|1 2", sides=8)
    assert "player_0 rolls 7 8." in state.recap(0)
    assert state.facts(0)["wild_face"] == 8


def test_dice_and_bids_are_drawn():
    state = played("1 5|6 2|3 3", "1-2 2-3 2-5 3-1")
    view = state.view(1)
    assert table_texts(view)["piles"]["dice"] == [["?", "?"], ["2", "6"], ["?", "?"]]
    assert "dice" not in table_texts(view)["counters"]
    assert view["sheet"]["rows"] == [["1-2", "2-3", "2-5"], ["3-1"]]
    rows = {choice["label"]: choice.get("row") for choice in view["choices"]}
    assert (rows["3-2"], rows["6-6"], rows["liar"]) == (2, 5, None)
    one_face = played("1 5|6 2|3 3", "2-3", bidding="face_first")
    assert {choice["label"]: choice.get("row") for choice in one_face.view(1)["choices"]}["5-3"] == 2


def test_dice_are_drawn_in_the_middle_of_a_call():
    """Before and after the dice are shown, they lie there as tiles."""
    state = played("1 5|6 2", "1-2 liar")
    frames = [table_texts(frame.view)["piles"]["dice"] for frame in Replay.of(state).frames(0)]
    assert frames[0] == [["1", "5"], ["?", "?"]]
    assert frames[-1] == [["1", "5"], ["2", "6"]]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def random_options(chooser):
    """Options of both implementations, drawn at random from those that fit together."""
    options = {
        "num_players": chooser.randint(2, 5), "dice": chooser.randint(1, 5), "sides": chooser.randint(4, 8),
        "wild": chooser.choice(["none", "ones", "sixes"]), "exact_call": chooser.random() < 0.4,
        "bidding": chooser.choice(["quantity_first", "face_first"]),
        "format": chooser.choice(["single", "elimination"]),
    }  # fmt: skip
    if options["wild"] == "ones" and options["bidding"] == "quantity_first" and chooser.random() < 0.7:
        options |= {"ones_bids": "halved", "open_on_ones": chooser.random() < 0.5}
    if options["format"] == "elimination":
        options |= {"loss": chooser.choice(["one", "difference"]), "palifico": chooser.random() < 0.5}
    return options


def rolled(state):
    """The dice of all players, as lists of faces."""
    by_face = state.record.dice[: state.num_players].tolist()
    return [[face + 1 for face, number in enumerate(row) for _ in range(number)] for row in by_face]


def as_oracle_says(state, action):
    label = state.action_label(action)
    return label if label in ("liar", "exact") else tuple(map(int, label.split("-")))


def choose(chooser, legal):
    """Any action, but more often one that makes games long: a low bid, or an exact call."""
    if "exact" in legal and chooser.random() < 0.2:
        return "exact"
    return chooser.choice(legal if chooser.random() < 0.5 else legal[: 1 + len(legal) // 4])


def compare(state, oracle):
    """Compare all that is public, and the observation of the player to act."""
    assert state.current_player == oracle.to_act
    assert {as_oracle_says(state, action) for action in state.legal_actions()} == set(oracle.legal())
    n, player = oracle.num_players, oracle.to_act
    facts = state.facts(player)
    assert facts["dice_in_play"] == sum(oracle.numbers)
    assert facts.get("bid") == ("{}-{}".format(*oracle.bids[-1][1:]) if oracle.bids else None)
    seen = GAME.layout(state.options).split(state.observation(player))
    order = [(player + seat) % n for seat in range(n)]
    assert seen["own_dice"].tolist() == by_face(oracle.rolls[player], oracle.sides)
    assert seen["num_dice"].tolist() == [oracle.numbers[p] for p in order]
    shown = [by_face(oracle.shown[p], oracle.sides) if oracle.shown else [0] * oracle.sides for p in order]
    assert seen["shown"].reshape(n, -1).tolist() == shown
    made = {("{}-{}".format(*bid)): 1 + order.index(p) for p, *bid in oracle.bids}
    assert {state.action_label(int(k)): int(seen["bids"][k]) for k in seen["bids"].nonzero()[0]} == made
    if "palifico" in seen:
        assert (seen["palifico"] == 1) == oracle.special
        assert seen["had_palifico"].tolist() == [p in oracle.were_special for p in order]


def by_face(dice, sides):
    return [dice.count(face) for face in range(1, sides + 1)]


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the number of biddings."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    state, oracle = GAME.new_state(seed=seed, **options), Oracle(**options)
    oracle.begin(rolled(state))
    while True:
        compare(state, oracle)
        if chooser.random() < 0.01:
            state.apply(FORFEIT + oracle.to_act)
            is_new = oracle.leave()
        else:
            action = choose(chooser, oracle.legal())
            state.apply(state.action_from_label(action if isinstance(action, str) else "{}-{}".format(*action)))
            is_new = oracle.act(action) and not oracle.over
        assert state.is_terminal == oracle.over
        if oracle.over:
            assert state.returns == pytest.approx(oracle.returns)
            return oracle.biddings
        if is_new:
            oracle.begin(rolled(state))


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    for seed in range(75 * block, 75 * block + (75 if COMPILED else 5)):
        check_against_the_oracle(seed)


@pytest.mark.slow
def test_thousands_of_games_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 5000)) > 12_000


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


@pytest.mark.parametrize("games", [40, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("rule", "bidding"), [("reset-face", "quantity_first"), ("reset-quantity", "face_first")])
@pytest.mark.parametrize(("dice", "sides"), [(1, 6), (2, 6), (5, 6), (3, 4)])
def test_openspiel_plays_the_same_game(dice, sides, rule, bidding, games):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("liars_dice", {"numdice": dice, "dice_sides": sides, "bidding_rule": rule})
    given = {"dice": dice, "sides": sides, "bidding": bidding}
    options = GAME.make_options(**given)
    assert game.num_distinct_actions() == GAME.num_actions(options)
    assert game.max_game_length() == GAME.max_length(options)
    chooser = random.Random(7)
    for _ in range(games if COMPILED else 3):
        theirs, rolls = game.new_initial_state(), []
        while theirs.is_chance_node():
            roll = chooser.choice(theirs.legal_actions())
            rolls.append(str(roll + 1))
            theirs.apply_action(roll)
        ours = GAME.new_state(seed=1, deck=" ".join(rolls), **given)
        while not theirs.is_terminal():
            assert ours.current_player == theirs.current_player()
            assert ours.legal_actions() == theirs.legal_actions()
            action = chooser.choice(ours.legal_actions())
            assert ours.action_label(action) == theirs.action_to_string(action).lower()
            ours.apply(action)
            theirs.apply_action(action)
        assert ours.is_terminal
        assert ours.returns == theirs.returns()


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def test_6_2_the_dice_of_the_others_are_rolled_again():
    """All 20 rolls of three dice are as frequent as their orders, and bids change nothing."""
    state = played("3 4 1|1 1 2", "1-1", sides=4)
    draws, rolls = (4000 if COMPILED else 200), collections.Counter()
    for seed in range(draws):
        twin = state.determinize(0, seed)
        assert twin.view(0) == state.view(0)
        rolls[tuple(rolled(twin)[1])] += 1
    orders = {dice: math.factorial(3) / math.prod(map(math.factorial, collections.Counter(dice).values()))
              for dice in itertools.combinations_with_replacement(range(1, 5), 3)}  # fmt: skip
    assert set(rolls) <= set(orders)
    expected = {dice: number * draws / 4**3 for dice, number in orders.items()}
    assert chdtrc(len(orders) - 1, sum((rolls[dice] - e) ** 2 / e for dice, e in expected.items())) > 1e-3


def test_6_2_worlds_do_not_depend_on_hidden_dice():
    one, other = (played(f"3 4 1|{dice}", "1-1 2-2") for dice in ("1 1 2", "5 6 6"))
    for seed in range(20):
        assert rolled(one.determinize(0, seed)) == rolled(other.determinize(0, seed))


def test_6_1_dice_that_were_shown_stay():
    state = played("3 4 1|1 1 2", "1-1 liar")
    assert rolled(state.determinize(0, 3)) == [[1, 3, 4], [1, 1, 2]]


def test_6_2_the_next_roll_depends_on_the_world():
    state = played("6 1|5 5", "4-6 liar", format="elimination")
    following = set()
    for seed in range(20):
        twin = state.determinize(0, seed)
        twin.apply(twin.legal_actions()[-1])
        twin.apply(twin.legal_actions()[-1])
        following.add(str(twin.record.dice))
    assert len(following) > 5


# ---------------------------------------------------------------------------------------------------------------
# The rule agent, and the worlds of search


def hold_chance(state, quantity, face):
    """The chance that a bid holds for the player to act, if all dice of the others fall at random."""
    s, player = state.record, state.current_player
    wild = int(rules.wild_face(s))
    good = {face, wild or face}
    own = sum(int(s.dice[player, one - 1]) for one in good)
    unseen, chance = int(s.all_dice - s.num_dice[player]), len(good) / int(s.rules.sides)
    needed = range(max(quantity - own, 0), unseen + 1)
    return sum(math.comb(unseen, k) * chance**k * (1 - chance) ** (unseen - k) for k in needed)


def plain_counter(state):
    """Call a bid that holds less than half the time, else make the bid that is most likely to hold."""
    s = state.record
    if s.quantity and hold_chance(state, int(s.quantity), int(s.face)) < 0.5:
        return rules.liar_of(s.rules)
    bids = [action for action in state.legal_actions() if action < rules.liar_of(s.rules)]
    return max(
        bids or [rules.liar_of(s.rules)],
        key=lambda bid: (hold_chance(state, int(rules.quantity_of(s, bid)), int(rules.face_of(s, bid))), -bid),
    )


def mean_return(other, games, **options):
    """The mean return of the rule agent, over all seats, against others who choose by other(state, seed)."""
    total = 0.0
    for seed in range(games):
        state = GAME.new_state(seed=seed, **options)
        seat = seed % state.num_players
        while not state.is_terminal:
            own = state.current_player == seat
            state.apply(state.policy_action("heuristic", seed) if own else other(state, seed))
        total += state.returns[seat]
    return total / games


ELIMINATION = {"num_players": 3, "dice": 3, "wild": "ones", "ones_bids": "halved", "format": "elimination",
               "exact_call": True, "palifico": True}  # fmt: skip


@pytest.mark.skipif(not COMPILED, reason="hundreds of games")
@pytest.mark.parametrize("options", [{}, {"dice": 1}, {"bidding": "face_first"}, {"num_players": 5}, ELIMINATION])
def test_the_rule_agent_beats_random_play(options):
    assert mean_return(lambda state, seed: state.policy_action("random", seed), 300, **options) > 0.4


@pytest.mark.skipif(not COMPILED, reason="hundreds of games")
@pytest.mark.parametrize(("options", "games"), [({}, 1500), ({"dice": 2}, 1500), (ELIMINATION, 200)])
def test_the_rule_agent_beats_a_plain_counter(options, games):
    assert mean_return(lambda state, _: plain_counter(state), games, **options) > 0.05


def test_the_rule_agent_calls_what_its_dice_make_unlikely_and_raises_what_they_make_certain():
    state = played("1 1 1 1 2|3 3 3 6 6", "6-3")
    assert state.action_label(state.policy_action("heuristic", 1)) != "liar"
    state = played("1 1 1 1 2|4 4 4 5 5", "6-3")
    assert state.action_label(state.policy_action("heuristic", 1)) == "liar"


def test_the_rule_agent_calls_exact():
    """The agent has the one three that was bid, and every other bid needs luck."""
    state = played("1|3", "1-3", exact_call=True, sides=8, wild="none")
    assert state.action_label(state.policy_action("heuristic", 1)) == "exact"


def test_likely_worlds_fit_the_bids():
    """A player who has bid fives holds more of them in worlds for search, and other faces equally often."""
    state = played("1 1 1 1 1|2 2 2 2 2", "2-5", wild="none")
    counts, worlds = np.zeros(6), (2000 if COMPILED else 50)
    for seed in range(worlds):
        records = state.records.copy()
        belief.sample_belief(records[0], 1, seed)
        assert records["dice"][0, 1].tolist() == state.record.dice[1].tolist()
        counts += records["dice"][0, 0, :6]
    assert counts.sum() == 5 * worlds
    others = np.delete(counts, 4)
    assert counts[4] > 2 * others.max()
    assert chdtrc(4, ((others - others.mean()) ** 2).sum() / others.mean()) > 1e-3


def test_likely_worlds_do_not_depend_on_hidden_dice():
    one, other = (played(f"3 4 1|{dice}", "1-1 2-2").records for dice in ("1 1 2", "5 6 6"))
    for seed in range(20):
        first, second = one.copy(), other.copy()
        belief.sample_belief(first[0], 0, seed)
        belief.sample_belief(second[0], 0, seed)
        assert first["dice"].tolist() == second["dice"].tolist()
