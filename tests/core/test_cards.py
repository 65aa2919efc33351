"""Cards have one spelling for people, 10♠, and every spelling is read."""

import json
import re

import pytest

from cardenvs.agents.base import Turn
from cardenvs.agents.terminal import choice
from cardenvs.core.cards import folded, words_and_gaps, written
from cardenvs.core.errors import DeckError, IllegalActionError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.intents import validate
from cardenvs.core.narration import Narrator
from cardenvs.core.registry import get_game
from cardenvs.kits.cards import CARD_LABELS, CARD_TEXTS, parse_card
from cardenvs.llm.answers import AnswerError, read_answer
from cardenvs.llm.prompt import PromptSettings, write_prompt

OTHER_SPELLING = re.compile(r"\b(?:10|[2-9TJQKA])[shdc]\b|\bT[♠♣♦♥]|(?<![\w/])T(?![\w'-])|\\u26")
CARD_GAMES = (
    "bridge_v0", "briscola_v0", "canasta_v0", "casino_v0", "crazy_eights_v0", "cribbage_v0", "durak_v0", "euchre_v0",
    "gin_rummy_v0", "hearts_v0", "kasino_v0", "katko_v0", "marjapussi_v0", "oh_hell_v0", "one_player_poker_v0",
    "pinnacola_v0", "ristiseiska_v0", "scopa_v0", "skat_v0", "spades_v0", "texas_holdem_v0",
)  # fmt: skip


def texts_for_people(state, player):
    """All texts of a position that a player, a language model or a person at the terminal may read."""
    view = state.view(player)
    for pile in view["piles"]:
        yield from (pile["label"], *pile.get("captions", ()))
        for token in pile["tokens"]:
            yield from (token.get("text", ""), *token.get("marks", ()))
    for counter in view["counters"]:
        yield from (counter["label"], str(counter["value"]))
    yield from (note for one in view["players"] for note in one["notes"])
    yield from (view["prompt"], *(one["label"] for one in view["choices"]))
    yield json.dumps(state.facts(player), ensure_ascii=False)
    yield state.render(player)
    yield from state.recap(player)
    for symbols in (True, False):
        yield from Narrator(state.game, player, state.num_players, symbols).sentences(state.events(player))
    if not state.is_terminal:
        yield state.legal_text(100)
        yield write_prompt(Turn(state, state.current_player), PromptSettings()).user


def test_no_text_for_people_has_another_spelling(every_game):
    if "4s" in every_game.view.tokens:
        pytest.skip("its tokens are no cards: 4s is the four of bamboo")
    for seed in range(2):
        state = every_game.new_state(seed=seed)
        num_actions = every_game.num_actions(state.options)
        while True:
            if state.is_terminal or len(state.actions) % 9 == 0:
                for player in range(state.num_players):
                    for text in texts_for_people(state, player):
                        assert not OTHER_SPELLING.search(text), text
            if state.is_terminal or len(state.actions) >= 80:
                break
            for action in range(0, num_actions, 1 + num_actions // 20):
                assert not OTHER_SPELLING.search(state.explain_illegal(action))
            state.apply(state.policy_action("random", len(state.actions)))
        for sentence in state.recap(OMNISCIENT):
            assert not OTHER_SPELLING.search(sentence), sentence


@pytest.mark.parametrize("text", ["take Ad", "10h is not in hand", "(3c 5h)", "T♠", "meld T T 2", '["\\u2660"]'])
def test_the_search_finds_other_spellings(text):
    assert OTHER_SPELLING.search(text)


@pytest.mark.parametrize("name", CARD_GAMES)
def test_games_of_cards_show_tens_and_suits(name):
    game = get_game(name)
    shown = {game.view.token_label(int(token)) for token in game.deck(game.make_options())}
    assert "Q♦" in shown
    assert ("10♠" in shown) == (name not in ("briscola_v0", "scopa_v0"))


@pytest.mark.parametrize("name", CARD_GAMES)
def test_decks_are_written_in_ascii_and_read_in_either_spelling(name):
    game = get_game(name)
    tokens = game.deck(game.make_options())
    code = game.deck_text(tokens)
    assert code.isascii()
    shown = " ".join(game.view.token_label(int(token)) for token in tokens)
    for text in (code, code.lower(), code.replace("T", "10"), shown, shown.replace("10", "T")):
        assert game.parse_deck(text, game.make_options()).tolist() == tokens.tolist()


@pytest.mark.parametrize("text", ["10♥", "T♥", "t♥", "Th", "tH", "10h", " 10\u2665\ufe0f "])
def test_every_spelling_of_a_card_is_read(text):
    assert CARD_TEXTS[parse_card(text)] == "10♥"
    assert CARD_LABELS[parse_card(text)] == "Th"


@pytest.mark.parametrize("text", ["", "10", "1♥", "110h", "10♥♥", "hT", "♥10", "T"])
def test_what_is_no_card_is_refused(text):
    with pytest.raises(DeckError, match="is not a card; a card is a rank"):
        parse_card(text)


def test_cards_are_written_and_folded():
    assert [written(label) for label in ("Ts", "Kh", "T", "4", "JK", "black 3", "")] == [
        "10♠", "K♥", "10", "4", "JK", "black 3", ""
    ]  # fmt: skip
    assert folded(" Play  10♠ ") == folded("play ts") == folded("PLAY T♠") == folded("play 10s")
    assert folded("raise to 10") == "raise to 10"
    assert words_and_gaps("take 10♠, (A♦)") == ["", "take", " ", "10♠", ", (", "A♦", ")"]


@pytest.mark.parametrize("typed", ["take 10♦", "take T♦", "take Td", "TAKE  10D"])
def test_labels_are_read_in_every_spelling(typed):
    state = get_game("gin_rummy_v0").new_state(deck="2s 3s 4s 5s 6s 7s 8s 9s Ts Js 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Td")
    (take, label) = next(
        (a, state.action_label(a)) for a in state.legal_actions() if state.action_label(a).startswith("take")
    )
    assert label == "take 10♦"
    assert state.action_from_label(typed) == take
    assert validate(state, state.current_player, {"action": typed}).action == take
    turn = Turn(state, state.current_player)
    prompt = write_prompt(turn, PromptSettings(answer="label"))
    assert "- take 10♦" in prompt.user
    assert read_answer(f'<answer>{{"move": "{typed}"}}</answer>', prompt, turn) == (take,)


def test_what_no_action_reads_is_refused_as_it_was_written():
    state = get_game("gin_rummy_v0").new_state(seed=3)
    with pytest.raises(IllegalActionError, match="no legal action reads 'take 3♥'"):
        state.action_from_label("take 3♥")
    turn = Turn(state, 0)
    with pytest.raises(AnswerError, match='reads "take 3♥"'):
        read_answer('<answer>{"move": "take 3♥"}</answer>', write_prompt(turn, PromptSettings(answer="label")), turn)


def test_beginnings_of_cards_are_understood_in_either_spelling():
    labels, actions = ["lead 10♠", "lead 2♠", "pass"], [4, 5, 6]
    for typed in ("lead 1", "lead 10", "lead t", "lead 10s", "lead T♠"):
        assert choice(typed, labels, actions) == 4
    with pytest.raises(ValueError, match="may be lead 10♠ or lead 2♠"):
        choice("lead", labels, actions)


def test_ranks_of_canasta_stand_without_suits_in_either_spelling():
    key = get_game("canasta_v0").view.label_key
    assert key("meld 10 10 JK") == key("meld T T JK") != key("meld 9 9 JK")
    assert key("add 10 to 10") == key("ADD t to T")
