"""Leduc poker: the paragraphs of rules.md, published figures, and every state against OpenSpiel's leduc_poker."""

import random
from collections import Counter

import numpy as np
import pytest

from cardenvs import get_game
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts

LEDUC = get_game("leduc_poker_v0")
FOLD, CALL, RAISE = 0, 1, 2
IDS = {"f": FOLD, "c": CALL, "r": RAISE}


def played(deck, moves="", **options):
    """The state after `moves`: f, c, r, or a digit for that player's forfeit; rounds may be parted by blanks."""
    state = LEDUC.new_state(seed=0, deck=deck, **options)
    for move in moves.replace(" ", ""):
        state.apply(FORFEIT + int(move) if move.isdigit() else IDS[move])
    return state


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


# ---------------------------------------------------------------------------------------------------------------
# The rules


@pytest.mark.parametrize("num_players", range(2, 11))
def test_1_1_two_cards_of_each_rank_and_one_rank_more_than_there_are_players(num_players):
    cards = LEDUC.deck_text(LEDUC.deck(LEDUC.make_options(num_players=num_players))).split()
    assert set(Counter(cards).values()) == {2}
    assert len(set(cards)) == num_players + 1
    assert cards[:6] == ["J", "J", "Q", "Q", "K", "K"]


def test_1_2_a_return_is_what_was_won_less_what_was_put_in():
    state = played("K Q J", "rc cc")
    assert state.record.chips_in[:2].tolist() == [3, 3]
    assert state.returns == [6 - 3, 0 - 3]


def test_2_1_everyone_antes_and_gets_one_card_that_only_they_see():
    state = played("K Q J", ante=7)
    assert table_texts(state.view(0))["counters"] == {"chips_in": [7, 7], "folded": [0, 0]}
    assert table_texts(state.view(0))["piles"] == {"deck": ["?"] * 4, "hand": [["K"], ["?"]], "public": []}
    assert table_texts(state.view(1))["piles"]["hand"] == [["?"], ["Q"]]
    assert table_texts(state.view(SPECTATOR))["piles"]["hand"] == [["?"], ["?"]]
    assert table_texts(state.view(OMNISCIENT))["piles"]["hand"] == [["K"], ["Q"]]


def test_3_1_player_0_acts_first_in_both_rounds():
    state = played("J Q K R3", num_players=3)
    for round_phase in ("first_round", "second_round"):
        assert state.phase == round_phase
        order = []
        for _ in range(3):
            order.append(state.current_player)
            state.apply(CALL)
        assert order == [0, 1, 2]
    assert state.is_terminal


def test_3_1_if_player_0_is_out_the_next_one_in_begins_the_second_round():
    assert played("J Q K R3", "crrfc", num_players=3).current_player == 1


def test_3_2_a_raise_puts_in_what_is_owed_and_the_rounds_raise_size():
    chips = [played("K Q J", moves).record.chips_in[:2].tolist() for moves in ("r", "rr", "rrc", "rrcr", "rrcrr")]
    assert chips == [[3, 1], [3, 5], [5, 5], [9, 5], [9, 13]]


def test_3_2_a_call_puts_in_what_is_owed_and_is_a_check_when_nothing_is():
    assert labels(played("K Q J")) == ["check", "bet"]
    assert labels(played("K Q J", "r")) == ["fold", "call", "raise"]
    checked = played("K Q J", "c")
    assert checked.record.chips_in[:2].tolist() == [1, 1]
    assert checked.events()[-1].kind == "check"


@pytest.mark.parametrize("max_raises", [1, 2, 3, 4])
def test_3_2_a_round_has_at_most_so_many_raises_the_opening_bet_included(max_raises):
    state = played("K Q J", "r" * max_raises, max_raises=max_raises)
    assert state.legal_actions() == [FOLD, CALL]
    with pytest.raises(IllegalActionError, match=rf"has had its {max_raises} raises \(rules.md 3.2\)"):
        state.apply(RAISE)
    state.apply(CALL)
    assert RAISE in state.legal_actions()  # counted anew in the second round


def test_3_2_there_is_no_other_action():
    with pytest.raises(IllegalActionError, match="no action 3; actions are 0 to 2"):
        played("K Q J").apply(3)


def test_3_3_fold_is_legal_only_when_something_is_owed():
    state = played("K Q J")
    with pytest.raises(IllegalActionError, match=r"nothing is owed, so there is nothing to fold to \(rules.md 3.3\)"):
        state.apply(FOLD)
    assert FOLD in played("K Q J", "r").legal_actions()
    assert FOLD not in played("K Q J", "rc").legal_actions()


def test_3_4_a_round_ends_when_all_who_are_in_have_acted_and_matched():
    for moves in ("cc", "crc", "crrc", "rc", "rrc"):
        for k in range(len(moves)):
            assert played("K Q J", moves[:k]).phase == "first_round", moves[:k]
        assert played("K Q J", moves).phase == "second_round", moves
    assert played("J Q K R3", "crcc", num_players=3).phase == "second_round"
    assert played("J Q K R3", "crc", num_players=3).phase == "first_round"


def test_3_4_then_one_card_is_dealt_face_up():
    before, after = played("K Q J", "c"), played("K Q J", "cc")
    assert table_texts(before.view(0))["piles"]["public"] == []
    for viewer in (0, 1, SPECTATOR):
        assert table_texts(after.view(viewer))["piles"]["public"] == ["J"]
        assert table_texts(after.view(viewer))["piles"]["deck"] == ["?"] * 3


def test_3_5_when_all_but_one_have_folded_that_player_takes_the_pot_at_once():
    assert played("J K Q", "rf").returns == [1, -1]
    assert played("K J Q R3", "rrff", num_players=3).returns == [-3, 4, -1]


def test_4_1_a_pair_beats_any_higher_card():
    assert played("J K J", "cccc").returns == [1, -1]
    assert played("R3 J K J", "cccccc", num_players=3).returns == [-1, 2, -1]


def test_4_1_otherwise_the_higher_rank_wins():
    assert played("J Q K", "cccc").returns == [-1, 1]


def test_4_1_players_who_tie_share_the_pot_evenly():
    assert played("Q Q K", "cccc").returns == [0, 0]
    assert played("K J K R3", "rcc ccc", num_players=3).returns == [1.5, -3, 1.5]


def test_4_1_cards_are_not_shown_at_the_end():
    state = played("J K J", "cccc")
    assert table_texts(state.view(0))["piles"]["hand"] == [["J"], ["?"]]


def test_5_1_a_player_who_forfeits_puts_in_what_a_game_can_cost_and_folds():
    state = played("K Q J R3", "rrc0", num_players=3)
    assert state.rewards == [-13, 0, 0]
    assert state.record.chips_in[:3].tolist() == [13, 5, 5]
    assert (state.active, state.record.folded[:3].tolist()) == ([False, True, True], [1, 0, 0])
    assert played("K Q J R3", "r1", num_players=3).current_player == 2
    assert played("K Q J", "0").returns == [-13, 13]
    assert played("K Q J", "r1").returns == [13, -13]


def test_5_1_nobody_has_to_match_what_a_player_who_forfeited_put_in():
    state = played("K Q J R3", "0", num_players=3)
    assert [state.action_label(action) for action in state.legal_actions()] == ["check", "bet"]
    state = played("K Q J R3", "r1c", num_players=3)
    assert (state.phase, state.record.chips_in[:3].tolist()) == ("second_round", [3, 13, 3])


def test_5_1_only_the_player_to_act_forfeits():
    state = played("K Q J R3", "rf", num_players=3)
    for player in (0, 1):  # one waits, one has folded
        with pytest.raises(IllegalActionError, match=f"player_{player} cannot forfeit now: player_2 is to act"):
            state.apply(FORFEIT + player)


def test_5_1_a_forfeit_may_end_the_round():
    assert played("K Q J R3", "cc2", num_players=3).phase == "second_round"
    assert played("K Q J R3", "crc0", num_players=3).phase == "second_round"
    assert played("K Q J R3", "r1", num_players=3).phase == "first_round"  # player 2 has not acted


# ---------------------------------------------------------------------------------------------------------------
# The scenarios of the rules' source; those that play a deal are in tests/scenarios/leduc_poker


def test_scenario_16_chance():
    deals = LEDUC.enumerate_deals()
    assert sum(p for _, p in deals) == pytest.approx(1)
    hands = Counter()
    for deck, p in deals:
        first, second, _ = deck.split()
        hands[first, second] += p
    assert len(hands) == 9
    for (first, second), p in hands.items():
        assert p == pytest.approx(1 / 15 if first == second else 2 / 15)


def test_longest_game_and_bounds_of_the_returns():
    options = LEDUC.make_options()
    assert played("J K J", "crrc crrc").ply == 8 == LEDUC.max_length(options)
    promise = LEDUC.returns(options)
    assert (promise.low, promise.high, promise.total) == (-13, 13, 0)


# ---------------------------------------------------------------------------------------------------------------
# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "option num_players takes an integer from 2 to 10; got 1"),
        ({"num_players": 11}, "option num_players takes an integer from 2 to 10; got 11"),
        ({"ante": 0}, "option ante takes an integer from 1 to 1000; got 0"),
        ({"ante": 1001}, "option ante"),
        ({"raise_size": 2}, "option raise_size takes a list of 2 integers; got 2"),
        ({"raise_size": (2,)}, "option raise_size takes a list of 2 integers; got (2,)"),
        ({"raise_size": (2, 4, 6)}, "option raise_size takes a list of 2 integers"),
        ({"raise_size": (0, 4)}, "option raise_size takes an integer from 1 to 1000; got 0"),
        ({"max_raises": 0}, "option max_raises takes an integer from 1 to 4; got 0"),
        ({"max_raises": 5}, "option max_raises takes an integer from 1 to 4; got 5"),
    ],
)
def test_7_options_that_are_refused(options, message):
    with pytest.raises(OptionError) as caught:
        LEDUC.new_state(**options)
    assert message in str(caught.value)


def test_7_ante_and_raise_size():
    state = played("K Q J", "rrc rrc", ante=1000, raise_size=(1000, 999))
    most = 1000 + 2 * 1000 + 2 * 999
    assert state.record.chips_in[:2].tolist() == [most, most]
    assert state.returns == [most, -most]
    assert LEDUC.returns(state.options).high == most


def test_7_chips_above_the_clip_are_shown_as_the_clip():
    state = played("K Q J", "r", ante=120, raise_size=(7, 4))
    chips = LEDUC.layout(state.options).split(state.observation(0))["chips_in"]
    assert chips.tolist() == [127, 120]
    state.apply(RAISE)
    assert LEDUC.layout(state.options).split(state.observation(0))["chips_in"].tolist() == [127, 127]


@pytest.mark.parametrize("num_players", range(2, 11))
def test_7_any_number_of_players(num_players):
    ranks = ["J", "Q", "K", *(f"R{k}" for k in range(3, 11))]
    deck = " ".join(ranks[: num_players + 1])
    state = played(deck, "r" + "c" * (num_players - 1) + "c" * num_players, num_players=num_players)
    assert state.is_terminal
    assert state.returns == [-3] * (num_players - 1) + [3 * (num_players - 1)]
    longest = played(deck, num_players=num_players, max_raises=4)
    while not longest.is_terminal:  # raising as late as possible makes the longest game
        calls_to_come = longest.record.num_to_act > 1
        longest.apply(CALL if calls_to_come or RAISE not in longest.legal_actions() else RAISE)
    assert longest.ply == LEDUC.max_length(longest.options)


# ---------------------------------------------------------------------------------------------------------------
# Against a plain second implementation, forfeits included


class Plain:
    """Leduc poker as a referee would keep it on paper: who is in, and who has acted since the last raise."""

    def __init__(self, options, cards):
        self.options, self.cards = options, cards
        self.chips = [options.ante] * options.num_players
        self.within, self.gone = set(range(options.num_players)), set()
        self.stage, self.over = 0, False
        self.begin_round()

    def begin_round(self):
        self.acted, self.raises = set(), 0
        self.turn = self.next_from(0)

    def next_from(self, seat):
        n = self.options.num_players
        return next((seat + k) % n for k in range(n) if (seat + k) % n in self.within)

    def apply(self, action):
        player = self.turn
        if action >= FORFEIT:
            self.chips[player] = self.options.ante + self.options.max_raises * sum(self.options.raise_size)
            self.gone.add(player)
        if action == FOLD or action >= FORFEIT:
            self.within.discard(player)
            self.acted.discard(player)
        else:
            self.chips[player] = max(chips for p, chips in enumerate(self.chips) if p not in self.gone)
            if action == RAISE:
                self.chips[player] += self.options.raise_size[self.stage]
                self.raises += 1
                self.acted = set()
            self.acted.add(player)
        if len(self.within) == 1:
            self.over = True
        elif self.acted == self.within:
            self.end_round()
        else:
            self.turn = self.next_from(player + 1)

    def end_round(self):
        if self.stage == 1:
            self.over = True
        else:
            self.stage = 1
            self.begin_round()

    def returns(self):
        n = self.options.num_players

        def strength(player):
            rank = self.cards[player]
            return (self.stage == 1 and rank == self.cards[n], rank)

        best = max(strength(player) for player in self.within)
        winners = [player for player in self.within if strength(player) == best]
        won = [sum(self.chips) / len(winners) if player in winners else 0 for player in range(n)]
        return [a - b for a, b in zip(won, self.chips, strict=True)]


@pytest.mark.parametrize("num_players", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("forfeits", [0, 0.25], ids=["no forfeits", "forfeits"])
def test_random_games_are_those_of_a_plain_implementation(num_players, forfeits):
    chooser = random.Random(num_players)
    for seed in range(60):
        options = {
            "num_players": num_players, "max_raises": chooser.randint(1, 4), "ante": chooser.randint(1, 9),
        }  # fmt: skip
        state = LEDUC.new_state(seed=seed, **options)
        plain = Plain(state.options, state.record.deck.tolist())
        while not state.is_terminal:
            assert (state.current_player, plain.over) == (plain.turn, False)
            assert state.record.chips_in[:num_players].tolist() == plain.chips
            assert (RAISE in state.legal_actions()) == (plain.raises < options["max_raises"])
            action = chooser.choice(state.legal_actions())
            if chooser.random() < forfeits:
                action = FORFEIT + state.current_player
            state.apply(action)
            plain.apply(action)
        assert plain.over
        assert np.allclose(state.returns, plain.returns())


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


def paired(state, other):
    """Every pair of states from here on, after the same actions; the public card is that of our deck."""
    if other.is_chance_node():
        other = other.child(chance_action(state, other))
    yield state, other
    for action in state.legal_actions():
        after = state.clone()
        after.apply(action)
        yield from paired(after, other.child(action))


def chance_action(state, other):
    """What OpenSpiel calls the public card of `state`; with merged suits its cards are ranks, too."""
    return int(state.deck[state.num_players])


def roots(pyspiel, **options):
    """(our state, theirs) after every deal of the private cards."""
    players = options.get("num_players", 2)
    theirs = pyspiel.load_game("leduc_poker", {"players": players, "suit_isomorphism": True})
    for deck, _ in LEDUC.enumerate_deals(**options):
        state, other = LEDUC.new_state(deck=deck, **options), theirs.new_initial_state()
        for token in state.deck[:players].tolist():
            other.apply_action(token)
        yield state, other


def assert_alike(state, other):
    assert state.is_terminal == other.is_terminal()
    assert state.returns == pytest.approx(other.returns())
    if not state.is_terminal:
        assert state.current_player == other.current_player()
        assert state.legal_actions() == other.legal_actions()


def test_every_state_is_that_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel")
    keys, ends, values = {}, set(), set()
    for root, other_root in roots(pyspiel):
        for state, other in paired(root, other_root):
            assert_alike(state, other)
            if state.is_terminal:
                seen = 3 if state.record.stage == 1 else 2  # a game that ends in round 1 has no public card
                ends.add((tuple(state.deck[:seen].tolist()), tuple(state.actions)))
                values.add(abs(state.returns[0]))
            else:
                key = state.information_state_key(state.current_player)
                keys.setdefault(key, set()).add(other.information_state_string(state.current_player))
    assert len(ends) == 1116
    assert len(keys) == 288
    assert all(len(strings) == 1 for strings in keys.values())
    assert len(set().union(*keys.values())) == 288
    assert values == {0, 1, 3, 5, 7, 9, 11, 13}


@pytest.mark.parametrize("num_players", [3, 5])
def test_random_games_are_those_of_openspiel(num_players):
    pyspiel = pytest.importorskip("pyspiel")
    chooser = random.Random(0)
    for seed in range(200):
        theirs = pyspiel.load_game("leduc_poker", {"players": num_players, "suit_isomorphism": True})
        state = LEDUC.new_state(seed=seed, num_players=num_players)
        cards = state.record.deck.tolist()
        other = theirs.new_initial_state()
        for card in cards[:num_players]:
            other.apply_action(card)
        while True:
            if other.is_chance_node():
                other.apply_action(cards[num_players])
            assert_alike(state, other)
            if state.is_terminal:
                break
            action = chooser.choice(state.legal_actions())
            state.apply(action)
            other.apply_action(action)
