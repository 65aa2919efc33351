"""What search notes about its choice."""

from cardenvs.agents import Turn
from cardenvs.agents.search import SearchAgent
from cardenvs.core.registry import get_game


def noted(game, seed=1, **settings):
    played = get_game(game)
    state = played.new_state(seed=seed)
    turn = Turn(state, 5)
    action = SearchAgent(played, **settings).act(turn)
    return state.action_label(action), turn.notes.get("search")


def test_the_values_of_the_best_plays_are_noted():
    label, notes = noted("gin_rummy_v0", simulations=60, playout="random")
    assert notes["worlds"] > 0
    assert label == notes["values"][0][0]
    assert 1 <= len(notes["values"]) <= 5


def test_whole_plays_are_noted_by_their_words():
    state = get_game("rummikub_v0").new_state(seed=5)
    turn = Turn(state, 5)
    SearchAgent(get_game("rummikub_v0"), simulations=20, depth=20).act(turn)
    if len(turn.candidates) > 1:
        labels = {one.label for one in turn.candidates} | {turn.label(action) for action in turn.legal_actions}
        assert {label for label, _ in turn.notes["search"]["values"]} <= labels


def test_the_notes_depend_only_on_what_the_player_knows():
    game = get_game("gin_rummy_v0")
    state = game.new_state(seed=3)
    twin = state.determinize(state.current_player, 99)
    said = []
    for world in (state, twin):
        turn = Turn(world, 5)
        SearchAgent(game, simulations=40).act(turn)
        said.append(turn.notes)
    assert said[0] == said[1]
