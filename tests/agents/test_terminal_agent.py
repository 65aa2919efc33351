"""A person at the terminal."""

import io

import pytest
from rich.console import Console

from cardenvs.agents import Turn
from cardenvs.agents.terminal import QuitGame, TerminalAgent, choice
from cardenvs.core.registry import get_game

LABELS, ACTIONS = ["check", "bet"], [1, 2]


@pytest.mark.parametrize(("text", "action"), [("check", 1), ("2", 2), ("#1", 1), ("b", 2), ("che", 1)])
def test_words_numbers_and_beginnings_are_understood(text, action):
    assert choice(text, LABELS, ACTIONS) == action


@pytest.mark.parametrize("text", ["", "3", "0", "#3", "fold", "-1"])
def test_what_is_not_understood_says_what_would_do(text):
    with pytest.raises(ValueError, match="words or a number from 1 to 2"):
        choice(text, LABELS, ACTIONS)


def test_what_could_be_two_things_is_asked_again():
    with pytest.raises(ValueError, match="may be knock 3 or knock 5"):
        choice("knock", ["knock 3", "knock 5"], [7, 8])
    with pytest.raises(ValueError, match="type #2 for the number"):
        choice("2", ["2", "3"], [7, 8])
    assert choice("#2", ["2", "3"], [7, 8]) == 8
    assert choice("3", ["2", "3"], [7, 8]) == 8
    assert choice("1", ["1", "3"], [7, 8]) == 7


def at_the_terminal(*lines):
    out, answers = io.StringIO(), iter(lines)

    def ask(prompt):
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    return TerminalAgent(Console(file=out, width=100, highlight=False), ask), out


def test_a_person_sees_the_own_cards_only_and_news_once():
    state = get_game("leduc_poker_v0").new_state(seed=1, deck="K Q J")
    agent, out = at_the_terminal("help", "facts", "recap", "rules", "nonsense", "check", "1")
    agent.reset(0)
    assert agent.act(Turn(state, 0)) == 1
    text = out.getvalue()
    assert "K" in text
    assert "Q" not in text.replace("J < Q < K", "")  # but in the rules
    assert "own rank: K" in text
    assert "Leduc" in text
    assert "nothing legal reads 'nonsense'" in text
    state.apply(1)
    state.apply(2)
    out.truncate(0)
    assert agent.act(Turn(state, 0)) == 0
    assert "player_1 raises" in out.getvalue()
    assert "is dealt" not in out.getvalue()


def test_what_repeats_is_counted():
    agent, out = at_the_terminal()
    agent.tell(["A hand.", "A card.", "A card.", "A card."])
    assert out.getvalue() == "· A hand.\n· A card. (3 times)\n"
    assert agent.shown == 4


@pytest.mark.parametrize("lines", [(), ("quit",), (" Q ",)])
def test_a_person_can_leave(lines):
    agent, _ = at_the_terminal(*lines)
    with pytest.raises(QuitGame):
        agent.act(Turn(get_game("kuhn_poker_v0").new_state(seed=1), 0))


def test_an_interrupt_is_leaving():
    def interrupted(prompt):
        raise KeyboardInterrupt

    agent = TerminalAgent(Console(file=io.StringIO()), interrupted)
    with pytest.raises(QuitGame):
        agent.act(Turn(get_game("kuhn_poker_v0").new_state(seed=1), 0))
