"""What happened, told to a person at the terminal."""

import importlib.metadata
import re

import pytest

from cardenvs.core.narration import Narrator, second_person
from cardenvs.core.registry import get_game
from cardenvs.core.view import plain

GAMES = sorted(point.name for point in importlib.metadata.entry_points(group="cardenvs.games"))


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("player_0 draws 7s from the stock.", "You draw 7s from the stock."),
        ("player_0 passes.", "You pass."),
        ("player_0 calls, with 20 in on this street.", "You call, with 20 in on this street."),
        ("player_0 calls and has 3 in the pot.", "You call and have 3 in the pot."),
        ("player_0 is dealt 9d.", "You are dealt 9d."),
        ("player_0 has won 2 hands.", "You have won 2 hands."),
        ("player_0 does not show.", "You do not show."),
        ("player_0 goes first.", "You go first."),
        ("player_0 finishes in place 3, and shares it.", "You finish in place 3, and share it."),
        ("player_0's hunt misses Wren.", "Your hunt misses Wren."),
        ("player_1 lays off 7s on player_0's meld 1.", "player_1 lays off 7s on your meld 1."),
        ("With all bonuses player_0 has 30 points.", "With all bonuses you have 30 points."),
        ("player_0 calls chi and takes 3m.", "You call chi and take 3m."),
        ("player_0 has discarded only terminals and honours.", "You have discarded only terminals and honours."),
        ("player_10 draws a card.", "player_10 draws a card."),
        ("Hand 1 begins.", "Hand 1 begins."),
    ],
)
def test_the_person_is_you(sentence, told):
    assert second_person(sentence, 0) == told


@pytest.mark.parametrize("name", GAMES)
def test_every_event_of_every_game_reads_well(name):
    """No verb stays in the third person, nobody is called player_0, and there are no "1 cards"."""
    game = get_game(name)
    narrator_kinds = set()
    for seed in range(6):
        state = game.new_state(seed=seed)
        while not state.is_terminal and state.ply < 400:
            state.apply(state.policy_action(game.default_opponent, seed))
        narrator = Narrator(game, 0, state.num_players)
        events = state.events(0)
        narrator_kinds |= {event.kind for event in events}
        for line in narrator.lines(events):
            text = plain(line)
            assert "player_0" not in text
            assert not re.search(r"\b[Yy]ou (is|has|does|\w*[^s\W]s)\b", text), text
            assert not re.search(r"(?<![\w.+] )(?<!\w)1 (?!begins|is\b)[a-z]+s\b", text), text
            assert not re.search(r"^(The others|player_\d+(, player_\d+)* and player_\d+) \w*[^s\W]s\b", text), text
    assert len(narrator_kinds) > 5


@pytest.mark.parametrize("name", GAMES)
def test_a_second_verb_follows_you_as_well(name):
    for kind in get_game(name).table.kinds:
        second = re.match(r"\{player\} .*\b(and|but) ([a-z]+s)\b", kind.text)
        if second and second[2] not in ("honours",):
            told = second_person(kind.text.replace("{player}", "player_0"), 0)
            assert f"{second[1]} {second[2]}" not in told


def test_cards_of_several_words_are_told_apart():
    state = get_game("uno_v0").new_state(seed=5)
    dealt = next(
        line for line in Narrator(state.game, 0, state.num_players).sentences(state.events(0)) if "dealt" in line
    )
    assert dealt.count(",") == 6


def test_dealt_cards_are_one_line_and_look_as_on_the_table():
    state = get_game("gin_rummy_v0").new_state(seed=3)
    lines = Narrator(state.game, 0, 2).lines(state.events(0))
    dealt = [line for line in lines if line.startswith("You are dealt")]
    assert len(dealt) == 1
    for token in state.table(0).piles[state.game.table.pile_ids["hand"]]:
        assert state.game.view.token_markup(token) in dealt[0]
    assert any("player_1 is dealt a card. [dim](10 times)[/dim]" in line for line in lines)
    assert not any("shuffled" in line for line in lines)  # a detail


def test_players_who_do_the_same_are_named_together():
    game = get_game("texas_holdem_v0")
    state = game.new_state(seed=3)
    for _ in range(3):
        state.apply(0)  # fold
    lines = [plain(line) for line in Narrator(game, 0, 6).lines(state.events(0))]
    assert "player_3, player_4 and player_5 fold." in lines
    assert "The others are dealt a card. (2 times)" in lines
    assert not any("chips behind" in line or "The pot is" in line for line in lines)
    spectator = [plain(line) for line in Narrator(game, 1, 6).lines(state.events(1))]
    assert "You post a small blind of 10." in spectator


@pytest.mark.parametrize("name", GAMES)
def test_a_twin_tells_the_same(name):
    game = get_game(name)
    state = game.new_state(seed=8)
    for ply in range(40):
        if not state.is_terminal:
            state.apply(state.policy_action(game.default_opponent, ply))
    for player in range(state.num_players):
        twin = state.determinize(player, 5)
        narrator = Narrator(game, player, state.num_players)
        assert narrator.lines(twin.events(player)) == narrator.lines(state.events(player))


def test_the_order_of_an_auction_is_kept():
    state = get_game("bridge_v0").new_state(seed=3)
    for label in ("pass", "1C", "pass", "pass", "double", "pass"):
        state.apply(state.action_from_label(label))
    first = state.record.dealer
    lines = [plain(line) for line in Narrator(state.game, -1, 4).lines(state.events(0))]
    names = [f"player_{(first + k) % 4}" for k in range(4)]
    assert lines[-5:] == [
        f"{names[0]} passes.", f"{names[1]} bids 1♣.", f"{names[2]} and {names[3]} pass.", f"{names[0]} doubles.",
        f"{names[1]} passes.",
    ]  # fmt: skip
