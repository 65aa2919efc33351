"""Hold'em with a limit: a test for each paragraph of rules.md 12 to 14, and random hands against other engines.

The numbered scenarios of the rules' source are in tests/scenarios/texas_holdem/limit.yaml.
"""

import random
from collections import Counter

import numpy as np
import pytest
from holdem import last, play, table
from texas_holdem_oracle import Hand

import cardenvs
from cardenvs.agents import Turn, make_agent
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.kernel import COMPILED
from cardenvs.games.texas_holdem import GAME, presets
from cardenvs.games.texas_holdem.actions import LIMIT_RAISE, POT_RAISE, RAISE_TO
from cardenvs.kits.cards import NUM_CARDS, card_label
from cardenvs.testing.case import Case, Report
from cardenvs.testing.conformance import check_case


def limit(stacks=1000, *, num_players=3, **options):
    return table(stacks, num_players=num_players, **{"betting": "limit", "blinds": (5, 10), **options})


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


def raise_to(state, seat):
    """The total that `seat`, which is to act, may raise to, or None."""
    assert state.current_player == seat
    options = state.legal_options()
    assert options.min_raise_to == options.max_raise_to
    return options.min_raise_to


# ---------------------------------------------------------------------------------------------------------------
# 12. Limit


def test_12_1_sizes():
    state = play(limit(small_bet=10, big_bet=30), "0:20 1:fold 2:30 0:call 2:10 0:call")
    assert raise_to(state, 2) == 30
    assert raise_to(play(limit(blinds=(10, 25)), "0:call 1:call 2:check 1:check 2:check 0:check"), 1) == 50
    rising = GAME.new_state(seed=0, num_players=2, betting="limit", hands_per_level=1)
    assert raise_to(rising, 0) == 40
    assert raise_to(play(rising, "0:fold"), 1) == 60
    fixed = GAME.new_state(seed=0, num_players=2, betting="limit", hands_per_level=1, small_bet=25)
    assert raise_to(play(fixed, "0:fold"), 1) == 30 + 25


def test_12_2_exact_amounts():
    state = limit()
    assert labels(state) == ["fold", "call 10", "raise to 20"]
    assert state.legal_options().kinds == ("fold", "call", "raise")
    for total, reason in ((19, "exactly 20"), (21, "exactly 20"), (1000, "exactly 20")):
        with pytest.raises(IllegalActionError, match=reason):
            state.act("raise_to", total)
    assert state.action_of("raise") == LIMIT_RAISE
    assert state.action_of("raise", 20) == RAISE_TO + 20
    state.act("raise")
    assert state.record.to_match == 20
    short = play(limit([1000, 1000, 24]), "0:20 1:fold")
    assert labels(short) == ["fold", "call 10", "raise to 24, all in"]
    assert labels(play(limit([1000, 1000, 20]), "0:20 1:fold")) == ["fold", "call 10 all in"]


def test_12_3_the_cap():
    state = play(limit(), "0:20 1:30 2:40")
    assert raise_to(state, 0) is None
    assert "no more bets or raises" in state.explain_illegal(LIMIT_RAISE)
    state = play(limit(blind_counts=False), "0:20 1:30 2:40 0:50")
    assert raise_to(state, 1) is None
    play(state, "1:call 2:call 1:10 2:20 0:30 1:40")
    assert raise_to(state, 2) is None
    state = limit(max_bets=None, num_players=2)
    for _ in range(98):
        state.act("raise")
    assert state.record.to_match == 990
    assert raise_to(play(limit(max_bets=2), "0:20"), 1) is None


def test_12_4_no_cap_for_two():
    free = {"heads_up_cap": False}
    assert raise_to(play(limit(num_players=2, **free), "0:20 1:30 0:40"), 1) == 50
    assert raise_to(play(limit(**free), "0:20 1:30 2:fold 0:40"), 1) == 50
    capped_by_three = play(limit(**free), "0:20 1:30 2:40 0:fold")
    assert raise_to(capped_by_three, 1) is None
    flop = play(capped_by_three, "1:call 1:10 2:20 1:30 2:40")
    assert raise_to(flop, 1) == 50


@pytest.mark.parametrize(
    ("short_raise", "chips", "bets", "following", "word"),
    [
        ("sum", 14, 1, 20, "complete"),
        ("sum", 15, 2, 25, "raise"),
        ("levels", 14, 1, 20, "complete"),
        ("levels", 15, 2, 30, "raise"),
        ("additive", 11, 2, 21, "raise"),
    ],
)
def test_12_5_short_all_ins(short_raise, chips, bets, following, word):
    state = play(limit([1000, 1000, chips, 1000], button=3, short_raise=short_raise), "2:all")
    assert int(state.record.num_bets) == bets
    assert raise_to(state, 3) == following
    assert labels(state)[-1] == f"{word} to {following}"
    assert word in state.legal_options().kinds
    state.act("raise")
    assert last(state, word)[-1] == (3, following)
    assert f"player_3 {word}s to {following}." in state.recap(0)
    assert raise_to(state, 0) == following + 10


def test_12_5_a_completion_has_its_word_everywhere():
    state = play(limit([1000, 1000, 14, 1000], button=3), "2:all")
    assert "complete to 20" in GAME.view.prompt(state.record)
    for kind in ("complete", "raise", "raise_to"):
        other = state.clone()
        other.act(kind, 20)
        assert other.record.to_match == 20
    with pytest.raises(IllegalActionError, match="may not bet now"):
        state.act("bet")


def test_12_6_who_may_raise_again():
    # on the flop seat 0 checks, seat 1 bets, seat 2 calls; seat 0 is all-in for less or more than half a bet
    before = "2:call 0:call 1:check 0:check 1:10 2:call 0:all"
    assert raise_to(play(limit([24, 1000, 1000], button=2), before), 1) is None
    closed = play(limit([24, 1000, 1000], button=2), before)
    assert "less than half a bet" in closed.explain_illegal(LIMIT_RAISE)
    assert raise_to(play(limit([25, 1000, 1000], button=2), before), 1) == 25
    # all-ins of 13 and 16 after a bet of 10: 6 to call for the bettor, 3 for the caller between them
    stacks = {"stacks": [1000, 1000, 23, 1000, 26], "button": 4}
    script = "2:call 3:call 4:call 0:call 1:check 0:10 1:call 2:all 3:call 4:all"
    state = play(limit(**stacks), script)
    assert raise_to(state, 0) == 20
    assert raise_to(play(state, "0:call 1:call"), 3) is None
    assert raise_to(play(limit(**stacks, reopen_rule="single"), script), 0) is None


def test_12_7_24_small_bets():
    state = GAME.new_state(seed=0, num_players=2, format="cash", betting="limit", blinds=(1, 2), starting_stack=48)
    while not state.is_terminal:
        state.apply(state.legal_actions()[-1])
    assert sorted(abs(chips) for chips in state.returns) in ([0, 0], [48, 48])


def test_12_8_after_the_last_to_act():
    state = play(limit(num_players=2, street_order="after_last"), "0:call 1:check")
    assert state.current_player == 0
    assert play(state, "0:10 1:20 0:call").current_player == 1
    assert play(limit(street_order="after_last"), "0:20 1:fold 2:call").current_player == 0


# ---------------------------------------------------------------------------------------------------------------
# 13. Pot limit


def pot_limit(stacks=2000, **options):
    return table(stacks, **{"betting": "pot_limit", "num_players": 3, **options})


def test_13_1_the_largest_raise():
    state = pot_limit()
    assert (state.legal_options().min_raise_to, state.legal_options().max_raise_to) == (40, 70)
    with pytest.raises(IllegalActionError, match="the pot allows up to 70"):
        state.act("raise_to", 71)
    play(state, "0:70")
    assert state.legal_options().max_raise_to == 70 + (10 + 20 + 70) + 60
    play(state, "1:fold 2:call")
    assert (state.legal_options().min_raise_to, state.legal_options().max_raise_to) == (20, 150)


def test_13_2_ids():
    state = play(pot_limit(), "0:70 1:fold 2:call")
    assert labels(state) == [
        "check", "bet 20, the least", "bet 50, 1/3 pot", "bet 75, 1/2 pot", "bet 113, 3/4 pot", "bet 150, pot",
    ]  # fmt: skip
    assert state.legal_actions()[-1] == POT_RAISE
    assert "all_in" not in state.legal_options().kinds
    short = play(pot_limit([2000, 2000, 100]), "0:70 1:fold 2:call")
    assert labels(short) == ["check", "bet 20, the least", "bet 30, all in"]
    assert short.legal_options().kinds == ("check", "bet", "all_in")


def test_13_3_the_pot_is_what_is_in_it():
    assert pot_limit([2000, 2000, 5]).legal_options().max_raise_to == 20 + (10 + 5) + 20


# ---------------------------------------------------------------------------------------------------------------
# Interfaces


def test_interfaces_speak_limit():
    state = limit(hands={0: "As Ad"})
    assert GAME.view.prompt(state.record) == "The pot is 15: call 10, raise to 20, or fold?"
    facts = GAME.view.facts(state.record, 0)
    assert (facts["bet_size"], facts["bets_on_this_street"], facts["most_bets_on_a_street"]) == (10, 1, 4)
    assert (facts["min_raise_to"], facts["max_raise_to"]) == (20, 20)
    for answer in ({"action": "raise"}, {"action": "raise", "amount": 20}):
        (action,) = GAME.view.actions_from_answer(state, 0, answer)
        state.check_legal(action)
    assert state.view(0) is not None
    assert state.action_from_label("raise to 20") == LIMIT_RAISE


def test_the_observation_shows_the_count():
    layout = GAME.layout(GAME.make_options(betting="limit", num_players=3))
    (section,) = [section for section in layout.sections if section.name == "limit"]
    assert "limit" not in [section.name for section in GAME.layout(GAME.make_options(num_players=3)).sections]
    state = play(limit(), "0:20 1:30 2:40")
    start = sum(s.size for s in layout.sections[: layout.sections.index(section)])
    assert state.observation(0)[start : start + 3].tolist() == [4, 1, 1]
    state = play(limit([1000, 1000, 14, 1000], button=3, num_players=4), "2:all")
    assert np.allclose(state.observation(3)[-3:], [1, 0, 0.6])


# ---------------------------------------------------------------------------------------------------------------
# Against the second implementation


def random_hand(seed):
    """A random table as (options, stacks, button, cards)."""
    chooser = random.Random(seed)
    n = chooser.choice((2, 2, 3, 4, 6))
    options = {
        "betting": chooser.choice(("limit", "limit", "limit", "pot_limit", "full")),
        "blinds": chooser.choice(((5, 10), (10, 20), (7, 15))),
        "small_bet": chooser.choice((None, None, 10, 20)),
        "big_bet": chooser.choice((None, None, 30)),
        "max_bets": chooser.choice((4, 4, 3, None)),
        "blind_counts": chooser.random() < 0.7,
        "heads_up_cap": chooser.random() < 0.5,
        "short_raise": chooser.choice(("sum", "levels", "additive")),
        "reopen_rule": chooser.choice(("cumulative", "cumulative", "single")),
        "street_order": chooser.choice(("button", "after_last")),
        "ante": chooser.choice((0, 0, 3)),
    }
    deep = chooser.choice((40, 80, 300))
    stacks = [chooser.randint(5, deep) for _ in range(n)]
    return options, stacks, chooser.randrange(n), chooser.sample(range(NUM_CARDS), 2 * n + 5), chooser


def compare_with_oracle(seed, seen):
    options, stacks, button, cards, chooser = random_hand(seed)
    n = len(stacks)
    state = GAME.new_state(
        seed=0, format="cash", num_players=n, stacks=stacks, button=button,
        deck=" ".join(card_label(card) for card in cards), **options,
    )  # fmt: skip
    hand = Hand(options, stacks, button, [cards[2 * p : 2 * p + 2] for p in range(n)], cards[2 * n :])
    while hand.player is not None:
        assert state.current_player == hand.player
        legal = state.legal_options()
        raises = hand.raises()
        assert (legal.min_raise_to, legal.max_raise_to) == (raises or (None, None))
        assert legal.call_amount == hand.owed(hand.player)
        assert state.legal_actions()[0] == (0 if hand.owed(hand.player) else 1)
        assert state.pot == hand.pot()
        assert state.stacks == [hand.stack(p) for p in range(n)]
        assert int(state.record.street) == len(hand.actions) - 1
        choices = ["call"] * 4 + (["fold"] if legal.call_amount else []) + (["raise"] * 4 if raises else [])
        choice = chooser.choice(choices)
        if choice == "raise":
            total = chooser.choice((raises[0], raises[1], chooser.randint(*raises)))
            state.act("raise_to", total)
            hand.act("raise", total)
            seen[options["betting"], "raises"] += 1
        else:
            if raises is None and options["betting"] == "limit":
                seen["no raise"] += 1
            state.act("fold" if choice == "fold" else "check_call")
            hand.act(choice)
        seen["decisions"] += 1
    assert state.is_terminal
    assert state.returns == hand.returns()


@pytest.mark.parametrize("hands", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_hands_are_those_of_the_second_implementation(hands):
    seen = Counter()
    for seed in range(hands if COMPILED else 20):
        compare_with_oracle(seed, seen)
    if COMPILED:
        assert min(seen["no raise"], seen["limit", "raises"], seen["pot_limit", "raises"]) > 100, seen


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel, RLCard and PokerKit


def spiel_card(card):
    return "23456789TJQKA".index(card_label(card)[0]) * 4 + "cdhs".index(card_label(card)[1])


def compare_with_openspiel(game, options, seats, seed):
    """Play a random hand in both. `seats`: our seat of each of their players, in the order in which they get cards."""
    chooser, n = random.Random(seed), len(seats)
    cards = chooser.sample(range(NUM_CARDS), 2 * n + 5)
    ours = GAME.new_state(seed=0, deck=" ".join(card_label(card) for card in cards), **options)
    theirs = game.new_initial_state()
    to_deal = [spiel_card(cards[2 * seat + k]) for seat in seats for k in range(2)]
    to_deal += [spiel_card(card) for card in cards[2 * n :]]
    while not theirs.is_terminal():
        if theirs.is_chance_node():
            theirs.apply_action(to_deal.pop(0))
            continue
        assert ours.current_player == seats[theirs.current_player()]
        assert ours.legal_actions() == theirs.legal_actions()
        action = chooser.choices(ours.legal_actions(), [(1, 6, 6)[a] for a in ours.legal_actions()])[0]
        ours.apply(action)
        theirs.apply_action(action)
    assert ours.is_terminal
    assert [ours.returns[seat] for seat in seats] == theirs.returns()


OPENSPIEL = (
    "universal_poker(betting=limit,numPlayers={n},numRounds=4,blind={blind},firstPlayer={first} 1 1 1,numSuits=4,"
    "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=24 24 48 48,maxRaises=3 4 4 4,stack={stacks})"
)


@pytest.mark.parametrize("hands", [150, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_14_1_hands_are_openspiels(n, hands):
    pyspiel = pytest.importorskip("pyspiel")
    blind, first = ("24 12", 2) if n == 2 else (" ".join(map(str, (12, 24, *[0] * (n - 2)))), 3)
    options = presets.OPENSPIEL | {"num_players": n, "button": 0 if n == 2 else n - 1}
    options |= {"blinds": (12, 24), "starting_stack": 1200}  # so that no pot has odd chips
    game = pyspiel.load_game(OPENSPIEL.format(n=n, blind=blind, first=first, stacks=" ".join(["1200"] * n)))
    seats = [1, 0] if n == 2 else [*range(n)]
    for seed in range(hands if COMPILED else 5):
        compare_with_openspiel(game, options, seats, seed)


class FixedDeal:
    """RLCard's random numbers: an order of the cards, and the seat of the small blind."""

    def __init__(self, cards, small):
        self.cards, self.small = cards, small

    def shuffle(self, deck):
        by_name = {card.get_index(): card for card in deck}
        first = [by_name[their_name(card)] for card in self.cards]
        deck[:] = [card for card in deck if card not in first] + first[::-1]  # dealt from the end

    def randint(self, low, high):
        return self.small


def their_name(card):
    return card_label(card)[1].upper() + card_label(card)[0]


def begin_in_rlcard(cards, small):
    """RLCard's game with these cards (hands in seat order, then the board) and this small blind."""
    game = pytest.importorskip("rlcard.games.limitholdem.game").LimitHoldemGame()
    game.np_random = FixedDeal([cards[0], cards[2], cards[1], cards[3], *cards[4:]], small)
    game.init_game()
    return game


WORD = {0: "fold", 2: "raise"}


def compare_with_rlcard(seed):
    chooser = random.Random(seed)
    cards, button = chooser.sample(range(NUM_CARDS), 9), chooser.randrange(2)
    deck = " ".join(card_label(card) for card in cards)
    ours = GAME.new_state(seed=0, deck=deck, button=button, **presets.RLCARD)
    theirs = begin_in_rlcard(cards, button)
    while not theirs.is_over():
        assert ours.current_player == theirs.get_player_id()
        legal = ours.legal_actions()
        free = "call" if ours.legal_options().call_amount else "check"
        words = {WORD.get(action, free): action for action in legal}
        assert set(words) == set(theirs.get_legal_actions()) - ({"fold"} if free == "check" else set())
        word = chooser.choices(list(words), [1 if name == "fold" else 6 for name in words])[0]
        ours.apply(words[word])
        theirs.step(word)
    assert ours.is_terminal
    assert ours.returns == [2 * chips for chips in theirs.get_payoffs()]


@pytest.mark.parametrize("hands", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_14_3_hands_are_rlcards(hands):
    pytest.importorskip("rlcard")
    for seed in range(hands if COMPILED else 5):
        compare_with_rlcard(seed)


def pokerkit_hand(chooser):
    """One random hand, dealt alike in PokerKit and here, or None if nothing is to be decided."""
    pokerkit = pytest.importorskip("pokerkit")
    names = (
        "ANTE_POSTING", "BET_COLLECTION", "BLIND_OR_STRADDLE_POSTING", "HOLE_CARDS_SHOWING_OR_MUCKING", "HAND_KILLING",
        "CHIPS_PUSHING", "CHIPS_PULLING",
    )  # fmt: skip
    n = chooser.choice((2, 2, 3, 4, 6))
    stacks = [chooser.randint(11, chooser.choice((40, 150, 400))) for _ in range(n)]
    cards = chooser.sample(range(NUM_CARDS), 2 * n + 5)
    ours = GAME.new_state(
        seed=0, format="cash", betting="limit", num_players=n, stacks=stacks, blinds=(5, 10), button=n - 1,
        blind_counts=False, short_raise="additive", deck=" ".join(card_label(card) for card in cards),
    )  # fmt: skip
    first = (n - 1 + 1) % n
    seats = [(first + k) % n for k in range(n)]
    theirs = pokerkit.FixedLimitTexasHoldem.create_state(
        tuple(getattr(pokerkit.Automation, name) for name in names), True, 0, (5, 10), 10, 20,
        tuple(stacks[seat] for seat in seats), n,
    )  # fmt: skip
    for seat in seats:
        theirs.deal_hole("".join(card_label(card) for card in cards[2 * seat : 2 * seat + 2]))
    return ours, theirs, seats, [card_label(card) for card in cards[2 * n :]]


def run_out(theirs, board):
    while theirs.status and theirs.actor_index is None:
        if theirs.can_burn_card():
            theirs.burn_card("??")
        else:
            dealt = sum(1 for _ in theirs.get_board_cards(0))
            theirs.deal_board("".join(board[dealt : 3 if dealt == 0 else dealt + 1]))


def compare_with_pokerkit(seed, seen):
    chooser = random.Random(seed)
    ours, theirs, seats, board = pokerkit_hand(chooser)
    while not ours.is_terminal:
        run_out(theirs, board)
        legal = ours.legal_options()
        assert seats[theirs.actor_index] == legal.player
        there = theirs.checking_or_calling_amount, theirs.min_completion_betting_or_raising_to_amount
        is_same = (legal.call_amount, legal.min_raise_to) == there
        if not is_same:  # they do not let a player who has acted raise again after short all-ins only
            s, size = ours.record, 10 if ours.record.street < 2 else 20
            assert (legal.call_amount, None) == there
            assert s.acted >> legal.player & 1
            assert legal.call_amount < 2 * size
            seen["not reopened"] += 1
        choices = ["call"] * 4 + (["fold"] if legal.call_amount else [])
        choices += ["raise"] * 4 if legal.min_raise_to and is_same else []
        choice = chooser.choice(choices)
        if choice == "raise":
            ours.act("raise_to", legal.min_raise_to)
            theirs.complete_bet_or_raise_to(legal.min_raise_to)
        elif choice == "fold":
            ours.act("fold")
            theirs.fold()
        else:
            ours.act("check_call")
            theirs.check_or_call()
        seen[choice] += 1
    run_out(theirs, board)
    while theirs.status:
        theirs.check_or_call()
        run_out(theirs, board)
    # one odd chip may go to another winner (11.4)
    assert all(abs(ours.stacks[seat] - chips) <= 2 for seat, chips in zip(seats, theirs.stacks, strict=True))


@pytest.mark.parametrize("hands", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_14_2_hands_are_pokerkits(hands):
    pytest.importorskip("pokerkit")
    seen = Counter()
    for seed in range(hands if COMPILED else 5):
        compare_with_pokerkit(seed, seen)


def test_a_batch_plays_limit():
    vec = cardenvs.make_vec("texas_holdem_v0", 64, seed=3, betting="limit", format="cash", num_players=4)
    batch = vec.reset()
    assert vec.num_actions == 3
    for _ in range(100):
        batch = vec.step(vec.sample_actions())
    assert batch.action_mask.any(axis=1).all()


# ---------------------------------------------------------------------------------------------------------------
# The promises of the suite

SHORT = {"format": "cash", "num_hands": 3}
TABLES = [
    {"format": "cash", "num_players": 2, "betting": "limit"},
    SHORT | {"betting": "limit", "num_players": 4, "stacks": (24, 60, 35, 200), "short_raise": "levels"},
    SHORT | {"betting": "limit", "num_players": 3, "stacks": (44, 60, 55), "heads_up_cap": False, "max_bets": 2},
    SHORT | {"betting": "limit", "num_players": 3, "stacks": (44, 60, 55), "short_raise": "additive"},
    {"betting": "limit", "num_players": 3, "starting_stack": 100, "max_hands": 3, "max_bets": None},
    presets.RLCARD | {"num_hands": 2},
    SHORT | {"betting": "pot_limit", "num_players": 3, "stacks": (50, 90, 70), "ante": 3},
]


@pytest.mark.parametrize("options", TABLES, ids=str)
def test_the_promises_of_the_suite_hold_with_a_limit(options):
    report = Report()
    for seed in range(2):
        check_case(Case(GAME, GAME.make_options(**options), seed=seed, play_seed=seed), report)
    assert report.twins > 0


# ---------------------------------------------------------------------------------------------------------------
# The rule agents

HANDS = {"format": "cash", "betting": "limit", "blinds": (5, 10), "starting_stack": 1000}


def duel_with_rlcard(deals, spec="equity"):
    """Let an agent of ours play deals of RLCard's game against its rule model, each once from either seat.

    Where their model folds although checking is free, the hand ends there, as RLCard allows.

    Returns:
        for each deal, the mean of our two results in big blinds.
    """
    rule = pytest.importorskip("rlcard.models.limitholdem_rule_models").LimitholdemRuleAgentV1()
    ours, results = make_agent(spec, GAME, GAME.make_options(**presets.RLCARD)), []
    for seed in range(deals):
        cards = random.Random(seed).sample(range(NUM_CARDS), 9)
        results.append(sum(_play_against_rlcard(rule, ours, cards, seat, seed) for seat in range(2)) / 2)
    return np.array(results)


def _play_against_rlcard(rule, ours, cards, seat, seed):
    """Play a hand with an agent of ours at `seat` and the rule model at the other; returns our result."""
    deck = " ".join(card_label(card) for card in cards)
    state = GAME.new_state(seed=seed, deck=deck, button=seed % 2, **presets.RLCARD)
    theirs = begin_in_rlcard(cards, seed % 2)
    while not theirs.is_over():
        free = "call" if state.legal_options().call_amount else "check"
        if state.current_player == seat:
            action = ours.act(Turn(state, seat))
            word = WORD.get(action, free)
        else:
            seen = theirs.get_state(1 - seat)
            word = rule.step({"raw_obs": seen, "raw_legal_actions": seen["legal_actions"]})
            action = {"fold": 0, "raise": LIMIT_RAISE}.get(word, 1)
        theirs.step(word)
        if action in state.legal_actions():
            state.apply(action)
    return theirs.get_payoffs()[seat]


@pytest.mark.slow
def test_the_rule_agent_beats_that_of_rlcard():
    results = duel_with_rlcard(3000)
    assert results.mean() > 1.96 * results.std() / len(results) ** 0.5


@pytest.mark.skipif(not COMPILED, reason="hundreds of deals")
@pytest.mark.parametrize("policy", ["tight_aggressive", "equity"])
@pytest.mark.parametrize("players", [2, 4])
def test_the_rule_agents_beat_random_play(policy, players):
    total = 0.0
    for seed in range(300):
        seat = seed % players
        state = GAME.new_state(seed=seed, num_players=players, **HANDS)
        while not state.is_terminal:
            state.apply(state.policy_action(policy if state.current_player == seat else "random", seed))
        total += state.returns[seat]
    assert total > 0
