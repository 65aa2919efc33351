"""The stub's good replies, in every form of answer that a client may ask for."""

import pytest

import cardenvs
from cardenvs.agents.base import Turn
from cardenvs.llm.dialogue import Question
from cardenvs.llm.prompt import PromptSettings
from cardenvs.llm.stub import StubSettings, _Stub

GAMES = 20


def replies(name, settings, pick="random", **options):
    """Questions along a game of a stub against itself, and the stub's replies."""
    stub = _Stub(StubSettings(pick=pick))
    for seed in range(GAMES):
        state = cardenvs.get_game(name).new_state(seed=seed, **options)
        for _ in range(40):
            if state.is_terminal:
                break
            question = Question(Turn(state, 0), settings)
            kind, draws = stub._choose(question.messages)
            actions = question.read(stub._text(kind, question.messages, draws)[0])
            yield question, actions
            state.apply(actions[0])


@pytest.mark.rotating
@pytest.mark.parametrize("pick", ["random", "first", "last"])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("betting", ["pot_fractions", "full"])
def test_good_replies_in_the_games_own_form_are_legal(pick, listed, betting):
    settings = PromptSettings(answer="game", candidates=listed, rules=False)
    kinds = set()
    for question, actions in replies("texas_holdem_v0", settings, pick, betting=betting, num_players=3):
        kinds.add(question.turn.game.view.action_label(question.turn._Turn__state.record, actions[0]).split()[0])
    if pick == "random":
        assert kinds >= {"fold", "call", "check", "raise"}


@pytest.mark.parametrize(("answer", "game"), [("candidate", "durak_v0"), ("label", "durak_v0"), ("label", "scopa_v0")])
def test_good_replies_by_id_and_in_words_are_legal(answer, game):
    settings = PromptSettings(answer=answer, rules=False)
    assert len({actions for _, actions in replies(game, settings)}) > 5


def test_a_good_reply_takes_words_from_the_question_where_nothing_is_listed():
    settings = PromptSettings(answer="label", candidates=False, rules=False)
    assert {actions for _, actions in replies("kuhn_poker_v0", settings)} == {(0,), (1,)}
