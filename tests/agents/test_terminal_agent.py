"""A person at the terminal."""

import io

import pytest
from rich.console import Console

from cardenvs.agents import Turn
from cardenvs.agents.terminal import QuitGame, TerminalAgent, _with_owners, choice
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


def test_a_card_alone_is_enough_where_one_verb_is_offered():
    assert choice("10♦", ["pass 9♦", "pass 10♦"], ACTIONS) == 2
    assert choice("td", ["pass 9♦", "pass 10♦"], ACTIONS) == 2
    with pytest.raises(ValueError, match="may be play 3♣ or swap 3♣"):
        choice("3c", ["play 3♣", "swap 3♣", "pass"], [1, 2, 3])


def test_a_changed_line_comes_with_the_line_that_says_whose_it_is():
    lines = ["table", "  Ann", "    hand", "    won", "  Ben", "    hand", "  Cai  hand"]
    assert _with_owners(lines, [3, 5]) == ["  Ann", "    won", "  Ben", "    hand"]
    assert _with_owners(lines, [6]) == ["  Cai  hand"]


def test_part_of_a_number_is_no_beginning():
    labels = ["raise to 719", "raise to 70, the least"]
    assert choice("raise to 70", labels, ACTIONS) == 2
    for text in ("raise to 7", "raise to 71"):
        with pytest.raises(ValueError, match="no legal action"):
            choice(text, labels, ACTIONS)


def at_the_terminal(*lines):
    out, answers = io.StringIO(), iter(lines)

    def ask(prompt):
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    return TerminalAgent(Console(file=out, width=100, highlight=False), ask), out


def test_choices_show_cards_as_the_table_does_and_both_spellings_can_be_typed():
    state = get_game("gin_rummy_v0").new_state(seed=3)
    for typed in ("take A♦", "take ad", "take A"):
        agent, out = at_the_terminal(typed)
        assert state.action_label(agent.act(Turn(state, 0))) == "take A♦"
        assert "1 take A♦" in out.getvalue()
        assert "Ad" not in out.getvalue()


@pytest.mark.parametrize(
    ("typed", "total"),
    [("raise to 700", 700), ("Raise 701", 701), ("raise to 40", 40), ("all in", 2000), ("bet 50|raise to 60", 60)],
)
def test_any_amount_in_the_range_can_be_typed(typed, total):
    state = get_game("texas_holdem_v0").new_state(seed=3, num_players=2)
    agent, out = at_the_terminal(*typed.split("|"))
    state.apply(agent.act(Turn(state, 0)))
    assert state.record.bets[0, 0] == total
    assert ("may not bet now" in out.getvalue()) == typed.startswith("bet")


@pytest.mark.parametrize(
    ("typed", "reason"),
    [("raise to 7", "a raise goes to 40 at least"), ("raise to 2001", "the stack reaches to 2000"),
     ("raise to 1e3", "no legal action is called"), ("raise to 9999999999", "no legal action is called")],
)  # fmt: skip
def test_an_amount_out_of_range_is_refused_with_the_rule(typed, reason):
    state = get_game("texas_holdem_v0").new_state(seed=3, num_players=2)
    agent, out = at_the_terminal(typed)
    with pytest.raises(QuitGame):
        agent.act(Turn(state, 0))
    assert reason in " ".join(out.getvalue().split())


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
    assert "no legal action is called 'nonsense'" in text
    state.apply(1)
    state.apply(2)
    out.truncate(0)
    assert agent.act(Turn(state, 0)) == 0
    assert "player_1 raises and has 3 in the pot" in out.getvalue()
    assert "is dealt" not in out.getvalue()


def test_what_was_told_is_not_told_again():
    state = get_game("kuhn_poker_v0").new_state(seed=1, deck="K Q")
    agent, out = at_the_terminal()
    agent.tell(state.events(0), state.game, 0, 2)
    assert "· You are dealt K." in out.getvalue()
    assert agent.shown == len(state.events(0))
    out.truncate(0)
    state.apply(0)
    agent.tell(state.events(0), state.game, 0, 2)
    assert out.getvalue().strip("\0") == "· You put in nothing.\n"


def test_a_single_choice_is_made_for_you():
    state = get_game("rummikub_v0").new_state(seed=3)
    assert len(state.legal_actions()) == 1
    agent, out = at_the_terminal()
    assert agent.act(Turn(state, 0)) == state.legal_actions()[0]
    assert "Your melds are worth 0 of the 30 points needed to open: draw. Your only choice: draw." in out.getvalue()


def test_whole_plays_are_offered_and_played_to_their_end():
    state = get_game("rummikub_v0").new_state(seed=3)
    agent, out = at_the_terminal("2")
    while True:
        player = state.current_player
        if player == 0:
            action = agent.act(Turn(state, 0))
            if "1 draw" in out.getvalue():
                break
            state.apply(action)
        else:
            state.apply(state.policy_action("planner", 0))
    play = state.candidates()[1]
    assert len(play.actions) > 1
    assert play.label in " ".join(out.getvalue().split())
    assert action == play.actions[0]
    for expected in play.actions[1:]:
        state.apply(action)
        action = agent.act(Turn(state, 0, goes_on=True))
        assert action == expected
    state.apply(action)
    assert state.current_player != 0


def test_only_what_changed_is_printed_again_within_a_turn():
    state = get_game("gin_rummy_v0").new_state(seed=3)
    agent, out = at_the_terminal("take", "table", "discard 7s")
    action = agent.act(Turn(state, 0))
    assert "stock" in out.getvalue()
    state.apply(action)
    out.truncate(0)
    agent.act(Turn(state, 0, goes_on=True))
    before, after = out.getvalue().split("Discard a card.", 1)
    assert "╭" not in before
    assert "discard pile -" in before
    assert "player_1" not in before
    assert "player_1" in after  # the whole table again, on demand


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
