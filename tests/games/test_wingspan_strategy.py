"""The policies of Wingspan: how strong they are, that they know only what they may, and some of what they do."""

import numpy as np
import pytest
from wingspan import Player, play, position

from cardenvs.core.kernel import COMPILED
from cardenvs.games.wingspan import GAME
from cardenvs.games.wingspan.cards import BIRD_NAMES
from cardenvs.games.wingspan.worth import CARD, FOOD, POINT, POWER_GIVES

POLICIES = ("greedy", "planner")
compiled = pytest.mark.skipif(not COMPILED, reason="plays hundreds of games")


def play_game(seats, seed, **options):
    """Play a game to its end, seat p with the policy seats[p]."""
    state = GAME.new_state(seed=seed, num_players=len(seats), **options)
    while not state.is_terminal:
        state.apply_unchecked(state.policy_action(seats[state.current_player], seed=state.ply))
    return state


def margin(one, other, num_players, num_deals):
    """Return the mean lead in points of `one` over the others, once in each seat, and half its 95% interval."""
    ahead = np.zeros(num_deals)
    for deal in range(num_deals):
        for seat in range(num_players):
            seats = [one if p == seat else other for p in range(num_players)]
            scores = play_game(seats, deal).record.scores[:num_players].astype(float)
            ahead[deal] += (scores[seat] - np.delete(scores, seat).mean()) / num_players
    return ahead.mean(), 1.96 * ahead.std() / num_deals**0.5


@compiled
@pytest.mark.parametrize("num_players", [2, 4])
@pytest.mark.parametrize(
    ("one", "other", "at_least"), [("greedy", "random", 1), ("planner", "greedy", 10), ("planner", "random", 20)]
)
def test_each_policy_is_clearly_above_the_one_before(one, other, at_least, num_players):
    mean, half = margin(one, other, num_players, 40)
    assert mean - half > at_least, f"{one} against {other}: {mean:.1f} ± {half:.1f} points"


@pytest.mark.parametrize("policy", POLICIES)
def test_what_hides_from_a_player_changes_none_of_its_choices(policy):
    decisions = 0
    for seed in range(20 if COMPILED else 1):
        state = GAME.new_state(seed=seed, num_players=2 + seed % 4, goals="green" if seed % 2 else "blue")
        while not state.is_terminal and (COMPILED or state.ply < 12):
            action = state.policy_action(policy, seed=1)
            twin = state.determinize(state.current_player, seed=decisions)
            assert twin.policy_action(policy, seed=2) == action, (seed, state.ply)
            decisions += 1
            # the other seats play at random, for a variety of positions
            mover = policy if state.current_player == seed % 2 else "random"
            state.apply_unchecked(state.policy_action(mover, seed=state.ply))
    assert decisions > (1500 if COMPILED else 10)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_choice_is_legal_whoever_sits_at_the_table(policy):
    """Play against random players; `apply` refuses illegal actions."""
    games = 400 if COMPILED else 1
    for seed in range(games):
        state = GAME.new_state(seed=seed, num_players=2 + seed % 4)
        while not state.is_terminal and (COMPILED or state.ply < 12):
            mover = policy if state.current_player == 0 else "random"
            state.apply(state.policy_action(mover, seed=state.ply + 1000 * seed))
    assert state.is_terminal or not COMPILED


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_thousands_of_games_end(policy, num_players):
    for seed in range(1000):
        state = play_game([policy] * num_players, seed)
        assert sorted(state.record.standing[:num_players])[0] == 1


def test_what_a_power_gives_is_known_of_every_bird():
    def gives(name):
        return POWER_GIVES[BIRD_NAMES.index(name)].tolist()

    assert POWER_GIVES.shape == (len(BIRD_NAMES), 4)
    assert gives("Mallard")[CARD] == 10
    assert gives("Canada Goose") == [-10, 0, 0, 20]  # pays a seed, tucks two cards
    assert gives("Northern Cardinal")[FOOD] == 10
    assert gives("Bushtit")[POINT] == 10
    assert gives("Bobolink") == [0, 0, 15, 0]
    assert gives("Prothonotary Warbler") == [0, 0, 0, 0]


def choice(state, policy="planner"):
    return state.action_label(state.policy_action(policy, seed=0))


def test_the_planner_lays_eggs_in_its_last_turn():
    state = position(
        Player("grassland: Killdeer, Mallard, Bobolink", hand="Osprey", food=""),
        Player(""),
        round_number=4,
        turns=[1, 1],
        feeder="fish",
    )
    assert choice(state) == "lay eggs"


def test_the_planner_gains_food_when_there_is_nothing_to_pay_with_in_its_first_turns():
    state = position(Player("", hand="Osprey, Bald Eagle, Barn Owl", food=""), Player(""), feeder="fish rodent seed")
    assert choice(state) == "gain food"


def test_the_planner_takes_the_food_that_makes_a_bird_payable():
    state = position(Player("", hand="Osprey", food=""), Player(""), feeder="invertebrate seed fish rodent")
    play(state, "gain food")
    assert "fish" in choice(state)


def test_the_planner_does_not_pay_with_what_its_next_bird_needs():
    state = position(Player("", hand="American Crow, Osprey", food="fish, seed"), Player(""), feeder="fish")
    play(state, "play a bird")
    state.apply(next(action for action in state.legal_actions() if "American Crow" in state.action_label(action)))
    assert "seed" in choice(state)
